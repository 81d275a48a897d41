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
    return _LOCK.fullmatch(path.rpartition("/")[2]) is not None


def is_staged(path: str) -> bool:
    """Tell whether a path is one that a volume gives to what it stages: no reader looks at it."""
    return STAGED.fullmatch(path.rpartition("/")[2]) is not None


def read_tree(root: Path) -> dict[str, Node]:
    """Read everything under `root`, locks apart."""
    tree: dict[str, Node] = {}
    pending = [""]
    while pending:
        folder = pending.pop()
        for entry in os.scandir(root / folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if is_lock(path) and not entry.is_dir(follow_symlinks=False):
                continue
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                tree[path] = Node(None)
                pending.append(path)
            elif stat.S_ISREG(status.st_mode):
                tree[path] = Node((root / path).read_bytes(), status.st_mtime_ns)
            else:
                message = f"{path} is neither a file nor a folder"
                raise AssertionError(message)
    return tree


def lay_out(tree: Tree, root: Path) -> None:
    """Make `root` hold exactly `tree`, as private files and folders."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(FOLDER_MODE, parents=True)
    for path in sorted(tree):
        node, place = tree[path], root / path
        if node.content is None:
            place.mkdir(FOLDER_MODE)
            continue
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            os.write(descriptor, node.content)
        finally:
            os.close(descriptor)
        if node.mtime_ns:
            os.utime(place, ns=(node.mtime_ns, node.mtime_ns))


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
