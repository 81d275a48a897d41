"""What Pi leaves on disk: projects, models, credentials, sessions, runtimes. Read, never changed."""
