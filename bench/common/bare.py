"""A loop that does to the disk what one job was seen to do, over and over, and nothing else: what durability costs here."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, assert_never

from bench.common.disks import flush_folder
from bench.common.volumes import Verb

_ID: Final = re.compile(r"[0-9a-f]{12,}|(?<=^)[0-9a-f]{2}(?=$)")


class Bare:
    """The verbs of one job, replayed under `root` for any number of jobs: each under ids of its own."""

    def __init__(self, verbs: Sequence[Verb], agent: Path, root: Path) -> None:
        """Replay `verbs`, seen under `agent`."""
        self._verbs = verbs
        self._agent = agent
        self._root = root

    @property
    def flushes(self) -> int:
        """How many flushes one round has."""
        return sum(verb.name in ("stage", "sync") for verb in self._verbs)

    def prepare(self, numbers: Sequence[int]) -> None:
        """Make the folders and files that stood before the job did anything; nothing is flushed."""
        for number in numbers:
            made: set[Path] = set()
            for verb in self._verbs:
                path, other = self._place(verb.path, number), verb.other and self._place(verb.other, number)
                if verb.name == "mkdir":
                    made.add(path)
                for folder in (path if verb.name == "sync" else path.parent, other.parent if other else path.parent):
                    if not made.intersection((folder, *folder.parents)):
                        folder.mkdir(parents=True, exist_ok=True)
                if verb.name == "stage" or other is not None:
                    made.add(other or path)
                elif verb.name == "unlink" and path not in made:
                    path.write_bytes(b"")
                    made.add(path)

    def run(self, numbers: Sequence[int], threads: int) -> float:
        """Replay once a number, so many at a time, and return the seconds that it took."""
        with ThreadPoolExecutor(threads) as pool:
            started = time.perf_counter()
            for _ in pool.map(self._replay, numbers):
                pass
            return time.perf_counter() - started

    def _replay(self, number: int) -> None:
        for verb in self._verbs:
            self._do(verb, self._place(verb.path, number), number)

    def _do(self, verb: Verb, path: Path, number: int) -> None:
        match verb.name:
            case "stage":
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                try:
                    os.write(descriptor, b"x" * verb.size)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            case "link" | "rename":
                assert verb.other is not None
                (os.link if verb.name == "link" else os.replace)(path, self._place(verb.other, number))
            case "unlink":
                path.unlink(missing_ok=True)
            case "sync":
                flush_folder(path)
            case "mkdir":
                path.mkdir(exist_ok=True)
            case "time":
                os.utime(path)
            case _:
                assert_never(verb.name)

    def _place(self, path: Path, number: int) -> Path:
        parts = path.relative_to(self._agent).parts
        return self._root.joinpath(*(_ID.sub(lambda match: _other(match[0], number), part) for part in parts))


def _other(known: str, number: int) -> str:
    """Return an id of the same length for another job."""
    return hashlib.sha256(f"{known}/{number}".encode()).hexdigest()[: len(known)]
