"""Four reviewing processes, the service and a stranger work on one spool, and are killed: every promise is kept all the same.

Whether the oracles would see it is shown twice: by damage to what a run has left, in every run of the tests, and by bugs in
a copy of curator that the crowd then works with, in the whole campaign.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from faults.contention.oracles import figures, judge, sometimes
from faults.contention.planted import PLANTED, Planted
from faults.contention.run import EVIDENCE, LONG, SHORT, Limited, Plan, Run, lived_through
from faults.figures import note
from faults.model.tapes import Step, replay_steps
from faults.recording import Verb

from tests.acceptance.processes import Place

IS_LONG: Final = os.environ.get("CURATOR_FAULTS") == "long"
PLAN: Final = LONG if IS_LONG else SHORT


def assert_sound(run: Run, plan: Plan) -> None:
    """Fail with every breach, and with the command that draws the same run again."""
    seen = {**figures(run), **sometimes(run)}
    print(", ".join(f"{name}: {count}" for name, count in seen.items()))
    note("contention", seen)
    breaches = judge(run)
    assert breaches == [], "\n".join((*breaches, f"again: {plan.command()}"))
    missing = [name for name, count in sometimes(run).items() if count == 0]
    assert missing == [], f"this never happened: {missing}; again: {plan.command()}"
    assert run.crowd.kills == plan.kills


def test_whoever_is_killed_every_job_ends_once_and_no_foreground_write_is_lost(stage_folder: Path) -> None:
    with lived_through(PLAN, stage_folder / "run") as run:
        assert_sound(run, PLAN)
        unnoticed = [
            damage.__name__ for damage, oracle in DAMAGES.items() if oracle not in noticed(run, damage, stage_folder)
        ]
        steps = run.watch.steps()
        allowed = {name: why for name, (change, why) in LIES.items() if why not in refusal(run, change(steps))}

    assert unnoticed == []
    assert allowed == {}


@pytest.mark.skipif(not IS_LONG, reason="each bug takes a run of its own: in the whole campaign")
@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.oracle)
def test_a_bug_in_what_the_crowd_works_with_is_found(bug: Planted, stage_folder: Path) -> None:
    plan = dataclasses.replace(SHORT, kills=12, seconds_max=60)
    source = bug.plant(stage_folder / "source")

    with lived_through(plan, stage_folder / "run", source) as run:
        breaches = judge(run)

    assert bug.oracle in {breach.partition(":")[0] for breach in breaches}, f"{bug.name}: {breaches}"


# --- a trace that nobody may leave, which the model has to refuse -----------------------------------------------------

ATTEMPT: Final = r".*/curator/attempts/.*\."
RESERVED, DISPATCHED, SETTLED = (f"{ATTEMPT}{step}\\.json" for step in range(3))
RESULT, DECISION, INTENT = ".*/provider-results/.*", ".*/proposal-decisions/.*", r".*\.intent\.json"
BRANCH, RECEIPT, OUTCOME, RUNNING = ".*/branches/.*", ".*/commit-receipts/.*", ".*/outcomes/.*", ".*/running/.*"


def refusal(run: Run, steps: list[Step]) -> str:
    replayed = replay_steps(run.watch.start, steps)
    return "" if replayed.refusal is None else str(replayed.refusal)


def is_of(step: Step, pattern: str) -> bool:
    asked = step.asked
    return asked is not None and asked.is_done and re.fullmatch(pattern, asked.path) is not None and bool(asked.source)


def without(pattern: str) -> Callable[[list[Step]], list[Step]]:
    """Leave out what a job published of a kind; of memory, what the last change by a review did."""

    def change(steps: list[Step]) -> list[Step]:
        job = one_claimed_once(steps)
        gone = max(
            at
            for at, step in enumerate(steps)
            if is_of(step, pattern) and (is_by_a_review(step) if pattern == BRANCH else job_of(steps, step) == job)
        )
        return [step for at, step in enumerate(steps) if at != gone]

    return change


def is_by_a_review(step: Step) -> bool:
    return step.asked is not None and any("store/memory" in call.function for call in step.asked.stack)


def before(early: str, late: str) -> Callable[[list[Step]], list[Step]]:
    """Let a job's publication of one kind come right before its publication of another one, its staging included."""

    def change(steps: list[Step]) -> list[Step]:
        job = one_claimed_once(steps)
        last = max(at for at, step in enumerate(steps) if is_of(step, early) and job_of(steps, step) == job)
        moved = steps[last]
        place = max(at for at, step in enumerate(steps[:last]) if is_of(step, late) and job_of(steps, step) == job)
        at = steps[place].begins - 1
        assert moved.asked is not None
        staged = [step for step in steps if is_staging(step, moved.asked.source)]
        new = [dataclasses.replace(step, begins=at, ends=at) for step in (*staged, moved)]
        rest = [step for step in steps if step is not moved and step not in staged]
        return sorted((*new, *rest), key=lambda step: step.ends)

    return change


def one_claimed_once(steps: list[Step]) -> str:
    """Return a job that was applied by its first claim."""
    claims = Counter(job_of(steps, step) for step in steps if is_of(step, RUNNING))
    return next(job_of(steps, step) for step in steps if is_of(step, RECEIPT) and claims[job_of(steps, step)] == 1)


JOB: Final = "review_[0-9a-f]{40}"


def path_of(step: Step) -> str:
    return "" if step.asked is None else step.asked.path


def is_staging(step: Step, source: str) -> bool:
    return step.asked is not None and step.asked.verb is Verb.STAGE and step.asked.path == source


def job_of(steps: list[Step], step: Step) -> str:
    """Return whose a publication is: by its name, else by what was staged for it."""
    assert step.asked is not None
    source = step.asked.source
    content = next((each.asked.content for each in steps if each.asked and is_staging(each, source)), b"")
    found = re.search(JOB, path_of(step)) or re.search(JOB, content.decode("utf-8"))
    return "" if found is None else found[0]


LIES: Final[dict[str, tuple[Callable[[list[Step]], list[Step]], str]]] = {
    "a decision without a result": (without(RESULT), "settle.result"),
    "a reservation after its dispatch": (before(DISPATCHED, RESERVED), "dispatch.reserved"),
    "a result before its dispatch": (before(RESULT, DISPATCHED), "result.answered"),
    "a settling before its result": (before(SETTLED, RESULT), "settle.result"),
    "a decision before its result": (before(DECISION, RESULT), "prove.completed"),
    "an intent before its decision": (before(INTENT, DECISION), "intent.decided"),
    "a receipt before its change": (before(RECEIPT, INTENT), "receipt.row"),
    "an outcome before its receipt": (before(OUTCOME, RECEIPT), "outcome.receipt"),
    "a change of memory that no tape tells": (without(BRANCH), "revision.row"),
    "a claim that no tape tells": (without(RUNNING), "drop queued.covered"),
}
"""What a trace of the crowd is changed to, and why the model refuses it."""

# --- damage to what is left, which an oracle has to find --------------------------------------------------------------


def noticed(run: Run, damage: Callable[[Run], None], folder: Path) -> set[str]:
    """Return which oracles find a damage to a copy of what a run has left."""
    home = folder / damage.__name__
    shutil.copytree(run.place.home, home / "home", symlinks=True)
    shutil.copytree(run.crowd.folder, home / "outputs")
    place = Place(home / "home")
    crowd = dataclasses.replace(run.crowd, place=place, folder=home / "outputs")
    copy = dataclasses.replace(run, place=place, crowd=crowd, limits=list(run.limits))
    damage(copy)
    found = {breach.partition(":")[0] for breach in judge(copy)}
    shutil.rmtree(home)
    return found


def first(run: Run, pattern: str) -> Path:
    """Return the first file of a kind below what a run has left."""
    return min(run.place.layout.root.glob(pattern))


def a_foreground_write_is_gone(run: Run) -> None:
    lost = run.by_hand[0]
    path = run.place.layout.root / lost.project / "branches" / f"{lost.branch}.json"
    path.write_text(path.read_text("utf-8").replace(lost.text, "Something else."), "utf-8")


def a_fact_is_remembered_twice(run: Run) -> None:
    path = next(path for path in run.place.layout.root.glob("*/branches/*.json") if "Fact number" in path.read_text())
    branch = json.loads(path.read_bytes())
    branch["entries"] += [entry for entry in branch["entries"] if "Fact" in entry["text"]]
    path.write_text(json.dumps(branch), "utf-8")


def an_outcome_is_gone(run: Run) -> None:
    first(run, "review-spool/outcomes/*.json").unlink()


def a_closing_record_is_gone(run: Run) -> None:
    first(run, "curator/finished/*/*.json").unlink()


def a_job_has_a_second_receipt(run: Run) -> None:
    path = first(run, "*/service/commit-receipts/*.json")
    others = [each for each in run.place.layout.root.glob("*/service/commit-receipts") if each != path.parent]
    shutil.copy(path, others[0])


def a_card_is_gone(run: Run) -> None:
    first(run, "*/service/review-feedback/ready/*.json").unlink()


def an_end_was_told_twice(run: Run) -> None:
    told = next(each for each in run.crowd.told() if each["type"] == "completed")
    (run.crowd.folder / "again.out").write_text(json.dumps(told) + "\n", "utf-8")


def a_revision_is_gone(run: Run) -> None:
    first(run, "*/revisions/*/*.json").unlink()


def a_lock_is_left(run: Run) -> None:
    (run.place.layout.root / run.by_hand[0].project / ".lock").write_text("1:x\n", "utf-8")


def a_staged_file_is_left(run: Run) -> None:
    (run.place.layout.outcomes / "x.json.12.00000000-0000-4000-8000-000000000000.tmp").write_bytes(b"x")


def a_job_still_runs(run: Run) -> None:
    (run.place.layout.running / f"{run.jobs[0].id}.json").write_text("{}", "utf-8")


def a_heartbeat_carries_evidence(run: Run) -> None:
    path = first(run, "review-workers/*.json")
    path.write_text(path.read_text("utf-8") + EVIDENCE, "utf-8")


def a_log_carries_a_fact(run: Run) -> None:
    (run.crowd.folder / "more.out").write_text("Fact number 7.\n", "utf-8")


def requests_came_twice(run: Run) -> None:
    run.place.log.write_text(run.place.log.read_text("utf-8") * 2, "utf-8")


def attempts_are_not_in_the_journal(run: Run) -> None:
    """Several: who died over a call may have another one that names the same request."""
    for path in sorted(run.place.layout.attempts.glob("*/??/*.2.json"))[:10]:
        for step in path.parent.glob(path.name.replace(".2.", ".?.")):
            step.unlink()


def no_request_came(run: Run) -> None:
    run.place.log.write_text("", "utf-8")


def calls_were_lost_without_a_death(run: Run) -> None:
    run.crowd.leases_left = -1


def an_attempt_has_no_end(run: Run) -> None:
    first(run, "curator/attempts/*/??/*.2.json").unlink()


def fewer_calls_were_allowed(run: Run) -> None:
    run.limits = [Limited(run.limits[0].since_ms, len(run.jobs) // 2, 1_000_000_000)]


def fewer_tokens_were_allowed(run: Run) -> None:
    run.limits = [Limited(run.limits[0].since_ms, 10_000, 40_000)]


DAMAGES: Final[dict[Callable[[Run], None], str]] = {
    a_foreground_write_is_gone: "memory_is_what_was_accepted",
    a_fact_is_remembered_twice: "memory_is_what_was_accepted",
    an_outcome_is_gone: "every_job_ends_once",
    a_closing_record_is_gone: "every_job_ends_once",
    a_job_has_a_second_receipt: "every_job_ends_once",
    a_card_is_gone: "every_job_ends_once",
    an_end_was_told_twice: "every_job_ends_once",
    a_revision_is_gone: "a_receipt_is_one_revision",
    a_lock_is_left: "nothing_is_left",
    a_staged_file_is_left: "nothing_is_left",
    a_job_still_runs: "nothing_is_left",
    a_heartbeat_carries_evidence: "what_was_said_stays_private",
    a_log_carries_a_fact: "what_was_said_stays_private",
    requests_came_twice: "every_request_was_dispatched",
    attempts_are_not_in_the_journal: "every_request_was_dispatched",
    no_request_came: "every_dispatch_is_a_request",
    calls_were_lost_without_a_death: "every_attempt_is_over",
    an_attempt_has_no_end: "every_attempt_is_over",
    fewer_calls_were_allowed: "no_limit_was_passed",
    fewer_tokens_were_allowed: "no_limit_was_passed",
}
