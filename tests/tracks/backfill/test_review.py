"""A plan's windows are reviewed in shadow: each once, counted like any call, and memory is only looked at."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.errors import RefusedError
from curator.model.attempt import AttemptState, Correction, Unknown
from curator.model.budget import Amount
from curator.model.ids import Day
from curator.model.ports import CallFailure, Class
from curator.model.times import day_of
from curator.tracks.backfill.errors import InputsMovedError, PlanOverError
from curator.tracks.backfill.expiry import end, forget_project, let_expired_go
from curator.tracks.backfill.importing import import_inputs
from curator.tracks.backfill.planning import open_ledger
from curator.tracks.backfill.records import Caps, Wish, new_entry_id
from curator.tracks.backfill.review import Reviewed, spent_on
from curator.workflow.halting import Halted
from tests.kit import adding
from tests.session_lines import assistant, lines, tool_result
from tests.tracks.backfill.places import Planned

CALL = Amount(1, 160, 3_100_000)
LONG = "x" * 20_000


def codes(planned: Planned) -> list[str | None]:
    return [staged.code for staged in planned.shelf.proposals()]


def test_each_window_is_asked_about_once_and_staged_and_memory_stays(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."), adding("Use uv."))
    planned.session("one", "Please use pytest.")
    planned.session("two", "Please use uv.", at=10)
    before = planned.file.read_bytes()
    planned.make()

    steps = planned.run()

    assert [type(step) for step in steps] == [Reviewed, Reviewed]
    assert len(planned.reviewer.asked) == 2
    assert "Please use pytest." in planned.reviewer.briefs[-2].job.transcript
    assert planned.file.read_bytes() == before
    assert [part.changes for part in [planned.promote_all()]] == [2]
    assert planned.texts == ["The build runs on Linux.", "Tests run with pytest.", "Use uv."]
    assert planned.findings() == []


def test_a_window_sees_what_those_before_it_staged(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."), adding("Use uv."))
    planned.session("one", "Please use pytest.")
    planned.session("two", "Please use uv.", at=10)
    plan = planned.make()

    planned.run()

    seen = planned.reviewer.briefs[-1].base
    assert [entry.text for entry in seen.entries] == ["The build runs on Linux.", "Tests run with pytest."]
    assert seen.entries[1].id == new_entry_id(plan.id, 1, 0)


def test_a_second_run_asks_nothing_and_changes_nothing(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."))
    planned.session("one", "Please use pytest.")
    planned.make()
    planned.run()
    staged = planned.staged_bytes()

    assert planned.run() == []
    assert planned.staged_bytes() == staged
    assert len(planned.reviewer.asked) == 1


def test_what_is_counted_is_what_was_asked(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."))
    planned.session("one", LONG, LONG, LONG)
    planned.make()

    steps = planned.run()

    day = Day(day_of(planned.world.clock.now()))
    exposure = planned.shop.stores.attempts.exposure("fixture-provider", day)
    assert len(planned.reviewer.asked) == 3
    assert exposure.actual == exposure.total == CALL + CALL + CALL
    assert isinstance(steps[-1], Reviewed)
    assert steps[-1].spent == spent_on(planned.plan, planned.shelf, planned.shop) == exposure.total
    assert {seen.latest.origin for seen in planned.shop.stores.attempts.of_day(day)} == {"backfill"}


def test_a_days_limit_ends_the_run_and_the_next_day_goes_on(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."), maxCallsPerDay=1)
    planned.session("one", LONG, LONG)
    planned.make()

    first = planned.run()
    again = planned.run()
    planned.world.clock.ms += 86_400_000
    later = planned.run()

    assert [type(step) for step in first] == [Reviewed, Halted]
    assert isinstance(first[-1], Halted)
    assert "the day's limit of calls" in first[-1].fact
    assert [type(step) for step in again] == [Halted]
    assert [type(step) for step in later] == [Reviewed]
    assert len(planned.reviewer.asked) == 2


@pytest.mark.parametrize(
    ("caps", "calls", "cap"),
    [
        (Caps(tokens=560), 2, "tokens"),
        (Caps(cost_nanousd=53_100_000), 2, "cost"),
        (Caps(cost_nanousd=0), 0, "cost"),
    ],
)
def test_the_plans_caps_hold_over_all_its_runs(tmp_path: Path, caps: Caps, calls: int, cap: str) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."))
    planned.session("one", LONG, LONG, LONG)
    planned.make(caps)

    steps = [planned.run() for _ in range(2)][-1]

    assert len(planned.reviewer.asked) == calls
    assert isinstance(steps[-1], Halted)
    assert steps[-1].fact == f"the cap of {cap} was reached"


def test_a_cap_of_calls_takes_no_more_windows_than_it_lets_ask(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Tests run with pytest."))
    planned.session("one", LONG, LONG, LONG)
    planned.make(Caps(calls=2))

    assert [type(step) for step in planned.run()] == [Reviewed, Reviewed]
    planned.make()
    assert [type(step) for step in planned.run()] == [Reviewed]


def test_an_unusable_answer_is_asked_for_again_and_then_left(tmp_path: Path) -> None:
    planned = Planned(tmp_path, "no JSON")
    planned.session("one", "Please use pytest.")
    planned.make()

    planned.run()

    assert [brief.attempt for brief in planned.reviewer.briefs[2:]] == [1, 2, 3]
    assert [brief.is_final for brief in planned.reviewer.briefs[2:]] == [False, False, True]
    assert codes(planned) == ["invalid_model_output"]
    assert planned.run() == []


def test_a_provider_that_fails_on_and_on_is_left_alone(tmp_path: Path) -> None:
    planned = Planned(tmp_path, CallFailure("invalid_request", Class.TERMINAL, "the request is wrong"))
    planned.session("one", *[LONG] * 7)
    planned.make()

    steps = planned.run()

    assert len(planned.reviewer.asked) == 5
    assert isinstance(steps[-1], Halted)
    assert "5 windows in a row brought no proposal" in steps[-1].fact


def test_a_turned_away_call_says_nothing_of_its_window(tmp_path: Path) -> None:
    planned = Planned(tmp_path, CallFailure("rate_limited", Class.LATER, "too many"), adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()

    first, second = planned.run(), planned.run()

    assert [type(step) for step in first] == [Halted]
    assert [type(step) for step in second] == [Reviewed]
    assert codes(planned) == [None]


def test_an_answer_whose_settlement_was_lost_is_settled_and_not_asked_for_again(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    planned.run()
    staged = planned.staged_bytes()
    (answer,) = planned.shelf.all_answers()
    journal = planned.layout.attempts / answer.day / answer.attempt_id.removeprefix("review_attempt_")[:2]
    (journal / f"{answer.attempt_id}.2.json").unlink()
    (planned.shelf.layout.staged / "000001.json").unlink()
    planned.reopen()

    planned.run()

    assert planned.staged_bytes() == staged
    assert len(planned.reviewer.asked) == 1
    (seen,) = planned.shop.stores.attempts.of_day(answer.day)
    assert (seen.state, seen.exposure.total) == (AttemptState.SETTLED, CALL)


def test_an_answer_that_was_taken_for_lost_is_corrected(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    planned.run()
    (answer,) = planned.shelf.all_answers()
    journal = planned.layout.attempts / answer.day / answer.attempt_id.removeprefix("review_attempt_")[:2]
    (journal / f"{answer.attempt_id}.2.json").unlink()
    planned.reopen()
    planned.app.recover()
    (lost,) = planned.shop.stores.attempts.of_day(answer.day)
    assert isinstance(lost.latest, Unknown)

    planned.run()

    (seen,) = planned.shop.stores.attempts.of_day(answer.day)
    assert isinstance(seen.correction, Correction)
    assert seen.exposure.total == CALL


def test_a_changed_file_is_noticed_and_nothing_is_spent(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    path = planned.session("one", "Please use uv.")
    planned.make()
    path.write_bytes(path.read_bytes().replace(b"uv", b"UV"))

    with pytest.raises(InputsMovedError, match=r"one\.jsonl is not what it was"):
        planned.run()

    assert planned.reviewer.asked == []
    assert not (planned.layout.trajectory(planned.key).segments).exists()


def test_a_file_that_was_only_written_on_is_read_as_far_as_it_was_planned(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    path = planned.session("one", "Please use uv.")
    planned.make()
    more = {"type": "message", "id": "z", "parentId": "one-a0", "message": {"role": "user", "content": "And more."}}
    path.write_bytes(path.read_bytes() + json.dumps(more).encode() + b"\n")

    planned.run()

    assert "And more." not in planned.reviewer.briefs[-1].job.transcript
    assert len(planned.reviewer.asked) == 1


def test_a_shared_prefix_is_reviewed_once(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    one = planned.session("one", "Please use uv.")
    copied = one.read_bytes().replace(b"session-one", b"session-two")
    (one.parent / "two.jsonl").write_bytes(copied)
    planned.make()

    planned.run()

    assert len(planned.plan.inputs) == 2
    assert planned.plan.forecast.windows == 1
    assert len(planned.reviewer.asked) == 1


def test_what_one_plan_reviewed_no_other_asks_about(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    planned.run()
    planned.world.clock.ms += 1_000
    planned.session("two", "Please use pytest.", at=5)
    planned.make()

    planned.run()

    assert len(planned.reviewer.asked) == 2
    assert "pytest" in planned.reviewer.briefs[-1].job.transcript


def test_a_pause_ends_the_run_and_a_cancel_ends_the_plan(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", LONG, LONG)
    plan = planned.make(Caps(calls=1))
    planned.shelf.want(Wish(plan_id=plan.id, will="pause", changed_at=plan.created_at))

    paused = planned.run()
    planned.shelf.want(Wish(plan_id=plan.id, will="run", changed_at=plan.created_at))
    planned.run()
    end(plan, planned.shelf, "cancel", planned.shop)

    assert [type(step) for step in paused] == [Halted]
    assert planned.staged_bytes() == {}
    assert list(planned.shelf.all_answers()) == []
    with pytest.raises(PlanOverError):
        planned.run()
    assert planned.findings() == []


def test_a_cancelled_plan_gives_back_what_it_did_not_review(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."), maxCallsPerDay=1)
    planned.session("one", LONG, LONG)
    planned.make()
    planned.run()
    end(planned.plan, planned.shelf, "cancel", planned.shop)
    planned.world.clock.ms += 86_400_000
    planned.make()

    assert [type(step) for step in planned.run()] == [Reviewed]


def test_proposals_go_when_their_time_is_over_and_are_not_paid_for_again(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make(keep_ms=60_000)
    planned.run()
    written = (planned.shelf.layout.staged / "000001.json").stat().st_mtime_ns // 1_000_000

    planned.world.clock.ms = written + 50_000
    let_expired_go(planned.shop)
    assert len(planned.staged_bytes()) == 1
    planned.world.clock.ms = written + 61_000
    planned.app.maintain()

    assert planned.staged_bytes() == {}
    with pytest.raises(PlanOverError):
        planned.run()
    assert len(planned.reviewer.asked) == 1
    assert planned.findings() == []


def test_words_that_branches_share_are_asked_about_once_also_by_a_later_plan(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    path = planned.session("one", "Please use uv.")
    for number in range(3):
        with path.open("ab") as file:
            file.write(lines(tool_result(f"tool{number}", "one-a0", "bash")))
    planned.make()
    planned.run()
    with path.open("ab") as file:
        file.write(lines(tool_result("tool9", "one-a0", "bash"), assistant("other", "one-u0", "Another answer.")))
    planned.world.clock.ms += 1_000
    planned.make()

    planned.run()

    assert len(planned.reviewer.asked) == 2
    assert planned.reviewer.briefs[-1].job.transcript == "USER: Please use uv.\n\nASSISTANT: Another answer."
    planned.world.clock.ms += 1_000
    planned.make()
    assert planned.run() == []


def test_what_was_forgotten_since_it_was_indexed_is_not_sent(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    with contextlib.closing(open_ledger(planned.key, planned.shop)) as ledger:
        windows = import_inputs(planned.plan, planned.shelf, ledger, planned.shop)
        assert windows is not None
        ledger.forget([windows.windows[0].last], "a person wanted it gone")

    planned.run()

    assert planned.reviewer.asked == []
    assert codes(planned) == ["evidence_gone"]
    assert planned.findings() == []


def test_an_entry_that_no_review_can_carry_is_named_before_anything_is_spent(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    content = json.loads(planned.file.read_bytes())
    content["entries"][0]["id"] = "-odd"
    planned.file.write_text(json.dumps(content), "utf-8")

    with pytest.raises(RefusedError, match="no review can carry it"):
        planned.run()

    assert planned.reviewer.asked == []


def test_what_a_dead_writer_never_named_goes_with_maintenance(tmp_path: Path) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    planned.run()
    left = planned.shelf.layout.staged / "000002.json.1.01234567-0123-0123-0123-0123456789ab.tmp"
    left.write_bytes(b"{")
    planned.world.clock.ms = left.stat().st_mtime_ns // 1_000_000 + 3_700_000

    let_expired_go(planned.shop)

    assert not left.exists()
    assert len(planned.staged_bytes()) == 1


@pytest.mark.parametrize("survive", range(12))
def test_forgetting_a_project_that_was_cut_short_is_done_again(tmp_path: Path, survive: int) -> None:
    planned = Planned(tmp_path, adding("Use uv."))
    planned.session("one", "Please use uv.")
    planned.make()
    planned.run()
    planned.promote()
    dying = dataclasses.replace(planned.shop, volume=Dying(survive))

    with contextlib.suppress(Died):
        forget_project(planned.key, dying)
    (planned.layout.plans / ("plan_" + "1" * 16)).mkdir()
    forget_project(planned.key, planned.shop)

    assert list(planned.layout.plans.iterdir()) == []


class Died(Exception):  # noqa: N818 - the process, not an error of it
    """The process is gone."""


class Dying(Volume):
    """A volume whose process dies after so many removals."""

    def __init__(self, survive: int) -> None:
        self._left = survive

    def unlink(self, path: Path) -> bool:
        self._left -= 1
        if self._left < 0:
            raise Died
        return super().unlink(path)
