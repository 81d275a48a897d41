"""The floor under the offline reviewer on the frozen corpus, each half apart, and what holds its versions to their scores.

What is aimed at is a precision of 0.98, a recall of 0.6 and no harm. Where a half misses that, its floor is what was
measured: it is raised when the reviewer gets better, and never lowered to let a change pass.
"""

import dataclasses
import sys
from functools import cache
from typing import Final

import pytest

from curator.durable.clock import SystemClock
from curator.model.digest import digest_of_text
from curator.quality.corpus import HALVES, Half, read
from curator.quality.exam import Paper, offline, sit_all, table_of
from curator.quality.report import lines_of
from curator.reviewer.providers.offline import RULES_VERSION


@dataclasses.dataclass(frozen=True)
class Floor:
    """The least precision and recall, and the most harms."""

    precision: float
    recall: float
    harms: int


AIM: Final = Floor(0.98, 0.6, 0)
FLOORS: Final[dict[Half, Floor]] = {"seen": AIM, "unseen": Floor(0.859, 0.485, 1)}
PROPOSALS: Final = {2: "dd33f974a8810472ea88bb03312102702b15c7bef5cd874d69ec05322a52b35b"}
"""What each version of the rules makes of the seen half, by digest: other proposals are another version."""


@cache
def papers(half: Half) -> tuple[Paper, ...]:
    return tuple(sit_all(read(half), half, offline(SystemClock())))


@pytest.mark.parametrize("half", HALVES)
def test_the_offline_reviewer_stays_above_its_floor(half: Half, capsys: pytest.CaptureFixture[str]) -> None:
    table, floor = table_of(half, papers(half)), FLOORS[half]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join([*lines_of(table)][:3]) + "\n")

    assert table.all.precision is not None
    assert table.all.recall is not None
    assert table.all.precision >= floor.precision
    assert table.all.recall >= floor.recall
    assert table.all.harmful <= floor.harms
    assert table.all.failed == 0


def test_the_same_conversations_are_reviewed_alike_twice() -> None:
    again = tuple(sit_all(read("seen"), "seen", offline(SystemClock())))

    assert [paper.after for paper in again] == [paper.after for paper in papers("seen")]


def test_other_proposals_are_another_version_of_the_rules() -> None:
    written = [[paper.conversation.id, *(entry.text for entry in paper.after.entries)] for paper in papers("seen")]

    assert digest_of_text("\n".join(map(repr, written))) == PROPOSALS[RULES_VERSION], (
        "the rules say something else: raise RULES_VERSION, write its digest down here and its scores in"
        " bench/quality/README.md"
    )
