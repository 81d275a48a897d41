"""Jobs that are over: their outcomes, evidence, proofs and acceptances, each when nobody needs it any more.

INVARIANT  Nothing of a job goes before its closing record is durable, unless none can be made: then as the protocol does.
CRASH      Whatever is left is as old as before, and goes the next time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from curator.durable.read import stamp_of
from curator.errors import InvalidRecordError
from curator.model.event import SetAside, Stopped
from curator.model.limits import OUTCOMES_KEPT_MAX, PROOF_MS, RETIRED_AT_ONCE_MAX
from curator.store.proofs import ProofStore
from curator.store.spool.recovery import quarantine
from curator.store.spool.retention import forget_letters, forget_outcomes, is_live, outcome_ages
from curator.workflow.recovery import apart
from curator.workflow.retention.cards import answer_waiting, lacks_card
from curator.workflow.retention.ties import ensure_closed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curator.model.ids import JobId
    from curator.workflow.retention.ties import Ties
    from curator.workflow.shop import Shop

_HOUR_MS: Final = 3_600_000


def evidence_cutoff(shop: Shop, now: int) -> int:
    """Return the moment before which evidence is too old to be kept."""
    return now - int(shop.service.evidence_ttl_hours * _HOUR_MS)


def retire_outcomes(shop: Shop, ties: Ties) -> None:
    """Let outcomes go that are older than the evidence may be, or beyond the newest 500: Pi reads all that stand."""
    ages = outcome_ages(shop.stores.spool)
    cutoff, surplus = evidence_cutoff(shop, ties.now), max(0, len(ages) - OUTCOMES_KEPT_MAX)
    due = [job_id for place, (job_id, mtime) in enumerate(ages) if mtime < cutoff or place < surplus]
    going = _those(due, lambda job_id: _outcome_may_go(job_id, shop, ties), shop)
    shop.stores.finished.make_sure(going)
    forget_outcomes(shop.stores.spool, going, before_ms=max([cutoff, *(mtime + 1 for _, mtime in ages[:surplus])]))


def _outcome_may_go(job_id: JobId, shop: Shop, ties: Ties) -> bool:
    if ties.moves(job_id):
        return False
    try:
        ensure_closed(job_id, shop)
    except InvalidRecordError as fault:
        path = shop.layout.outcomes / f"{job_id}.json"
        if fault.path != path:
            raise
        moved = quarantine(shop.stores.spool, path, fault.why)
        shop.listener.tell(SetAside(str(moved.path), moved.reason))
        return False
    return job_id not in ties.awaited or answer_waiting(job_id, shop, ties)


def retire_evidence(shop: Shop, ties: Ties) -> None:
    """Let results, decisions, spans and bases go that are older than the evidence may be, a job at a time."""
    cutoff = evidence_cutoff(shop, ties.now)
    due = _aged_evidence(shop, cutoff)
    going = _those(due, lambda job_id: _evidence_may_go(job_id, shop, ties), shop)
    shop.stores.finished.make_sure(going)
    going = [job_id for job_id in going if not is_live(shop.stores.spool, job_id)]
    busy = shop.stores.decisions.forget(going, cutoff)
    for job_id, error in busy.items():
        shop.listener.tell(Stopped(f"job {job_id}", error.code, error.fact, error.remedy))
    shop.stores.bases.forget([job_id for job_id in going if job_id not in busy], cutoff)


def _aged_evidence(shop: Shop, cutoff: int) -> list[JobId]:
    """Return the jobs of which nothing was written since; one whose decision is young is not looked into."""
    decisions, bases = shop.stores.decisions, shop.stores.bases
    decided = decisions.ages()
    known = {*decided, *decisions.jobs(), *bases.jobs()}
    maybe = sorted(job_id for job_id in known if decided.get(job_id, 0) < cutoff)
    newest = decisions.newest(maybe)
    return [job_id for job_id in maybe if max(newest[job_id], bases.newest(job_id)) < cutoff]


def _evidence_may_go(job_id: JobId, shop: Shop, ties: Ties) -> bool:
    # Whoever waits is answered from it; once the card stands, it is Pi's to show, now or never.
    if ties.moves(job_id) or (job_id in ties.awaited and lacks_card(job_id, shop, ties)):
        return False
    if ensure_closed(job_id, shop) or shop.stores.spool.outcome(job_id) is not None:
        return True
    # Nobody says that it is over, and nobody has it: somebody may still bring back what was set aside.
    return job_id not in ties.lettered


def retire_letters(shop: Shop, ties: Ties) -> None:
    """Let go what was set aside longer ago than evidence may be kept."""
    forget_letters(shop.stores.spool, evidence_cutoff(shop, ties.now), ties.now, RETIRED_AT_ONCE_MAX)


def retire_proofs(shop: Shop, ties: Ties) -> None:
    """Let tombstones and receipts go that nobody reads any more: the closing record keeps the id."""
    before = ties.now - PROOF_MS
    for key, layout in ties.projects:
        store = ProofStore(shop.volume, layout)
        due = store.aged(before)
        if due:
            apart(f"project {key}", partial(_retire_proofs, store, due, before, shop, ties), shop)


def _retire_proofs(store: ProofStore, due: Iterable[JobId], before: int, shop: Shop, ties: Ties) -> None:
    unneeded = [job_id for job_id in due if not _proofs_are_needed(job_id, shop, ties)]
    going = shop.stores.finished.make_sure(unneeded[:RETIRED_AT_ONCE_MAX])
    if going:
        # That neither stands was seen, but whoever removed them may have died before the flush.
        for folder in (shop.layout.outcomes, shop.layout.decisions):
            if stamp_of(folder) is not None:
                shop.volume.sync_directory(folder)
    store.forget(sorted(going), before)


def _proofs_are_needed(job_id: JobId, shop: Shop, ties: Ties) -> bool:
    is_awaited = job_id in ties.awaited or job_id in ties.carded
    is_told = stamp_of(shop.layout.outcomes / f"{job_id}.json") is not None
    return ties.moves(job_id) or is_awaited or is_told or shop.stores.decisions.is_elected(job_id)


def retire_acceptances(shop: Shop, ties: Ties) -> None:
    """Let acceptances of jobs go that were closed and of which no outcome stands: nobody asks for their authority."""
    before = ties.now - PROOF_MS
    due = [
        job_id
        for job_id in shop.stores.jobs.aged(before)
        if stamp_of(shop.layout.outcomes / f"{job_id}.json") is None and not ties.moves(job_id)
    ]
    going = shop.stores.finished.make_sure(due[:RETIRED_AT_ONCE_MAX])
    shop.stores.jobs.forget(sorted(going), before)


def _those(due: Iterable[JobId], may_go: Callable[[JobId], bool], shop: Shop) -> list[JobId]:
    """Return the jobs that may go, not too many at once; what stops one is told, and stops it alone."""
    going: list[JobId] = []

    def look(job_id: JobId) -> None:
        if may_go(job_id):
            going.append(job_id)

    for job_id in due:
        if len(going) < RETIRED_AT_ONCE_MAX:
            apart(f"job {job_id}", partial(look, job_id), shop)
    return going
