"""Promote what a plan staged: one diff for one branch, cut into revisions, each admitted as a job's change is.

A promotion is a change of its own: its job says which plan and which windows, its decision proposes nothing by itself,
and its intent brings the folded branch. So whoever finds it begun, this process, another or Pi, rolls it forward.

INVARIANT  The branch's own bytes, then the promotion, are durable before its decision; the branch is only replaced where
           it still stands as the promotion found it.
CRASH      A promotion without its closing record is gone on with before another begins: it is made once, and the same.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.durable.read import read_bounded
from curator.errors import ConflictError, InvalidRecordError, RefusedError
from curator.model.admission import Admitted
from curator.model.closing import Closing
from curator.model.decision import ProviderResult
from curator.model.digest import MalformedJsonError, digest_of_text, parse
from curator.model.ids import LeaseToken, RevisionId, attempt_id, session_key
from curator.model.job import make_job
from curator.model.limits import MEMORY_CHARS_MAX, MESSAGES_MAX, PROJECT_FILE_BYTES_MAX
from curator.model.memory import EPOCH, Review, Undo, branch_digest, changes_between, empty_branch, read_branch
from curator.model.outcome import Completed, Cost, Provenance, Usage, proposal_digest
from curator.model.project import Project
from curator.model.record import Violation
from curator.model.text import sanitize
from curator.model.times import iso
from curator.tracks.backfill.fold import fold
from curator.tracks.backfill.records import Promotion
from curator.workflow.admission import Frozen, roll_forward
from curator.workflow.projects import refuse_excluded
from curator.workflow.stuck import was_given_up

if TYPE_CHECKING:
    from curator.model.ids import JobId
    from curator.model.job import Job
    from curator.model.memory import Branch
    from curator.tracks.backfill.fold import Part
    from curator.tracks.backfill.records import Plan
    from curator.tracks.backfill.shelf import PlanShelf
    from curator.workflow.shop import Shop

_NOTHING: Final = Usage(
    input=0,
    output=0,
    cache_read=0,
    cache_write=0,
    total_tokens=0,
    cost=Cost(input=0, output=0, cache_read=0, cache_write=0, total=0),
)
_MESSAGE_CHARS: Final = 300


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """A promotion that was begun, and how it stands."""

    promotion: Promotion
    job_id: JobId
    closing: Closing | None
    """None while it is not over."""
    is_undone: bool

    @property
    def holds(self) -> bool:
        """Whether its change is part of memory's history, and was not taken back."""
        return self.closing is not None and self.closing.status == "applied" and not self.is_undone


@dataclasses.dataclass(frozen=True, slots=True)
class Proposal:
    """What promoting a plan would do, part by part."""

    promoted: tuple[Done, ...]
    """Parts that are in memory already."""
    parts: tuple[Part, ...]
    """Those that are to come, each changing something."""
    idle: tuple[int, ...]
    """Windows whose proposals change nothing."""
    left_out: tuple[str, ...]


def propose(plan: Plan, shelf: PlanShelf, shop: Shop) -> Proposal:
    """Fold what is staged and not promoted onto the branch as it stands. Changes nothing."""
    done = promotions(plan, shelf, shop)
    promoted = tuple(each for each in done if each.holds)
    settled = {window for each in promoted for window in each.promotion.windows}
    staged = [each for each in shelf.proposals() if each.window not in settled and each.operations]
    parts = fold(_foldable(plan, shop), staged, iso(shop.clock.now()))
    return Proposal(
        promoted=promoted,
        parts=tuple(part for part in parts if part.changes),
        idle=tuple(window for part in parts if not part.changes for window in part.windows),
        left_out=tuple(reason for part in parts for reason in part.left_out),
    )


def begin_memory(plan: Plan, shop: Shop) -> None:
    """Make the project's memory, where it has none: Pi had not been opened there since the extension came."""
    memory = shop.memory(plan.project_key, "external")
    if memory.project() is None:
        memory.initialise(Project(plan.project_root, plan.project_key))


def promote(plan: Plan, shelf: PlanShelf, shop: Shop, part: Part) -> Done:
    """Make one part's change of memory, or raise `RefusedError` where memory moved meanwhile.

    What an earlier process began is finished first; then `part` is of another branch state, and that raises too.
    """
    refuse_excluded(shop, plan.project_key)
    finish_begun(plan, shelf, shop)
    number = len(shelf.all_promotions()) + 1
    path = shop.layout.project(plan.project_key).branch(plan.branch_name)
    data = read_bounded(path, PROJECT_FILE_BYTES_MAX, follow=True)
    base = branch_digest(part.before)
    if data is None or branch_digest(_parsed(data, plan, shelf)) != base:
        raise _moved(plan)
    now = shop.clock.now()
    promotion = Promotion(
        plan_id=plan.id,
        number=number,
        windows=part.windows,
        committed_at=iso(now),
        base_digest=base,
        after=part.after,
        revision_id=RevisionId(shop.chance.uuid()),
        left_out=tuple(sanitize(each)[:_MESSAGE_CHARS] for each in part.left_out[: MESSAGES_MAX - 1]),
    )
    shelf.keep_snapshot(number, data)
    shelf.keep_promotion(promotion)
    done = _carry_out(promotion, plan, shop)
    if not done.holds:
        raise _moved(plan)
    return done


def finish_begun(plan: Plan, shelf: PlanShelf, shop: Shop) -> int:
    """Go on with promotions that a crash cut off; return how many there were."""
    begun = [each for each in promotions(plan, shelf, shop) if each.closing is None]
    for each in begun:
        _carry_out(each.promotion, plan, shop)
    return len(begun)


def promotions(plan: Plan, shelf: PlanShelf, shop: Shop) -> tuple[Done, ...]:
    """Return every promotion of a plan, in order, and how it stands."""
    history = shop.memory(plan.project_key, "external").revisions(plan.branch_name)
    undone = {revision.review_revision_id for revision in history if isinstance(revision, Undo)}
    return tuple(_done(each, plan, shop, undone) for each in shelf.all_promotions())


def snapshot_of(promotion: Promotion, plan: Plan, shelf: PlanShelf) -> tuple[bytes, Branch]:
    """Return the branch's bytes before a promotion, and what they say. Raises `InvalidRecordError` if they are gone."""
    data = shelf.snapshot(promotion.number)
    path = shelf.layout.snapshot(promotion.number)
    if data is None:
        raise InvalidRecordError(path, "is not there, and its promotion needs it")
    branch = _parsed(data, plan, shelf)
    if branch_digest(branch) != promotion.base_digest:
        raise ConflictError(path, "is another branch state than its promotion found")
    return data, branch


def _done(promotion: Promotion, plan: Plan, shop: Shop, undone: set[RevisionId]) -> Done:
    job = _job(promotion, plan)
    closing = shop.stores.finished.find(job.id)
    return Done(promotion, job.id, closing, promotion.revision_id in undone)


def _carry_out(promotion: Promotion, plan: Plan, shop: Shop) -> Done:
    """Take a promotion from wherever it stands to its closing record."""
    job = _job(promotion, plan)
    outcome = _outcome(promotion, job)
    decisions = shop.stores.decisions
    decision = decisions.find(job.id)
    if decision is None:
        of = attempt_id(job.digest, 1, LeaseToken(plan.mark * 2))
        result = ProviderResult(attempt_id=of, proposal_digest=proposal_digest(outcome), job=job, outcome=outcome)
        decisions.record_result(result)
        decision = decisions.elect(result)
    memory = shop.memory(plan.project_key, "external")

    def admit(branch: Branch, sequence: int) -> Admitted:
        if branch_digest(branch) != promotion.base_digest or was_given_up(job.id, shop):
            fact = "Memory changed since the diff was made; nothing was changed."
            return Admitted("stale", (fact,), branch, promotion.committed_at, None)
        review = Review(
            sequence=sequence,
            id=promotion.revision_id,
            branch_name=branch.name,
            committed_at=promotion.committed_at,
            before_digest=promotion.base_digest,
            after_digest=branch_digest(promotion.after),
            changes=changes_between(branch, promotion.after),
        )
        messages = (f"Promoted from backfill {plan.id}.", *promotion.left_out)
        return Admitted("applied", messages, promotion.after, promotion.committed_at, review)

    receipt = roll_forward(decision, memory, "external", shop, Frozen(admit))
    found = None if receipt.revision_id is None else memory.revision(plan.branch_name, receipt.revision_id)
    closing = Closing(
        job_id=job.id,
        job_digest=job.digest,
        project_key=job.project_key,
        session_key=job.session_key,
        branch_name=job.branch.name,
        authority="external",
        status=receipt.status,
        finished_at=outcome.completed_at,
        attempts=(),
        provider=outcome.provenance.provider,
        model=outcome.provenance.model,
        entry_ids=tuple(change.entry_id for change in found.changes) if isinstance(found, Review) else (),
        through_entry_id=job.through_entry_id,
        elected=decision.attempt_id,
        revision_id=receipt.revision_id,
    )
    return Done(promotion, job.id, shop.stores.finished.close(closing), is_undone=False)


def _job(promotion: Promotion, plan: Plan) -> Job:
    """Return the job that stands for a promotion: by its words it binds the plan, the windows and the result.

    It carries no memory: the snapshot does, and an odd entry of somebody else's keeps no promotion from being made.
    """
    windows = ", ".join(map(str, promotion.windows))
    said = (
        f"Backfill {plan.id}, promotion {promotion.number}: windows {digest_of_text(windows)} "
        f"lead to branch state {branch_digest(promotion.after)}."
    )
    return make_job(
        project_key=plan.project_key,
        session_key=session_key(plan.id),
        through_entry_id=f"{plan.id}.{promotion.number}",
        transcript=said,
        branch=empty_branch(plan.branch_name, EPOCH),
        base_branch_digest=promotion.base_digest,
        max_chars=MEMORY_CHARS_MAX,
    )


def _outcome(promotion: Promotion, job: Job) -> Completed:
    at = promotion.committed_at
    provenance = Provenance(
        provider="curator",
        model="backfill",
        api="promote",
        started_at=at,
        completed_at=at,
        duration_ms=0,
        usage=_NOTHING,
    )
    return Completed(job_id=job.id, job_digest=job.digest, completed_at=at, operations=(), provenance=provenance)


def _foldable(plan: Plan, shop: Shop) -> Branch:
    """Return the plan's branch, or what it begins with where the project has no memory yet; none is made for a look."""
    if shop.memory(plan.project_key, "external").project() is None:
        return empty_branch(plan.branch_name, EPOCH)
    return standing_branch(plan, shop)


def standing_branch(plan: Plan, shop: Shop) -> Branch:
    """Return the plan's branch, which no begun change is about to move."""
    memory = shop.memory(plan.project_key, "external")
    branch = memory.current(plan.branch_name)
    if branch is None:
        raise InvalidRecordError(memory.layout.branch(plan.branch_name), "is not there")
    return branch


def _parsed(data: bytes, plan: Plan, shelf: PlanShelf) -> Branch:
    try:
        return read_branch(parse(data), plan.branch_name)
    except (Violation, MalformedJsonError) as error:
        raise InvalidRecordError(shelf.layout.snapshots, str(error)) from error


def _moved(plan: Plan) -> RefusedError:
    fact = f"{plan.id}: memory changed while this was promoted; nothing was changed"
    return RefusedError(fact, remedy="Look at the diff again with `curator backfill promote`")
