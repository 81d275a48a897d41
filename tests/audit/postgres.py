"""A real PostgreSQL for a test: its own folder, a socket and no port, and it can be taken away and brought back."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Final

_LAID: Final = "/usr/lib/postgresql"
_USER: Final = "postgres"


def programs() -> Path | None:
    """Where Debian's package, or the machine, keeps the server's programs."""
    versions = sorted(Path(_LAID).glob("*/bin/initdb"))
    found = versions[-1] if versions else shutil.which("initdb")
    return None if found is None else Path(found).parent


def why_not() -> str | None:
    """Why no server can be started here, in words."""
    if programs() is None:
        return "no PostgreSQL is installed (Debian: postgresql)"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(_USER)
        except KeyError:
            return "PostgreSQL does not run as root, and there is no user postgres"
    return None


class Server:
    """One server over one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._as_user = _USER if os.geteuid() == 0 else None
        if self._as_user is not None:
            shutil.chown(folder, _USER)
        folder.chmod(0o700)
        self._do("initdb", "-D", str(folder / "base"), "-U", _USER, "-A", "trust", "--no-sync", "-E", "UTF8")

    @property
    def url(self) -> str:
        return f"postgresql://{_USER}@/postgres?host={self._folder}"

    def start(self) -> None:
        options = f"-k {self._folder} -c listen_addresses='' -c fsync=off"
        self._do(
            "pg_ctl", "-D", str(self._folder / "base"), "-w", "-l", str(self._folder / "log"), "-o", options, "start"
        )

    def stop(self) -> None:
        """Take it away at once, as a machine that loses its power."""
        self._do("pg_ctl", "-D", str(self._folder / "base"), "-w", "-m", "immediate", "stop")

    def _do(self, program: str, *arguments: str) -> None:
        room = programs()
        assert room is not None
        ran = subprocess.run(
            [str(room / program), *arguments],
            user=self._as_user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr.decode()
