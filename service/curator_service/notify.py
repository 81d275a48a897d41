"""Telling the service manager: READY, RELOADING, STOPPING, WATCHDOG, STATUS (sd_notify).

Twelve lines of socket; the packages that do it are unmaintained or bring native code.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from typing import Final

_MICROSECONDS: Final = 1_000_000


class Notifier:
    """Speaks to systemd where it listens, and says nothing anywhere else."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Find the socket and the watchdog's period, if there are any."""
        self._address = environ.get("NOTIFY_SOCKET", "")
        owner = environ.get("WATCHDOG_PID", "")
        period = environ.get("WATCHDOG_USEC", "")
        is_ours = owner in ("", str(os.getpid()))
        self.watchdog_s = int(period) / _MICROSECONDS / 2 if is_ours and period.isdigit() else None
        """How often the watchdog wants to hear of us; None where there is none."""
        self.is_heard = bool(self._address)
        """Whether a manager listens, which is the watchdog then."""

    def ready(self, status: str) -> None:
        """Say that the service is up, or up again after a reload."""
        self._send(f"READY=1\nSTATUS={status}")

    def reloading(self) -> None:
        """Say that the configuration is read anew."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """Say that the service winds up."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Feed the watchdog."""
        if self.watchdog_s is not None:
            self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """Show a line in `systemctl status`."""
        self._send(f"STATUS={text}")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
                sock.connect(address)
                sock.sendall(message.encode())
        except OSError:
            # A manager that does not listen is no reason to stop working.
            return
