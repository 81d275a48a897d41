"""Cut what was said into windows: at most what one review may see, along one path, each word once.

Where a session forks in the middle of a turn, or a tool answers on two branches, the turns differ and their words need not:
a turn is only taken for words that no other has.

INVARIANT  The same turns in the same order give the same windows, whenever and by whomever they are cut.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Final

from curator.model.digest import digest_of_text
from curator.model.trajectory import turns
from curator.pi.evidence import Gathering, Said
from curator.tracks.backfill.records import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from curator.model.digest import Digest
    from curator.model.ids import SessionKey
    from curator.model.trajectory import Node, Turn

_AT_ONCE: Final = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """One window, and the turns that it covers."""

    window: Window
    covered: tuple[Digest, ...]
    """Its turns, and the nodes of them that hold words."""


class Cutter:
    """Cuts path after path; what several paths share is taken from the first."""

    def __init__(self, free: Callable[[Sequence[Digest]], Collection[Digest]] = lambda digests: digests) -> None:
        """`free` says which of some nodes may be taken: not those that were reviewed, or are another plan's."""
        self._free = free
        self._taken: set[Digest] = set()
        self._number = 0

    def cut(self, path: Iterable[Node], session: SessionKey) -> Iterator[Cut]:
        """Yield the windows of a path from root to leaf."""
        gathered: list[Turn] = []
        gathering = Gathering()
        for turn, words in self._judged(turns(path)):
            said = said_in(turn)
            if not words:
                # A window is one piece of a path: what was taken, or says nothing, is not bridged.
                yield from self._close(gathered, gathering, session)
                gathered, gathering = [], Gathering()
                continue
            if not gathering.take(said):
                yield from self._close(gathered, gathering, session)
                gathered, gathering = [], Gathering()
                gathering.take(said)
            self._taken |= words
            gathered.append(turn)
        yield from self._close(gathered, gathering, session)

    def _judged(self, path: Iterable[Turn]) -> Iterator[tuple[Turn, set[Digest]]]:
        """Yield each turn, and the nodes for whose words it may be taken; asked for many at once."""
        path = iter(path)
        while some := list(itertools.islice(path, _AT_ONCE)):
            asked = [digest for turn in some for digest in words_in(turn) if digest not in self._taken]
            free = set(self._free(asked))
            for turn in some:
                yield turn, free.intersection(words_in(turn)) - self._taken

    def _close(self, gathered: list[Turn], gathering: Gathering, session: SessionKey) -> Iterator[Cut]:
        if not gathered:
            return
        self._number += 1
        window = Window(
            number=self._number,
            first=gathered[0].nodes[0].digest,
            last=gathered[-1].nodes[-1].digest,
            turns=len(gathered),
            chars=len(gathering.transcript),
            session_key=session,
            through_entry_id=gathering.through_entry_id,
            transcript_digest=digest_of_text(gathering.transcript),
        )
        yield Cut(window, _covered(gathered))


def said_in(turn: Turn) -> Said:
    """Return a turn as a review sees it."""
    return Said(
        user_count=int(turn.has_user),
        entry_ids=[node.entry_id for node in turn.nodes],
        sections=[node.text for node in turn.nodes if node.text],
    )


def words_in(turn: Turn) -> list[Digest]:
    """Return the nodes of a turn that hold words, not only the name of a tool."""
    return [node.digest for node in turn.nodes if node.text and node.role != "tool"]


def transcript_of(nodes: Iterable[Node]) -> tuple[str, tuple[Digest, ...]]:
    """Return what a review sees of the nodes of one window, and what is covered by that."""
    gathering = Gathering()
    gathered = list(turns(nodes))
    for turn in gathered:
        gathering.take(said_in(turn))
    return gathering.transcript, _covered(gathered)


def _covered(gathered: Iterable[Turn]) -> tuple[Digest, ...]:
    return tuple(digest for turn in gathered for digest in (turn.digest, *words_in(turn)))
