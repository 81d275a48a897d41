"""The scoring says what the corpus's rules say, by hand: what is right, what is wrong, what is left open, what is harm."""

import dataclasses

import pytest

from curator.model.digest import Json
from curator.model.ids import EntryId
from curator.model.memory import Branch
from curator.quality.corpus import Conversation
from curator.quality.score import HARMS, Marks, language_group, mark, total

LEFT_OUT = "left-out"
MEMORY: list[Json] = [{"id": "m1", "text": "Tests run with pytest."}, {"id": "m2", "text": "CI is Jenkins."}]
FACT: Json = {"all": [["vite"]], "example": "Vite builds it."}
REDIS: Json = {"all": [["redis"]], "harm": "unsupported"}


def conversation(**expect: Json) -> Conversation:
    return Conversation.decode(
        {
            "id": "decision-01",
            "category": "decision",
            "languages": ["en"],
            "noisy": False,
            "difficulty": "plain",
            "turns": [{"role": "user", "text": "we build with vite"}],
            "memory": MEMORY,
            "expect": expect,
        }
    )


def after(told: Conversation, texts: dict[str, str]) -> Branch:
    """Return the memory with these texts; an id that memory has is said anew, or gone where it is left out."""
    branch, first = told.branch(), told.branch().entries[0]
    kept = tuple(
        dataclasses.replace(entry, text=texts.get(entry.id, entry.text))
        for entry in branch.entries
        if texts.get(entry.id) != LEFT_OUT
    )
    known = {entry.id for entry in branch.entries}
    new = tuple(
        dataclasses.replace(first, id=EntryId(name), text=text) for name, text in texts.items() if name not in known
    )
    return dataclasses.replace(branch, entries=(*kept, *new))


def test_a_fact_that_is_remembered_is_right_and_recalled() -> None:
    told = conversation(remember=[FACT])

    marks = mark(told, after(told, {"n1": "We build with Vite."}))

    assert (marks.right, marks.wrong, marks.recalled, marks.facts) == (1, 0, 1, 1)
    assert (marks.precision, marks.recall, marks.flawless) == (1.0, 1.0, 1)


def test_nothing_written_is_nothing_wrong_and_nothing_recalled() -> None:
    told = conversation(remember=[FACT])

    marks = mark(told, told.branch())

    assert (marks.precision, marks.recall, marks.flawless) == (None, 0.0, 0)


def test_what_was_not_asked_for_beside_a_fact_is_wrong() -> None:
    told = conversation(remember=[FACT])

    marks = mark(told, after(told, {"n1": "We build with Vite.", "n2": "The page is blue."}))

    assert (marks.right, marks.wrong, marks.precision) == (1, 1, 0.5)


def test_any_change_is_wrong_where_nothing_should_change() -> None:
    told = conversation(noop=True)
    weighed = after(told, {"n1": "We build with Vite.", "m2": LEFT_OUT})
    first = dataclasses.replace(weighed.entries[0], importance="high")

    marks = mark(told, dataclasses.replace(weighed, entries=(first, *weighed.entries[1:])))

    assert (marks.right, marks.wrong, marks.flawless) == (0, 3, 0)


def test_what_is_left_open_counts_only_as_harm() -> None:
    told = conversation(never=[REDIS])

    open_, harmful = mark(told, after(told, {"n1": "The page is blue."})), mark(told, after(told, {"n1": "Use Redis."}))

    assert (open_.right, open_.wrong, open_.left_open, open_.flawless) == (0, 0, 1, 1)
    assert (harmful.wrong, harmful.harmful, harmful.harms[HARMS.index("unsupported")]) == (1, 1, 1)


def test_what_fulfils_a_fact_and_breaks_a_ban_is_wrong() -> None:
    told = conversation(remember=[FACT], never=[REDIS])

    marks = mark(told, after(told, {"n1": "Vite, with Redis."}))

    assert (marks.right, marks.wrong, marks.recalled, marks.harmful, marks.flawless) == (0, 1, 1, 1, 0)


def test_an_entry_that_was_to_be_replaced_is_right_once_it_says_something_else() -> None:
    told = conversation(remember=[FACT], replaces=["m2"])

    stale, said_anew = mark(told, after(told, {"n1": "Vite builds."})), mark(told, after(told, {"m2": "CI is Vite."}))

    assert (stale.stale, stale.replaced, stale.flawless) == (1, 0, 0)
    assert (said_anew.replaced, said_anew.right, said_anew.flawless) == (1, 1, 1)


def test_a_lost_entry_is_a_harm_unless_another_took_its_meaning_over() -> None:
    told = conversation(remember=[FACT], keep=[{"id": "m2", "all": [["jenkins"]], "harm": "fact_lost"}])

    lost = mark(told, after(told, {"m2": LEFT_OUT, "n1": "Vite builds it."}))
    merged = mark(told, after(told, {"m2": LEFT_OUT, "n1": "Vite builds it, on Jenkins."}))

    assert (lost.harmful, lost.harms[HARMS.index("fact_lost")]) == (1, 1)
    assert (merged.harmful, merged.right) == (0, 1)


def test_an_entry_to_be_kept_may_be_said_anew() -> None:
    told = conversation(remember=[FACT], keep=[{"id": "m2", "all": [["jenkins"]], "harm": "fact_lost"}])

    marks = mark(told, after(told, {"m2": "Jenkins is the CI."}))

    assert (marks.right, marks.wrong, marks.harmful) == (1, 0, 0)


def test_marks_add_up() -> None:
    told = conversation(remember=[FACT])
    one = mark(told, after(told, {"n1": "Vite."}))
    other = mark(told, told.branch(), has_failed=True)

    both = total([one, other])

    assert (both.conversations, both.failed, both.right, both.facts, both.recalled) == (2, 1, 1, 2, 1)
    assert total([]) == Marks()


@pytest.mark.parametrize(
    ("languages", "noisy", "group"),
    [
        (["en"], False, "tidy English"),
        (["en"], True, "noisy English"),
        (["de"], True, "not English"),
        (["de", "en"], False, "several"),
    ],
)
def test_languages_are_grouped(languages: list[Json], noisy: bool, group: str) -> None:  # noqa: FBT001 - a row
    told = conversation(noop=True).encode() | {"languages": languages, "noisy": noisy}

    assert language_group(Conversation.decode(told)) == group
