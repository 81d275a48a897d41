"""What the journal's files come to, added up call by call with code of its own, and where what is shown differs.

Each call is charged anew from what it tells: its usage, its hold where that was not told, a person's word. What a closed
day says in its totals is held against its rows, and what a settled call says against the answer that is kept of it.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.limits import CHECKPOINT_BYTES_MAX, CLOSED_DAY_BYTES_MAX, DAY_BYTES_MAX, JOURNAL_BYTES_MAX
from curator.verify.finding import Finding, error
from curator.verify.journal import CARRY_NAME, RULES, STEP_NAME
from curator.verify.shape import Fields, fields_of, items_of, number_of, objects_of, text_of
from curator.verify.shapes.attempts import CARRY, CLOSED_DAY, DAY_FILE, ROW, nano, ours
from curator.verify.shapes.jobs import RESULT
from curator.verify.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from curator.durable.layout import Layout

Figures: TypeAlias = tuple[int, int, int]
"""Calls, tokens, nano-dollars."""
Place: TypeAlias = tuple[str, str, str]
"""Day, provider, column."""
COLUMNS: Final = ("actual", "held", "unknown")
FIGURES: Final = ("calls", "tokens", "nano-dollars")
_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d)(\.closed\.json)?")
_UNKNOWN: Final = 2
_CORRECTED: Final = 3
_NOTHING: Final = (0, 0, 0)


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """The figures as a person sees them."""

    days: Mapping[Place, Figures]
    earlier: Mapping[tuple[str, str], Figures]
    """By provider and column, what of the days before today counts against its limits."""
    panel: Mapping[tuple[str, str], Figures]
    """By provider and column, what Pi's panel shows for today."""
    today: str
    since: str
    """From which day on an earlier one counts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Proof:
    """What adding up came to."""

    calls: int
    days: int
    findings: tuple[Finding, ...]


def prove(layout: Layout, shown: Shown) -> Proof:
    """Add up every call of the journal, and compare. Changes nothing. Raises `StorageError`."""
    books = _Books(Tree(layout, lambda _: None))
    findings = [*books.add_up(), *books.compare(shown)]
    return Proof(books.calls, len(books.days), tuple(findings))


class _Books:
    """The sums, as they grow."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._root = tree.layout.attempts
        self._sums: Counter[tuple[Place, int]] = Counter()
        self._carried: Counter[tuple[Place, int]] = Counter()
        """Of `_sums`, what legacy budgets carried in: it is over with its day."""
        self.days: list[str] = []
        self.calls = 0

    def add_up(self) -> Iterator[Finding]:
        found = (_DAY.fullmatch(name) for name in self._tree.names(self._root))
        self.days = sorted({match[1] for match in found if match is not None})
        for day in self.days:
            yield from self._add_day(day)

    def compare(self, shown: Shown) -> Iterator[Finding]:
        """Yield every shown figure that is not what the calls come to."""
        for place in sorted({*shown.days, *(place for place, _ in self._sums)}):
            yield from _differing(self._path_of(place[0]), place[1], place[2], shown.days.get(place), self._of(place))
        earlier: Counter[tuple[tuple[str, str], int]] = Counter()
        for place, figure in self._sums:
            if shown.since <= place[0] < shown.today and place[2] != "actual":
                own = self._sums[place, figure] - self._carried[place, figure]
                earlier[(place[1], place[2]), figure] += own
        keys = {*shown.earlier, *(key for key, _ in earlier)}
        yield from _all_differing(self._root, "of earlier days ", keys, shown.earlier, earlier)
        path = self._tree.layout.days / shown.today
        panel, fault = self._panel(path)
        yield from fault
        # What another worker's calls cost is shown once they are taken into the journal.
        yield from _all_differing(path, "in Pi's panel ", shown.panel, shown.panel, panel)

    def _add_day(self, day: str) -> Iterator[Finding]:
        path = self._root / f"{day}.closed.json"
        closed = self._tree.find(path, CLOSED_DAY, CLOSED_DAY_BYTES_MAX)
        covered: set[str] = set()
        lost: dict[str, Fields] = {}
        if closed is not None:
            lost = {text_of(each, "id"): each for each in objects_of(closed, "unresolved")}
            covered = self._add_closed(day, closed)
            yield from self._totals(path, day, closed, lost)
        elif self._tree.stands(path):
            yield error(path, "cannot be read, so what its day cost cannot be proved")
        for shard in self._tree.names(self._root / day):
            if CARRY_NAME.fullmatch(shard):
                yield from self._add_carry(self._root / day / shard, day, is_covered=closed is not None)
            else:
                yield from self._add_shard(self._root / day / shard, day, covered, lost)
        for each in lost.values():
            self.calls += 1
            self._add((day, text_of(each, "provider"), "unknown"), _hold(each))

    def _add_closed(self, day: str, closed: Fields) -> set[str]:
        covered: set[str] = set()
        for row in items_of(closed, "attempts"):
            match = ROW.fullmatch(str(row))
            assert match is not None
            covered.add(match[1])
            self.calls += int(match[3])
            self._add((day, match[6], "actual"), (int(match[3]), int(match[4]), int(match[5])))
        for carry in objects_of(closed, "legacy"):
            self._add_legacy(day, carry)
        return covered

    def _totals(self, path: Path, day: str, closed: Fields, lost: Mapping[str, Fields]) -> Iterator[Finding]:
        """Hold a closed day's totals against its rows, before anything that came after the closing is added."""
        sums = Counter(self._sums)
        for each in lost.values():
            for figure, number in enumerate(_hold(each)):
                sums[(day, text_of(each, "provider"), "unknown"), figure] += number
        totals = fields_of(closed, "totals")
        for provider in sorted({*totals, *(place[1] for place, _ in sums if place[0] == day)}):
            for column in ("actual", "unknown"):
                told = fields_of(fields_of(totals, provider), column)
                said = (number_of(told, "calls"), number_of(told, "tokens"), number_of(told, "costNanousd"))
                come_to = tuple(sums[(day, provider, column), figure] for figure in range(len(FIGURES)))
                yield from _differing(path, provider, column, said, come_to, said_by="its totals say")

    def _add_carry(self, path: Path, day: str, *, is_covered: bool) -> Iterator[Finding]:
        carry = self._tree.find(path, CARRY, JOURNAL_BYTES_MAX)
        if carry is None:
            yield error(path, "cannot be read, so what it carries cannot be proved")
        elif not is_covered:
            self._add_legacy(day, carry)

    def _add_shard(self, folder: Path, day: str, covered: set[str], lost: dict[str, Fields]) -> Iterator[Finding]:
        """Add the attempts of one folder; what is corrected after its day was closed is taken from those without an end."""
        steps: dict[str, dict[int, tuple[Path, Fields]]] = {}
        for name in self._tree.names(folder):
            match = STEP_NAME.fullmatch(name)
            if match is None or match[1] in covered:
                continue
            path, number = folder / name, int(match[2])
            fields = self._tree.find(path, RULES[number], JOURNAL_BYTES_MAX)
            if fields is None:
                yield error(path, "cannot be read, so what its call cost cannot be proved")
            else:
                steps.setdefault(match[1], {})[number] = (path, fields)
        for attempt, known in steps.items():
            unknown = lost.pop(attempt, None)
            if unknown is not None:
                known.setdefault(_UNKNOWN, (folder, unknown))
            yield from self._add_attempt(day, known)

    def _add_attempt(self, day: str, steps: Mapping[int, tuple[Path, Fields]]) -> Iterator[Finding]:
        below = [number for number in steps if number != _CORRECTED]
        if not below:
            return
        path, latest = steps[max(below)]
        provider, state = text_of(latest, "provider"), text_of(latest, "state")
        self.calls += state != "cancelled"
        if state in ("reserved", "dispatched"):
            self._add((day, provider, "held"), _hold(latest))
        elif state == "unknown" and _CORRECTED not in steps:
            self._add((day, provider, "unknown"), _hold(latest))
        elif state == "unknown":
            word = steps[_CORRECTED][1]
            charged = (1, number_of(word, "chargedTokens"), number_of(word, "chargedCostNanousd"))
            self._add((day, provider, "actual"), charged if word["isBilled"] else _NOTHING)
        elif state == "settled":
            yield from self._settle(path, day, latest)

    def _settle(self, path: Path, day: str, settled: Fields) -> Iterator[Finding]:
        usage = fields_of(fields_of(settled, "provenance"), "usage")
        told = (1, number_of(usage, "totalTokens"), nano(fields_of(usage, "cost")))
        due = _hold(settled) if settled["isEstimated"] else told
        provider = text_of(settled, "provider")
        self._add((day, provider, "actual"), due)
        charged = (1, number_of(settled, "chargedTokens"), number_of(settled, "chargedCostNanousd"))
        yield from _differing(path, provider, "actual", charged, due, said_by="it charges")
        job, attempt = text_of(settled, "jobId"), text_of(settled, "id")
        kept = self._tree.layout.results / job / f"{attempt}.json"
        result = self._tree.find(kept, RESULT, CHECKPOINT_BYTES_MAX) if job else None
        if result is not None:
            said = fields_of(fields_of(fields_of(result, "outcome"), "provenance"), "usage")
            answer = (1, number_of(said, "totalTokens"), nano(fields_of(said, "cost")))
            yield from _differing(kept, provider, "actual", answer, told, said_by="its answer told")

    def _panel(self, path: Path) -> tuple[Counter[tuple[tuple[str, str], int]], list[Finding]]:
        sums: Counter[tuple[tuple[str, str], int]] = Counter()
        file = self._tree.find(path, DAY_FILE, DAY_BYTES_MAX)
        if file is None:
            return sums, [error(path, "cannot be read, so what Pi shows cannot be proved")] * self._tree.stands(path)
        providers = fields_of(file, "providers")
        for provider in providers:
            for attempt in objects_of(providers, provider):
                state = ours(text_of(attempt, "state"))
                hold = (1, number_of(attempt, "holdTokens"), number_of(attempt, "holdCostNanodollars"))
                cost = (1, number_of(attempt, "chargedTokens"), number_of(attempt, "chargedCostNanodollars"))
                column = {"settled": "actual", "unknown": "unknown"}.get(state, "held")
                for figure, number in enumerate(cost if state == "settled" else hold):
                    sums[(provider, column), figure] += number if state != "cancelled" else 0
        for provider, carry in fields_of(file, "legacyCarry").items():
            told = carry if isinstance(carry, dict) else {}
            for figure, key in enumerate(("calls", "tokens", "costNanodollars")):
                sums[(provider, "unknown"), figure] += number_of(told, key)
        return sums, []

    def _add_legacy(self, day: str, carry: Fields) -> None:
        place = (day, text_of(carry, "provider"), "unknown")
        figures = (number_of(carry, "calls"), number_of(carry, "tokens"), number_of(carry, "costNanousd"))
        self._add(place, figures)
        for figure, number in enumerate(figures):
            self._carried[place, figure] += number

    def _add(self, place: Place, figures: Figures) -> None:
        for figure, number in enumerate(figures):
            self._sums[place, figure] += number

    def _of(self, place: Place) -> Figures:
        calls, tokens, cost = (self._sums[place, figure] for figure in range(len(FIGURES)))
        return calls, tokens, cost

    def _path_of(self, day: str) -> Path:
        closed = self._root / f"{day}.closed.json"
        return closed if self._tree.stands(closed) else self._root / day


def _hold(attempt: Fields) -> Figures:
    return 1, number_of(attempt, "holdTokens"), number_of(attempt, "holdCostNanousd")


def _all_differing(
    path: Path,
    where: str,
    keys: Iterable[tuple[str, str]],
    shown: Mapping[tuple[str, str], Figures],
    sums: Counter[tuple[tuple[str, str], int]],
) -> Iterator[Finding]:
    for provider, column in sorted(keys):
        come_to = tuple(sums[(provider, column), figure] for figure in range(len(FIGURES)))
        yield from _differing(path, f"{where}{provider}", column, shown.get((provider, column)), come_to)


def _differing(
    path: Path, provider: str, column: str, said: Figures | None, come_to: tuple[int, ...], said_by: str = "shown are"
) -> Iterator[Finding]:
    """Yield each figure that was said otherwise than the calls come to."""
    for name, figure, due in zip(FIGURES, said or _NOTHING, come_to, strict=True):
        if figure != due:
            yield error(path, f"{provider}, {column}: {said_by} {figure:,} {name}, and the calls come to {due:,}")
