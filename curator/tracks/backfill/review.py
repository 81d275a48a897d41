"""Review a plan's windows in shadow: one call each, in order, and what it brings is staged. Memory is only looked at.

Each window sees memory as it stands with what the windows before it staged, so that the proposals fold in that order.

INVARIANT  An answer is durable before its call is settled, and what it comes to before the next call. A call that has
           its answer is never made again. Nothing but the plan's folder, the ledger and the journal is written.
CRASH      What was answered and not staged is staged by the next run; a call without an answer counts as the journal
           says, and is made again.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.attempt import Dispatched, Unknown, corrected_from
from curator.model.budget import Amount
from curator.model.digest import digest_of_text
from curator.model.ids import Day
from curator.model.ledger import CoverageState
from curator.model.limits import ATTEMPTS_MAX
from curator.model.outcome import nanousd
from curator.model.ports import Brief, Class
from curator.model.times import day_of, iso, ms_of
from curator.tracks.backfill.errors import PlanOverError
from curator.tracks.backfill.fold import Shown, targets_of
from curator.tracks.backfill.importing import cover, nodes_of
from curator.tracks.backfill.planning import job_about, seen_branch
from curator.tracks.backfill.records import Answer, Staged
from curator.tracks.backfill.windows import transcript_of
from curator.workflow.halting import Halted, halted_by, refusal_of
from curator.workflow.judging import Lacking
from curator.workflow.retry import is_stand_in
from curator.workflow.trial import Errand, Purse, Tried, Unsent, settle, try_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.model.digest import Digest
    from curator.model.memory import Branch
    from curator.store.attempts import Seen
    from curator.tracks.backfill.records import Plan, Window
    from curator.tracks.backfill.shelf import PlanShelf
    from curator.tracks.trajectory.ledger import Ledger
    from curator.workflow.shop import Shop
    from curator.workflow.trial import Heard

FAILURES_MAX: Final = 5
"""Windows in a row without a proposal after which the reviewer is taken for out of order: more would only be paid for."""
GONE: Final = "evidence_gone"
"""A window whose text is not what was planned: somebody had a part of it forgotten."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reviewed:
    """A window that came to something."""

    staged: Staged
    spent: Amount
    """By the whole plan, until now."""


Step: TypeAlias = Reviewed | Halted


def review(plan: Plan, shelf: PlanShelf, ledger: Ledger, shop: Shop) -> Iterator[Step]:
    """Review what is left of a plan's windows, until all are, or something forbids it; the last step says what.

    Raises `ReviewerSetupError`, `ConfigError` and what the journal raises.
    """
    return _Review(plan, shelf, ledger, shop).steps()


def spent_on(plan: Plan, shelf: PlanShelf, shop: Shop) -> Amount:
    """Return what a plan's calls have cost, by their answers, and by the journal where a call has none."""
    total, answered = Amount(), set()
    for answer in shelf.all_answers():
        if answer.provenance is not None and not answer.is_estimated:
            usage = answer.provenance.usage
            answered.add(answer.attempt_id)
            total += Amount(1, usage.total_tokens, nanousd(usage.cost.total))
    for seen in attempts_of(plan, shop):
        if seen.id not in answered:
            total += seen.exposure.total
    return total


def attempts_of(plan: Plan, shop: Shop) -> Iterator[Seen]:
    """Yield the plan's calls as the journal has them; of closed days only those without an end."""
    first = Day(day_of(ms_of(plan.created_at)))
    for day in shop.stores.attempts.days():
        if day >= first:
            yield from (
                seen
                for seen in shop.stores.attempts.of_day(day)
                if seen.latest.origin == "backfill" and seen.latest.lease_token.startswith(plan.mark)
            )


class _Review:
    """One run over the windows."""

    def __init__(self, plan: Plan, shelf: PlanShelf, ledger: Ledger, shop: Shop) -> None:
        self._plan = plan
        self._shelf = shelf
        self._ledger = ledger
        self._shop = shop
        self._began = shop.clock.monotonic()
        self._shown = Shown(shelf.proposals())

    def steps(self) -> Iterator[Step]:
        windows = self._shelf.windows()
        assert windows is not None, "the files are indexed before anything is asked"
        self._settle_answered()
        caps = self._plan.caps
        purse = Purse(caps.calls, caps.cost_nanousd, caps.tokens, spent_on(self._plan, self._shelf, self._shop))
        done, failures = self._shelf.staged_numbers(), 0
        for window in windows.windows:
            if window.number in done:
                continue
            step = self._forbidden() or self._window(window, purse)
            yield step
            if isinstance(step, Halted):
                return
            failures = failures + 1 if step.staged.code not in (None, GONE) else 0
            if failures == FAILURES_MAX:
                fact = f"{failures} windows in a row brought no proposal, the last for this: {step.staged.code}"
                yield Halted(fact, "Run `curator config check`, or try later")
                return

    def _forbidden(self) -> Halted | None:
        """Say why not one more call is made, apart from limits."""
        wish = self._shelf.wish()
        will = None if wish is None else wish.will
        if self._shop.stop.is_set():
            return Halted("it was interrupted", "What was asked is counted", is_wanted=True)
        if will == "pause":
            return Halted("it was paused", f"Go on with `curator backfill run {self._plan.id}`", is_wanted=True)
        if will in ("cancel", "expire"):
            fact = f"{self._plan.id}: the plan was cancelled meanwhile"
            raise PlanOverError(fact)
        ran = self._shop.clock.monotonic() - self._began
        if self._plan.caps.running_ms is not None and ran >= self._plan.caps.running_ms:
            return Halted("the cap of hours was reached", "Run it again to go on", is_wanted=True)
        if self._plan.caps.disk is not None and self._shelf.size() >= self._plan.caps.disk:
            return Halted("the cap of disk was reached", "Make another plan to ask more", is_wanted=True)
        return None

    def _window(self, window: Window, purse: Purse) -> Step:
        transcript, covered = transcript_of(nodes_of(window, self._ledger))
        if digest_of_text(transcript) != window.transcript_digest:
            return self._stage(covered, Staged(plan_id=self._plan.id, window=window.number, code=GONE), purse)
        shown = self._shown.on(seen_branch(self._plan.project_key, self._plan.branch_name, self._shop))
        while True:
            answers = self._shelf.answers_to(window.number)
            if answers and (answers[-1].is_final or len(answers) >= ATTEMPTS_MAX):
                return self._stage(covered, self._proposal(answers[-1], shown), purse)
            halted = self._ask(window, transcript, shown, answers, purse)
            if halted is not None:
                return halted

    def _ask(
        self, window: Window, transcript: str, shown: Branch, answers: tuple[Answer, ...], purse: Purse
    ) -> Halted | None:
        """Make one call about a window, unless something forbids it."""
        frontier = (window.session_key, window.through_entry_id)
        job = job_about(transcript, frontier, self._plan.project_key, shown, self._shop)
        number = len(answers) + 1
        brief = Brief(
            job=job,
            base=job.branch,
            attempt=number,
            is_final=number == ATTEMPTS_MAX,
            last_failure_code=answers[-1].code if answers else None,
        )

        def keep(heard: Heard) -> None:
            answer = self._answer(window, number, heard)
            if answer is not None:
                self._shelf.keep_answer(answer)

        tried = try_out(brief, self._shop, purse, Errand("backfill", self._plan.mark, keep))
        if isinstance(tried, Tried):
            return refusal_of(tried)
        if isinstance(tried, Unsent) and tried.unready is None and not self._shop.stop.is_set():
            # Another process took the reservation for an orphan's and closed it: nothing was sent, so it is asked anew.
            return self._forbidden()
        return halted_by(tried)

    def _answer(self, window: Window, number: int, heard: Heard) -> Answer | None:
        """Return what is kept of a call; nothing of one whose asking failed, for it says nothing of the window."""
        facts = Answer(
            plan_id=self._plan.id,
            window=window.number,
            attempt=number,
            attempt_id=heard.sent.id,
            day=heard.sent.day,
            job_digest=heard.sent.job_digest,
            is_final=True,
            provenance=heard.answer.provenance,
            is_estimated=heard.answer.is_estimated,
        )
        judged = heard.judged
        if isinstance(judged, Lacking):
            kind = judged.missed.kind
            if kind not in (Class.RETRY, Class.TERMINAL):
                return None
            return dataclasses.replace(facts, code=judged.missed.code, is_final=kind is Class.TERMINAL)
        return dataclasses.replace(facts, operations=judged.outcome.operations, spans=judged.screened.spans)

    def _proposal(self, answer: Answer, shown: Branch) -> Staged:
        return Staged(
            plan_id=answer.plan_id,
            window=answer.window,
            code=answer.code,
            operations=answer.operations,
            spans=answer.spans,
            targets=targets_of(answer.operations, shown),
        )

    def _stage(self, covered: tuple[Digest, ...], staged: Staged, purse: Purse) -> Reviewed:
        """Say in the ledger that a window's turns were reviewed, by an answer that is durable; then stage what it says."""
        if staged.code is None:
            # What somebody left out of it meanwhile stays left out: their word is younger than the lease.
            cover(self._plan, CoverageState.PROCESSED, covered, self._ledger, self._shop)
        self._shelf.stage(staged)
        self._shown.add(staged)
        return Reviewed(staged, purse.spent)

    def _settle_answered(self) -> None:
        """Settle the calls of which the answer came and the end was not written down any more."""
        attempts = self._shop.stores.attempts
        answers = {answer.attempt_id: answer for answer in self._shelf.all_answers()}
        for seen in list(attempts_of(self._plan, self._shop)):
            answer = answers.get(seen.id)
            provenance = None if answer is None else answer.provenance
            if answer is None or provenance is None:
                continue
            match seen.latest:
                case Dispatched() as sent:
                    settle(sent, provenance, self._shop, is_estimated=answer.is_estimated)
                case Unknown() as lost if seen.correction is None and not is_stand_in(provenance.usage):
                    attempts.advance(corrected_from(lost, iso(self._shop.clock.now()), provenance))
                case _:
                    pass
