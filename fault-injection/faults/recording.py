"""What a run asked of the disk, in order: every verb, who asked, and what was said beside it.

A recording is made of names, not of inodes, so that it can be altered (a flush dropped, two verbs swapped) and compiled
again by `faults.disk`: what is no longer possible then does not compile.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import curator

if TYPE_CHECKING:
    from types import FrameType

    from faults.tree import Tree

_SOURCE: Final = str(Path(curator.__file__).parent) + "/"
_OUTSIDE: Final = "scenario"


class Verb(enum.StrEnum):
    """The verbs of a volume, and the mark that a scenario or its reviewer leaves between them."""

    STAGE = "stage"
    LINK = "link"
    RENAME = "rename"
    UNLINK = "unlink"
    SYNC = "sync_directory"
    MKDIR = "make_directory"
    RMDIR = "remove_directory"
    RESTRICT = "restrict"
    TOUCH = "touch"
    KEEP_TIME = "keep_time"
    MARK = "mark"


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One function of curator on the way to a verb, and the line at which it was."""

    function: str
    """`store/jobs.py:JobStore.accept`; `scenario` for everything outside curator."""
    line: int


Stack: TypeAlias = tuple[Call, ...]
"""From the outermost function of curator to the one that called the volume."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """A fact that somebody outside has been told: a job accepted, a request made, a step at rest."""

    kind: str
    subject: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """One verb, with paths relative to the root; or a mark."""

    verb: Verb
    path: str
    stack: Stack
    source: str = ""
    """The other name of a link or a rename."""
    content: bytes = b""
    mtime_ns: int = 0
    is_flushed: bool = True
    """Whether staged bytes were flushed; a mutant says no."""
    is_done: bool = True
    """Whether anything changed: a link may find its name taken, an unlink nothing to remove."""
    mark: Mark | None = None
    now: int = 0
    """The hand-moved clock when it was asked."""

    @property
    def chain(self) -> str:
        """Who asked, without lines: what a person calls the call site."""
        return chain_of(self.stack)

    @property
    def site(self) -> str:
        """The verb and who asked for it."""
        return f"{self.verb.value} in {self.chain}"


def chain_of(stack: Stack) -> str:
    """Name the verb's caller and those above it up to the first outside `durable/`."""
    names: list[str] = []
    for call in reversed(stack):
        names.append(call.function)
        if not call.function.startswith("durable/"):
            break
    return " < ".join(names) or _OUTSIDE


@dataclasses.dataclass(frozen=True, slots=True)
class Recording:
    """A whole run: the tree before it, all that was asked, and the tree after it."""

    start: Tree
    asked: tuple[Asked, ...]

    @property
    def verbs(self) -> int:
        """How many verbs were asked, marks apart."""
        return sum(each.verb is not Verb.MARK for each in self.asked)

    def sites(self) -> dict[str, int]:
        """Return every call site, with how often it asked."""
        counts: dict[str, int] = {}
        for each in self.asked:
            if each.verb is not Verb.MARK:
                counts[each.site] = counts.get(each.site, 0) + 1
        return counts


def stack_here() -> Stack:
    """Return who in curator is asking, outermost first."""
    calls: list[Call] = []
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_SOURCE) and not code.co_filename.endswith("durable/volume.py"):
            calls.append(Call(f"{code.co_filename.removeprefix(_SOURCE)}:{code.co_qualname}", frame.f_lineno))
        frame = frame.f_back
    return tuple(reversed(calls))
