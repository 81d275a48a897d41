"""The card that Pi shows: what came, what changed, what went, in that order."""

import dataclasses

import pytest

from curator.model.digest import Json
from curator.model.feedback import Pending, Ready, Shown, ShownReplace, shown_changes
from curator.model.record import Violation
from tests.made_up import LATER, MAIN, branch, entry, job

ONE, TWO, THREE = entry("one", "1"), entry("two", "2"), entry("three", "3")


def test_a_card_shows_additions_then_changes_in_the_new_order_then_removals_in_the_old() -> None:
    weighed = dataclasses.replace(THREE, importance="high", importance_assessed_at=LATER)
    anew = dataclasses.replace(ONE, text="1!")

    changes = shown_changes(branch(ONE, TWO, THREE), branch(weighed, entry("four", "4"), anew))

    assert changes == (
        Shown(kind="add", text="4"),
        Shown(kind="assess", text="high: 3"),
        ShownReplace(text="1!", old_text="1"),
        Shown(kind="remove", text="2"),
    )


def test_an_untouched_entry_whose_text_was_sanitized_is_no_change() -> None:
    raw = branch(entry("one", "password: hunter22"))

    assert shown_changes(raw.sanitized(), raw) == ()


def test_an_entry_said_anew_with_the_same_words_but_weighed_anew_is_an_assessment() -> None:
    weighed = dataclasses.replace(ONE, importance_assessed_at=LATER)

    assert shown_changes(branch(ONE), branch(weighed)) == (Shown(kind="assess", text="normal: 1"),)


def test_a_card_has_at_most_32_lines() -> None:
    many = branch(*(entry(f"e{number}", str(number)) for number in range(40)))

    assert len(shown_changes(branch(), many)) == 32


PENDING = Pending(job_id=job().id, job_digest=job().digest)
CARD = Ready(
    job_id=job().id,
    job_digest=job().digest,
    branch_name=MAIN,
    status="applied",
    messages=("Memory added.",),
    changes=(Shown(kind="add", text="1"), ShownReplace(text="2", old_text="1")),
    requested_by="manual",
)


@pytest.mark.parametrize(
    "record", [PENDING, dataclasses.replace(PENDING, branch_name=MAIN, requested_by="automatic"), CARD]
)
def test_a_record_of_the_mailbox_is_read_as_it_was_written(record: Pending | Ready) -> None:
    assert type(record).decode(record.encode()) == record


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {"messages": [""]},
        {"messages": ["m" * 4097]},
        {"messages": ["m"] * 33},
        {"changes": [{"kind": "add", "text": "t", "oldText": "o"}]},
        {"changes": [{"kind": "replace", "text": "t"}]},
        {"changes": [{"kind": "merge", "text": "t"}]},
        {"requestedBy": "nobody"},
        {"requestedBy": None},
    ],
)
def test_a_card_that_would_wedge_the_mailbox_is_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Violation):
        Ready.decode(CARD.encode() | change)
