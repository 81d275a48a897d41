"""What must hold of the files after any crash and its recovery, whatever curator says of itself.

An oracle is a function of what lies on disk now, what lay there when the crash came, and what had been told to somebody
by then. It yields a sentence for each breach and nothing where all is well.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.view import HOME, digest, fields_of, list_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


from faults.backfill_oracles import BACKFILL_ORACLES, is_promotion
from faults.case import (
    DEAD,
    EVIDENCE,
    IMMUTABLE,
    JOBS,
    MAY_GO,
    Case,
    may_have_aged,
    owners_of,
    same_projects,
    texts_of,
)
from faults.money import (
    a_claim_comes_first,
    a_closed_day_costs_what_it_cost,
    a_failed_job_keeps_its_evidence,
    a_persons_word_on_a_call_stays,
    a_request_was_dispatched_first,
    an_attempt_is_proved_step_by_step,
    an_attempt_only_goes_on,
    attempts_come_to_rest,
    dispatches_are_requests,
    the_projection_follows,
)
from faults.trajectory_oracles import TRAJECTORY_ORACLES

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
            # One that is long over may be queued again: it is answered from its closing record. And a name whose removal
            # the power took back stands beside its outcome until somebody recovers.
            is_back = (case.is_retired(job) and job not in view.outcomes) or (
                when == "by the crash" and job in view.outcomes
            )
            if {"queued", "running"}.intersection(view.stands(job)) and not is_back:
                yield f"{job} was said to be over, and stands in {view.stands(job)}"
    if case.is_over:
        for job in set(case.now.outcomes) - {*case.now.finished, *case.told("tampered")}:
            yield f"{job} has an outcome and no closing record"


def immutable_paths_keep_their_bytes(case: Case) -> Iterator[str]:
    """What stood under an immutable name stands there for ever, byte for byte; some names may go, none may change."""
    for path, content in case.crashed.files.items():
        if not IMMUTABLE.fullmatch(path):
            continue
        now = case.now.files.get(path)
        if now is None and not MAY_GO.fullmatch(path) and not may_have_aged(case, path):
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
        shard = job.removeprefix("review_")[:2]
        path = f"{HOME}/curator/evidence/{shard}/{job}.{attempt}.json"
        if is_ours and is_proposal and path not in case.now.files:
            yield f"{job}: the evidence of {attempt} is gone"


def an_intent_rolls_forward_to_its_own_end(case: Case) -> Iterator[str]:
    """A begun mutation keeps its bytes until its tombstone, and tombstone, completion and receipt are of that one."""
    for before, now in same_projects(case):
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


def only_a_person_holds_a_job(case: Case) -> Iterator[str]:
    """A job is held on a person's word, and never again once it was let go."""
    for view in (case.crashed, case.now):
        for job in set(view.held) - set(case.told("holding")):
            yield f"{job} is held, and nobody asked for that"
    for job in set(case.now.held).intersection(case.told("released")):
        yield f"{job} was released, and is held"


def a_folder_of_the_spool_holds_its_own_kind(case: Case) -> Iterator[str]:
    """After recovery jobs stand among jobs, and what was set aside among the dead letters."""
    for path in sorted(set(case.now.files) - set(case.damaged)):
        if JOBS.match(path) and not JOBS.fullmatch(path):
            yield f"{path} stands among jobs, and no job has that name"
        if DEAD.match(path) and not DEAD.fullmatch(path):
            yield f"{path} stands among the dead letters under another kind of name"


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


def a_completed_job_has_its_receipt(case: Case) -> Iterator[str]:
    """A job is over with a proposal only when its receipt stands: what was done to memory is proved before it is told."""
    for view in (case.crashed, case.now):
        proved = {job for project in view.projects for job in project.receipts}
        for job, record in view.outcomes.items():
            if text_of(fields_of(record.get("outcome")), "status") == "completed" and job not in proved:
                yield f"{job} is over with a proposal and has no receipt"


def history_has_no_gap(case: Case) -> Iterator[str]:
    """Revisions are numbered from 1 without a gap; a branch that nobody else wrote stands where the last one leads."""
    for project in case.now.projects:
        for name, history in project.revisions.items():
            numbers = [number_of(each, "sequence") for each in history]
            if numbers != list(range(1, len(history) + 1)):
                yield f"revisions of {name} are {numbers}"
            begun = any(text_of(intent, "branchName") == name for intent in project.intents.values())
            if not begun and not any(case.told(kind) for kind in ("writing", "foreground", "undoing")):
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
        owners = owners_of(project)
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
        if not any(text in texts_of(project) for project in case.now.projects if not project.is_shadow):
            yield f"a foreground write is gone: {text}"
    for text in undone.intersection(case.told("undone")):
        if any(text in texts_of(project) for project in case.now.projects):
            yield f"what was taken back is remembered again: {text}"


def what_is_removed_leaves_no_orphan(case: Case) -> Iterator[str]:
    """What a record is made of goes after it, at whatever moment somebody looks; nothing goes while its job is under way."""
    for view in (case.crashed, case.now):
        for job, decision in view.decisions.items():
            if (job, text_of(decision, "attemptId")) not in view.results:
                yield f"{job}: a decision stands and its result does not"
        for path in view.files:
            aged = EVIDENCE.fullmatch(path)
            is_loose = aged and view.stands(aged[1]) == [] and aged[1] not in view.finished
            if aged and is_loose and not is_promotion(view, aged[1]):
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


def who_waits_is_not_forgotten(case: Case) -> Iterator[str]:
    """Who waits is registered before its job is accepted: once that was told, the registration stays until Pi takes it."""
    waiting = {job for project in case.ended.projects for job in project.pending} if case.ended is not None else set()
    for when, view, jobs in (
        ("by the crash", case.crashed, case.told_before("accepted")),
        ("since", case.now, case.told("accepted")),
    ):
        registered = {job for project in view.projects for job in project.pending}
        for job in sorted(waiting.intersection(jobs) - registered):
            if not case.is_retired(job):
                yield f"{job} was accepted, and {when} it is forgotten who waits for it"


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
    only_a_person_holds_a_job,
    a_folder_of_the_spool_holds_its_own_kind,
    a_receipt_matches_the_history,
    a_completed_job_has_its_receipt,
    history_has_no_gap,
    a_proposal_takes_effect_once,
    memory_survives,
    a_closed_day_costs_what_it_cost,
    a_persons_word_on_a_call_stays,
    what_is_removed_leaves_no_orphan,
    who_waits_gets_one_card,
    who_waits_is_not_forgotten,
    the_shadow_changes_nothing_real,
    *TRAJECTORY_ORACLES,
    *BACKFILL_ORACLES,
)


def judge(case: Case) -> list[str]:
    """Return every breach, each with the oracle that found it."""
    return [f"{oracle.__name__}: {breach}" for oracle in ORACLES for breach in oracle(case)]
