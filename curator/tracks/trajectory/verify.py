"""Whether a trajectory's files can be true: every line read in full, every digest made anew, every parent looked for.

Works beside whoever writes: what is packed into another file meanwhile is found there. Nothing is mended but the index,
and what a dead process had begun to forget.
"""

from __future__ import annotations

import dataclasses
import itertools
import stat
from typing import TYPE_CHECKING, Final, TypeVar

from curator.durable.read import list_names, mode_of
from curator.errors import InvalidRecordError
from curator.machine.coverage import COVERAGE as TABLE
from curator.machine.coverage import verb_between
from curator.model.digest import MalformedJsonError
from curator.model.ids import SessionKey
from curator.model.ledger import Coverage, Settled, Tombstone
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.record import Record, Violation
from curator.model.trajectory import read_node
from curator.tracks.trajectory.files import COVERAGE, FORGOTTEN, SEGMENTS, SETTLED, WAITING
from curator.tracks.trajectory.ledger import SOURCE_NAME
from curator.tracks.trajectory.shelf import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.model.digest import Digest
    from curator.model.ledger import CoverageState
    from curator.tracks.trajectory.ledger import Ledger

R = TypeVar("R", bound=Record)
_OTHERS: Final = 0o077


@dataclasses.dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong: where, and what. Never a word of what was said."""

    path: Path
    fact: str
    remedy: str = ""


@dataclasses.dataclass(slots=True)
class _Seen:
    """What was read so far."""

    parents: dict[Digest, Digest | None] = dataclasses.field(default_factory=dict)
    forgotten: set[Digest] = dataclasses.field(default_factory=set)
    batches: dict[int, Coverage] = dataclasses.field(default_factory=dict)


_AGAIN: Final = "Move that file away; what stood in it comes back when its sessions are read again"


def check(ledger: Ledger, looked: Callable[[int], None]) -> Iterator[Flaw]:
    """Yield what is wrong; `looked` is told how many lines of each file were read."""
    seen = _Seen()
    yield from _check_modes(ledger)
    for tomb, _ in _records(ledger, FORGOTTEN, Tombstone, looked):
        if isinstance(tomb, Flaw):
            yield tomb
        else:
            seen.forgotten.add(tomb.digest)
    yield from _check_segments(ledger, seen, looked)
    yield from _check_ancestry(ledger, seen)
    for settled, _ in _records(ledger, SETTLED, Settled, looked):
        if isinstance(settled, Flaw):
            yield settled
    yield from _check_coverage(ledger, seen, looked)
    yield from _check_waiting(ledger, looked)
    yield from _check_sources(ledger, seen)
    yield from _check_index(ledger, seen)


def _check_modes(ledger: Ledger) -> Iterator[Flaw]:
    root = ledger.layout.root
    for folder in (root, *(shelf.folder for shelf in ledger.files.shelves.values()), ledger.layout.sources):
        mode = mode_of(folder)
        for path in [folder, *(folder / name for name in list_names(folder, DIRECTORY_NAMES_MAX))] if mode else []:
            bits = mode_of(path)
            if bits is not None and stat.S_IMODE(bits) & _OTHERS:
                yield Flaw(
                    path, f"may be read by others: its mode is {stat.S_IMODE(bits):04o}", "Run `curator doctor --fix`"
                )


def _check_segments(ledger: Ledger, seen: _Seen, looked: Callable[[int], None]) -> Iterator[Flaw]:
    shelf = ledger.files.shelves[SEGMENTS]
    yield from (Flaw(shelf.path(name), "belongs to nobody") for name in shelf.strays() if not name.endswith(".tmp"))
    for name in sorted(shelf.names()):
        lines, flaw = _lines(ledger, SEGMENTS, name)
        if flaw is not None:
            yield flaw
        for line in lines:
            try:
                node = read_node(line)
            except (Violation, MalformedJsonError) as error:
                yield Flaw(shelf.path(name), f"holds a line that is no node: {error}", _AGAIN)
                continue
            seen.parents[node.digest] = node.parent
            if node.digest in seen.forgotten:
                yield Flaw(
                    shelf.path(name), f"holds {node.digest}, which was forgotten", "Run `curator trajectory rebuild`"
                )
        looked(len(lines))


def _check_ancestry(ledger: Ledger, seen: _Seen) -> Iterator[Flaw]:
    lacking = [
        (digest, parent)
        for digest, parent in seen.parents.items()
        if parent is not None and parent not in seen.parents and parent not in seen.forgotten
    ]
    # What was packed into another file meanwhile is there; only what the ledger does not know either is gone.
    known = ledger.has(parent for _, parent in lacking)
    for digest, parent in lacking:
        if parent not in known:
            yield Flaw(ledger.layout.segments, f"holds {digest} and not its parent {parent}", "Read its sessions again")


def _check_coverage(ledger: Ledger, seen: _Seen, looked: Callable[[int], None]) -> Iterator[Flaw]:
    for batch, path in _records(ledger, COVERAGE, Coverage, looked):
        if isinstance(batch, Flaw):
            yield batch
        elif batch.number is None or seen.batches.setdefault(batch.number, batch) != batch:
            yield Flaw(path, f"holds a batch whose number {batch.number} is another's")
    walks: dict[Digest, list[CoverageState]] = {}
    for number in sorted(seen.batches):
        for digest in seen.batches[number].digests:
            walks.setdefault(digest, [TABLE.initial]).append(seen.batches[number].state)
    for digest, walk in walks.items():
        for before, after in itertools.pairwise(walk):
            if verb_between(before, after) is None:
                yield Flaw(ledger.layout.coverage, f"lets {digest} go from {before} to {after}, which no arrow does")


def _check_waiting(ledger: Ledger, looked: Callable[[int], None]) -> Iterator[Flaw]:
    shelf = ledger.files.shelves[WAITING]
    for name in sorted(shelf.names()):
        try:
            if ledger.files.delta(name) is None:
                for line in lines_of(shelf.text(name) or b""):
                    read_node(line)
        except (InvalidRecordError, Violation, MalformedJsonError) as error:
            yield Flaw(shelf.path(name), f"cannot be read: {error}", "Move it away; it is asked for again")
        looked(1)


def _check_sources(ledger: Ledger, seen: _Seen) -> Iterator[Flaw]:
    for name in list_names(ledger.layout.sources, DIRECTORY_NAMES_MAX):
        path = ledger.layout.sources / name
        if not SOURCE_NAME.fullmatch(name):
            continue
        try:
            source = ledger.source(SessionKey(name.removesuffix(".json")))
        except InvalidRecordError as error:
            yield Flaw(path, error.why, "Remove it: the session is read again from its beginning")
            continue
        tips = [] if source is None else [tip.digest for tip in source.leaves]
        lost = [tip for tip in tips if tip not in seen.parents and tip not in seen.forgotten]
        for tip in set(lost) - ledger.has(lost):
            yield Flaw(
                path, f"says that all was taken up to {tip}, which is not here", "Remove it, and read the session again"
            )


def _check_index(ledger: Ledger, seen: _Seen) -> Iterator[Flaw]:
    fault = ledger.ask(ledger.files.index.fault)
    if fault is not None:
        yield Flaw(ledger.layout.index, f"is damaged: {fault}", "Run `curator trajectory rebuild`")
    lost = sorted(seen.parents.keys() - ledger.has(seen.parents) - seen.forgotten)
    if lost:
        fact = f"does not know {len(lost)} of the nodes that stand, {lost[0]} for one"
        yield Flaw(ledger.layout.index, fact, "Run `curator trajectory rebuild`")


def _records(
    ledger: Ledger, shelf: str, cls: type[R], looked: Callable[[int], None]
) -> Iterator[tuple[R | Flaw, Path]]:
    place = ledger.files.shelves[shelf]
    for name in sorted(place.names()):
        try:
            found = ledger.files.records(shelf, name, cls)
        except InvalidRecordError as error:
            yield Flaw(error.path, error.why, "Nothing mends it; move it away to be rid of the finding"), error.path
            continue
        looked(len(found))
        for record in found:
            yield record, place.path(name)


def _lines(ledger: Ledger, shelf: str, name: str) -> tuple[list[bytes], Flaw | None]:
    try:
        return lines_of(ledger.files.shelves[shelf].text(name) or b""), None
    except InvalidRecordError as error:
        return [], Flaw(error.path, error.why, _AGAIN)
