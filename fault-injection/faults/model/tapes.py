"""Read the tapes of many processes as one trace, and let the model judge it.

A verb took effect between its two lines. Where the spans of two verbs do not touch, their order is known; what a lock of
the protocol keeps apart never touches. Of verbs whose spans do touch the one that returned first is taken first; and where
the model does not allow that, any other one that touches it, if the model allows that one. So a trace is refused only where
no order that the times leave open was found.

A request is put where the provider noted it. A killed process is a crash of the claims that it held.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import time
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.model.beginning import parse
from faults.model.readers import READERS
from faults.model.trace import Refusal, Replayed, Trace
from faults.recording import Asked, Call, Mark, Verb
from faults.view import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from faults.tree import Tree

_AGENT: Final = "/agent/"
"""The folder that paths are told from, wherever it is mounted."""
_FAR_NS: Final = 1 << 62
_TOUCHING_MAX: Final = 200
"""So many of the next steps are looked at for one that touches the first of them."""

Line: TypeAlias = "dict[str, object]"


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One thing that a process did, and between which moments of the machine's monotonic time."""

    begins: int
    ends: int
    pid: int
    asked: Asked | None
    """None where the process died."""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        told = "is killed" if self.asked is None else f"{self.asked.site} {self.asked.path}"
        return f"process {self.pid}: {told}"


def request_moment(wall_s: float) -> int:
    """Return the monotonic time of a moment of the wall clock, in this process."""
    return int(wall_s * 1e9) - time.time_ns() + time.monotonic_ns()


def steps_of(tapes: Path, requests: Iterable[tuple[str, int]] = (), *, since: int = 0) -> list[Step]:
    """Return all that was done since a moment, by its end; `requests` are digests, and when the provider noted them."""
    steps = [step for tape in sorted(tapes.glob("*.tape")) for step in _of_one(tape)]
    deaths = {step.pid: step.begins for step in steps if step.asked is None}
    steps += _calls(steps, requests, deaths)
    # What was staged before is still what is linked now.
    return sorted((each for each in steps if each.begins >= since or _is_staging(each)), key=_end)


def replay_steps(start: Tree, steps: list[Step], end: Tree | None = None) -> Replayed:
    """Run what many processes did through the model; `end` is what then stood, where that could be looked at."""
    trace, waiting, count = Trace(start), list(reversed(steps)), 0
    while waiting:
        why = _try(trace, waiting[-1])
        if not why:
            waiting.pop()
        elif not _go_on_elsewhere(trace, waiting):
            return Replayed(tuple(trace.events), Refusal(count, str(waiting[-1]), why))
        count += 1
    why = trace.differs() or ("" if end is None else _past_the_tape(trace, end))
    return Replayed(tuple(trace.events), Refusal(count, "the end", why) if why else None)


def _go_on_elsewhere(trace: Trace, waiting: list[Step]) -> bool:
    """Take one of those that may have come before the next one, and tell whether there was any."""
    until = waiting[-1].ends
    for at in range(len(waiting) - 2, max(-1, len(waiting) - _TOUCHING_MAX), -1):
        if waiting[at].begins < until and not _try(trace, waiting[at]):
            del waiting[at]
            return True
    return False


def _past_the_tape(trace: Trace, end: Tree) -> str:
    """Say which name of the model's stands on disk otherwise than the tapes tell, or nothing."""
    stands = {path: node.content for path, node in end.items() if _is_known(path) and node.content is not None}
    told = {path: content for path, content in trace.files.items() if _is_known(path)}
    strange = sorted(path for path in {*stands, *told} if stands.get(path) != told.get(path))
    return f"{strange[0]} stands otherwise than any tape tells" if strange else ""


def _is_known(path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern, _, _ in READERS)


def _try(trace: Trace, step: Step) -> str:
    return trace.tried(step.asked, step.pid)


def _end(step: Step) -> tuple[int, int]:
    return step.ends, step.begins


def _is_staging(step: Step) -> bool:
    return step.asked is not None and step.asked.verb is Verb.STAGE


def _of_one(tape: Path) -> Iterator[Step]:
    pid = int(tape.stem.partition("-")[0])
    begun: dict[int, tuple[Asked, int]] = {}
    for raw in tape.read_bytes().splitlines():
        line = json.loads(raw)
        if line["n"] == 0:
            yield _at_once(pid, line)
        elif "done" in line:
            asked, begins = begun.pop(line["n"])
            yield Step(begins, line["at"], pid, dataclasses.replace(asked, is_done=line["done"]))
        else:
            begun[line["n"]] = _asked(line), line["at"]
    # What a process that nobody marked as dead was about to do, when all was looked at.
    for asked, begins in begun.values():
        yield Step(begins, _FAR_NS, pid, dataclasses.replace(asked, is_done=False))


def _at_once(pid: int, line: Line) -> Step:
    at = line["at"]
    assert isinstance(at, int)
    return Step(at, at, pid, None if line["verb"] == "death" else _asked(line))


def _asked(line: Line) -> Asked:
    by, now = line.get("by", []), line.get("now", 0)
    assert isinstance(by, list)
    assert isinstance(now, int)
    return Asked(
        Verb(str(line["verb"])),
        _relative(str(line["path"])),
        tuple(Call(str(each), 0) for each in by),
        source=_relative(str(line.get("source", ""))),
        content=base64.b64decode(str(line.get("content", ""))),
        now=now,
        mark=Mark("lease", str(line["until"])) if "until" in line else None,
    )


def _relative(path: str) -> str:
    return path.rpartition(_AGENT)[2]


def _calls(steps: list[Step], requests: Iterable[tuple[str, int]], deaths: dict[int, int]) -> Iterator[Step]:
    """Yield the requests; those of the dead left before their death, whenever the provider noted them.

    The embedded reviewer asks nobody: its call is its dispatch.
    """
    staged = {step.asked.path: step.asked.content for step in steps if step.asked is not None and _is_staging(step)}
    sent: dict[str, list[Step]] = {}
    for step in sorted(steps, key=_end):
        if step.asked is None or step.asked.verb is not Verb.LINK or not step.asked.path.endswith(".1.json"):
            continue
        record = parse(staged.get(step.asked.source, b""))
        if text_of(record, "state") == "dispatched" and step.asked.is_done:
            digest = text_of(record, "requestDigest")
            if text_of(record, "provider") == "offline":
                yield _call(digest, step.pid, step.ends)
            else:
                sent.setdefault(digest, []).append(step)
    for digest, noted in sorted(requests, key=lambda each: each[1]):
        earlier = [step for step in sent.get(digest, []) if step.begins < noted]
        pid = earlier[-1].pid if earlier else 0
        if len(earlier) > 1:
            # Another process may have slept since its dispatch of the same: each dispatch has one call.
            sent[digest].remove(earlier[-1])
        yield _call(digest, pid, min(noted, deaths.get(pid, _FAR_NS) - 1))


def _call(digest: str, pid: int, at: int) -> Step:
    return Step(at, at, pid, Asked(Verb.MARK, "", (), mark=Mark("request", digest)))
