"""Closed days of the journal: one file, its rows and its totals, and what is left of the folder that it stands for.

What the file covers counts from there, and its folder is removed name by name: what is left of it then is no history. What
came after the closing, a correction of what nobody knew the end of, stands in the folder and counts.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.limits import CLOSED_DAY_BYTES_MAX, JOURNAL_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.journal import CARRY_NAME, RULES, STEP_NAME
from curator.verify.shape import Fields, fields_of, items_of, number_of, objects_of, text_of
from curator.verify.shapes.attempts import CARRY, CLOSED_DAY, ROW
from curator.verify.tree import alone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.verify.tree import Tree

_NAME: Final = re.compile(r"(\d{4}-\d\d-\d\d)\.closed\.json")
_CORRECTION: Final = 3
_FIGURES: Final = ("calls", "tokens", "costNanousd")
_Rows: TypeAlias = dict[str, tuple[str, int, int]]


def check_closed_days(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with closed days and with what is left of their folders."""
    for name in tree.names(tree.layout.attempts):
        if _NAME.fullmatch(name):
            path = tree.layout.attempts / name
            yield from tree.judge(path, CLOSED_DAY, CLOSED_DAY_BYTES_MAX, partial(_day, tree))


def _day(tree: Tree, path: Path, day: Fields) -> Iterator[Finding]:
    if path.name != f"{text_of(day, 'day')}.closed.json":
        yield error(path, "holds another day than its name says")
        return
    parts = (*objects_of(day, "unresolved"), *objects_of(day, "legacy"))
    if any(part["day"] != day["day"] for part in parts):
        yield error(path, "holds something of another day")
    rows = _rows_of(day)
    lost = {text_of(attempt, "id") for attempt in objects_of(day, "unresolved")}
    known = len(items_of(day, "attempts")) + len(objects_of(day, "unresolved"))
    if len(rows.keys() | lost) != known:
        yield error(path, "holds an attempt twice")
    if _totals_of(day) != _added_up(day):
        yield error(path, "has totals that are not the sum of its attempts")
    yield from _folder(tree, tree.layout.attempts / text_of(day, "day"), rows, lost)


def _rows_of(day: Fields) -> _Rows:
    """Return each row's state, tokens and price by its attempt."""
    found = (ROW.fullmatch(str(row)) for row in items_of(day, "attempts"))
    return {match[1]: (match[2], int(match[4]), int(match[5])) for match in found if match is not None}


def _totals_of(day: Fields) -> Counter[tuple[str, str, str]]:
    totals = fields_of(day, "totals")
    return Counter(
        {
            (provider, column, figure): number_of(fields_of(fields_of(totals, provider), column), figure)
            for provider in totals
            for column in ("actual", "unknown")
            for figure in _FIGURES
        }
    )


def _added_up(day: Fields) -> Counter[tuple[str, str, str]]:
    sums: Counter[tuple[str, str, str]] = Counter()
    for row in items_of(day, "attempts"):
        match = ROW.fullmatch(str(row))
        assert match is not None
        for figure, number in zip(_FIGURES, match.group(3, 4, 5), strict=True):
            sums[match[6], "actual", figure] += int(number)
    for lost in objects_of(day, "unresolved"):
        held = (1, number_of(lost, "holdTokens"), number_of(lost, "holdCostNanousd"))
        for figure, number in zip(_FIGURES, held, strict=True):
            sums[text_of(lost, "provider"), "unknown", figure] += number
    for carry in objects_of(day, "legacy"):
        for figure in _FIGURES:
            sums[text_of(carry, "provider"), "unknown", figure] += number_of(carry, figure)
    return sums


def _folder(tree: Tree, folder: Path, rows: _Rows, lost: set[str]) -> Iterator[Finding]:
    is_left = False
    for shard in tree.names(folder):
        if CARRY_NAME.fullmatch(shard):
            is_left = True
            yield from tree.judge(folder / shard, CARRY, JOURNAL_BYTES_MAX, alone)
            continue
        for name in tree.names(folder / shard):
            match = STEP_NAME.fullmatch(name)
            if match is None:
                continue
            attempt_id, step = match.group(1), int(match.group(2))
            is_left |= attempt_id in rows or (attempt_id in lost and step != _CORRECTION)
            path = folder / shard / name
            yield from tree.judge(path, RULES[step], JOURNAL_BYTES_MAX, partial(_step, rows, lost, step))
    if is_left:
        yield pending(folder, "is closed, and not cleared yet")


def _step(rows: _Rows, lost: set[str], step: int, path: Path, fields: Fields) -> Iterator[Finding]:
    attempt_id = text_of(fields, "id")
    if path.name != f"{attempt_id}.{step}.json" or path.parent.parent.name != fields["day"]:
        yield error(path, "holds another attempt than its name says")
    elif attempt_id in rows:
        state, tokens, cost = rows[attempt_id]
        charged = (fields.get("chargedTokens"), fields.get("chargedCostNanousd"))
        if fields["state"] == state != "cancelled" and charged != (tokens, cost) and fields.get("isBilled", True):
            yield error(path, "is charged otherwise than in its closed day")
    elif step == _CORRECTION and attempt_id not in lost:
        yield error(path, "corrects an attempt of which nothing else stands")
