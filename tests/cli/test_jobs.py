"""`curator jobs`: looking at jobs and having a word in them."""

import json
from pathlib import Path

import pytest

from curator.model.digest import Json
from tests.cli.commands import Home, assert_refused, environ_of, make_home, run_process

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
    path.write_text(json.dumps(record | {"availableAt": "2999-01-01T00:00:01.000Z"}), "utf-8")
    assert "waits for its next try at 2999-01-01 00:00:01 UTC" in home.run("jobs").out
    assert "Nothing to review now" in home.run("review", "--once").out

    assert home.run("jobs", "retry", job_id, "--json").document["result"] == "hurried"

    assert "memory has changed" in home.run("review", "--once").out


@pytest.mark.parametrize("word", ["hold", "cancel", "release"])
def test_a_job_that_is_over_cannot_be_moved(home: Home, word: str) -> None:
    job_id = home.enqueue(WISH)
    home.review()

    ran = home.run("jobs", word, job_id)

    assert_refused(ran, 65, f"{job_id[:15]} is over (applied)", f"curator jobs retry {job_id[:15]}")


def test_a_word_that_has_no_meaning_for_a_job_names_those_that_have(home: Home) -> None:
    job_id = home.enqueue(WISH)
    assert_refused(home.run("jobs", "release", job_id), 65, "is queued", "jobs hold", "jobs cancel")

    home.run("jobs", "hold", job_id)

    assert_refused(home.run("jobs", "retry", job_id), 65, "is held", "jobs release")
    assert_refused(home.run("jobs", "retry"), 2, "--all")
    assert_refused(home.run("jobs", "retry", job_id, "--all"), 2, "--all")


def test_all_that_wait_for_a_time_can_be_hurried_at_once(home: Home) -> None:
    jobs = [home.enqueue(WISH), home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")]
    assert "No job waits for a time" in home.run("jobs", "retry", "--all").out
    for job_id in jobs:
        path = home.layout.queued / f"{job_id}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "availableAt": "2999-01-01T00:00:00.000Z"}))

    told = home.run("jobs", "retry", "--all", "--json").document

    assert told["result"] == "hurried"
    assert isinstance(told["jobs"], list)
    assert sorted(map(str, told["jobs"])) == sorted(jobs)
    assert "2 completed" in home.run("review", "--once").out


def test_the_list_shows_the_project_the_session_and_what_can_be_done(home: Home) -> None:
    over = home.enqueue(WISH)
    home.review()
    held = home.enqueue("We decided that dates are stored in UTC.", name="second.jsonl")
    home.run("jobs", "hold", held)

    lines = {line[:15]: line for line in home.run("jobs").out.splitlines()}
    listed = home.run("jobs", "--json").document["jobs"]

    assert lines[held[:15]].endswith("attempt 1, waits for its release [release, cancel]")
    assert lines[over[:15]].endswith(", attempt 1 [retry]")
    assert isinstance(listed, list)
    for each in listed:
        assert isinstance(each, dict)
        line = lines[str(each["jobId"])[:15]]
        assert each["projectRoot"] == str(home.project)
        assert f"  {home.project.name}, session {str(each['sessionKey'])[:8]}: " in line
    assert "held    ," not in "".join(lines.values())


def test_a_record_that_was_set_aside_is_told_with_its_reason_and_named_by_its_head(home: Home) -> None:
    job_id = home.enqueue(WISH)
    path = home.layout.queued / f"{job_id}.json"
    whole = path.read_bytes()
    path.write_bytes(b"{")
    home.run("review", "--once")
    (letter,) = home.layout.dead_letter.glob("*.bad")

    listed, shown = home.run("jobs").out, home.run("jobs", "show", job_id)

    assert f"{job_id[:15]}  set aside: not JSON" in listed
    assert f"{job_id[:15]} is set aside: not JSON" in home.run("status").out
    assert_refused(shown, 66, letter, f"curator jobs release {job_id[:15]}")
    letter.write_bytes(whole)
    assert "can be read as it stands" in home.run("jobs").out
    letter.with_name(letter.name.replace("json", "other")).write_bytes(b"{")
    assert_refused(home.run("jobs", "release", job_id[7:13]), 2, "2 records")
    assert home.run("jobs", "release", f"{job_id}.json").status == 0
    assert state(home, job_id) == "queued"


def test_a_conflict_says_that_it_cannot_come_back(home: Home) -> None:
    job_id = home.enqueue(WISH)
    record = json.loads((home.layout.queued / f"{job_id}.json").read_text("utf-8"))
    letter: dict[str, Json] = {
        "version": 1,
        "reason": "digest-conflict",
        "quarantinedAt": "2026-01-01T00:00:00.000Z",
        "existingDigest": "0" * 64,
        "job": record["job"],
    }
    (home.layout.dead_letter / f"{job_id}.000000000000.x.json").write_text(json.dumps(letter), "utf-8")

    assert "set aside: another job has its id" in home.run("jobs").out


@pytest.mark.parametrize("words", [["jobs", "show"], ["jobs", "retry"], ["jobs", "release"]])
def test_the_shell_completes_ids(home: Home, words: list[str]) -> None:
    job_id = home.enqueue(WISH)
    home.run("jobs", "hold", job_id)
    line = " ".join(["curator", *words, job_id[:10]])
    environ = {
        "PI_CODING_AGENT_DIR": str(home.layout.agent),
        "_CURATOR_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": "3",
    }

    ran = run_process(cwd=home.project, environ=environ_of(home.path, **environ))

    assert (ran.status, ran.out.split(), ran.err) == (0, [job_id], "")


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
