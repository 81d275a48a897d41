"""A plan's folder: what stands in it, and how it is written.

`plan.json` and `windows.json` are made once. `answers/`, `staged/`, `promotions/`, `rollbacks/` and `snapshots/` have one
immutable file a fact. `wish.json` alone is replaced. Who runs the plan holds `run.guard`; `run.pid` says which process
that is, for messages.

INVARIANT  What is published is durable when the call returns, and never changes. Proposals, and the answers that they
           were made of, go when their time is over; nothing else does before its plan.
CRASH      Each file stands whole or not at all; whoever comes next goes on from what stands.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, Final, TypeVar

from curator.durable.lock import try_kernel_lock
from curator.durable.publish import ensure_directory, publish, remove, replace, replace_lazily
from curator.durable.read import list_names, read_bounded, stamp_of
from curator.durable.records import publish_canonical, read_record
from curator.errors import BusyError, InvalidRecordError
from curator.model.digest import MalformedJsonError, compact, parse
from curator.model.limits import (
    CHECKPOINT_BYTES_MAX,
    JOURNAL_BYTES_MAX,
    LOCK_BYTES_MAX,
    PLAN_BYTES_MAX,
    PLAN_WINDOWS_BYTES_MAX,
    PLAN_WINDOWS_MAX,
    PROJECT_FILE_BYTES_MAX,
)
from curator.model.record import Record
from curator.tracks.backfill.errors import NoPlanError, PlanVersionError
from curator.tracks.backfill.records import Answer, Plan, PlanId, Promotion, Rollback, Staged, Windows, Wish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

_PLAN: Final = re.compile(r"plan_[0-9a-f]{16}")
_NUMBER: Final = re.compile(r"(\d{6})(?:\.(\d+))?\.json")
_NAMES_MAX: Final = 4 * PLAN_WINDOWS_MAX
R = TypeVar("R", bound=Record)


def is_plan_id(text: str) -> bool:
    """Tell whether a text has the form of a plan's id."""
    return _PLAN.fullmatch(text) is not None


def plan_ids(layout: Layout) -> tuple[PlanId, ...]:
    """Return every plan that stands, by id."""
    return tuple(PlanId(name) for name in list_names(layout.plans, _NAMES_MAX) if _PLAN.fullmatch(name))


def find_plan_id(layout: Layout, given: str) -> PlanId:
    """Return the plan that an id, or the head of one, names. Raises `NoPlanError` for none, or for several."""
    wanted = given.removeprefix("plan_")
    found = [each for each in plan_ids(layout) if wanted and each.removeprefix("plan_").startswith(wanted)]
    if len(found) == 1:
        return found[0]
    fact = f"{given}: no such plan" if not found else f"{given}: {len(found)} plans begin so"
    raise NoPlanError(fact)


class PlanShelf:
    """One plan's folder."""

    def __init__(self, volume: Volume, layout: Layout, plan_id: PlanId) -> None:
        """Open it; nothing is read yet."""
        self._volume = volume
        self.id = plan_id
        self.layout = layout.plan(plan_id)

    # The plan, and what a person wants of it.

    def plan(self) -> Plan:
        """Return the plan. Raises `NoPlanError`, `PlanVersionError` for another release's, or `InvalidRecordError`."""
        path = self.layout.plan
        raw = read_bounded(path, PLAN_BYTES_MAX, private=True)
        if raw is None:
            fact = f"{self.id}: no such plan"
            raise NoPlanError(fact)
        try:
            value = parse(raw)
        except MalformedJsonError as error:
            raise InvalidRecordError(path, str(error)) from error
        if not isinstance(value, dict) or value.get("version") != 1:
            fact = f"{self.id}: this plan was made by another release"
            raise PlanVersionError(fact)
        plan = read_record(path, Plan, PLAN_BYTES_MAX, private=True)
        assert plan is not None
        if plan.id != self.id:
            raise InvalidRecordError(path, "holds another plan than its folder says")
        return plan

    def keep(self, plan: Plan) -> None:
        """Freeze a plan."""
        self._publish(self.layout.plan, plan)

    def wish(self) -> Wish | None:
        """Return what a person wants of the plan, if anybody has said it."""
        return read_record(self.layout.wish, Wish, JOURNAL_BYTES_MAX, private=True)

    def want(self, wish: Wish) -> None:
        """Put a person's word down."""
        replace(self._volume, self.layout.wish, (compact(wish.encode()) + "\n").encode())

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one who works on the plan. Raises `BusyError` naming the process of whoever does."""
        pid = self.layout.pid
        lock = try_kernel_lock(self.layout.guard)
        if lock is None:
            other = self.runner()
            fact = f"{self.id} is already running" + (f", in process {other}" if other else " elsewhere")
            raise BusyError(fact, remedy=f"Wait for it, or end it with `curator backfill pause {self.id}`")
        try:
            replace_lazily(self._volume, pid, f"{os.getpid()}\n".encode())
            yield
        finally:
            self._volume.unlink(pid)
            lock.release()

    def runner(self) -> int | None:
        """Return the process that said it works on the plan."""
        raw = read_bounded(self.layout.pid, LOCK_BYTES_MAX)
        text = "" if raw is None else raw.decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else None

    def is_running(self) -> bool:
        """Tell whether somebody works on the plan now."""
        if stamp_of(self.layout.guard) is None:
            return False
        lock = try_kernel_lock(self.layout.guard)
        if lock is not None:
            lock.release()
        return lock is None

    # What a run makes.

    def windows(self) -> Windows | None:
        """Return the plan's windows, once its files are indexed; durable, and may be built on."""
        return self._durable(self.layout.windows, Windows, PLAN_WINDOWS_BYTES_MAX)

    def keep_windows(self, windows: Windows) -> None:
        """Freeze the windows."""
        self._publish(self.layout.windows, windows)

    def answers_to(self, window: int) -> tuple[Answer, ...]:
        """Return what the calls about a window brought, oldest first; durable, and may be built on."""
        names = [name for name in self._names(self.layout.answers) if name.startswith(f"{window:06}.")]
        return tuple(self._all(self.layout.answers, names, Answer))

    def all_answers(self) -> Iterator[Answer]:
        """Yield what every call brought."""
        return self._all(self.layout.answers, self._names(self.layout.answers), Answer)

    def keep_answer(self, answer: Answer) -> None:
        """Make an answer durable."""
        self._publish(self.layout.answer(answer.window, answer.attempt), answer)

    def staged_numbers(self) -> frozenset[int]:
        """Return the windows that have come to something, by the names alone."""
        return frozenset(int(name[:6]) for name in self._names(self.layout.staged))

    def proposals(self) -> tuple[Staged, ...]:
        """Return what is staged, in the order of the windows; durable, and may be built on."""
        return tuple(self._all(self.layout.staged, self._names(self.layout.staged), Staged))

    def stage(self, staged: Staged) -> None:
        """Stage what a window came to."""
        self._publish(self.layout.proposal(staged.window), staged)

    # What a promotion makes.

    def all_promotions(self) -> tuple[Promotion, ...]:
        """Return every promotion that was begun, in order; durable, and may be built on."""
        return tuple(
            self._all(self.layout.promotions, self._names(self.layout.promotions), Promotion, PROJECT_FILE_BYTES_MAX)
        )

    def keep_promotion(self, promotion: Promotion) -> None:
        """Put a promotion down, before it begins."""
        self._publish(self.layout.promotion(promotion.number), promotion)

    def snapshot(self, number: int) -> bytes | None:
        """Return the bytes of the branch's file before a promotion."""
        return read_bounded(self.layout.snapshot(number), PROJECT_FILE_BYTES_MAX, private=True)

    def keep_snapshot(self, number: int, data: bytes) -> None:
        """Keep the bytes of the branch's file; a snapshot without its promotion is put in its place."""
        path = self.layout.snapshot(number)
        ensure_directory(self._volume, self.layout.snapshots)
        standing = self.snapshot(number)
        if standing is not None and standing != data:
            # Whoever took it died before it promoted anything.
            replace(self._volume, path, data)
            return
        publish(self._volume, path, data)

    def rollback(self, number: int) -> Rollback | None:
        """Return how a promotion was taken back, if it was."""
        return self._durable(self.layout.rollback(number), Rollback, JOURNAL_BYTES_MAX)

    def keep_rollback(self, rollback: Rollback) -> None:
        """Put down that a promotion was taken back."""
        self._publish(self.layout.rollback(rollback.number), rollback)

    # What goes.

    def forget_proposals(self) -> int:
        """Let go what was staged, and what it was made of; return how many files went."""
        gone = 0
        for folder in (self.layout.staged, self.layout.answers):
            names = list_names(folder, _NAMES_MAX)
            gone += sum(self._volume.unlink(folder / name) for name in names)
            if names:
                self._volume.sync_directory(folder)
        return gone

    def erase(self) -> None:
        """Remove the plan and all that was made of it; its own record last, so that a cut erasing is done again."""
        for folder in self.layout.folders:
            for name in list_names(folder, _NAMES_MAX):
                self._volume.unlink(folder / name)
            if stamp_of(folder) is not None:
                self._volume.sync_directory(folder)
                self._volume.remove_directory(folder)
        for name in sorted(list_names(self.layout.root, _NAMES_MAX), key=lambda each: each == self.layout.plan.name):
            remove(self._volume, self.layout.root / name)
        if self._volume.remove_directory(self.layout.root):
            self._volume.sync_directory(self.layout.root.parent)

    def size(self) -> int:
        """Return how many bytes stand in the folder."""
        total = 0
        for folder, _, names in os.walk(self.layout.root):
            for name in names:
                stamp = stamp_of(f"{folder}/{name}")
                total += 0 if stamp is None else stamp.size
        return total

    def _publish(self, path: Path, record: Record) -> None:
        ensure_directory(self._volume, path.parent)
        publish_canonical(self._volume, path, record, hidden=False)

    def _names(self, folder: Path) -> list[str]:
        return [name for name in list_names(folder, _NAMES_MAX) if _NUMBER.fullmatch(name)]

    def _durable(self, path: Path, cls: type[R], limit: int) -> R | None:
        record = read_record(path, cls, limit, private=True)
        if record is not None:
            # Its writer may have died between its link and its flush, and more is built on it.
            self._volume.sync_directory(path.parent)
        return record

    def _all(self, folder: Path, names: list[str], cls: type[R], limit: int = CHECKPOINT_BYTES_MAX) -> Iterator[R]:
        if names:
            self._volume.sync_directory(folder)
        for name in names:
            record = read_record(folder / name, cls, limit, private=True)
            if record is not None:
                yield record
