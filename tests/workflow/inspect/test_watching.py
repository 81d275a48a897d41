"""Looking again and again: what did not change is not read, what changed is seen, what goes meanwhile harms nothing."""

import time
from pathlib import Path

import pytest

from curator.workflow.inspect.status import look
from curator.workflow.inspect.watching import TRUST_MS, Watching
from tests.acceptance.processes import Place, wait_until
from tests.cli.commands import Home, make_home
from tests.service.test_service import serving

WISH = "From now on, always run the linter before committing."
LATER = 60_000
"""Stamps are no longer young by then."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def settled(watching: Watching) -> int:
    """Look until the last look is trusted; return the moment."""
    now = now_ms()

    def is_trusted() -> bool:
        before = watching.looks
        watching.look(now)
        return watching.looks == before

    wait_until(is_trusted)
    return now


def test_what_did_not_change_is_not_read_again_and_only_ages_grow(home: Home) -> None:
    home.enqueue(WISH)
    home.review()
    watching = Watching(home.layout)
    now = settled(watching)
    looks = watching.looks

    first, second = watching.look(now), watching.look(now + 5_000)

    assert watching.looks == looks
    assert second.workers[0].age_ms == first.workers[0].age_ms + 5_000
    assert second.jobs is first.jobs


def test_after_a_while_everything_is_looked_at_anew(home: Home) -> None:
    watching = Watching(home.layout)
    now = settled(watching)
    looks = watching.looks

    watching.look(now + TRUST_MS)

    assert watching.looks == looks + 1


def test_every_change_is_seen_at_the_next_look(home: Home) -> None:
    watching = Watching(home.layout)

    def matches() -> bool:
        now = settled(watching)
        return watching.look(now).jobs == look(home.layout, now).jobs

    first = home.enqueue(WISH)
    assert matches()
    home.run("jobs", "hold", first)
    assert matches()
    home.run("jobs", "release", first)
    home.review()
    assert matches()
    home.service(mode="shadow")
    now = settled(watching)
    service = watching.look(now).service
    assert service is not None
    assert service.mode == "shadow"


def test_what_cannot_be_read_is_looked_at_until_it_is_mended_in_place(home: Home) -> None:
    job_id = home.enqueue(WISH)
    path = home.layout.queued / f"{job_id}.json"
    whole = path.read_bytes()
    path.write_bytes(b"{")
    watching = Watching(home.layout)
    assert watching.look(now_ms()).faults

    path.write_bytes(whole)

    assert watching.look(now_ms()).faults == ()
    assert [line.id for line in watching.look(now_ms()).jobs] == [job_id]


def test_files_that_go_while_they_are_looked_at_harm_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    keys = [place.project(f"code-{index}") for index in range(6)]
    jobs = [place.enqueue(key, f"entry-{turn}") for turn in range(6) for key in keys]
    watching = Watching(place.layout)
    faults: set[str] = set()
    seen: set[str] = set()

    def is_over() -> bool:
        for found in (watching.look(now_ms()), look(place.layout, now_ms())):
            faults.update(fault.fact for fault in found.faults)
            seen.update(step.name for step in found.steps.values())
        return len(list(place.layout.outcomes.glob("*.json"))) == len(jobs)

    with serving(place):
        wait_until(is_over)

    assert faults == set()
    assert seen
