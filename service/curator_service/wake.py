"""Waking up when a job arrives: watching folders is a hint, a slow look is the truth.

Events get lost: a queue overflows, a folder is deleted and made anew, a network mount tells nothing, the system's
watches run out. So a watch only pokes, and where it cannot be had the slow look does alone, with one warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

POLL_S: Final = 15.0
"""How long a job waits at most where no event comes."""
_GONE: Final = -1
_HEARD: Final[list[type[FileSystemEvent]]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileMovedEvent,
]
"""Everything else, like the opening of a file, is kept from us by the system: each event wakes three threads."""


class Wake:
    """What may mean work is a poke, and this a wait for one."""

    def __init__(self, folders: Sequence[Path], warn: Callable[[str], None]) -> None:
        """Watch `folders` once started; `warn` hears, once, why watching does not work here."""
        self._folders = tuple(folders)
        self._warn = warn
        # No event of `threading`: its lock may be held by the very thread that a signal interrupts to poke.
        self._pokes: SimpleQueue[None] = SimpleQueue()
        self._observer: object | None = None
        self._seen: dict[Path, int] = {}
        self._lost: SimpleQueue[Path] = SimpleQueue()
        """Watched folders that were deleted: the next one of that name may well get the same inode."""
        self._is_blind = False

    def start(self) -> None:
        """Begin to watch."""
        self._watch()

    def stop(self) -> None:
        """End watching; pokes still work."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()  # type: ignore[attr-defined]  # the library's observer is made by a factory
            observer.join(5)  # type: ignore[attr-defined]  # as above

    def poke(self) -> None:
        """End the wait, or the next one. May be called from any thread and from a signal's handler."""
        self._pokes.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait for a poke, and take all that came; tell whether one did. Looks first whether the watches still hold."""
        self._renew()
        try:
            self._pokes.get(timeout=max(0.0, min(seconds, POLL_S)))
        except Empty:
            return False
        for _ in range(self._pokes.qsize()):
            self._pokes.get()
        return True

    def _renew(self) -> None:
        """Watch anew what was deleted, or made again: a watch follows the folder that is gone."""
        is_lost = not self._lost.empty()
        if self._is_blind or not (is_lost or any(_inode(each) != seen for each, seen in self._seen.items())):
            return
        self.stop()
        self._lost = SimpleQueue()
        self._watch()
        self.poke()

    def _watch(self) -> None:
        self._seen = {folder: _inode(folder) for folder in self._folders}
        # Where a folder is missing its coming shows in the one above.
        present = {folder if inode != _GONE else _above(folder) for folder, inode in self._seen.items()}
        try:
            # Where the system's instances run out already this fails.
            observer = Observer()
        except OSError as error:
            self._give_up(error)
            return
        try:
            for folder in sorted(present):
                poking = _Poking(self.poke, self._lost, self._folders)
                observer.schedule(poking, str(folder), recursive=False, event_filter=_HEARD)
            observer.start()
        except FileNotFoundError:
            # It went just now: the next wait sees that, and watches what there is then.
            observer.unschedule_all()
            self._seen = dict.fromkeys(self._folders, 0)
        except OSError as error:
            observer.unschedule_all()
            self._give_up(error)
        else:
            self._observer = observer

    def _give_up(self, error: OSError) -> None:
        self._is_blind = True
        self._warn(f"folders cannot be watched ({error.strerror}); looking every {POLL_S:.0f} s instead")


class _Poking(FileSystemEventHandler):
    """Pokes for a name that came; a record that goes is our own doing, or nobody's work."""

    def __init__(self, poke: Callable[[], None], lost: SimpleQueue[Path], folders: Sequence[Path]) -> None:
        self._poke = poke
        self._lost = lost
        self._folders = frozenset(map(str, folders))

    def on_created(self, event: FileSystemEvent) -> None:
        self._note(str(event.src_path))

    def on_moved(self, event: FileSystemEvent) -> None:
        self._note(str(event.dest_path))

    def on_closed(self, event: FileSystemEvent) -> None:
        # A file that was written in place: a configuration under an editor, or a record that somebody mended.
        self._note(str(event.src_path))

    def on_deleted(self, event: FileSystemEvent) -> None:
        if str(event.src_path) in self._folders:
            self._lost.put(Path(str(event.src_path)))
            self._poke()

    def _note(self, path: str) -> None:
        if path.endswith((".json", ".toml")) or path in self._folders:
            self._poke()


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except OSError:
        return _GONE


def _above(folder: Path) -> Path:
    """Return the nearest folder above that stands."""
    return next(each for each in folder.parents if _inode(each) != _GONE)
