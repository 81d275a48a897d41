"""How the service is put under the care of systemd or launchd, on the account of the person who asks."""
