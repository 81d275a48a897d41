"""The page's figures are what the files come to, in their scope; and a long past is cut, and counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, insert
from sqlalchemy.pool import StaticPool

from curator.audit.database import ask
from curator.audit.questions import Scope
from curator.audit.report.figures import CERTAINTIES, Figures, figures_of, quantile
from curator.audit.schema import BRANCHES, BUDGETS, COLUMNS, METADATA, QUARANTINE, SOURCES
from curator.durable.volume import Volume
from curator.model.ids import Day, ProjectKey
from curator.model.limits import REPORT_DAYS_MAX, REPORT_ROWS_MAX
from curator.model.times import day_of, ms_of
from tests.audit.histories import HOUR_MS, History

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Three days of every kind of ending, and of what has none."""
    history = History(tmp_path_factory.mktemp("history"))
    for answers in (["add", "fail"], ["lose", "add"], ["add", "foreign", "retry"]):
        for answer in answers:
            history.enqueue()
            history.review(answer)
        history.world.clock.ms += 20 * HOUR_MS
    history.enqueue()
    history.hold()
    history.enqueue()
    history.enqueue()
    history.tear()
    history.review()
    history.enqueue()
    history.review("retry")
    history.enqueue()
    return history


def asked(history: History, scope: Scope = Scope()) -> Figures:  # noqa: B008 - a frozen value
    found = ask(history.layout, Volume(), history.warned.append, lambda it: figures_of(it, scope))
    assert history.warned == []
    return found


def test_spend_and_calls_are_the_journals(history: History) -> None:
    attempts = [dict(row) for row in history.files()["attempts"]]

    found = asked(history)

    for certainty in CERTAINTIES:
        of = found.spent.of(certainty)
        due = [
            sum(int(str(each[f"{certainty}_{unit}"])) for each in attempts)
            for unit in ("calls", "tokens", "cost_nanousd")
        ]
        assert [of.calls, of.tokens, of.cost_nanousd] == due
    assert found.spent.unknown.calls >= 1
    assert [day for day, _ in found.days] == sorted({str(each["day"]) for each in attempts})
    assert found.days_of == len(found.days) == 3
    (model,) = found.models
    assert model.states == Counter(str(each["state"]) for each in attempts)
    assert list(model.durations_ms) == sorted(
        int(str(each["duration_ms"])) for each in attempts if each["duration_ms"] is not None
    )


def test_outcomes_are_those_of_the_jobs_by_the_day_they_ended(history: History) -> None:
    jobs = [dict(row) for row in history.files()["jobs"]]
    ended = [each for each in jobs if each["state"] == "finished"]

    found = asked(history)

    due = Counter((str(each["finished_at"])[:10], str(each["status"])) for each in ended)
    assert {(day, status): count for day, counts in found.outcomes.items() for status, count in counts.items()} == due
    assert len(due) >= 3
    assert dict(found.failures) == Counter(str(each["failure_code"]) for each in ended if each["failure_code"])
    accepted = [each for each in ended if each["accepted_at"] is not None]
    assert list(found.turns_ms) == sorted(
        ms_of(str(each["finished_at"])) - ms_of(str(each["accepted_at"])) for each in accepted
    )


def test_who_waits_is_as_old_as_its_acceptance_or_its_file(history: History) -> None:
    layout = history.layout
    due = []
    for place, folder in (("queued", layout.queued), ("held", layout.held)):
        for path in folder.glob("*.json"):
            accepted = layout.jobs / path.name
            at = json.loads(accepted.read_bytes())["acceptedAt"] if accepted.exists() else None
            due.append((place, path.stat().st_mtime_ns // 1_000_000 if at is None else ms_of(at)))

    found = asked(history)

    assert [(each.place, each.since_ms) for each in found.waiting] == sorted(due, key=lambda each: each[1])
    assert {place for place, _ in due} == {"queued", "held"}
    assert [path for path in layout.queued.glob("*.json") if (layout.jobs / path.name).exists()]


def test_memory_what_was_set_aside_and_the_worker_are_told(history: History) -> None:
    found = asked(history)

    (memory,) = found.memories
    branch = history.app.shop.memory(history.key, "external").branch("main")  # type: ignore[arg-type]  # a literal is not a NewType
    assert branch is not None
    assert (memory.project_key, memory.entries, memory.chars) == (history.key, len(branch.entries), branch.chars)
    (aside,) = found.aside
    assert (aside.place, found.aside_of, found.unreadable) == ("dead-letter", 1, ())
    assert (history.layout.dead_letter / aside.name).stat().st_size == aside.bytes
    assert found.worker is not None
    assert found.worker[0] == "stopped"


def test_a_scope_leaves_out_what_is_not_in_it(history: History) -> None:
    last = asked(history).days[-1][0]

    later = asked(history, Scope(since=Day(last)))
    mine, nobodys = (
        asked(history, Scope(project_key=history.key)),
        asked(history, Scope(project_key=ProjectKey("0" * 24))),
    )

    assert [day for day, _ in later.days] == [last]
    assert set(later.outcomes) <= {last, day_of(history.world.clock.now())}
    keys = {dict(row)["job_id"]: dict(row)["project_key"] for row in history.files()["jobs"]}
    due = [dict(row) for row in history.files()["attempts"] if keys[dict(row)["job_id"]] == history.key]
    assert mine.spent.actual.calls == sum(int(str(each["actual_calls"])) for each in due) > 5
    assert mine.aside == ()
    assert (nobodys.days, nobodys.models, nobodys.outcomes, nobodys.waiting, nobodys.memories) == ((), (), {}, (), ())


def test_a_call_whose_jobs_record_was_lost_counts_in_the_whole_and_in_no_project(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.enqueue()
    history.review("add")
    history.enqueue()
    history.review("retry")
    history.tear()
    history.review()
    jobs = [dict(row)["job_id"] for row in history.files()["jobs"]]
    assert [dict(row)["job_id"] in jobs for row in history.files()["attempts"]].count(False) == 1

    whole, mine = asked(history), asked(history, Scope(project_key=history.key))

    assert (whole.spent.actual.calls, mine.spent.actual.calls) == (2, 1)


def test_a_long_past_is_cut_and_counted() -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.connect() as connection:
        METADATA.create_all(connection)
        zero = dict.fromkeys(COLUMNS, 0)
        days = [f"2025-{month:02}-{day:02}" for month in range(1, 9) for day in range(1, 29)]
        connection.execute(
            insert(BUDGETS),
            [{"day": day, "provider": who, **zero, "actual_calls": 1} for day in days for who in ("a", "b")],
        )
        many = range(1, REPORT_ROWS_MAX * 2 + 1)
        connection.execute(
            insert(SOURCES),
            [{"id": at, "folder": "f", "name": f"{at}", "stamp": "1.1.1", "fault": "torn"} for at in many],
        )
        whose = {"authority": "external", "branch_name": "main", "digest": "d", "entries": 1, "updated_at": "x"}
        connection.execute(
            insert(BRANCHES), [{"source_id": at, "project_key": f"{at:024x}", "chars": at, **whose} for at in many]
        )
        connection.execute(
            insert(QUARANTINE),
            [{"source_id": at, "place": "p", "job_id": None, "moved_ms": at, "bytes": 1} for at in many],
        )

        found = figures_of(connection, Scope())
    engine.dispose()

    assert (len(found.days), found.days_of, found.days[-1][0]) == (REPORT_DAYS_MAX, len(days), days[-1])
    assert found.spent.actual.calls == 2 * len(days)
    assert (len(found.memories), found.memories_of, found.memories[0].chars) == (REPORT_ROWS_MAX, len(many), len(many))
    assert (len(found.aside), found.aside_of, found.aside[0].moved_ms) == (REPORT_ROWS_MAX, len(many), len(many))
    assert (len(found.unreadable), found.unreadable_of) == (REPORT_ROWS_MAX, len(many))


@pytest.mark.parametrize(("share", "due"), [(0.0, 1), (0.5, 3), (0.95, 5), (1.0, 5)])
def test_a_quantile_is_one_of_the_values(share: float, due: int) -> None:
    assert quantile([1, 2, 3, 4, 5], share) == due
    assert quantile([7], share) == 7
