"""What must hold of the files after any crash and its recovery, whatever curator says of itself.

An oracle is a function of what lies on disk now, what lay there when the crash came, and what had been told to somebody
by then. It yields a sentence for each breach and nothing where all is well.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.view import HOME, View, digest, fields_of, list_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from faults.recording import Mark
    from faults.view import Fields, ProjectView

_IMMUTABLE: Final = re.compile(
    r"no-forgetti/(?:"
    r"review-spool/(?:outcomes|provider-results/[^/]+|proposal-decisions|accounting/identities)/[^/]+"
    r"|curator/(?:attempts/.+|bases/.+|jobs/[^/]+|evidence/.+|finished/.+)"
    r"|(?:curator/shadow/)?[0-9a-f]{24}/(?:project\.json|revisions/.+|review-admissions/.+|service/.+))"
)
_MAY_GO: Final = re.compile(
    r"no-forgetti/(?:curator/shadow/)?[0-9a-f]{24}/review-admissions/[^/]+"
    r"|no-forgetti/[0-9a-f]{24}/service/review-feedback/.+"
)
_STEP: Final = re.compile(
    r"no-forgetti/curator/attempts/([0-9-]{10})/[0-9a-f]{2}/(review_attempt_[0-9a-f]{40})\.[0-3]\.json"
)
_EVIDENCE: Final = re.compile(
    r"no-forgetti/review-spool/(?:provider-results|proposal-decisions)/(review_[0-9a-f]{40}).*"
)
_JOB: Final = re.compile(r"review_[0-9a-f]{40}")
_AFTER: Final = {
    "reserved": {"reserved", "dispatched", "cancelled", "settled", "unknown"},
    "dispatched": {"dispatched", "settled", "unknown", "corrected"},
    "settled": {"settled"},
    "unknown": {"unknown", "corrected"},
    "cancelled": {"cancelled"},
    "corrected": {"corrected"},
}


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One moment to be judged."""

    now: View
    crashed: View
    """What the crash left, before any recovery."""
    before: tuple[Mark, ...]
    """What anybody had been told when the crash came."""
    since: tuple[Mark, ...]
    """What the recoveries told."""
    crashes: int
    is_over: bool = False
    """Whether everything had time to come to its end: then nothing may still be on its way."""
    lives_on: bool = False
    """Whether the process was only refused something and could still act on it."""
    damaged: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    """Records that could not be read before the story began."""

    def told(self, kind: str) -> list[str]:
        """Return the subjects of all marks of a kind, in order."""
        return [mark.subject for mark in (*self.before, *self.since) if mark.kind == kind]

    def told_before(self, kind: str) -> list[str]:
        """Return the subjects of the marks from before the crash."""
        return [mark.subject for mark in self.before if mark.kind == kind]

    def is_retired(self, job: str) -> bool:
        """Tell whether what a job left may have gone by its age: it is over, and long enough."""
        return job in self.now.finished and bool(self.told("aged"))


Oracle: TypeAlias = "Callable[[Case], Iterator[str]]"


def no_record_is_torn(case: Case) -> Iterator[str]:
    """A name that a reader looks at holds a whole record or does not exist."""
    for path in sorted({*case.now.torn, *case.crashed.torn} - set(case.damaged)):
        yield f"{path} is not a whole record"


def what_was_accepted_is_eligible_or_over(case: Case) -> Iterator[str]:
    """Once `enqueue` has returned, the job stands in the spool until its outcome does."""
    for job in case.told_before("accepted"):
        if not case.crashed.stands(job) and job not in case.crashed.finished:
            yield f"{job} was accepted, and the crash lost it"
    for job in case.told("accepted"):
        if not case.now.stands(job) and job not in case.now.finished:
            yield f"{job} was accepted and stands nowhere"
        ended = {"outcomes", "held"}.intersection(case.now.stands(job))
        if case.is_over and not ended and not case.is_retired(job):
            yield f"{job} was accepted and never came to its end: {case.now.stands(job)}"


def a_job_stands_in_one_place(case: Case) -> Iterator[str]:
    """Recovery leaves no second name of a job."""
    for job in {*case.now.queued, *case.now.running, *case.now.held, *case.now.outcomes}:
        places = case.now.stands(job)
        if len(places) > 1:
            yield f"{job} stands in {' and '.join(places)}"


def what_was_said_to_be_over_is_over(case: Case) -> Iterator[str]:
    """Once a person or Pi was told that a job ended, its outcome stays, and so does its closing record."""
    for when, view, jobs in (
        ("by the crash", case.crashed, case.told_before("over")),
        ("since", case.now, case.told("over")),
    ):
        for job in jobs:
            if job not in view.finished or (job not in view.outcomes and not case.is_retired(job)):
                yield f"{job} was said to be over, and {when} its outcome or closing record was lost"
            # One that is long over may be queued again: it is answered from its closing record.
            is_back = case.is_retired(job) and job not in view.outcomes
            if {"queued", "running"}.intersection(view.stands(job)) and not is_back:
                yield f"{job} was said to be over, and stands in {view.stands(job)}"
    if case.is_over:
        for job in set(case.now.outcomes) - set(case.now.finished):
            yield f"{job} has an outcome and no closing record"


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
    states = [text_of(steps.get(1, {}), "state") for steps in case.now.attempts.values()]
    made_before = len(case.told("tampered"))
    without = states.count("dispatched") - len(set(case.told("request"))) - made_before
    if without > case.crashes:
        yield f"{without} attempts were dispatched without a request, after {case.crashes} crashes"


def an_attempt_is_proved_step_by_step(case: Case) -> Iterator[str]:
    """What a step says stood before it did: the base before the reservation, a request and a result before the bill."""
    requests = set(case.told("request"))
    if case.told("tampered"):
        return
    for view in (case.crashed, case.now):
        for attempt, steps in view.attempts.items():
            latest = steps[max(steps)]
            job, base = text_of(latest, "jobId"), text_of(latest, "baseBranchDigest")
            if text_of(latest, "origin") != "curator":
                continue
            if case.is_retired(job):
                continue
            if base not in ("", _own_base(view, job)) and f"{HOME}/curator/bases/{job}/{base}.json" not in view.files:
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
            if text_of(latest, "origin") == "curator" and number > _claims(view, job):
                yield f"{attempt} is of claim {number}, and {job} was not claimed so often"
    if case.crashes == 1 and not case.lives_on and case.before and case.before[-1].kind == "request":
        for attempt, steps in case.crashed.attempts.items():
            latest = steps[max(steps)]
            job, is_asked = text_of(latest, "jobId"), text_of(latest, "requestDigest") == case.before[-1].subject
            if is_asked and _state(steps) == "dispatched" and (job, attempt) not in case.crashed.results:
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
                if view.past[attempt].state not in _AFTER[shown]:
                    yield f"{attempt} is {shown} in a day file and closed as {view.past[attempt].state}"
            elif steps is None or _state(steps) not in _AFTER[shown]:
                yield f"{attempt} is {shown} in a day file and {_state(steps or {0: {}})} in the journal"
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
            if case.now.past[attempt].state not in _AFTER[_state(steps)]:
                yield f"{attempt} went from {_state(steps)} to {case.now.past[attempt].state}"
        elif now is None:
            yield f"{attempt} disappeared"
        elif _state(now) not in _AFTER[_state(steps)]:
            yield f"{attempt} went from {_state(steps)} to {_state(now)}"
    for attempt, steps in case.now.attempts.items():
        is_ours = text_of(steps[min(steps)], "origin") == "curator"
        if 0 not in steps and is_ours and _state(steps) != "cancelled":
            yield f"{attempt} has no reservation"
        if 2 in steps and text_of(steps.get(1, {}), "state") != "dispatched" and 1 in steps:
            yield f"{attempt} was cancelled and ended all the same"


def attempts_come_to_rest(case: Case) -> Iterator[str]:
    """When everything is over no attempt is open, and one whose result brings its bill is settled, not lost."""
    if not case.is_over:
        return
    for attempt, steps in case.now.attempts.items():
        if _state(steps) in ("reserved", "dispatched"):
            yield f"{attempt} is still {_state(steps)}"
        bill = next((result for (_, of), result in case.now.results.items() if of == attempt), {})
        if "provenance" in fields_of(bill.get("outcome")) and _state(steps) not in ("settled", "corrected"):
            yield f"{attempt} has a result that tells its bill, and is {_state(steps)}"


def immutable_paths_keep_their_bytes(case: Case) -> Iterator[str]:
    """What stood under an immutable name stands there for ever, byte for byte; some names may go, none may change."""
    for path, content in case.crashed.files.items():
        if not _IMMUTABLE.fullmatch(path):
            continue
        now = case.now.files.get(path)
        if now is None and not _MAY_GO.fullmatch(path) and not _may_have_aged(case, path):
            yield f"{path} disappeared"
        elif now is not None and now != content:
            yield f"{path} changed"


def a_decision_is_of_a_kept_result(case: Case) -> Iterator[str]:
    """What counts is what an attempt said: the decision's result stands and says the same."""
    for job, decision in case.now.decisions.items():
        result = case.now.results.get((job, text_of(decision, "attemptId")))
        if result is None:
            yield f"{job}: the decision's result is gone"
        elif result.get("outcome") != decision.get("outcome"):
            yield f"{job}: the decision says something else than its result"


def a_proposal_has_its_evidence(case: Case) -> Iterator[str]:
    """Where the quotes of a proposal of ours stand is durable before the proposal is: or a strict gate would refuse it."""
    for (job, attempt), result in case.now.results.items():
        is_ours = any(text_of(step, "origin") == "curator" for step in case.now.attempts.get(attempt, {}).values())
        is_proposal = text_of(fields_of(result.get("outcome")), "status") == "completed"
        if is_ours and is_proposal and f"{HOME}/curator/evidence/{job}/{attempt}.json" not in case.now.files:
            yield f"{job}: the evidence of {attempt} is gone"


def an_intent_rolls_forward_to_its_own_end(case: Case) -> Iterator[str]:
    """A begun mutation keeps its bytes until its tombstone, and tombstone, completion and receipt are of that one."""
    for before, now in _same_projects(case):
        for job, intent in before.intents.items():
            seal = text_of(intent, "intentDigest")
            if job in now.intents:
                if text_of(now.intents[job], "intentDigest") != seal:
                    yield f"{job}: its intent changed"
            elif text_of(now.tombstones.get(job, {}), "originalIntentDigest") != seal:
                yield f"{job}: its intent is gone and no tombstone of it stands"
            if job in now.completions and text_of(now.completions[job], "intentDigest") != seal:
                yield f"{job}: another intent was completed"
    if case.is_over:
        for project in case.now.projects:
            for job in {*project.intents, *project.completions}:
                yield f"{job}: its admission is not retired"


def what_pi_meets_is_in_order(case: Case) -> Iterator[str]:
    """At no moment does Pi, which reads beside us, meet an order that it cannot live with (interop.md 9, W8)."""
    for project in case.crashed.projects:
        for job in set(project.intents).intersection(project.tombstones) - set(project.completions):
            yield f"{job}: a retired intent stands without its completion: Pi would roll it forward again"
        for job in set(project.tombstones) - set(project.receipts) - set(case.told("tampered")):
            yield f"{job}: a tombstone stands without its receipt"
        for job in set(project.receipts) - {*project.completions, *project.tombstones, *case.told("tampered")}:
            if not case.is_retired(job):
                yield f"{job}: a receipt stands and nothing proves that its change was whole"
        written = {text_of(each, "id") for history in project.revisions.values() for each in history}
        for job, card in project.ready.items():
            done = {*project.completions, *project.receipts, *project.tombstones}
            record = fields_of(fields_of(project.intents.get(job, {}).get("revision")).get("record"))
            is_due = text_of(card, "status") == "applied"
            is_frozen = job in project.intents and (text_of(record, "id") in written or not is_due)
            if case.is_retired(job):
                continue
            if text_of(card, "status") != "failed" and job not in done and not is_frozen:
                yield f"{job}: its card was told before its change was whole"
            if text_of(card, "status") == "failed" and job not in case.crashed.outcomes:
                yield f"{job}: its card says that it failed, and no outcome does"


def what_was_set_aside_is_kept(case: Case) -> Iterator[str]:
    """A record that nobody can read is moved, never lost; and a mended one stands there until its job does."""
    kept = Counter(case.now.files.values())
    for path, content in case.damaged.items():
        if not kept[content] and not case.told("aged"):
            yield f"{path} could not be read, and is gone"
    for job in case.told("mended"):
        if not case.now.stands(job) and not any(job.encode() in content for content in case.now.files.values()):
            yield f"{job} was mended, and is gone"


def a_receipt_matches_the_history(case: Case) -> Iterator[str]:
    """A receipt says what happened: its revision stands and leads where the receipt says, or none was due."""
    for project in case.now.projects:
        told = {text_of(each, "id"): each for history in project.revisions.values() for each in history}
        for job, receipt in project.receipts.items():
            revision = told.get(text_of(receipt, "revisionId"), {})
            if text_of(receipt, "status") != "applied":
                if "revisionId" in receipt:
                    yield f"{job}: a receipt that changed nothing names a revision"
            elif text_of(revision, "afterDigest") != text_of(receipt, "resultingBranchDigest"):
                yield f"{job}: its receipt names a revision that is not there, or leads elsewhere"
            if text_of(case.now.decisions.get(job, {}), "kind") == "" and not case.is_retired(job):
                yield f"{job}: a receipt without a decision"


def history_has_no_gap(case: Case) -> Iterator[str]:
    """Revisions are numbered from 1 without a gap; a branch that nobody else wrote stands where the last one leads."""
    for project in case.now.projects:
        for name, history in project.revisions.items():
            numbers = [number_of(each, "sequence") for each in history]
            if numbers != list(range(1, len(history) + 1)):
                yield f"revisions of {name} are {numbers}"
            begun = any(text_of(intent, "branchName") == name for intent in project.intents.values())
            if not begun and not case.told("foreground") and not case.told("undoing"):
                stands, leads = digest(project.branches.get(name)), text_of(history[-1], "afterDigest")
                if stands != leads:
                    yield f"branch {name} does not stand where its history leads"


def a_proposal_takes_effect_once(case: Case) -> Iterator[str]:
    """Each applied job has one revision, each review revision one job, and no text is remembered twice."""
    for project in case.now.projects:
        reviews = [
            text_of(each, "id")
            for history in project.revisions.values()
            for each in history
            if text_of(each, "kind") == "review"
        ]
        owners = _owners(project)
        for revision in reviews:
            if owners[revision] != 1 and not (owners[revision] == 0 and case.told("aged")):
                yield f"revision {revision} belongs to {owners[revision]} jobs"
        for name, branch in project.branches.items():
            texts = Counter(text_of(fields_of(entry), "text") for entry in list_of(branch.get("entries")))
            for text, times in texts.items():
                if times > 1:
                    yield f"branch {name} remembers {times} times: {text}"


def memory_survives(case: Case) -> Iterator[str]:
    """A foreground write is never lost, and what a person took back does not return."""
    undone = set(case.told("undoing"))
    for text in (*case.told("seeded"), *case.told("foreground")):
        if not any(text in _texts(project) for project in case.now.projects if not project.is_shadow):
            yield f"a foreground write is gone: {text}"
    for text in undone.intersection(case.told("undone")):
        if any(text in _texts(project) for project in case.now.projects):
            yield f"what was taken back is remembered again: {text}"


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


def what_is_removed_leaves_no_orphan(case: Case) -> Iterator[str]:
    """What a record is made of goes after it, at whatever moment somebody looks; nothing goes while its job is under way."""
    for view in (case.crashed, case.now):
        for job, decision in view.decisions.items():
            if (job, text_of(decision, "attemptId")) not in view.results:
                yield f"{job}: a decision stands and its result does not"
        for path in view.files:
            aged = _EVIDENCE.fullmatch(path)
            if aged and view.stands(aged[1]) == [] and aged[1] not in view.finished:
                yield f"{path} stands, and nothing says that its job is over"
        for project in view.projects:
            for job in {*project.intents, *project.completions} - set(view.decisions):
                yield f"{job}: its change has begun, and its decision is gone"


def who_waits_gets_one_card(case: Case) -> Iterator[str]:
    """A card is told once and never again otherwise; when a real job is over, nobody waits in vain."""
    for project in case.now.projects:
        for job, card in project.ready.items():
            receipt = project.receipts.get(job)
            if receipt is not None and text_of(card, "status") not in (text_of(receipt, "status"), "failed"):
                yield f"{job}: the card says {text_of(card, 'status')}, the receipt {text_of(receipt, 'status')}"
        for job in set(project.pending) - set(project.ready):
            over = case.is_over and job in case.now.outcomes
            if over and text_of(case.now.accepted.get(job, {}), "authority") == "external":
                yield f"{job} is over and whoever waits for it has no card"


def the_shadow_changes_nothing_real(case: Case) -> Iterator[str]:
    """A job that runs in shadow mode never reaches the real memory or the mailbox."""
    shadows = {job for job, record in case.now.accepted.items() if text_of(record, "authority") == "shadow"}
    for project in case.now.projects:
        if project.is_shadow:
            continue
        for job in shadows.intersection({*project.intents, *project.tombstones, *project.receipts, *project.ready}):
            yield f"{job} ran as a shadow and reached the real project"


ORACLES: Final[tuple[Oracle, ...]] = (
    no_record_is_torn,
    what_was_accepted_is_eligible_or_over,
    a_job_stands_in_one_place,
    what_was_said_to_be_over_is_over,
    a_request_was_dispatched_first,
    dispatches_are_requests,
    an_attempt_is_proved_step_by_step,
    a_claim_comes_first,
    a_failed_job_keeps_its_evidence,
    the_projection_follows,
    an_attempt_only_goes_on,
    attempts_come_to_rest,
    immutable_paths_keep_their_bytes,
    a_decision_is_of_a_kept_result,
    a_proposal_has_its_evidence,
    an_intent_rolls_forward_to_its_own_end,
    what_pi_meets_is_in_order,
    what_was_set_aside_is_kept,
    a_receipt_matches_the_history,
    history_has_no_gap,
    a_proposal_takes_effect_once,
    memory_survives,
    a_closed_day_costs_what_it_cost,
    what_is_removed_leaves_no_orphan,
    who_waits_gets_one_card,
    the_shadow_changes_nothing_real,
)


def _state(steps: dict[int, Fields]) -> str:
    """Return what the highest step of an attempt says."""
    return text_of(steps[max(steps)], "state")


def _may_have_aged(case: Case, path: str) -> bool:
    """Tell whether a name may have gone by its age: of a finished job, of a closed day, or of a day that Pi reads no more."""
    if not case.told("aged"):
        return False
    step = _STEP.fullmatch(path)
    if step is not None:
        return step[2] in case.now.past or (step[1] in case.now.closed and step[2] in case.now.attempts)
    if path.startswith(f"{HOME}/curator/finished/") or "/revisions/" in path or path.endswith("/project.json"):
        return False
    if path.startswith((f"{HOME}/review-spool/accounting/identities/", f"{HOME}/curator/attempts/")):
        return True
    return any(case.is_retired(job) for job in _JOB.findall(path))


def _own_base(view: View, job: str) -> str:
    """Return the base that a job was captured from, wherever the job still stands."""
    places = (view.queued, view.running, view.held, view.decisions)
    for records in places:
        if job in records:
            return text_of(fields_of(records[job].get("job")), "baseBranchDigest")
    for (of, _), result in view.results.items():
        if of == job:
            return text_of(fields_of(result.get("job")), "baseBranchDigest")
    return ""


def _claims(view: View, job: str) -> int:
    """Return how often a job was claimed, as the spool says."""
    if job in view.finished or job in view.outcomes:
        return 1_000_000
    waiting = max(number_of(each.get(job, {}), "nextAttempt") - 1 for each in (view.queued, view.held))
    return max(waiting, number_of(view.running.get(job, {}), "attempt"))


def _same_projects(case: Case) -> Iterator[tuple[ProjectView, ProjectView]]:
    """Yield each project as the crash left it and as it stands now."""
    now = {(project.key, project.is_shadow): project for project in case.now.projects}
    for project in case.crashed.projects:
        if (project.key, project.is_shadow) in now:
            yield project, now[project.key, project.is_shadow]


def _owners(project: ProjectView) -> Counter[str]:
    """Count the jobs whose intent, tombstone or receipt names a revision."""
    named: set[tuple[str, str]] = set()
    for job, intent in project.intents.items():
        record = fields_of(fields_of(intent.get("revision")).get("record"))
        named.add((job, text_of(record, "id")))
    for proofs in (project.tombstones, project.receipts):
        named |= {(job, text_of(proof, "revisionId")) for job, proof in proofs.items()}
    return Counter(revision for _, revision in named if revision)


def _texts(project: ProjectView) -> set[str]:
    entries = [entry for branch in project.branches.values() for entry in list_of(branch.get("entries"))]
    return {text_of(fields_of(entry), "text") for entry in entries}


def judge(case: Case) -> list[str]:
    """Return every breach, each with the oracle that found it."""
    return [f"{oracle.__name__}: {breach}" for oracle in ORACLES for breach in oracle(case)]
