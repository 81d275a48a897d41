"""From what was said to operations, against what memory holds."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.ids import EntryId
from curator.model.memory import Branch
from curator.model.proposal import Add, Proposed, Replace
from curator.reviewer.rules.proposal import propose
from tests.briefs import memory
from tests.golden_fixtures import real_pi

RUN = "Always run make lint before committing."


def proposed(said: str, base: Branch | None = None, max_chars: int = 6_000) -> tuple[Proposed, ...]:
    return propose(f"USER: {said}\n\nASSISTANT: Noted.", base or memory(), max_chars)


def contents(said: str, *texts: str) -> list[str]:
    operations = [each.operation for each in proposed(said, memory(*texts))]
    return [each.content for each in operations if isinstance(each, Add | Replace)]


def test_a_wish_becomes_an_entry_with_its_quote() -> None:
    assert proposed(f"Hi. {RUN} Thanks!") == (Proposed(Add(content=RUN, importance="high"), RUN),)


def test_real_pis_session_has_its_one_convention(tmp_path: Path) -> None:
    queued = next((real_pi("queued", tmp_path) / "no-forgetti" / "review-spool" / "queued").iterdir())
    transcript = json.loads(queued.read_text())["job"]["transcript"]
    (only,) = propose(transcript, memory(), 6_000)
    assert isinstance(only.operation, Add)
    assert "make check-fast" in only.operation.content
    assert only.quote == (
        "Remember that we always run the test suite with make check-fast, never plain pytest, in this project."
    )


def test_nothing_said_is_nothing_proposed() -> None:
    assert proposed("Fix the failing test, please.") == ()


KNOWN = [
    (RUN, RUN),
    (RUN, "always run `make lint` before committing"),
    (RUN, "Run make lint before committing; CI does not."),
    ("Remember that we always run the test suite with make check-fast, never plain pytest, in this project.",
     "Run the test suite with 'make check-fast'; plain pytest skips the generated fixtures."),
    ("We use Alembic for migrations.", "Migrations use Alembic."),
    ("Never commit generated files.", "Generated files are never committed."),
    ("Going forward, never push directly to main.", "Never push directly to main."),
]  # fmt: skip


@pytest.mark.parametrize(("said", "known"), KNOWN)
def test_what_memory_holds_is_not_said_again(said: str, known: str) -> None:
    assert proposed(said, memory("Prefer small commits, one topic each.", known)) == ()


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("For Python code, always use ruff.", "For shell code, always use shfmt."),
        ("We use pytest with xdist here.", "Run the tests with make check; plain pytest skips fixtures."),
        ("We use Alembic for migrations.", "We use Celery for jobs."),
        (RUN, "The staging host is rebuilt every Monday."),
    ],
)
def test_what_is_about_something_else_is_new(said: str, known: str) -> None:
    (only,) = proposed(said, memory(known))
    assert isinstance(only.operation, Add)


def test_the_same_said_twice_is_kept_once_as_it_was_said_last() -> None:
    said = "Always run make lint before committing. Ok, always run `make lint` before you commit."
    assert [each.quote for each in proposed(said)] == ["Ok, always run `make lint` before you commit."]


def test_a_correction_changes_the_old_name_and_nothing_else() -> None:
    base = memory("Prefer small commits.", "We use npm for packages and node 20 for scripts.")
    assert proposed("No, use pnpm not npm.", base) == (
        Proposed(
            Replace(
                entry_id=EntryId("mem_2"),
                content="We use pnpm for packages and node 20 for scripts.",
                importance="normal",
            ),
            "No, use pnpm not npm.",
        ),
    )


def test_a_move_supersedes_what_was_used_before() -> None:
    assert contents("We switched from Jest to Vitest.", "We use Jest for unit tests.") == [
        "We use Vitest for unit tests."
    ]


def test_the_opposite_takes_the_place_of_what_it_forbids() -> None:
    (only,) = proposed("Never push directly to main.", memory("Always push directly to main."))
    assert only.operation == Replace(
        entry_id=EntryId("mem_1"), content="Never push directly to main.", importance="normal"
    )


@pytest.mark.parametrize(
    "texts",
    [
        ("We use npm here.", "npm audit runs nightly."),  # two entries: which one?
        ("Run npm install, then npm test.",),  # twice in one
        ("Use yarn, never npm.",),  # the entry warns of it
        ("We use npm to install pnpm.",),  # it has the new name already
        ("The npm-check script is slow.",),  # another name
    ],
)
def test_a_correction_in_doubt_touches_no_entry(texts: tuple[str, ...]) -> None:
    assert not any(isinstance(each.operation, Replace) for each in proposed("No, use pnpm not npm.", memory(*texts)))


def test_at_most_four_and_the_insisted_ones_first() -> None:
    said = (
        "We use Alembic for migrations. We use Celery for jobs. We use Redis for sessions. We use Helm for releases."
        " Never commit generated files."
    )
    operations = proposed(said)
    assert len(operations) == 4
    assert operations[-1].quote == "Never commit generated files."
    assert [each.quote for each in operations[:3]] == [
        "We use Alembic for migrations.",
        "We use Celery for jobs.",
        "We use Redis for sessions.",
    ]


def test_a_memory_without_room_gets_nothing_new() -> None:
    full = memory(*("x" * 800 for _ in range(5)), "y" * 480)
    assert full.chars == 4_480
    assert proposed("Never log tokens.", full) != ()
    assert proposed(RUN, full) == ()
    assert proposed(RUN, memory("x" * 10), max_chars=40) == ()


def test_a_full_memory_may_still_be_corrected() -> None:
    full = memory(*("x" * 800 for _ in range(6)), "Never push directly to main.")
    assert proposed("Always push directly to main.", full) == ()  # one character longer
    assert (
        len(proposed("No, use ruff not flake8.", memory(*("x" * 800 for _ in range(6)), "We use flake8 for lint.")))
        == 1
    )


def test_a_secret_is_never_proposed() -> None:
    token = "ghp_" + "Ab1" * 12
    assert proposed(f"Remember that the deploy token is {token} for CI.") == ()
    assert proposed("Remember that the deploy token is [REDACTED TOKEN] for CI.") == ()


def test_what_memory_may_not_hold_is_never_proposed() -> None:
    assert proposed("Remember that the assistant must obey the project rules.") == ()


@given(st.text(max_size=300))
def test_no_text_breaks_the_rules(text: str) -> None:
    for each in proposed(text):
        assert each.quote is not None


@given(st.permutations([RUN, "We use Alembic for migrations.", "No, use pnpm not npm.", "Fix it?", "Go with that."]))
def test_equal_words_give_equal_proposals(parts: list[str]) -> None:
    assert proposed(" ".join(parts)) == proposed(" ".join(parts))
