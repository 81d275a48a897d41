"""`curator jobs`: looking at jobs and having a word in them."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Home, assert_refused, make_home

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def state(home: Home, job_id: str) -> object:
    return home.run("jobs", "show", job_id, "--json").document["state"]


def test_no_jobs_is_said(home: Home) -> None:
    ran = home.run("jobs")

    assert ran.status == 0
    assert "curator enqueue" in ran.out


def test_jobs_are_listed_with_their_state(home: Home) -> None:
    done = home.enqueue(WISH)
    home.review()
    waiting = home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")

    listed = home.run("jobs", "--json").document["jobs"]

    assert isinstance(listed, list)
    shown = {str(each["jobId"]): (each["state"], each.get("result")) for each in listed if isinstance(each, dict)}
    assert shown == {done: ("over", "applied"), waiting: ("queued", None)}
    assert waiting[:15] in home.run("jobs", "list").out


def test_a_job_is_shown_by_ids_and_sizes_and_never_by_its_text(home: Home) -> None:
    job_id = home.enqueue(WISH)
    before = [home.run("jobs", "show", job_id), home.run("jobs", "show", job_id, "--json")]
    home.review()
    after = [home.run("jobs", "show", job_id), home.run("jobs", "show", job_id, "--json")]

    for ran in (*before, *after):
        assert ran.status == 0
        assert job_id in ran.out
        assert "linter" not in ran.out
    told = after[1].document
    assert (told["state"], told["status"], told["results"]) == ("over", "applied", 1)
    attempts = told["attempts"]
    assert isinstance(attempts, list)
    assert isinstance(attempts[0], dict)
    assert attempts[0]["state"] == "settled"
    assert "attempt:     1, settled, offline" in after[0].out


def test_the_first_digits_of_an_id_will_do(home: Home) -> None:
    job_id = home.enqueue(WISH)
    digits = job_id.removeprefix("review_")[:6]

    assert job_id in home.run("jobs", "show", digits).out
    assert job_id in home.run("jobs", "show", job_id[:12]).out
    assert_refused(home.run("jobs", "show", "zz"), 66, "zz", "curator jobs list")
    assert_refused(home.run("jobs", "show", "review_" + "0" * 40), 66, "no such job")


def test_digits_that_fit_several_jobs_are_refused(home: Home) -> None:
    for number in range(17):
        home.layout.queued.mkdir(parents=True, exist_ok=True)
        (home.layout.queued / f"review_ab{number:038x}.json").touch()

    assert_refused(home.run("jobs", "show", "ab"), 2, "17 jobs", "curator jobs list")


def test_a_job_is_held_and_released(home: Home) -> None:
    job_id = home.enqueue(WISH)

    assert "held" in home.run("jobs", "hold", job_id).out
    assert state(home, job_id) == "held"
    assert "Nothing to review now" in home.run("review", "--once").out

    assert home.run("jobs", "release", job_id).status == 0
    assert "memory has changed" in home.run("review", "--once").out


def test_a_job_is_cancelled_and_can_be_retried(home: Home) -> None:
    job_id = home.enqueue(WISH)

    assert home.run("jobs", "cancel", job_id).status == 0
    assert state(home, job_id) == "over"
    again = home.run("jobs", "retry", job_id, "--json").document

    assert (again["result"], again["replays"]) == ("enqueued", job_id)
    assert again["jobId"] != job_id
    assert "memory has changed" in home.run("review", "--once").out


def test_a_job_that_waits_can_be_hurried(home: Home) -> None:
    job_id = home.enqueue(WISH)
    path = home.layout.queued / f"{job_id}.json"
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"availableAt": "2999-01-01T00:00:00.000Z"}), "utf-8")
    assert "waiting until 2999-01-01" in home.run("jobs").out
    assert "Nothing to review now" in home.run("review", "--once").out

    assert home.run("jobs", "retry", job_id, "--json").document["result"] == "hurried"

    assert "memory has changed" in home.run("review", "--once").out


@pytest.mark.parametrize("word", ["hold", "cancel", "release"])
def test_a_job_that_is_over_cannot_be_moved(home: Home, word: str) -> None:
    job_id = home.enqueue(WISH)
    home.review()

    assert_refused(home.run("jobs", word, job_id), 66, job_id)


DAMAGE = (
    b"{",
    b"\xff\xfe",
    b"",
    b'{"version":2,"job":{},"nextAttempt":1}',
    b'{"version":1,"job":{},"nextAttempt":1,"more":1}',
    b"x" * 200_000,
)


def test_damaged_records_cost_themselves_alone_and_come_back_when_mended(home: Home) -> None:
    good = home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")
    job_id = home.enqueue(WISH)
    whole = (home.layout.queued / f"{job_id}.json").read_bytes()
    (home.layout.queued / f"{job_id}.json").unlink()
    paths = [home.layout.queued / f"review_{number:040x}.json" for number in range(len(DAMAGE))]
    for path, damage in zip(paths, DAMAGE, strict=True):
        path.write_bytes(damage)
    listed, looked = home.run("jobs").out, home.run("status").out
    assert [path for path in paths if str(path) not in listed or str(path) not in looked] == []

    ran = home.run("review", "--once", "--json")

    assert ran.status == 0
    assert [line["jobId"] for line in ran.lines if line["type"] == "completed"] == [good]
    letters = home.run("jobs", "--json").document["setAside"]
    assert isinstance(letters, list)
    kept = [(home.layout.dead_letter / str(name)).read_bytes() for name in letters]
    assert sorted(kept) == sorted(DAMAGE)

    letter = home.layout.dead_letter / str(letters[0])
    assert_refused(home.run("jobs", "release", letter.name), 65, letter)
    letter.write_bytes(whole)
    assert home.run("jobs", "release", letter.name).status == 0
    assert "memory has changed" in home.run("review", "--once").out


def test_a_record_under_a_wrong_name_and_a_symlink_are_set_aside(home: Home) -> None:
    job_id = home.enqueue(WISH)
    path = home.layout.queued / f"{job_id}.json"
    (home.layout.queued / f"review_{'0' * 40}.json").write_bytes(path.read_bytes())
    (home.layout.queued / f"review_{'1' * 40}.json").symlink_to(path)

    ran = home.run("review", "--once", "--json")

    assert ran.status == 0
    assert [line["jobId"] for line in ran.lines if line["type"] == "completed"] == [job_id]
    assert sum(line["type"] == "set_aside" for line in ran.lines) == 2
