"""Cases B-001 and on: ten more public reports, found beside the eighty-five; the README of this folder has their sources."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from curator.model.digest import Json
from tests.acceptance.processes import KEY, MAIN, ended, wait_until
from tests.cases.scene import COST, REMEMBERED, Here, Sessions, ask, know, needs, remember, sessions, text
from tests.fakes.provider import Settings, serving
from tests.session_lines import assistant, custom, header, lines, user

ADD = text("A-019/fenced.txt")
TAGS = "".join(chr(0xE0000 + ord(char)) for char in "obey")
"""Letters of the tag block: a model reads them, and nobody sees them."""


@pytest.fixture
def scene(tmp_path: Path) -> Sessions:
    return sessions(tmp_path)


def test_b_001_entries_that_share_an_id_and_go_in_a_circle_end_in_an_answer_and_not_in_a_loop(scene: Sessions) -> None:
    marker = custom("done", "a1", "a-marker", {})
    again = custom("done", "a2", "a-marker", {})
    path = scene.lay(
        "marked.jsonl",
        lines(
            header(),
            *(user("u1", None, "Use tabs."), assistant("a1", "u1", "Yes."), marker),
            *(user("u2", "done", "Use spaces."), assistant("a2", "u2", "Well."), again),
        ),
    )

    ran = scene.enqueue(path)

    assert (ran.status, str(path) in ran.err, "name each other as parents" in ran.err) == (65, True, True)
    assert scene.queued() == []


def test_b_002_a_retry_long_after_the_first_window_has_all_its_tries(tmp_path: Path) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        asked = ask(place, server, {"job": "no JSON"})
        for _ in range(2):
            place.run("jobs", "retry", "--all")
            place.review()
        assert asked.ending("job") == "invalid_model_output"
        assert place.run("jobs", "retry", asked.jobs["job"].id).status == 0
        for _ in range(2):
            place.review()
            assert asked.ending("job") in {"queued", "invalid_model_output"}
            place.run("jobs", "retry", "--all")
        server.state.settings.marked, server.state.settings.proposal = "", ADD
        place.review()

    assert len(asked.texts("job")) == len(REMEMBERED) + 1
    assert place.requests() == 6


@pytest.mark.parametrize("end", ["\n", "\r\n", " "])
@pytest.mark.parametrize("kind", ["literal", "command"])
def test_b_003_a_key_with_a_line_end_behind_it_works_or_is_refused_and_is_never_shown(
    end: str, kind: str, tmp_path: Path
) -> None:
    place = Here(tmp_path)
    with serving(None, place.log) as server:
        know(place, server)
        key = f"{KEY}{end}" if kind == "literal" else f"!printf '{KEY}{end.encode('unicode_escape').decode()}'"
        model: Json = {"id": "fake-1", "contextWindow": 64_000, "maxTokens": 4_096, "cost": COST}
        block: Json = {"baseUrl": server.url, "api": "openai-completions", "models": [model], "apiKey": key}
        place.write(place.layout.agent / "models.json", {"providers": {"fake": block}})
        job = place.enqueue(place.project())
        ran = place.review("--json")
        checked = place.run("config", "check")

    assert (ran.status, place.ending(job)) in {(0, "applied"), (78, "queued")}, ran.err
    assert "Traceback" not in ran.err
    shown = [path for path, content in place.tree().items() if KEY.encode() in content and "models.json" not in path]
    assert (KEY in ran.out + ran.err + checked.out + checked.err, shown) == (False, [])


def test_b_004_a_job_from_the_future_is_reviewed_all_the_same(tmp_path: Path) -> None:
    place = Here(tmp_path)
    place.configure()
    first, second = (place.enqueue(place.project(name)) for name in ("one", "two"))
    # The clock was set back since it was written.
    os.utime(place.layout.queued / f"{first.id}.json", (1_924_992_000,) * 2)

    ran = place.review()

    assert (ran.status, ran.err) == (0, "")
    assert [place.ending(job) for job in (first, second)] == ["applied", "applied"]


@pytest.mark.skipif(needs("faketime"), reason="faketime is not installed")
def test_b_005_a_worker_whose_clock_is_ahead_takes_a_living_claim_and_memory_changes_once_all_the_same(
    tmp_path: Path,
) -> None:
    place = Here(tmp_path)
    with serving(Settings(review="slow,ok", slow_s=0.2), place.log) as server:
        know(place, server)
        job = place.enqueue(key := place.project())
        slow = place.start("review", "--once")
        wait_until(lambda: place.requests() == 1)

        ahead = ended(place.start("review", "--once", before=("faketime", "-f", "+20m")))
        first = ended(slow)

    assert "Traceback" not in ahead.err + first.err
    assert (len(place.texts(key)), len(place.shop().memory(key, "external").revisions(MAIN))) == (1, 1)
    assert place.ending(job) == "applied"
    assert sum(seen.exposure.total.calls for seen in place.attempts(job)) == place.requests()


@pytest.mark.parametrize(
    "hidden", [TAGS, "\u200b", "\u202e", "\u2066", "\u00ad", "\u180e", "\u3164", "\ufe0f" * 3, "\U000e0101"]
)
def test_b_006_letters_that_nobody_sees_never_become_memory(hidden: str, tmp_path: Path) -> None:
    operation = {"action": "add", "content": f"Release on Mondays.{hidden} Always.", "importance": "low"}
    place = Here(tmp_path)
    with serving(Settings(proposal=json.dumps({"operations": [operation]})), place.log) as server:
        know(place, server)
        key, _ = remember(place, "code")
        place.enqueue(key)
        place.review()

    assert place.texts(key) == list(REMEMBERED)


def test_b_007_a_session_that_grew_is_queued_from_where_it_was_and_not_from_its_beginning(scene: Sessions) -> None:
    said = [header(), user("u1", None, "Use tabs."), assistant("a1", "u1", "Yes.")]
    scene.enqueue(path := scene.lay("s.jsonl", lines(*said)))
    for number in range(2, 5):
        said += [user(f"u{number}", f"a{number - 1}", f"Fact {number}."), assistant(f"a{number}", f"u{number}", "Yes.")]
        path.write_bytes(lines(*said))
        scene.enqueue(path)

    queued = [job.transcript for job in scene.queued()]
    assert len(queued) == 4
    words = ("Use tabs.", "Fact 2.", "Fact 3.", "Fact 4.")
    assert [sum(word in each for each in queued) for word in words] == [1] * 4


@pytest.mark.parametrize(
    "arguments", [("config", "init", "--force"), ("config", "init", "--mode", "shadow", "--force")]
)
def test_b_008_a_configuration_that_is_a_link_is_never_replaced_by_a_file(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    place = Here(tmp_path)
    place.configure()
    kept = tmp_path / "dotfiles.json"
    path = place.layout.service_json
    path.rename(kept)
    path.symlink_to(kept)
    before = kept.read_bytes()

    ran = place.run(*arguments)

    assert path.is_symlink()
    assert (ran.status != 0, str(path) in ran.err, kept.read_bytes()) == (True, True, before)


def test_b_009_a_memory_in_another_encoding_is_named_by_its_byte_and_never_taken_for_an_empty_one(
    tmp_path: Path,
) -> None:
    place = Here(tmp_path)
    place.configure()
    key, path = remember(place, "code")
    job = place.enqueue(key)
    path.write_bytes(text("branch_main.json").replace("small commits", "caf\u00e9 commits").encode("latin-1"))
    before = path.read_bytes()

    ran = place.review()
    shown = place.run("memory", "show", "--project", str(tmp_path / "code"))

    at = before.index(b"\xe9")
    for told in (ran.err, shown.err):
        assert (str(path) in told, f"byte {at}" in told) == (True, True), told
    assert (place.ending(job), path.read_bytes()) == ("queued", before)


@pytest.mark.parametrize("before", ["", "a"], ids=["even", "odd"])
def test_b_010_a_turn_that_is_cut_at_its_bound_holds_no_half_of_a_character(before: str, scene: Sessions) -> None:
    place = scene.place
    path = scene.lay(
        "s.jsonl", lines(header(), user("u1", None, before + "\U0001f600" * 20_000), assistant("a1", "u1", "Yes."))
    )

    assert scene.enqueue(path).status == 0

    transcript = scene.transcript()
    assert transcript.encode("utf-8")
    assert "\ufffd" not in transcript
    assert transcript.endswith("[Turn content truncated]")
    with serving(Settings(review="noop"), place.log) as server:
        know(place, server)
        assert place.review().status == 0
    assert '\\ud83d"' not in place.log.read_text("utf-8")
