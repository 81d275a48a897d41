"""`curator replay`: another model's proposal beside the first, counted, and nothing changed."""

import json
from pathlib import Path

import pytest

from curator.model.digest import Json
from tests.cli.commands import Home, assert_refused, make_home
from tests.cli.test_evaluate import know, spent, tree
from tests.fakes.provider import Settings, serving

WISH = "Always run the linter before pushing."
ALIKE = "Always run the linter before pushing to main."
OTHER = "The linter is ruff."


def saying(*contents: str) -> Settings:
    operations: list[Json] = [{"action": "add", "content": each, "importance": "high"} for each in contents]
    return Settings(proposal=json.dumps({"operations": operations}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def kept(home: Home) -> dict[str, bytes]:
    """Return all but what counting changes."""
    apart = ("curator/attempts", "review-spool/accounting/", "service.json")
    return {name: held for name, held in tree(home.layout.root).items() if not name.startswith(apart)}


def test_two_proposals_are_compared_and_nothing_is_changed(home: Home) -> None:
    job = home.enqueue(WISH)
    home.review()
    before = kept(home)
    with serving(saying(ALIKE, OTHER)) as server:
        know(home, server)
        ran = home.run("replay", job, "--model", "fake/fake-1", "--json")

        assert ran.status == 0, ran.err
        assert server.state.requests == 1
    told = ran.document
    assert told["jobId"] == job
    assert [_contents(told[key]) for key in ("same", "missing", "added")] == [[], [], [OTHER]]
    assert told["changed"] == [
        {
            "before": {"action": "add", "content": WISH, "importance": "high"},
            "after": {"action": "add", "content": ALIKE, "importance": "high"},
        }
    ]
    first, second = told["before"], told["after"]
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert (first["reviewer"], first["costNanousd"]) == ("offline/rules-1", 0)
    counted = spent(home)
    assert (counted.calls, counted.tokens, counted.cost_nanousd) == (1, second["tokens"], second["costNanousd"])
    assert kept(home) == before


def test_a_person_is_shown_what_differs(home: Home) -> None:
    job = home.enqueue(WISH)
    home.review()
    with serving(saying(OTHER)) as server:
        know(home, server)
        ran = home.run("replay", job[:15], "--model", "fake/fake-1")

    assert f"missing  add (high) {WISH}" in ran.out
    assert f"added    add (high) {OTHER}" in ran.out
    assert "Nothing was changed." in ran.out


def test_a_job_that_waits_is_reviewed_in_shadow_and_waits_on(home: Home) -> None:
    job = home.enqueue(WISH)
    before = kept(home)

    ran = home.run("replay", job, "--model", "offline", "--json")

    assert ran.status == 0, ran.err
    assert ran.document["before"] is None
    assert _contents(ran.document["added"]) == [WISH]
    assert kept(home) == before
    home.review()
    assert WISH in home.run("memory", "show").out


def test_its_tries_are_no_tries_of_the_job(home: Home) -> None:
    job = home.enqueue(WISH)
    with serving(Settings(review="malformed")) as server:
        know(home, server)
        for _ in range(4):
            assert_refused(home.run("replay", job, "--model", "fake/fake-1"), 65, "gave no proposal")
    home.service(reviewer={"provider": "offline", "model": "rules-1"})

    home.review()

    assert WISH in home.run("memory", "show").out


def test_evidence_that_is_gone_is_said_to_be_gone(home: Home) -> None:
    job = home.enqueue(WISH)
    home.review()
    home.layout.decision(job).unlink()  # type: ignore[arg-type]  # a job's id
    for path in (home.layout.results / job).iterdir():
        path.unlink()

    assert_refused(home.run("replay", job, "--model", "offline"), 66, "its evidence is not kept any more")


def test_a_model_that_is_not_there_is_not_asked(home: Home) -> None:
    job = home.enqueue(WISH)
    with serving() as server:
        know(home, server)

        assert_refused(home.run("replay", job, "--model", "fake/other"), 78, "other")
        assert_refused(home.run("replay", job, "--model", "nobody"), 78, "names no model")
        assert server.state.requests == 0


def test_an_unknown_job_is_said_to_be_unknown(home: Home) -> None:
    assert_refused(home.run("replay", "beef", "--model", "offline"), 66, "no job begins with")


def _contents(operations: Json) -> list[Json]:
    assert isinstance(operations, list)
    return [each["content"] for each in operations if isinstance(each, dict)]
