"""`curator enqueue`: from a session file to a queued job, and what it refuses."""

import json
import subprocess
from pathlib import Path

import pytest

from curator.model.digest import Json
from curator.model.limits import PENDING_MAX, QUEUED_MAX
from tests.cli.commands import CURATOR, Home, assert_refused, environ_of, make_home, run
from tests.session_lines import assistant, header, user, write

WISH = "From now on, always run the linter before committing."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def queued(home: Home) -> list[Path]:
    return sorted(home.layout.queued.glob("*.json"))


def pending(home: Home) -> list[Path]:
    return sorted(home.layout.root.glob("*/service/review-feedback/pending/*.json"))


def test_a_session_becomes_a_job_that_somebody_waits_for(home: Home) -> None:
    ran = home.run("enqueue", "--session", home.session(WISH), "--json")

    assert (ran.status, ran.err) == (0, "")
    told = ran.document
    assert (told["result"], told["projectRoot"], told["branchName"]) == ("enqueued", str(home.project), "main")
    assert [path.name for path in queued(home)] == [path.name for path in pending(home)]
    assert f"USER: {WISH}" in json.loads(queued(home)[0].read_text("utf-8"))["job"]["transcript"]


def test_the_same_session_again_is_a_duplicate_before_and_after_its_review(home: Home) -> None:
    session = home.session(WISH)
    home.run("enqueue", "--session", session)

    before = home.run("enqueue", "--session", session)
    home.review()
    after = home.run("enqueue", "--session", session, "--json")

    assert "Nothing new" in before.out
    assert after.document["result"] == "duplicate"
    assert after.status == 0
    assert queued(home) == []


def test_a_session_that_went_on_brings_only_what_is_new(home: Home) -> None:
    home.enqueue(WISH)
    home.review()

    home.enqueue(WISH, "We decided that dates are stored in UTC.")

    transcript = json.loads(queued(home)[0].read_text("utf-8"))["job"]["transcript"]
    assert "dates are stored in UTC" in transcript
    assert WISH not in transcript


def test_a_long_session_is_queued_to_its_end(home: Home) -> None:
    session = home.session(*(f"Look at file number {number}." for number in range(30)), WISH)

    ran = home.run("enqueue", "--session", session, "--json")

    assert len(queued(home)) == 3
    assert ran.document["isMore"] is False
    assert "memory has changed" in home.run("review", "--once").out


def test_an_empty_session_has_nothing_to_review(home: Home) -> None:
    ran = home.run("enqueue", "--session", write(home.path / "empty.jsonl", header(cwd=str(home.project))))

    assert ran.status == 0
    assert "Nothing to review" in ran.out


def test_another_folder_may_be_named_as_the_project(home: Home) -> None:
    other = home.path / "Übung 1"
    other.mkdir()

    ran = home.run("enqueue", "--session", home.session(WISH), "--project", other, "--json")

    assert ran.document["projectRoot"] == str(other)


def test_without_a_configuration_nothing_is_made(tmp_path: Path) -> None:
    session = write(tmp_path / "s.jsonl", header(cwd=str(tmp_path)), user("u", None, WISH))

    ran = run("enqueue", "--session", session, cwd=tmp_path, environ=environ_of(tmp_path))

    assert_refused(ran, 78, "curator config init")
    assert not (tmp_path / ".pi").exists()


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (None, 66, ["there is no such session"]),
        (b"", 65, ["is empty"]),
        (b"not json\n", 65, ["header"]),
        (b'{"type":"session","version":9,"id":"x","cwd":"/tmp"}\n', 65, ["version"]),
        (b'{"type":"session","version":3,"cwd":"/tmp"}\n', 65, ["session id"]),
        (b'{"type":"session","version":3,"id":"x"}\n', 2, ["--project"]),
        (b'{"type":"session","version":3,"id":"x","cwd":"/no/such/folder"}\n', 66, ["/no/such/folder", "--project"]),
    ],
)
def test_what_is_not_a_session_is_refused_by_its_path(
    home: Home, content: bytes | None, status: int, words: list[str]
) -> None:
    path = home.path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)

    assert_refused(
        home.run("enqueue", "--session", path), status, path if status != 66 or content is None else "", *words
    )
    assert queued(home) == []


def test_a_folder_is_no_session(home: Home) -> None:
    assert_refused(home.run("enqueue", "--session", home.project), 65, home.project, "not a regular file")


def test_a_file_is_no_project(home: Home) -> None:
    file = home.path / "file"
    file.touch()

    assert_refused(home.run("enqueue", "--session", home.session(WISH), "--project", file), 2, file, "--project")


def test_a_store_of_another_folder_is_never_taken(home: Home) -> None:
    home.enqueue(WISH)
    path = next(home.layout.root.glob("*/project.json"))
    path.write_text(path.read_text("utf-8").replace(str(home.project), "/somewhere/else"), "utf-8")

    ran = home.run("enqueue", "--session", home.session(WISH, name="second.jsonl"))

    assert_refused(ran, 65, path, home.project)
    assert len(queued(home)) == 1


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        (b'{"version":1,"name":"main"', "not JSON"),
        (b'{"version":2,"name":"main","entries":[]}', "version"),
        (b'{"version":1,"name":"other","entries":[]}', "name"),
        (b'{"version":1,"name":"main","entries":[{"id":"a","text":"\xff"}]}', "UTF-8"),
        (b"x" * 300_000, "larger than"),
    ],
)
def test_a_corrupt_branch_is_named_and_kept(home: Home, damage: bytes, fact: str) -> None:
    home.enqueue(WISH)
    branch = next(home.layout.root.glob("*/branches/main.json"))
    branch.write_bytes(damage)

    ran = home.run("enqueue", "--session", home.session(WISH, name="second.jsonl"))

    assert_refused(ran, 65, branch, fact)
    assert branch.read_bytes() == damage
    assert len(queued(home)) == len(pending(home)) == 1


def test_an_entry_that_no_job_can_carry_is_named_without_its_text(home: Home) -> None:
    home.enqueue(WISH)
    branch = next(home.layout.root.glob("*/branches/main.json"))
    content = json.loads(branch.read_text("utf-8"))
    content["entries"] = [{"id": "_odd", "text": "made-up memory text"}]
    branch.write_text(json.dumps(content), "utf-8")

    ran = home.run("enqueue", "--session", home.session(WISH, name="second.jsonl"))

    assert_refused(ran, 65, branch, "entries[0]")
    assert "made-up memory text" not in ran.err


def test_a_full_queue_is_refused_and_nobody_waits(home: Home) -> None:
    home.enqueue(WISH)
    for number in range(QUEUED_MAX):
        (home.layout.queued / f"review_{number:040x}.json").touch()

    ran = home.run("enqueue", "--session", home.session(WISH, name="second.jsonl"))

    assert_refused(ran, 75, "curator review --once")
    assert len(pending(home)) == 1


def test_a_full_mailbox_is_refused_before_the_job(home: Home) -> None:
    home.enqueue(WISH)
    folder = pending(home)[0].parent
    for number in range(PENDING_MAX):
        (folder / f"review_{number:040x}.json").touch()

    ran = home.run("enqueue", "--session", home.session(WISH, name="second.jsonl"))

    assert_refused(ran, 75, "Open Pi")
    assert len(queued(home)) == 1


def test_a_pending_record_that_others_may_read_is_not_trusted(home: Home) -> None:
    job_id = home.enqueue(WISH)
    pending(home)[0].chmod(0o644)
    (home.layout.queued / f"{job_id}.json").unlink()

    ran = home.run("enqueue", "--session", home.session(WISH))

    assert_refused(ran, 65, pending(home)[0], "0644", "chmod 600")


def test_a_full_disk_is_told_and_leaves_nothing_half_written(home: Home) -> None:
    session = home.session(WISH)
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))

    ran = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *CURATOR, "enqueue", "--session", str(session)],
        env=environ,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert ran.returncode == 74
    assert ran.stderr.startswith(f"curator: {home.layout.root}")
    assert ran.stderr.count("\n") == 1
    assert [path for path in home.layout.root.rglob("*.tmp") if path.is_file()] == []


def test_in_embedded_mode_somebody_is_told_that_nobody_reviews(home: Home) -> None:
    home.service(mode="embedded")

    ran = home.run("enqueue", "--session", home.session(WISH))

    assert ran.status == 0
    assert "curator claims nothing. The jobs wait. Run `" in ran.err
    assert "curator config init --mode external --force" in ran.err
    assert "review --once" not in ran.out
    assert pending(home) == []
    home.run("config", "init", "--mode", "external", "--force")
    assert "memory has changed" in home.run("review", "--once").out


def test_lines_that_cannot_be_read_are_counted_and_the_first_is_named(home: Home) -> None:
    session = home.session(WISH)
    whole = session.read_bytes()
    session.write_bytes(whole + b"not json\n[]\n")

    told = home.run("enqueue", "--session", session, "--json").document["skipped"]
    plain = home.run("enqueue", "--session", session)

    where = f"line {whole.count(10) + 1}, byte {len(whole)}"
    assert f"{session}: 2 lines were not taken, or not whole, the first at {where}: the line is not JSON" in plain.err
    assert told == {
        "count": 2,
        "first": {"line": whole.count(10) + 1, "byte": len(whole), "fact": "the line is not JSON"},
    }


def test_the_help_says_which_project_is_meant(home: Home) -> None:
    help_ = " ".join(home.run("enqueue", "--help").out.split())

    assert "[default: where the session was held]" in help_
    assert "current one" not in help_


def test_the_extension_s_cursor_is_where_the_window_begins(home: Home) -> None:
    key = json.loads(home.run("enqueue", "--session", home.session("Hello."), "--json").out)["projectKey"]
    cursor: Json = {"projectKey": key, "name": "main", "throughEntryId": "a0"}
    entry: dict[str, Json] = {"type": "custom", "customType": "no-forgetti-review", "data": cursor}
    session = write(
        home.path / "reviewed.jsonl",
        header(cwd=str(home.project), id="reviewed"),
        user("u0", None, WISH),
        assistant("a0", "u0", "Understood."),
        {**entry, "id": "c0", "parentId": "a0"},
        user("u1", "c0", "We decided that dates are stored in UTC."),
    )

    ran = home.run("enqueue", "--session", session, "--json")

    jobs = ran.document["jobs"]
    assert isinstance(jobs, list)
    assert isinstance(jobs[0], dict)
    path = home.layout.queued / f"{jobs[0]['jobId']}.json"
    transcript = json.loads(path.read_text("utf-8"))["job"]["transcript"]
    assert transcript == "USER: We decided that dates are stored in UTC."
