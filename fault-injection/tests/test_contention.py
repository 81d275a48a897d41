"""Four reviewing processes, the service and a stranger work on one spool, and are killed: every promise is kept all the same.

Whether the oracles would see it is shown twice: by damage to what a run has left, in every run of the tests, and by bugs in
a copy of curator that the crowd then works with, in the whole campaign.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from faults.contention.oracles import figures, judge, sometimes
from faults.contention.planted import PLANTED, Planted
from faults.contention.run import EVIDENCE, LONG, SHORT, Limited, Plan, Run, lived_through
from faults.figures import note

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

    assert unnoticed == []


@pytest.mark.skipif(not IS_LONG, reason="each bug takes a run of its own: in the whole campaign")
@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.oracle)
def test_a_bug_in_what_the_crowd_works_with_is_found(bug: Planted, stage_folder: Path) -> None:
    plan = dataclasses.replace(SHORT, kills=12, seconds_max=30)
    source = bug.plant(stage_folder / "source")

    with lived_through(plan, stage_folder / "run", source) as run:
        breaches = judge(run)

    assert bug.oracle in {breach.partition(":")[0] for breach in breaches}, f"{bug.name}: {breaches}"


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
