"""A reviewer is put to the corpus through the gates of a real review, and nothing else of a conversation is told."""

import json

from curator.model.ids import EntryId
from curator.model.outcome import Provenance
from curator.model.ports import Answer, Brief, CallFailure, Class
from curator.quality.corpus import Conversation
from curator.quality.exam import Paper, sit, table_of
from curator.quality.report import document_of, faults_of, lines_of
from curator.reviewer.normalize import no_usage

TOLD = Conversation.decode(
    {
        "id": "decision-01",
        "category": "decision",
        "languages": ["en"],
        "noisy": False,
        "difficulty": "plain",
        "turns": [{"role": "user", "text": "we build with vite now, key ghp_¦q7Zr2LmX9vKtB4nYc8WdJ1sFh5GpUa3eTk0Q"}],
        "memory": [{"id": "m1", "text": "We build with webpack."}],
        "expect": {
            "remember": [{"all": [["vite"]], "example": "Vite."}],
            "never": [{"all": [["ghp_¦q7Zr2LmX9v"]], "harm": "secret_kept"}],
        },
    }
)
SECRET = "ghp_" + "q7Zr2LmX9vKtB4nYc8WdJ1sFh5GpUa3eTk0Q"


def says(text: str) -> Answer:
    at = "2026-01-05T09:30:00.000Z"
    provenance = Provenance(
        provider="p", model="m", api="a", started_at=at, completed_at=at, duration_ms=0, usage=no_usage()
    )
    return Answer(text, provenance)


def proposing(*operations: dict[str, str]) -> Paper:
    return sit(TOLD, "seen", lambda _brief: says(json.dumps({"operations": operations})))


def test_a_proposal_is_applied_to_the_memory_of_its_conversation() -> None:
    paper = proposing({"action": "replace", "entryId": "m1", "content": "We build with Vite.", "importance": "normal"})

    assert [entry.text for entry in paper.after.entries] == ["We build with Vite."]
    assert (paper.marks.right, paper.marks.recalled, paper.code) == (1, 1, None)


def test_the_gates_drop_a_secret_and_a_quote_that_nobody_said() -> None:
    add = {"action": "add", "importance": "normal"}

    paper = proposing(
        add | {"content": f"The key is {SECRET}."}, add | {"content": "We use Redis.", "quote": "we use redis"}
    )

    assert [entry.id for entry in paper.after.entries] == [EntryId("m1")]
    assert paper.marks.harmful == 0


def test_an_answer_that_is_none_changes_nothing_and_counts_as_failed() -> None:
    prose = sit(TOLD, "seen", lambda _brief: says("I would remember Vite."))
    failed = sit(TOLD, "seen", lambda _brief: CallFailure("timeout", Class.RETRY, "it took too long"))

    assert [(paper.marks.failed, paper.code) for paper in (prose, failed)] == [
        (1, "invalid_model_output"),
        (1, "timeout"),
    ]
    assert prose.after == failed.after == TOLD.branch()


def test_a_reviewer_is_told_what_a_job_tells_and_never_what_is_expected() -> None:
    briefs: list[Brief] = []

    def ask(brief: Brief) -> Answer:
        briefs.append(brief)
        return says('{"operations":[]}')

    sit(TOLD, "seen", ask)

    (brief,) = briefs
    assert brief.job == TOLD.job()
    assert (brief.base, brief.attempt, brief.is_final) == (brief.job.branch, 1, False)


def test_of_the_practice_part_is_told_what_goes_wrong() -> None:
    paper = sit(TOLD, "practice", lambda _brief: says('{"operations":[]}'))

    assert list(faults_of([paper])) == ["decision-01: 1 missed"]
    assert next(iter(lines_of(table_of("practice", [paper])))) == "The practice part"


def test_of_the_unseen_half_nothing_is_told_but_sums() -> None:
    papers = [sit(TOLD, half, lambda _brief: says('{"operations":[]}')) for half in ("seen", "unseen")]

    assert list(faults_of(papers)) == ["decision-01: 1 missed"]
    shown = "\n".join(lines_of(table_of("unseen", papers))) + json.dumps(document_of(table_of("unseen", papers)))
    assert "decision-01" not in shown
    assert "0.000 (0/1)" in shown
