"""A tree of files as a value: read from a folder, compared, and laid out again."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from curator.durable.sweep import STAGED
from curator.durable.volume import FILE_MODE, FOLDER_MODE

_LOCK: Final = re.compile(
    r".*\.lock|.*\.lock\.breaker|.*\.lock\.stale\..*|lock-probe\..*|attempts\.guard"
    r"|trajectory\.guard|run\.guard|index\.sqlite(?:-journal|-wal|-shm)?"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A file with its bytes and time, or a folder, which has no bytes."""

    content: bytes | None
    mtime_ns: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether names may stand in it."""
        return self.content is None


Tree: TypeAlias = Mapping[str, Node]
"""By path relative to the root, with slashes."""


def is_lock(path: str) -> bool:
    """Tell whether a path is a lock's or a cache's: those change past the volume, and a crash model has no use for them."""
    return _is_lock(path.rpartition("/")[2])


def is_staged(path: str) -> bool:
    """Tell whether a path is one that a volume gives to what it stages: no reader looks at it."""
    return _is_staged(path.rpartition("/")[2])


@functools.lru_cache(65_536)
def _is_lock(name: str) -> bool:
    return _LOCK.fullmatch(name) is not None


@functools.lru_cache(65_536)
def _is_staged(name: str) -> bool:
    return STAGED.fullmatch(name) is not None


def read_tree(root: Path) -> dict[str, Node]:
    """Read everything under `root`, locks apart."""
    tree: dict[str, Node] = {}
    pending = [("", str(root))]
    while pending:
        above, folder = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                path = f"{above}{entry.name}"
                if is_lock(path) and not entry.is_dir(follow_symlinks=False):
                    continue
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    tree[path] = Node(None)
                    pending.append((f"{path}/", entry.path))
                elif stat.S_ISREG(status.st_mode):
                    tree[path] = Node(_read(entry.path, status.st_size), status.st_mtime_ns)
                else:
                    message = f"{path} is neither a file nor a folder"
                    raise AssertionError(message)
    return tree


def _read(path: str, size: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(descriptor, size + 1)]
        while parts[-1]:
            parts.append(os.read(descriptor, size + 1))
    finally:
        os.close(descriptor)
    return b"".join(parts)


def lay_out(tree: Tree, root: Path) -> None:
    """Make `root` hold exactly `tree`, as private files and folders."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(FOLDER_MODE, parents=True)
    above = str(root)
    for path in sorted(tree):
        node, place = tree[path], f"{above}/{path}"
        if node.content is None:
            os.mkdir(place, FOLDER_MODE)  # noqa: PTH102 - text paths: a tree is laid out tens of thousands of times
            continue
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            os.write(descriptor, node.content)
            if node.mtime_ns:
                os.utime(descriptor, ns=(node.mtime_ns, node.mtime_ns))
        finally:
            os.close(descriptor)


def digest_of_tree(tree: Tree, is_inert: Callable[[str], bool] = is_staged) -> str:
    """Return a digest of names, bytes and times to the millisecond, what is inert left aside."""
    lines = sorted(_line(path, node) for path, node in tree.items() if not is_inert(path))
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()


@functools.cache
def _line(path: str, node: Node) -> str:
    if node.content is None:
        return f"{path}/"
    body = hashlib.blake2b(node.content, digest_size=16).hexdigest()
    return f"{path} {body} {node.mtime_ns // 1_000_000}"


def differences(before: Tree, after: Tree) -> list[str]:
    """Name every path that is not the same in both, with what happened to it."""
    told: list[str] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old is None:
            told.append(f"+ {path}")
        elif new is None:
            told.append(f"- {path}")
        elif old.content != new.content:
            told.append(f"~ {path}")
    return told


def scratch() -> Path:
    """Return a new folder in memory where there is one, else among the temporary files."""
    shared = Path("/dev/shm")  # noqa: S108 - a new, private folder is made in it
    return Path(tempfile.mkdtemp(prefix="curator-faults-", dir=shared if shared.is_dir() else None))
