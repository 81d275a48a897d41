"""The memory of one project: branches, revisions, and the admissions that change them (interop.md 8 and 9).

Every change is begun by a durable intent and rolled forward by the admission table, whoever comes next: this process,
another worker, or the extension, which does the same on its every read.

INVARIANT  A branch is only ever replaced by the frozen result of a durable intent whose base it was, or by an undo under
           the same compare-and-swap. An intent rolls forward to the same bytes.
CRASH      Intent, branch, revision, completion, receipt, tombstone: what is missing next is written next.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.durable.lock import protocol_domain
from curator.durable.publish import ensure_directory, publish, replace
from curator.durable.read import read_bounded
from curator.durable.records import bytes_of, publish_canonical
from curator.errors import ConflictError, InvalidRecordError, RefusedError, UnmatchedStateError
from curator.machine.admission import Seen, Step, next_step
from curator.model.admission import Intent, Receipt, completion_of, tombstone_of
from curator.model.digest import pretty
from curator.model.ids import BranchName, JobId
from curator.model.limits import INTENTS_MAX, PROJECT_FILE_BYTES_MAX
from curator.model.memory import (
    Branch,
    Revision,
    Undo,
    empty_branch,
    revision_filename,
)
from curator.model.project import Project
from curator.model.times import iso
from curator.store.memory.archive import Archive, branch_bytes
from curator.store.memory.history import next_sequence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.layout import ProjectLayout
    from curator.durable.volume import Volume
    from curator.model.ports import Clock

_LIMIT: Final = PROJECT_FILE_BYTES_MAX


class ProjectStore(Archive):
    """One project's memory; the real one, or the one of shadow mode."""

    def __init__(self, volume: Volume, layout: ProjectLayout, clock: Clock) -> None:
        """Open the store; nothing is read yet."""
        super().__init__(layout)
        self._volume = volume
        self._clock = clock
        self._domain = protocol_domain("project", layout.lock)
        self._completed: set[JobId] = set()
        """Changes whose completion was published, and flushed, here; each until its receipt."""

    def initialise(self, project: Project) -> None:
        """Create what a project's memory needs, where it is missing. Raises `ConflictError` for another root or key."""
        now = iso(self._clock.now())
        for folder in (self.layout.branches, self.layout.reviews, self.layout.retired):
            ensure_directory(self._volume, folder)
        with self._domain.hold():
            standing = self.project()
            if standing is not None and standing != project:
                raise ConflictError(self.layout.project_json, f"belongs to another folder than {project.root}")
            wanted: tuple[tuple[Path, object], ...] = (
                (self.layout.project_json, project.encode(now)),
                (self.layout.branch(BranchName("main")), empty_branch(BranchName("main"), now).encode()),
                (self.layout.reviews / "main.json", _cadence()),
            )
            for path, value in wanted:
                if read_bounded(path, _LIMIT) is None:
                    publish(self._volume, path, pretty(value).encode())  # type: ignore[arg-type]  # each is JSON

    def seed(self, branch: Branch) -> None:
        """Start a branch as a copy, where none stands: how shadow mode begins."""
        ensure_directory(self._volume, self.layout.branches)
        with self._domain.hold():
            if self.branch(branch.name) is None:
                publish(self._volume, self.layout.branch(branch.name), branch_bytes(branch))

    def current(self, name: BranchName) -> Branch | None:
        """Return a branch that no begun mutation is about to change: fit to be judged against."""
        with self._domain.hold():
            self._roll_pending(name)
            return self.branch(name)

    def flush_branches(self) -> None:
        """Make durable what `current` returned: it may be another's rename that is not flushed yet."""
        self._volume.sync_directory(self.layout.branches)

    def admit(self, job_id: JobId, name: BranchName, freeze: Callable[[Branch, int], Intent]) -> Step:
        """Begin a job's mutation, if it has not begun, and roll it forward as far as the project can.

        `freeze` makes the intent from the branch as it stands and the next revision's sequence. Returns the step that
        comes next outside the project's own files, or DONE. Raises `UnmatchedStateError` where the table fails closed.
        """
        for folder in (self.layout.branches, self.layout.admissions):
            ensure_directory(self._volume, folder)
        is_ours = False
        with self._domain.hold():
            seen, begun = self.look(job_id)
            if self._step(job_id, seen) is Step.DECIDE:
                self._roll_pending(name)
                branch = self.branch(name)
                if branch is None:
                    raise InvalidRecordError(self.layout.branch(name), "is not there, and its job needs it")
                intent = freeze(branch, next_sequence(self.layout.revisions(name), name))
                self._volume.sync_directory(self.layout.branches)
                publish(self._volume, self.layout.intent(job_id), bytes_of(intent, pretty))
                seen, begun, is_ours = self.look_at_begun(seen, intent), intent, True
            return self._roll(job_id, (seen, begun), is_ours=is_ours)

    def finish(self, receipt: Receipt) -> Step:
        """Publish the receipt, compact the intent to its tombstone, and remove what it leaves."""
        path = self.layout.receipt(receipt.proposal_id)
        ensure_directory(self._volume, path.parent)
        with self._domain.hold():
            seen, intent = self.look(receipt.proposal_id)
            step = self._step(receipt.proposal_id, seen)
            is_ours = step in (Step.RECEIPT, Step.REBUILD_RECEIPT)
            if is_ours:
                if step is Step.REBUILD_RECEIPT or receipt.proposal_id not in self._completed:
                    self._flush_ground(receipt.proposal_id, step)
                publish_canonical(self._volume, path, receipt)
                seen = dataclasses.replace(seen, receipt=self.receipt(receipt.proposal_id) is not None)
            self._completed.discard(receipt.proposal_id)
            return self._roll(receipt.proposal_id, (seen, intent), is_ours=is_ours)

    def roll_pending(self) -> tuple[JobId, ...]:
        """Roll every begun mutation forward to its completion; return those that now wait for their receipt.

        Raises why one cannot be rolled forward, after all others were.
        """
        with self._domain.hold():
            self._roll_pending(None)
            for job_id in self.strays():
                self._roll(job_id)
        return self.pending()

    def sight_at_rest(self, job_id: JobId) -> Seen:
        """Return how a job's admission stands when nobody is about to take a step of it."""
        if not self.layout.lock.parent.is_dir():
            # Nobody holds a lock in a folder that is not there.
            return self.sight(job_id)
        with self._domain.hold():
            return self.sight(job_id)

    def give_up(self, job_id: JobId, move: Callable[[Path], None], *, is_undecided: bool = False) -> None:
        """Have a begun change that nothing can finish moved away: the intent first, as at its retirement.

        `is_undecided` says that its decision is gone, so that its receipt can never be made. Raises `RefusedError` for
        one that goes on by itself, and `InvalidRecordError` where memory itself is damaged: that is to be mended first.
        """
        with self._domain.hold():
            if self._can_go_on(job_id, is_undecided=is_undecided):
                raise RefusedError(
                    f"{self.layout.intent(job_id)}: this change can be finished, and the next run does it"
                )
            move(self.layout.intent(job_id))
            move(self.layout.completion(job_id))

    def undo(self, name: BranchName, invert: Callable[[Branch, tuple[Revision, ...]], tuple[Branch, Undo]]) -> Branch:
        """Take a review back: `invert` makes the new branch and the undo revision, or raises why it cannot."""

        def written(branch: Branch, history: tuple[Revision, ...]) -> tuple[bytes, Undo]:
            after, revision = invert(branch, history)
            made.append(after)
            return branch_bytes(after), revision

        made: list[Branch] = []
        self.restore(name, written)
        return made[-1]

    def restore(self, name: BranchName, revert: Callable[[Branch, tuple[Revision, ...]], tuple[bytes, Undo]]) -> None:
        """Make a branch's file these bytes again: `revert` gives them and the undo revision, or raises why it cannot."""
        with self._domain.hold():
            self._roll_pending(name)
            branch = self.branch(name)
            if branch is None:
                raise InvalidRecordError(self.layout.branch(name), "is not there")
            data, revision = revert(branch, self.revisions(name))
            replace(self._volume, self.layout.branch(name), data)
            path = self.layout.revisions(name) / revision_filename(revision.sequence, revision.id)
            publish(self._volume, path, pretty(revision.encode()).encode())

    # The table, step by step; the lock is held.

    def _can_go_on(self, job_id: JobId, *, is_undecided: bool) -> bool:
        try:
            step = next_step(self.sight(job_id))
        except ConflictError:
            return False
        except InvalidRecordError as error:
            if error.path.parent != self.layout.admissions:
                raise
            return False
        return step is not None and not (is_undecided and step is Step.RECEIPT)

    def _roll_pending(self, name: BranchName | None) -> None:
        """Roll all forward; raise why one cannot be, if it may be about to change the branch `name` (None: any)."""
        jobs = self.pending()
        if len(jobs) > INTENTS_MAX:
            raise InvalidRecordError(self.layout.admissions, f"holds more than {INTENTS_MAX} begun changes")
        stuck: list[InvalidRecordError | ConflictError | UnmatchedStateError] = []
        for job_id in jobs:
            try:
                self._roll(job_id)
            except (InvalidRecordError, ConflictError, UnmatchedStateError) as error:
                if name is None or self._may_change(job_id, name):
                    stuck.append(error)
        if stuck:
            raise stuck[0]

    def _may_change(self, job_id: JobId, name: BranchName) -> bool:
        try:
            intent = self.intent(job_id)
        except InvalidRecordError:
            return True
        return intent is not None and intent.branch_name == name

    def _roll(self, job_id: JobId, known: tuple[Seen, Intent | None] | None = None, *, is_ours: bool = False) -> Step:
        """Take step after step, from what is `known` in this hold of the lock.

        `is_ours` says that what the first one builds on was flushed in it.
        """
        taken: list[Step] = []
        seen, intent = self.look(job_id) if known is None else known
        while True:
            step = self._step(job_id, seen)
            if step in (Step.DECIDE, Step.RECEIPT, Step.REBUILD_RECEIPT, Step.DONE):
                if Step.COMPLETE in taken:
                    self._completed.add(job_id)
                if step is Step.DONE and not taken and not is_ours:
                    # Whoever hears that it is done builds on the receipt.
                    self._flush_ground(job_id, step)
                return step
            if step in taken:
                fact = f"{self.layout.intent(job_id)}: {step} was done, and is due again: the disk does not keep it"
                raise UnmatchedStateError(fact, remedy="Run `curator doctor`")
            if not taken and not is_ours:
                self._flush_ground(job_id, step)
            self._take(job_id, step, intent)
            taken.append(step)
            seen = self.look(job_id)[0] if intent is None else self.look_after(step, seen, intent)

    def _flush_ground(self, job_id: JobId, step: Step) -> None:
        """Flush what a step builds on: what stands when we come may be a dead writer's, not flushed yet.

        Without it a power cut could take back the branch and leave its revision, which no row of the table is about.
        """
        layout = self.layout
        if step is Step.COMPLETE:
            intent = self.intent(job_id)
            ground = (
                layout.admissions if intent is None or intent.revision is None else layout.revisions(intent.branch_name)
            )
        else:
            ground = {
                Step.WRITE_BRANCH: layout.admissions,
                Step.WRITE_REVISION: layout.branches,
                Step.RECEIPT: layout.admissions,
                Step.RETIRE: layout.receipts,
                Step.REMOVE: layout.retired,
                Step.REBUILD_RECEIPT: layout.retired,
                Step.DONE: layout.receipts,
            }[step]
        self._volume.sync_directory(ground)

    def _take(self, job_id: JobId, step: Step, intent: Intent | None) -> None:
        volume, layout = self._volume, self.layout
        if step is Step.REMOVE:
            volume.unlink(layout.intent(job_id))
            # Also if it was gone: to Pi an intent that comes back without its completion is a change to be made.
            volume.sync_directory(layout.admissions)
            # Not flushed: a completion that comes back alone is known by its tombstone and its receipt, and goes again.
            volume.unlink(layout.completion(job_id))
            return
        assert intent is not None
        if step is Step.WRITE_BRANCH:
            replace(volume, layout.branch(intent.branch_name), branch_bytes(intent.after_branch))
        elif step is Step.WRITE_REVISION:
            assert intent.revision is not None
            folder = layout.revisions(intent.branch_name)
            ensure_directory(volume, folder)
            publish(volume, folder / intent.revision.filename, intent.revision.content.encode())
        elif step is Step.COMPLETE:
            publish(volume, layout.completion(job_id), bytes_of(completion_of(intent), pretty))
        else:
            assert step is Step.RETIRE
            ensure_directory(volume, layout.retired)
            tombstone = tombstone_of(intent, iso(self._clock.now()))
            publish(volume, layout.tombstone(job_id), bytes_of(tombstone, pretty))

    def _step(self, job_id: JobId, seen: Seen) -> Step:
        step = next_step(seen)
        if step is None:
            path = self.layout.intent(job_id)
            fact = f"{path}: memory stands neither where this change began nor where it leads"
            remedy = (
                "Nothing was changed. Put back the branch as the intent found it, or as its afterBranch says; "
                "or run `curator doctor --fix --yes`, which sets this change aside"
            )
            raise UnmatchedStateError(fact, remedy=remedy)
        return step


def _cadence() -> dict[str, object]:
    """Return the extension's own state before its first review: created if missing, never updated by curator."""
    return {"version": 1, "turnsSinceReview": 0, "signalScore": 0, "consecutiveFailures": 0, "generation": 0}
