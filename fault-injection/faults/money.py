"""What must hold of attempts: every call counted, proved step by step, and never more certain than what is known."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faults.view import HOME, fields_of, list_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator


from faults.case import (
    AFTER,
    Case,
    claims_of,
    own_base,
    state_of,
)


def a_request_was_dispatched_first(case: Case) -> Iterator[str]:
    """A request that was made has one durable pre-dispatch checkpoint, and its attempt is never cancelled."""
    sent = Counter(
        text_of(steps[1], "requestDigest")
        for steps in case.now.attempts.values()
        if text_of(steps.get(1, {}), "state") == "dispatched"
    )
    requests = case.told("request")
    # A closed day keeps of an attempt that had its end what it was charged, not what was asked.
    unnamed = len(case.now.past)
    for request in requests:
        if sent[request] == 0 and unnamed:
            unnamed -= 1
        elif sent[request] != 1:
            yield f"request {request[:12]} was made and {sent[request]} attempts say that they sent it"
    if len(set(requests)) != len(requests):
        yield "a request was made twice"


def dispatches_are_requests(case: Case) -> Iterator[str]:
    """Only a crash between checkpoint and call leaves a dispatched attempt that never called."""
    # An adopted attempt was another worker's, and so was its request.
    ours = [steps for steps in case.now.attempts.values() if text_of(steps[max(steps)], "origin") != "adopted"]
    states = [text_of(steps.get(1, {}), "state") for steps in ours]
    without = states.count("dispatched") - len(set(case.told("request")))
    if without > case.crashes:
        yield f"{without} attempts were dispatched without a request, after {case.crashes} crashes"


def an_attempt_is_proved_step_by_step(case: Case) -> Iterator[str]:
    """What a step says stood before it did: the base before the reservation, a request and a result before the bill."""
    requests = set(case.told("request"))
    for view in (case.crashed, case.now):
        for attempt, steps in view.attempts.items():
            latest = steps[max(steps)]
            job, base = text_of(latest, "jobId"), text_of(latest, "baseBranchDigest")
            if text_of(latest, "origin") != "curator":
                continue
            if case.is_retired(job):
                continue
            own = own_base(view, job, text_of(latest, "jobDigest"))
            if base not in ("", own) and f"{HOME}/curator/bases/{job}/{base}.json" not in view.files:
                yield f"{attempt} judges a base that is not there"
            if text_of(latest, "state") == "settled":
                if (job, attempt) not in view.results:
                    yield f"{attempt} is settled and its result is not there"
                if text_of(latest, "requestDigest") not in requests:
                    yield f"{attempt} is settled and no request was made"


def a_claim_comes_first(case: Case) -> Iterator[str]:
    """A job's authority is stamped before its claim, its claim stands before an attempt of it, and while it is called."""
    for view in (case.crashed, case.now):
        for job, running in view.running.items():
            if text_of(running, "workerId").startswith("curator:") and job not in view.accepted:
                yield f"{job} runs and was never stamped"
        for attempt, steps in view.attempts.items():
            latest = steps[max(steps)]
            job, number = text_of(latest, "jobId"), number_of(latest, "claimAttempt")
            if text_of(latest, "origin") == "curator" and number > claims_of(view, job):
                yield f"{attempt} is of claim {number}, and {job} was not claimed so often"
    if case.crashes == 1 and not case.lives_on and case.before and case.before[-1].kind == "request":
        for attempt, steps in case.crashed.attempts.items():
            latest = steps[max(steps)]
            job, is_asked = text_of(latest, "jobId"), text_of(latest, "requestDigest") == case.before[-1].subject
            # What a plan asks belongs to no job, so no claim stands for it.
            is_asked = is_asked and text_of(latest, "origin") != "backfill"
            if is_asked and state_of(steps) == "dispatched" and (job, attempt) not in case.crashed.results:
                running = case.crashed.running.get(job, {})
                if text_of(running, "leaseToken") != text_of(latest, "leaseToken"):
                    yield f"{attempt} is in flight and its claim does not stand"


def a_failed_job_keeps_its_evidence(case: Case) -> Iterator[str]:
    """Pi's retry reads the evidence of a failed job from its results: one stands before the outcome does."""
    for view in (case.crashed, case.now):
        kept = {job for job, _ in view.results}
        for job, record in view.outcomes.items():
            if (
                text_of(fields_of(record.get("outcome")), "status") == "failed"
                and job not in kept
                and not case.is_retired(job)
            ):
                yield f"{job} failed and its evidence is not kept"


def the_projection_follows(case: Case) -> Iterator[str]:
    """Pi's day files never say more than the journal, and an attempt in them has its identity."""
    # A name that a killed process had not flushed may be lost after the next one has told Pi of it.
    for view in (case.crashed, case.now) if case.crashes == 1 else (case.now,):
        for attempt, shown in view.projection.items():
            if attempt not in view.identities:
                yield f"{attempt} stands in a day file without its identity"
            steps = view.attempts.get(attempt)
            if attempt in view.past:
                if view.past[attempt].state not in AFTER[shown]:
                    yield f"{attempt} is {shown} in a day file and closed as {view.past[attempt].state}"
            elif steps is None or state_of(steps) not in AFTER[shown]:
                yield f"{attempt} is {shown} in a day file and {state_of(steps or {0: {}})} in the journal"
    if case.is_over:
        days = {attempt: text_of(steps[max(steps)], "day") for attempt, steps in case.now.attempts.items()}
        for attempt, day in days.items():
            # Pi reads today's day file alone.
            is_today = day == max(days.values()) and not case.told("aged")
            if is_today and attempt not in case.now.projection:
                yield f"{attempt} is not in its day file"


def an_attempt_only_goes_on(case: Case) -> Iterator[str]:
    """No attempt disappears, and none goes back: actual, held and unknown shrink by a settle or a proof alone."""
    for attempt, steps in case.crashed.attempts.items():
        now = case.now.attempts.get(attempt)
        if attempt in case.now.past:
            if case.now.past[attempt].state not in AFTER[state_of(steps)]:
                yield f"{attempt} went from {state_of(steps)} to {case.now.past[attempt].state}"
        elif now is None:
            yield f"{attempt} disappeared"
        elif state_of(now) not in AFTER[state_of(steps)]:
            yield f"{attempt} went from {state_of(steps)} to {state_of(now)}"
    for attempt, steps in case.now.attempts.items():
        is_ours = text_of(steps[min(steps)], "origin") == "curator"
        if 0 not in steps and is_ours and state_of(steps) != "cancelled":
            yield f"{attempt} has no reservation"
        if 2 in steps and text_of(steps.get(1, {}), "state") != "dispatched" and 1 in steps:
            yield f"{attempt} was cancelled and ended all the same"


def attempts_come_to_rest(case: Case) -> Iterator[str]:
    """When everything is over no attempt is open, and one whose result brings its bill is settled, not lost."""
    if not case.is_over:
        return
    for attempt, steps in case.now.attempts.items():
        if state_of(steps) in ("reserved", "dispatched"):
            yield f"{attempt} is still {state_of(steps)}"
        bill = next((result for (_, of), result in case.now.results.items() if of == attempt), {})
        if "provenance" in fields_of(bill.get("outcome")) and state_of(steps) not in ("settled", "corrected"):
            yield f"{attempt} has a result that tells its bill, and is {state_of(steps)}"


def a_persons_word_on_a_call_stays(case: Case) -> Iterator[str]:
    """Once a person was told that a call is settled as they said, it stays so, and nothing of it is unknown any more."""
    for when, view, settled in (
        ("by the crash", case.crashed, case.told_before("reconciled")),
        ("since", case.now, case.told("reconciled")),
    ):
        for attempt in settled:
            steps, past = view.attempts.get(attempt, {}), view.past.get(attempt)
            stands = past.state if past is not None else state_of(steps) if steps else "gone"
            if stands != "corrected":
                yield f"{attempt} was settled by a person, and {when} it is {stands}"


def a_closed_day_costs_what_it_cost(case: Case) -> Iterator[str]:
    """What stands for a day says of each attempt what its files said, and its totals are their sum."""
    for attempt, row in case.now.past.items():
        last = case.crashed.attempts.get(attempt, {})
        charged = last[max(last)] if last and max(last) > 1 else {}
        wanted = (number_of(charged, "chargedTokens"), number_of(charged, "chargedCostNanousd"))
        if "chargedTokens" in charged and (row.tokens, row.nanousd) != wanted:
            yield f"{attempt} was charged {wanted}, and is closed with {(row.tokens, row.nanousd)}"
    for day, closed in case.now.closed.items():
        for provider, total in fields_of(closed.get("totals")).items():
            rows = [row for row in case.now.past.values() if (row.day, row.provider) == (day, provider)]
            lost = [each for each in map(fields_of, list_of(closed.get("unresolved"))) if each["provider"] == provider]
            legacy = [each for each in map(fields_of, list_of(closed.get("legacy"))) if each["provider"] == provider]
            actual = (sum(row.calls for row in rows), sum(row.tokens for row in rows))
            unknown = (
                len(lost) + sum(number_of(each, "calls") for each in legacy),
                sum(number_of(each, "holdTokens") for each in lost) + sum(number_of(each, "tokens") for each in legacy),
            )
            for name, wanted in (("actual", actual), ("unknown", unknown)):
                told = fields_of(fields_of(total).get(name))
                if (number_of(told, "calls"), number_of(told, "tokens")) != wanted:
                    yield f"{day}: {name} of {provider} is {told}, and its attempts come to {wanted}"
