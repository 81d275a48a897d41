"""What a delta costs after 10,000 turns of its session, over what it costs after 10.

Two sessions, each in a project of its own, get one turn after the other, in turn; each push opens inbox and index anew,
as the service and the command do. The history was pushed turn by turn as well, so that its files are what pushing leaves.
The median over the pairs is held to the bar. Beside it stands what a search and a check of the long one take.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Final

from bench.common.disks import flush_figures, plain
from bench.common.figures import Figure, Report, median, options
from bench.common.volumes import Unflushed
from curator.durable.clock import SystemClock
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.model.ids import ProjectKey, project_key
from curator.tracks.trajectory.inbox import Inbox
from curator.tracks.trajectory.ledger import Ledger
from curator.tracks.trajectory.search import index_words, search
from curator.tracks.trajectory.verify import check

RATIO_MAX: Final = 1.2
SHORT: Final = 10
LONG: Final = 10_000
_ENTRIES: Final = 4
_WORDS: Final = "the build runs on Linux and the tests take a minute so please keep them short "
_SEARCHES: Final = 20


@dataclasses.dataclass(slots=True)
class Talk:
    """One session that goes on, turn by turn."""

    layout: Layout
    root: Path
    turns: int = 0

    @property
    def key(self) -> ProjectKey:
        """The project's key."""
        return project_key(str(self.root))

    def turn(self) -> bytes:
        """Return the next turn as a delta: a question, an answer with a tool call, its result, and an answer."""
        first = self.turns * _ENTRIES
        self.turns += 1
        entries = [self._entry(first + number) for number in range(_ENTRIES)]
        delta = {
            "version": 1,
            "kind": "trajectory-delta",
            "projectRoot": str(self.root),
            "sessionId": f"session of {self.root.name}",
            "predecessor": f"e{first - 1:08}" if first else None,
            "entries": entries,
            "settledLeaf": f"e{first + _ENTRIES - 1:08}",
        }
        return json.dumps(delta).encode()

    def _entry(self, number: int) -> dict[str, object]:
        said = f"turn {number // _ENTRIES} {_WORDS * 4}"
        kinds: tuple[dict[str, object], ...] = (
            {"role": "user", "content": said},
            {"role": "assistant", "content": [{"type": "text", "text": said}, {"type": "toolCall", "name": "bash"}]},
            {"role": "toolResult", "toolName": "bash", "isError": False, "content": [{"type": "text", "text": said}]},
            {"role": "assistant", "content": [{"type": "text", "text": said}]},
        )
        return {
            "type": "message",
            "id": f"e{number:08}",
            "parentId": f"e{number - 1:08}" if number else None,
            "timestamp": "2026-01-02T09:00:00.000Z",
            "message": kinds[number % _ENTRIES],
        }

    def grow(self, turns: int) -> None:
        """Push so many turns, on a disk that flushes nothing: what is left is the same."""
        inbox = Inbox(self.layout, Unflushed(), SystemClock())
        for _ in range(turns):
            inbox.receive(self.turn())
        inbox.close()

    def push(self) -> tuple[float, float]:
        """Push one turn as a process of its own would; return milliseconds of CPU and of the wall."""
        raw = self.turn()
        cpu, wall = time.process_time(), time.perf_counter()
        inbox = Inbox(self.layout, Volume(), SystemClock())
        inbox.receive(raw)
        inbox.close()
        return (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--turns", type=int, default=LONG, help=f"of the long session (default {LONG})")
    asked = parser.parse_args()
    pairs = 60 if asked.quick else 300

    report = Report(f"trajectory push: {pairs} interleaved pairs, after {SHORT} and {asked.turns:,} turns")
    with plain(asked.on) as disk:
        report.add(*flush_figures(disk))
        talks = [Talk(Layout(disk.folder / "agent"), disk.folder / name) for name in ("short", "long")]
        for talk, turns in zip(talks, (SHORT, asked.turns), strict=True):
            talk.root.mkdir()
            talk.grow(turns)
        _compare(report, talks[0], talks[1], pairs)
        _look(report, talks[1])
    return report.show(as_json=asked.json)


def _compare(report: Report, short: Talk, long: Talk, pairs: int) -> None:
    measured: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for number in range(pairs):
        # Who comes first changes, so that neither always follows the other's flushes.
        if number % 2:
            first = short.push()
            measured.append((first, long.push()))
        else:
            second = long.push()
            measured.append((short.push(), second))
    for at, name in enumerate(("CPU", "wall")):
        before, after = ([side[at] for side in sides] for sides in zip(*measured, strict=True))
        report.add(
            Figure(f"a push after {SHORT} turns, {name}, median", median(before), "ms"),
            Figure(f"a push after {long.turns - pairs:,} turns, {name}, median", median(after), "ms"),
            Figure(f"ratio of the medians, {name}", median(after) / median(before), at_most=RATIO_MAX),
            Figure(f"ratio of the sums, packing included, {name}", sum(after) / sum(before)),
        )


def _look(report: Report, talk: Talk) -> None:
    ledger = Ledger(talk.layout.trajectory(talk.key), Volume(), SystemClock())
    began = time.perf_counter()
    index_words(ledger)
    indexed = time.perf_counter() - began
    took: list[float] = []
    for number in range(_SEARCHES):
        began = time.perf_counter()
        assert search(ledger, f'"turn {number * 7}"', 5), "a turn that was pushed is not found"
        took.append((time.perf_counter() - began) * 1e3)
    lines: list[int] = []
    began = time.perf_counter()
    flaws = list(check(ledger, lines.append))
    checked = time.perf_counter() - began
    assert flaws == [], flaws[0]
    size = sum(path.stat().st_size for path in ledger.layout.segments.iterdir())
    report.add(
        Figure("nodes in the long ledger", float(sum(lines))),
        Figure("its segments on disk", size / 1e6, "MB"),
        Figure("its segments", float(len(list(ledger.layout.segments.iterdir()))), "files"),
        Figure("its words indexed, the first search", indexed, "s"),
        Figure("a search, median", median(took), "ms"),
        Figure("every line verified", sum(lines) / checked, "lines/s"),
    )
    ledger.close()


if __name__ == "__main__":
    sys.exit(main())
