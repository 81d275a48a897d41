"""Five operations, each closed, and no sixth."""

from typing import Final

import pytest

from curator.model.digest import Json
from curator.model.outcome import Completed
from curator.model.proposal import Add, Assess, Merge, Operation, Remove, Replace
from curator.model.record import Violation
from tests.made_up import completed, job

TEXT: Final = "Run the checks."


def decoded(*operations: Json) -> tuple[Operation, ...]:
    whole = completed(job()).encode() | {"operations": list(operations)}
    return Completed.decode(whole).operations


@pytest.mark.parametrize(
    ("value", "operation"),
    [
        ({"action": "add", "content": TEXT, "importance": "high"}, Add(content=TEXT, importance="high")),
        (
            {"action": "replace", "entryId": "e", "content": TEXT, "importance": "low"},
            Replace(entry_id="e", content=TEXT, importance="low"),  # type: ignore[arg-type]  # an id by its text
        ),
        ({"action": "remove", "entryId": "e"}, Remove(entry_id="e")),  # type: ignore[arg-type]  # likewise
        (
            {"action": "merge", "entryIds": ["a", "b"], "content": TEXT, "importance": "normal"},
            Merge(entry_ids=("a", "b"), content=TEXT, importance="normal"),  # type: ignore[arg-type]  # likewise
        ),
        (
            {"action": "assess", "entryId": "e", "importance": "normal"},
            Assess(entry_id="e", importance="normal"),  # type: ignore[arg-type]  # likewise
        ),
    ],
)
def test_an_operation_is_told_by_its_action(value: dict[str, Json], operation: Operation) -> None:
    assert decoded(value) == (operation,)
    assert operation.encode() == value


@pytest.mark.parametrize(
    "value",
    [
        {"action": "forget", "entryId": "e"},
        {"action": "add", "content": TEXT},
        {"action": "add", "content": TEXT, "importance": "urgent"},
        {"action": "add", "content": TEXT, "importance": "high", "entryId": "e"},
        {"action": "add", "content": "", "importance": "high"},
        {"action": "add", "content": "x" * 4001, "importance": "high"},
        {"action": "add", "content": "😀" * 2000 + "a", "importance": "high"},
        {"action": "add", "content": "password: hunter22", "importance": "high"},
        {"action": "add", "content": "a\r\nb", "importance": "high"},
        {"action": "remove", "entryId": "-e"},
        {"action": "remove", "entryId": "e" * 257},
        {"action": "merge", "entryIds": ["a"], "content": TEXT, "importance": "high"},
        {"action": "merge", "entryIds": ["a", "a"], "content": TEXT, "importance": "high"},
        {"action": "merge", "entryIds": [f"e{n}" for n in range(17)], "content": TEXT, "importance": "high"},
    ],
)
def test_an_operation_that_breaks_a_rule_is_none(value: dict[str, Json]) -> None:
    with pytest.raises(Violation) as caught:
        decoded(value)

    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize("content", ["x" * 4000, "😀" * 2000])
def test_content_is_bounded_in_utf16_units(content: str) -> None:
    assert decoded({"action": "add", "content": content, "importance": "high"})


def test_a_proposal_has_at_most_four_operations() -> None:
    add: Json = {"action": "add", "content": TEXT, "importance": "high"}

    assert len(decoded(*[add] * 4)) == 4
    with pytest.raises(Violation, match="0 to 4 items"):
        decoded(*[add] * 5)
