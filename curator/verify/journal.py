"""The attempt journal: each attempt's steps, in order, of one attempt, and agreeing with what was said and paid.

Attempts are met shard by shard over all days, so that memory holds one part in 256 of them.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.ids import DAY_PATTERN, Day
from curator.model.limits import CHECKPOINT_BYTES_MAX, JOURNAL_BYTES_MAX, RUNNING_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.shape import Fields, differing, fields_of, number_of, tagged, text_of
from curator.verify.shapes.attempts import ATTEMPT_FACTS, CARRY, SENT_FACTS, STEPS, nano
from curator.verify.shapes.jobs import RESULT, RUNNING
from curator.verify.spool import is_over, live_job

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.verify.shape import Rule
    from curator.verify.tree import Tree

Steps: TypeAlias = dict[int, Fields]

STEP_NAME: Final = re.compile(r"(review_attempt_[0-9a-f]{40})\.([0-3])\.json")
CARRY_NAME: Final = re.compile(r"legacy\.[0-9a-f]{24}\.json")
_SHARD: Final = re.compile(r"[0-9a-f]{2}")
RULES: Final[tuple[Rule, ...]] = tuple(tagged("state", states) for states in STEPS)
_END: Final = 2
_CORRECTION: Final = 3


class Journal:
    """Looks attempts up by id; the day is found from a hint, for the name does not tell it."""

    def __init__(self, tree: Tree) -> None:
        """Look into a tree's journal."""
        self._tree = tree
        self._root = tree.layout.attempts

    def days(self) -> list[Day]:
        """Return the days that the journal has."""
        return [Day(name) for name in self._tree.names(self._tree.layout.attempts) if DAY_PATTERN.fullmatch(name)]

    def is_whole(self) -> bool:
        """Tell whether each attempt of it has its own files: no day is closed, and no name is unknown."""
        if any(not DAY_PATTERN.fullmatch(name) for name in self._tree.names(self._root)):
            return False
        days = (self._tree.names(self._root / day) for day in self.days())
        return all(_SHARD.fullmatch(name) or CARRY_NAME.fullmatch(name) for names in days for name in names)

    def find(self, attempt_id: str, hint: str) -> Steps | None:
        """Return an attempt's readable steps: of the hinted day, else of the days before it, else of any."""
        days = self.days()
        for day in sorted(days, key=lambda each: (each > hint, _apart(each, hint))):
            steps = self.steps(day, attempt_id)
            if steps:
                return steps
        return None

    def steps(self, day: str, attempt_id: str) -> Steps:
        """Return the readable steps of an attempt of a day."""
        found = ((n, self._tree.find(self.path(day, attempt_id, n), rule, JOURNAL_BYTES_MAX)) for n, rule in _STEPS)
        return {n: fields for n, fields in found if fields is not None}

    def is_closed(self, day: str) -> bool:
        """Tell whether a day stands in one file, so that what is left of its folder proves little."""
        return self._tree.stands(self._root / f"{day}.closed.json")

    def path(self, day: str, attempt_id: str, step: int) -> Path:
        """Return where a step stands."""
        shard = attempt_id.removeprefix("review_attempt_")[:2]
        return self._root.joinpath(day, shard, f"{attempt_id}.{step}.json")


_STEPS: Final = tuple(enumerate(RULES))


def latest(steps: Steps) -> Fields:
    """Return what the highest step says."""
    return steps[max(steps)]


def check_journal(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with any attempt."""
    journal = Journal(tree)
    days = [day for day in journal.days() if not journal.is_closed(day)]
    for day in days:
        folder = tree.layout.attempts / day
        for name in tree.names(folder):
            if CARRY_NAME.fullmatch(name):
                path = folder / name
                yield from tree.judge(path, CARRY, JOURNAL_BYTES_MAX, _carry)
    for shard in (f"{number:02x}" for number in range(256)):
        seen: dict[str, Day] = {}
        for day in days:
            folder = tree.layout.attempts / day / shard
            names = [match for name in tree.names(folder) if (match := STEP_NAME.fullmatch(name))]
            for match in names:
                attempt_id, step = match.group(1), int(match.group(2))
                path = folder / match.group()
                yield from tree.judge(
                    path,
                    RULES[step],
                    JOURNAL_BYTES_MAX,
                    partial(_step, tree, journal, step),
                )
                if seen.setdefault(attempt_id, day) != day:
                    yield error(path, f"is of an attempt that stands under {seen[attempt_id]} too")


def _apart(day: str, hint: str) -> int:
    """Rank days by their distance to a hint, roughly: exact enough to look at the likely ones first."""
    return abs(int(day.replace("-", "")) - int(hint.replace("-", "") or "0"))


def _carry(path: Path, carry: Fields) -> Iterator[Finding]:
    if carry["day"] != path.parent.name:
        yield error(path, "holds another day than its folder says")


def _step(tree: Tree, journal: Journal, step: int, path: Path, fields: Fields) -> Iterator[Finding]:
    """Judge one step by its name and the steps below it."""
    day, shard = path.parent.parent.name, path.parent.name
    attempt_id = text_of(fields, "id")
    if path.name != f"{attempt_id}.{step}.json" or fields["day"] != day:
        yield error(path, "holds another attempt than its name says")
        return
    if attempt_id.removeprefix("review_attempt_")[:2] != shard:
        yield error(path, "stands in another attempt's folder")
        return
    steps = journal.steps(day, attempt_id)
    below = [steps[n] for n in sorted(steps) if n < step]
    for other in below:
        key = differing(fields, other, ATTEMPT_FACTS)
        if key is not None:
            yield error(path, f"differs from an earlier step of its attempt in {key}")
    if fields["origin"] != "adopted" and step == 0 and text_of(fields, "reservedAt")[:10] != day:
        yield error(path, "stands under another day than it was reserved on")
    yield from _order(journal, path, step, fields, steps)
    if step in (1, 2) and "provenance" in fields:
        yield from _charge(path, fields)
    if step == max(steps, default=step):
        yield from _rest(tree, path, steps | {step: fields})


def _order(journal: Journal, path: Path, step: int, fields: Fields, steps: Steps) -> Iterator[Finding]:
    is_ours = fields["origin"] != "adopted"
    day, attempt_id = path.parent.parent.name, text_of(fields, "id")

    def is_missing(number: int) -> bool:
        return number not in steps and not journal_stands(journal, day, attempt_id, number)

    if is_ours and step > 0 and is_missing(0):
        yield error(path, "has no reservation")
    if step > 1 and is_ours and is_missing(1):
        yield error(path, "was never dispatched")
    if step > 1 and text_of(steps.get(1, {}), "state") == "cancelled":
        yield error(path, "ends an attempt that was cancelled")
    if step == _END and text_of(steps.get(1, {}), "state") == "dispatched":
        key = differing(fields, steps[1], SENT_FACTS)
        if key is not None:
            yield error(path, f"differs from its dispatch in {key}")
    if step == _CORRECTION:
        if is_missing(_END):
            yield error(path, "corrects an attempt of which nothing else stands")
        elif _END in steps and steps[_END]["state"] != "unknown":
            yield error(path, "corrects an attempt that was not unknown")


def journal_stands(journal: Journal, day: str, attempt_id: str, step: int) -> bool:
    """Tell whether a step's name is taken, readable or not."""
    return journal.path(day, attempt_id, step).is_file()


def _charge(path: Path, settled: Fields) -> Iterator[Finding]:
    """Compare what was charged with what it was charged for."""
    usage = fields_of(fields_of(settled, "provenance"), "usage")
    if settled["isEstimated"]:
        wanted = (settled["holdTokens"], settled["holdCostNanousd"])
    else:
        wanted = (usage["totalTokens"], nano(fields_of(usage, "cost")))
    if (settled["chargedTokens"], settled["chargedCostNanousd"]) != wanted:
        yield error(path, "charges something else than it was charged for")


def _rest(tree: Tree, path: Path, steps: Steps) -> Iterator[Finding]:
    """Compare an attempt as it stands with its job, its base and its result."""
    last = latest(steps)
    job_id, state = text_of(last, "jobId"), text_of(last, "state")
    if not job_id:
        return
    if state in ("reserved", "dispatched"):
        running = tree.find(tree.layout.running / f"{job_id}.json", RUNNING, RUNNING_BYTES_MAX)
        if running is None or running["leaseToken"] != last["leaseToken"]:
            yield pending(path, "is open, and no claim of it lives: the next start closes it")
    result = tree.find(tree.layout.results / job_id / f"{text_of(last, 'id')}.json", RESULT, CHECKPOINT_BYTES_MAX)
    yield from _base(tree, path, last, result is not None)
    if result is not None:
        yield from _compare(path, last, state, result)


def _base(tree: Tree, path: Path, last: Fields, has_result: bool) -> Iterator[Finding]:  # noqa: FBT001 - a fact
    """Look for the base of an attempt that may still be elected: one with a result, or that of the running claim.

    Others may come from a journal that outlived its jobs' records: after a restore it knows more than they do.
    """
    base, job_id = last.get("baseBranchDigest"), text_of(last, "jobId")
    job = live_job(tree, job_id)
    if base is None or job is None or job["digest"] != last["jobDigest"] or is_over(tree, job_id):
        return
    running = tree.find(tree.layout.running / f"{job_id}.json", RUNNING, RUNNING_BYTES_MAX)
    is_claimed = running is not None and running["leaseToken"] == last["leaseToken"]
    is_kept = base == job["baseBranchDigest"] or tree.stands(tree.layout.bases / job_id / f"{base}.json")
    if (has_result or is_claimed) and not is_kept:
        yield error(path, "names a base that is not there")


def _compare(path: Path, last: Fields, state: str, result: Fields) -> Iterator[Finding]:
    """Compare an attempt with its checkpoint."""
    if fields_of(result, "job")["digest"] != last["jobDigest"]:
        yield error(path, "is of another job than its result")
        return
    provenance = fields_of(fields_of(result, "outcome"), "provenance")
    is_ours = last["origin"] != "adopted"
    if not provenance:
        if state == "settled" and is_ours:
            yield error(path, "is settled, and its result tells no usage")
    elif state in ("settled", "corrected"):
        yield from _compare_usage(path, last, provenance)
    elif state == "cancelled":
        yield error(path, "is cancelled, and its result tells that it was sent")
    elif state == "reserved" and is_ours:
        yield error(path, "was never dispatched, and its result tells that it was sent")
    elif state != "unknown":
        yield pending(path, "has its result, and is not settled yet")
    elif number_of(fields_of(provenance, "usage"), "totalTokens"):
        yield pending(path, "has its result, and is not corrected yet")


def _compare_usage(path: Path, last: Fields, provenance: Fields) -> Iterator[Finding]:
    usage = fields_of(provenance, "usage")
    if last["state"] == "corrected":
        if last["source"] == "late-result" and last["chargedTokens"] != usage["totalTokens"]:
            yield error(path, "is corrected by another usage than its result's")
        return
    kept = fields_of(last, "provenance")
    # Of an adopted attempt the day file tells, and that may spell the rest otherwise.
    if kept != provenance if last["origin"] != "adopted" else fields_of(kept, "usage") != usage:
        yield error(path, "is settled by another usage than its result's")
