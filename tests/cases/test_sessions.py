"""Cases A-001 to A-014 and their like: session files that are torn, huge, old, odd or hostile, through `curator enqueue`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cases.scene import Sessions, raw, sessions
from tests.cli.commands import CURATOR, assert_refused, environ_of
from tests.session_lines import assistant, header, lines, message, user

ADDRESS_SPACE_KB = 524_288
MEGABYTE = 1 << 20


@pytest.fixture
def scene(tmp_path: Path) -> Sessions:
    return sessions(tmp_path)


def test_a_001_a_huge_session_with_a_huge_line_is_read_in_little_memory_and_the_line_named(scene: Sessions) -> None:
    path = scene.lay("huge.jsonl", b"")
    before = lines(header(), user("u1", None, "Use make check for tests."), assistant("a1", "u1", "Noted."))
    with path.open("wb") as file:
        file.write(before)
        for number in range(36):
            file.write(
                lines(message(f"x{number}", "a1", {"role": "toolResult", "content": "filler " * (MEGABYTE // 7)}))
            )
        at = file.tell()
        file.write(b'{"type":"message","id":"big","parentId":"a1","message":{"role":"user","content":"')
        file.write(b"filler " * (60 * MEGABYTE // 7))
        file.write(b'"}}\n')
        file.write(lines(user("u2", "a1", "And run the linter."), assistant("a2", "u2", "Yes.")))
    script = f'ulimit -v {ADDRESS_SPACE_KB} && exec "$@"'
    environ = environ_of(scene.place.home, PI_CODING_AGENT_DIR=str(scene.place.layout.agent))
    argv = [*CURATOR, "enqueue", "--session", str(path), "--project", str(scene.project)]

    ran = subprocess.run(
        ["sh", "-c", script, "sh", *argv], env=environ, capture_output=True, text=True, check=False, timeout=60
    )

    assert ran.returncode == 0, ran.stderr
    assert (
        f"{path}: 1 line was not taken, or not whole, the first at line 40, byte {at}: the line is too long"
        in ran.stderr
    )
    assert "make check" in scene.transcript()
    assert "run the linter" in scene.transcript()


def test_a_002_a_torn_tail_is_told_by_line_and_byte_and_taken_once_when_it_is_whole(scene: Sessions) -> None:
    torn = raw("A-002/torn_tail.jsonl")
    path = scene.lay("A-002/torn_tail.jsonl")

    first = scene.enqueue(path)

    at = torn.rindex(b"\n") + 1
    assert first.status == 0
    assert (
        f"{path}: 1 line was not taken, or not whole, the first at line 4, byte {at}: the last line is incomplete"
        in first.err
    )
    assert "make check" in scene.transcript()
    path.write_bytes(torn[:at] + lines(user("a0000003", "a0000002", "Never push on Fridays.")))
    second, third = scene.enqueue(path, "--json"), scene.enqueue(path, "--json")
    assert (second.document["result"], third.document["result"]) == ("enqueued", "duplicate")
    assert sum("Fridays" in job.transcript for job in scene.queued()) == 1
    assert sum("make check" in job.transcript for job in scene.queued()) == 1


@pytest.mark.parametrize(("name", "said"), [("nul_mid", "After the gap."), ("nul_tail", "Hi.")])
def test_a_003_nul_bytes_cost_their_line_and_are_named(name: str, said: str, scene: Sessions) -> None:
    content = raw(f"A-003/{name}.jsonl")
    path = scene.lay(f"A-003/{name}.jsonl")

    ran = scene.enqueue(path)

    line = content[: content.index(b"\0")].count(b"\n") + 1
    assert ran.status == 0
    assert f"{path}: 1 line was not taken, or not whole, the first at line {line}, byte {content.index(0)}: " in ran.err
    assert "NUL bytes" in ran.err
    assert said in scene.transcript()
    assert path.read_bytes() == content


def test_a_004_a_session_with_a_torn_header_is_named_and_given_to_no_guessed_project(scene: Sessions) -> None:
    path = scene.lay("A-004/bad_header.jsonl")

    for ran in (scene.enqueue(path), scene.place.run("enqueue", "--session", str(path))):
        assert_refused(ran, 65, path, "first line is not the header")

    assert scene.queued() == []
    assert path.read_bytes() == raw("A-004/bad_header.jsonl")


def test_a_005_a_byte_order_mark_and_crlf_change_nothing(scene: Sessions) -> None:
    marked = raw("A-005/bom_crlf.jsonl")
    plain = marked.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")

    first = scene.enqueue(scene.lay("A-005/bom_crlf.jsonl"), "--json")
    digest, transcript = scene.queued()[0].digest, scene.transcript()
    second = scene.enqueue(scene.lay("plain.jsonl", plain), "--json")

    assert (first.status, first.document.get("skipped")) == (0, None)
    assert "Zeile eins." in transcript
    assert [mark for mark in ("\r", "\ufeff") if mark in transcript] == []
    assert second.document["result"] == "duplicate"
    assert [job.digest for job in scene.queued()] == [digest]


def test_a_006_enqueueing_forks_twice_adds_nothing_the_second_time(scene: Sessions) -> None:
    paths = [scene.lay(f"A-006/{name}.jsonl") for name in ("parent", "fork1", "fork2")]

    first = [scene.enqueue(path, "--json").document["result"] for path in paths]
    again = [scene.enqueue(path, "--json").document["result"] for path in paths]

    assert (first, again) == (["enqueued"] * 3, ["duplicate"] * 3)
    tails = ("Continue in the parent.", "Fork one asks.", "Fork two asks.")
    assert [sum(tail in job.transcript for job in scene.queued()) for tail in tails] == [1, 1, 1]


@pytest.mark.parametrize("name", ["orphan_parent", "win_parent"])
def test_a_007_a_parent_session_that_is_not_there_stops_nothing(name: str, scene: Sessions) -> None:
    ran = scene.enqueue(scene.lay(f"A-007/{name}.jsonl"))

    assert (ran.status, ran.err) == (0, "")
    assert "ASSISTANT: Ok." in scene.transcript()


def test_a_008_messages_without_usage_are_taken(scene: Sessions) -> None:
    ran = scene.enqueue(scene.lay("A-008/no_usage.jsonl"))

    assert (ran.status, ran.err) == (0, "")
    assert [word for word in ("One.", "Two.", "Three.") if word not in scene.transcript()] == []


def test_a_009_odd_content_gives_what_is_text_and_is_counted(scene: Sessions) -> None:
    path = scene.lay("A-009/odd_content.jsonl")

    ran = scene.enqueue(path)

    assert ran.status == 0
    assert scene.transcript() == "USER: plain string content\n\nASSISTANT: kept"
    fact = "the message holds content that is none of Pi's"
    at = raw("A-009/odd_content.jsonl").index(b'{"type":"message","id":"a0000002"')
    assert f"{path}: 3 lines were not taken, or not whole, the first at line 3, byte {at}: {fact}" in ran.err


def test_a_010_a_tool_call_without_arguments_shows_its_name_and_outcome_alone(scene: Sessions) -> None:
    ran = scene.enqueue(scene.lay("A-010/null_args.jsonl"))

    assert (ran.status, ran.err) == (0, "")
    assert "[tool call: bash]" in scene.transcript()
    assert scene.transcript().endswith("TOOL bash: failed")
    assert "arguments" not in scene.transcript()


def test_a_011_a_session_of_version_1_gets_the_same_ids_each_time(scene: Sessions) -> None:
    path = scene.lay("A-011/v1.jsonl")

    first, second = scene.enqueue(path, "--json"), scene.enqueue(path, "--json")

    assert (first.document["result"], second.document["result"]) == ("enqueued", "duplicate")
    assert second.document["coveredBy"] == scene.queued()[0].id
    assert scene.transcript() == "USER: Old style\n\nASSISTANT: Old reply"
    assert path.read_bytes() == raw("A-011/v1.jsonl")


def test_a_012_what_two_writers_wrote_under_one_parent_is_never_mixed(scene: Sessions) -> None:
    path = scene.lay("A-012/two_writers.jsonl")

    first = scene.enqueue(path)
    (last_written,) = scene.queued()
    second = scene.enqueue(path, "--leaf", "a1000004")

    assert (first.status, second.status) == (0, 0)
    assert f"{path}: 1 other branch was not queued. Run the command with `--leaf a1000004`" in first.err
    assert "B: spaces it is." in last_written.transcript
    assert "tabs" not in last_written.transcript
    (other,) = [job for job in scene.queued() if job.id != last_written.id]
    assert "A: tabs it is." in other.transcript
    assert "spaces" not in other.transcript
    assert_refused(scene.enqueue(path, "--leaf", "nobody"), 66, path, "has no entry nobody")


def test_a_013_half_a_character_is_kept_as_a_mark_and_breaks_nothing(scene: Sessions) -> None:
    first = scene.enqueue(scene.lay("A-013/lone_surrogate.jsonl"), "--json")
    assert (first.status, first.err) == (0, "")
    (job,) = scene.queued()
    assert job.transcript == "USER: cut here \ufffd\n\nASSISTANT: low half \ufffd alone"

    ran = scene.place.review("--json")

    assert (ran.status, ran.err, scene.place.ending(job)) == (0, "", "noop")
    assert scene.place.run("jobs", "show", job.id, "--json").document["jobId"] == job.id
    assert scene.place.run("verify").status == 0


def test_a_014_times_that_cannot_be_are_no_reason_to_refuse_what_was_said(scene: Sessions) -> None:
    ran = scene.enqueue(scene.lay("A-014/times.jsonl"))

    assert (ran.status, ran.err) == (0, "")
    words = ("future", "epoch", "far", "none", "naive", "number")
    assert [word for word in words if word not in scene.transcript()] == []


def test_a_071_a_hostile_session_id_names_no_path(scene: Sessions) -> None:
    path = scene.lay("A-071/traversal.jsonl")
    before = {each for each in scene.place.home.rglob("*") if scene.place.layout.agent not in each.parents}

    ran = scene.enqueue(path, "--json")

    after = {each for each in scene.place.home.rglob("*") if scene.place.layout.agent not in each.parents}
    assert ran.status in {0, 65}
    assert after == before
    assert not Path("/tmp/curator-pwned").exists()  # noqa: S108 - what the id spells is what must not be there
    named = [each for each in scene.place.layout.root.rglob("*") if "pwned" in each.name or ".." in each.name]
    assert named == []
    assert all(job.session_key.isalnum() for job in scene.queued())


def test_a_071_a_job_whose_file_name_climbs_or_is_a_link_is_set_aside_and_not_followed(scene: Sessions) -> None:
    place = scene.place
    place.enqueue(place.project())
    (record,) = place.layout.queued.glob("*.json")
    climbing = json.loads(record.read_text("utf-8"))
    climbing["job"]["jobId"] = "../../../outside"
    stray = place.layout.queued / "..%2f..%2foutside.json"
    stray.write_text(json.dumps(climbing), "utf-8")
    target = place.home / "elsewhere.json"
    target.write_text("a stranger's", "utf-8")
    link = place.layout.queued / f"review_{'0' * 40}.json"
    link.symlink_to(target)

    ran = place.review()

    assert (ran.status, place.states()) == (0, {"settled": 1})
    assert target.read_text("utf-8") == "a stranger's"
    assert "is a symlink where a file belongs" in ran.err
    assert not os.path.lexists(link)
    assert not (place.home / "outside").exists()
