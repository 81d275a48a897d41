"""A volume that writes tapes, and a curator laid out in which it stands in the place of the real one.

`lay_taped` lays the very same files out, but for one: behind `Volume` stands a class of the same name that is a
`TapedVolume`. The real commands then run unchanged, with that folder first on their path.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import curator
from curator.durable.volume import Volume
from faults.model.tape import Tape
from faults.recording import stack_here

if TYPE_CHECKING:
    import contextlib

    from curator.model.ports import Clock

CURATOR: Final = Path(curator.__file__).parent
FAULTS: Final = Path(__file__).resolve().parents[2]
_TAPED: Final = """

import sys
from pathlib import Path

sys.path.append({faults!r})
from faults.model.taped import TapedVolume


class Volume(TapedVolume):
    folder = Path({folder!r})
"""


class TapedVolume(Volume):
    """A real disk that writes down each name that it gave or took, before and after."""

    folder: Path
    """Where the tapes lie."""
    _tapes: Final[dict[Path, Tape]] = {}
    _by: Clock | None = None
    """By what its process goes; None where that is the machine's clock."""

    def __init__(self, folder: Path | None = None, clock: Clock | None = None) -> None:
        """Write in `folder`, by a clock if that is not the machine's."""
        if folder is not None:
            self.folder = folder
        self._by = clock

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        staged = super().stage(path, data, hidden=hidden, flush=flush)
        self._tape.staged(staged, data)
        return staged

    def link(self, staged: Path, path: Path) -> None:
        with self._asked("link", path, staged) as done:
            super().link(staged, path)
            done[0] = True

    def rename(self, source: Path, target: Path) -> None:
        with self._asked("rename", target, source) as done:
            super().rename(source, target)
            done[0] = True

    def unlink(self, path: Path) -> bool:
        with self._asked("unlink", path) as done:
            done[0] = super().unlink(path)
            return done[0]

    def _asked(
        self, verb: str, path: Path, source: Path | None = None
    ) -> contextlib.AbstractContextManager[list[bool]]:
        now = time.time_ns() // 1_000_000 if self._by is None else self._by.now()
        return self._tape.asked(verb, path, source, [call.function for call in stack_here()], now)

    @property
    def _tape(self) -> Tape:
        return self._tapes.setdefault(self.folder, Tape(self.folder))


def lay_taped(folder: Path, tapes: Path, source: Path = CURATOR) -> Path:
    """Lay out a curator that writes tapes, and return what goes before all else on the path of a process."""
    tapes.mkdir(exist_ok=True)
    return lay_with(folder, _TAPED.format(faults=str(FAULTS), folder=str(tapes)), source)


def lay_with(folder: Path, more: str, source: Path = CURATOR) -> Path:
    """Lay out a curator with `more` at the end of the module of its volume, and return what goes first on the path."""
    durable = folder / "curator" / "durable"
    durable.mkdir(parents=True)
    _lay_beside(source, folder / "curator", {"durable"})
    _lay_beside(source / "durable", durable, {"volume.py", "__pycache__"})
    (durable / "volume.py").write_text((source / "durable" / "volume.py").read_text("utf-8") + more, "utf-8")
    return folder


def _lay_beside(source: Path, folder: Path, without: set[str]) -> None:
    for each in source.iterdir():
        if each.name not in without:
            (folder / each.name).symlink_to(each)
