"""Copying folders as they stand at one moment, holding their lock for no longer than what changed takes.

Everything is copied first without the lock. Then, under it, the names are listed again, and only what is new or has
changed since is copied once more; what is gone is dropped. Writers of these folders rename whole files under the lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.durable.clock import file_clock_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.durable.lock import Domain

RACY_NS: Final = 50_000_000
"""A file's times tick coarsely: what changed this shortly before we began is copied again."""


def cut(
    files: Callable[[], Iterator[Path]], domain: Domain, add: Callable[[Path], None], drop: Callable[[Path], None]
) -> list[Path]:
    """Call `add` and `drop` so that what was added last, and not dropped, is what `files` are at one moment; return them.

    `files` lists them anew each time. Raises `BusyError` where the lock is not to be had.
    """
    began = file_clock_ns() - RACY_NS
    stamps: dict[Path, tuple[int, int, int]] = {}
    for path in files():
        stamps[path] = _stamp(path)
        add(path)
    with domain.hold():
        held = list(files())
        for path in held:
            stamp = _stamp(path)
            if stamps.pop(path, None) != stamp or stamp[2] >= began:
                add(path)
    for path in stamps:
        drop(path)
    return held


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (status.st_ino, status.st_size, max(status.st_ctime_ns, status.st_mtime_ns))
