"""Cases A-026, A-028 and A-049: memory that is full, providers that refuse everything, and backlogs that meet them."""

from __future__ import annotations

import json
from pathlib import Path

from curator.model.digest import Json
from tests.cases.scene import RELEASE, Here, ask, know, remember, text
from tests.fakes.provider import Settings, serving

ADD = text("A-019/fenced.txt")
AT = "2026-05-01T00:00:00.000Z"


def test_a_026_a_memory_that_is_full_is_said_with_the_numbers_and_costs_no_more_than_three_calls(
    tmp_path: Path,
) -> None:
    # 50 characters below what a memory may hold at all.
    sizes = [800] * 7 + [350]
    entries: list[Json] = [
        {"id": f"mem_{number:08}", "text": f"{number}".ljust(size, "x"), "createdAt": AT, "updatedAt": AT}
        for number, size in enumerate(sizes)
    ]
    place = Here(tmp_path)
    with serving(Settings(proposal=text("A-026/overflow.txt")), place.log) as server:
        know(place, server)
        key, path = remember(place, "code", {"version": 1, "name": "main", "createdAt": AT, "entries": entries})
        before = path.read_bytes()
        job = place.enqueue(key)
        for _ in range(2):
            place.review()
            place.let_go_on(job)
        place.review()
        place.review()

    added = json.loads(text("A-026/overflow.txt"))["operations"][0]["content"]
    assert (place.ending(job), place.requests()) == ("noop", 3)
    (card,) = place.cards(key).values()
    numbers = f"{5_950 + len(added)} characters, more than 6000"
    assert [message for message in card.messages if numbers in message] != []
    assert path.read_bytes() == before
    shown = place.run("memory", "show", "--project", str(tmp_path / "code"))
    assert "5,950 characters: full, for its working size is 4,500" in shown.out
    assert place.run("memory", "show", "--project", str(tmp_path / "code"), "--json").document["isFull"] is True


def test_a_028_a_notice_of_a_spent_account_for_many_jobs_loses_none_of_them(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        names = [f"job-{number}" for number in range(8)]
        asked = ask(place, server, dict.fromkeys(names, text("A-028/limit_prose.txt")))
        assert {asked.ending(name) for name in names} == {"queued"}
        for _ in range(2):
            place.run("jobs", "retry", "--all")
            place.review()
        assert {asked.ending(name) for name in names} == {"invalid_model_output"}
        shown = place.run("status").out
        server.state.settings.marked = ""
        server.state.settings.proposal = ADD
        for name in names:
            assert place.run("jobs", "retry", asked.jobs[name].id).status == 0
        place.review()

    assert "invalid_model_output" in shown
    assert all(RELEASE in asked.texts(name) for name in names)
    assert place.requests() == 4 * len(names)
    assert asked.files("monthly usage limit") == []


def test_a_028_after_ten_equal_failures_in_a_row_nobody_else_is_asked_and_that_is_said(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        names = [f"job-{number:02}" for number in range(13)]
        asked = ask(place, server, dict.fromkeys(names, text("A-028/limit_prose.txt")))

    assert place.requests() == 10
    assert {asked.ending(name) for name in names} == {"queued"}
    assert "10 jobs in a row failed alike" in asked.ran.out + asked.ran.err
    assert asked.files("monthly usage limit") == []


def test_a_049_a_backlog_that_meets_a_limit_of_a_rate_goes_one_at_a_time_and_loses_nothing(tmp_path: Path) -> None:
    place = Here(tmp_path)
    waves = ",".join(["ok"] * 3 + ["http429"] * 2 + ["ok"] * 3 + ["http429"] + ["ok"])
    with serving(Settings(review=waves, retry_after="2"), place.log) as server:
        know(place, server)
        jobs = [place.enqueue(place.project(f"p{number:02}")) for number in range(9)]
        for _ in range(4):
            place.review()
            assert not list(place.layout.dead_letter.glob("*"))
            place.run("jobs", "retry", "--all")
        asked, live = place.requests(), server.state.max_live

    assert {place.ending(job) for job in jobs} == {"applied"}
    assert (asked, live) == (len(jobs) + 3, 1), "one refusal a run, and nobody is sent after it"
