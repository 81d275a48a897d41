"""Waking up when a job arrives: watching folders is a hint, a slow look is the truth.

Events get lost: a queue overflows, a folder is deleted and made anew, a network mount tells nothing, the system's
watches run out. So a watch only sets a flag, and where it cannot be had the slow look does alone, with one warning.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

POLL_S: Final = 15.0
"""How long a job waits at most where no event comes."""


class Wake:
    """A flag that is set by whatever may mean work, and a wait for it."""

    def __init__(self, folders: Sequence[Path], warn: Callable[[str], None]) -> None:
        """Watch `folders` once started; `warn` hears, once, why watching does not work here."""
        self._folders = tuple(folders)
        self._warn = warn
        self._flag = threading.Event()
        self._observer: object | None = None
        self._seen: dict[Path, int] = {}
        self._is_warned = False

    def start(self) -> None:
        """Begin to watch."""
        self._watch()

    def stop(self) -> None:
        """End watching; the flag still works."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()  # type: ignore[attr-defined]  # the library's observer is made by a factory
            observer.join(5)  # type: ignore[attr-defined]  # as above

    def poke(self) -> None:
        """Set the flag."""
        self._flag.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the flag and clear it; tell whether it was set. Looks first whether the watches still hold."""
        self._renew()
        woken = self._flag.wait(max(0.0, min(seconds, POLL_S)))
        self._flag.clear()
        return woken

    def _renew(self) -> None:
        """Watch anew what was deleted and made again: a watch follows the folder that is gone."""
        if self._observer is not None and any(_inode(folder) != self._seen[folder] for folder in self._folders):
            self.stop()
            self._watch()
            self._flag.set()

    def _watch(self) -> None:
        self._seen = {folder: _inode(folder) for folder in self._folders}
        observer = Observer()
        try:
            for folder in self._folders:
                observer.schedule(_Poking(self._flag), str(folder), recursive=False)
            observer.start()
        except OSError as error:
            if not self._is_warned:
                self._is_warned = True
                self._warn(f"folders cannot be watched ({error.strerror}); looking every {POLL_S:.0f} s instead")
            return
        self._observer = observer


class _Poking(FileSystemEventHandler):
    """Sets the flag for a name that came; a record that goes is our own doing, or nobody's work."""

    def __init__(self, flag: threading.Event) -> None:
        self._flag = flag

    def on_created(self, event: FileSystemEvent) -> None:
        self._note(str(event.src_path))

    def on_moved(self, event: FileSystemEvent) -> None:
        self._note(str(event.dest_path))

    def _note(self, path: str) -> None:
        if path.endswith((".json", ".toml")):
            self._flag.set()


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except OSError:
        return -1
