"""`curator release`: another worker may take over, and is told what stands."""

from pathlib import Path

import pytest

from curator.durable.lock import try_kernel_lock
from tests.cli.commands import Home, assert_refused, make_home

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def test_a_quiet_tree_is_released_at_once(home: Home) -> None:
    home.enqueue(WISH)

    ran = home.run("release")

    assert ran.status == 0
    assert "1 job in the queue. Another worker may take over now." in ran.out


def test_a_program_is_told_what_was_done(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    told = home.run("release", "--json").document

    assert (told["letGo"], told["closed"], told["leased"], told["waiting"]) == ([], [], [], 0)
    assert isinstance(told["days"], list)
    assert len(told["days"]) == 1


def test_a_running_service_refuses_it(home: Home) -> None:
    home.enqueue(WISH)
    held = try_kernel_lock(home.layout.instance_guard)
    assert held is not None
    home.layout.instance_pid.write_text("4711\n", "ascii")

    assert_refused(home.run("release"), 75, "process 4711", "curator service stop")
    held.release()
