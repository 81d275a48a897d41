"""Which proposal counts: one per job, against the branch as it stands, or as it stood when patience ran out.

A result whose base has moved is superseded: it stays accounted and is not elected, and the job is judged anew in place,
twice at most. Electing from a checkpoint after a crash applies the same test and asks nobody again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from curator.errors import ReviewerSetupError
from curator.model.event import Rebased, Stopped
from curator.model.limits import MEMORY_CHARS_MAX
from curator.model.ports import Class
from curator.model.times import next_midnight
from curator.workflow.attempt import NotSent, Proposal, Spent, attempt
from curator.workflow.base import take_base
from curator.workflow.ending import Ended, Interrupted, OverBudget, Waits
from curator.workflow.history import attempts_of, base_digest_of
from curator.workflow.judging import Missed
from curator.workflow.retry import spread_ms, tally, wait_ms

if TYPE_CHECKING:
    from curator.model.decision import Decision, ProviderResult
    from curator.model.job import Job
    from curator.store.attempts import Seen
    from curator.store.memory import ProjectStore
    from curator.store.spool import Claim
    from curator.workflow.base import Judged
    from curator.workflow.retry import Tally
    from curator.workflow.shop import Shop

Undecided: TypeAlias = Ended | Waits | OverBudget | Interrupted


def decide(claim: Claim, memory: ProjectStore, shop: Shop) -> tuple[Decision, Claim] | tuple[Undecided, Claim]:
    """Return the job's decision, asking the reviewer as often as the rules allow; or how the turn ends without one.

    The claim comes back because a rebase renews its number and token. Raises `LeaseLostError` once it is lost.
    """
    while True:
        decision = shop.stores.decisions.find(claim.job.id)
        if decision is not None:
            return decision, claim
        attempts = attempts_of(claim.job, shop, claim)
        count = tally(attempts, shop.stores.decisions.results(claim.job.id))
        # With nothing to elect, and tries left, a call comes next, against the branch as it then stands.
        if not count.completed and not count.is_spent and not shop.place.take(claim, shop.stores.spool):
            return Interrupted(), claim
        base = take_base(claim.job, memory, shop)
        chosen = _electable(claim.job, base, attempts, count, shop)
        if chosen is not None:
            shop.stores.spool.check_lease(claim)
            return shop.stores.decisions.elect(chosen), claim
        if count.is_spent:
            return Ended(count.last_failure_code or "review_error"), claim
        if not shop.place.is_taken:
            if not shop.place.take(claim, shop.stores.spool):
                return Interrupted(), claim
            continue
        if any(seen.latest.lease_token == claim.running.lease_token for seen in attempts):
            # This claim has made its attempt. A new one needs a new number and token: the id comes from both.
            shop.listener.tell(Rebased(claim.job.id, claim.attempt, len(count.completed)))
            claim = shop.stores.spool.reclaim(claim)
        ending = _ask(claim, base, count, shop)
        if ending is not None:
            return ending, claim


def _electable(job: Job, base: Judged, attempts: tuple[Seen, ...], count: Tally, shop: Shop) -> ProviderResult | None:
    """Return the result to elect, if there is one: against the branch as it stands, or the last one at the limit."""
    fitting = [each for each in count.completed if base_digest_of(job, attempts, each.attempt_id) == base.digest]
    if fitting:
        return fitting[-1]
    is_last = shop.settings.on_stale == "report" or not count.may_rebase or count.is_spent
    if count.completed and is_last:
        return count.completed[-1]
    return None


def _ask(claim: Claim, base: Judged, count: Tally, shop: Shop) -> Undecided | None:
    """Make one attempt; None means that there is a result to look at."""
    if claim.job.max_chars > MEMORY_CHARS_MAX:
        return Waits("incompatible_policy", shop.clock.now() + wait_ms(Class.CONFIGURATION, claim.attempt))
    try:
        attempted = attempt(claim, base, count, shop)
    except ReviewerSetupError as error:
        shop.listener.tell(Stopped("reviewer", error.setup_code, error.fact, error.remedy))
        return Waits(error.setup_code, shop.clock.now() + wait_ms(Class.CONFIGURATION, claim.attempt))
    match attempted:
        case Proposal():
            return None
        case Spent(provider, limit, exposure, limits, hold):
            return OverBudget(provider, limit, exposure, limits, next_midnight(shop.clock.now()), hold)
        case NotSent():
            return Interrupted() if shop.stop.is_set() else Waits("cancelled_before_dispatch", None)
        case Missed(code, kind, retry_after_ms):
            return _after(code, kind, retry_after_ms, count, claim, shop)


def _after(code: str, kind: Class, retry_after_ms: int | None, count: Tally, claim: Claim, shop: Shop) -> Undecided:
    now, failures = shop.clock.now(), count.failures + 1
    if kind is Class.STOPPED or (kind is Class.RETRY and shop.stop.is_set()):
        return Interrupted()
    if kind is Class.LATER:
        wait = wait_ms(kind, count.limited + 1, retry_after_ms)
        return Waits(code, now + spread_ms(wait, claim.running.lease_token))
    if kind is Class.CONFIGURATION:
        return Waits(code, now + wait_ms(kind, claim.attempt, retry_after_ms))
    if kind is Class.TERMINAL or count.is_final:
        return Ended(code, was_asked=True)
    return Waits(code, now + wait_ms(kind, failures, retry_after_ms), was_asked=True)
