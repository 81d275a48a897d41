"""The stories of a trajectory: taken in any order, settled, covered, packed, forgotten, handed over; crashed everywhere.

Whoever comes after a crash does the same again: a reader reads the file again, Pi's package finds its delta still in the
inbox, a plan goes on from what is covered already.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from curator.durable.publish import ensure_directory, replace
from curator.model.digest import Digest
from curator.model.ids import EntryId, SessionKey, session_key
from curator.model.ledger import Coverage, CoverageState, Settled, Source
from curator.model.limits import MERGED_AT_ONCE
from curator.model.times import iso
from curator.model.trajectory import Node, Progress, Tip, make_node
from curator.store.trajectory_erasure import erase_trajectory
from curator.tracks.trajectory.inbox import Inbox
from curator.tracks.trajectory.ledger import Ledger
from faults.campaign import Scenario
from faults.recording import Mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faults.campaign import Run
    from faults.world import World

_SESSION: Final = "trajectory-session"
_AT: Final = "2026-01-02T09:00:00.000Z"
_S: Final = CoverageState
_PLAN: Final = "plan-1"


def _chain(count: int, fork: str = "", parent: Digest | None = None) -> list[Node]:
    """Return so many nodes, each after the one before."""
    nodes: list[Node] = []
    for number in range(count):
        text = f"USER: {fork or 'main'} said {number}"
        nodes.append(make_node(parent, EntryId(f"{fork or 'e'}{number}"), _AT, "user", text))
        parent = nodes[-1].digest
    return nodes


_NODES: Final = tuple(_chain(6))
_FORK: Final = tuple(_chain(2, "fork", _NODES[2].digest))


def _ledger(world: World) -> Ledger:
    return Ledger(world.layout.trajectory(world.project.key), world.volume, world.clock)


def _take(world: World, nodes: Sequence[Node]) -> None:
    _ledger(world).take(nodes)
    for node in nodes:
        world.tell(Mark("taken", node.digest))
    world.rest()


def _bare_folder(world: World) -> None:
    world.prepare_folder()
    world.configure("external")


def _folder(world: World) -> None:
    _bare_folder(world)
    ensure_directory(world.volume, world.layout.own)


def _taken(*batches: Sequence[Node]) -> Run:
    """Return a run that takes these batches, one after the other."""

    def run(world: World) -> None:
        for batch in batches:
            _take(world, batch)

    return run


def _then(first: Run, second: Run) -> Run:
    def run(world: World) -> None:
        first(world)
        second(world)

    return run


def _tend(world: World) -> None:
    _ledger(world).tend()


# Checkpoints and sources.


def _settle(world: World) -> None:
    ledger, session = _ledger(world), session_key(_SESSION)
    leaf = _NODES[-1]
    ledger.settle(Settled(session_key=session, entry_id=leaf.entry_id, leaf=leaf.digest, at=_AT))
    world.tell(Mark("settled", leaf.digest))
    world.rest()
    ledger.read_through(_source(session, leaf))
    world.tell(Mark("read", leaf.digest))


def _source(session: SessionKey, leaf: Node) -> Source:
    tip = Tip(entry_id=leaf.entry_id, digest=leaf.digest)
    progress = Progress(session_id=_SESSION, byte=100, line=6, prefix_digest=Digest("ab" * 32), tips=(tip,))
    return Source(
        session_key=session,
        path="/sessions/one.jsonl",
        progress=progress,
        leaves=(tip,),
        nodes=len(_NODES),
        damaged={},
        unknown={},
        read_at=_AT,
    )


# Coverage: each digest walks a way of its own, so that together they take every arrow.

_WAYS: Final = (
    (_S.LEASED, _S.PROCESSED),
    (_S.LEASED, _S.EXCLUDED),
    (_S.LEASED, _S.DAMAGED),
    (_S.DAMAGED,),
    (_S.LEASED, _S.PENDING),
    (_S.EXCLUDED, _S.PENDING),
)


def _cover(world: World) -> None:
    """Go on along each way from where it stands, those that go to the same state together."""
    ledger = _ledger(world)
    while due := _due(ledger):
        for state, digests in due.items():
            ledger.cover(Coverage(state=state, digests=tuple(digests), by=_PLAN, at=iso(world.clock.now())))
            for digest in digests:
                world.tell(Mark("covered", f"{digest} {state}"))
            world.rest()


def _due(ledger: Ledger) -> dict[CoverageState, list[Digest]]:
    """Return by state which digests go there next."""
    standing = ledger.coverage(node.digest for node in _NODES)
    due: dict[CoverageState, list[Digest]] = {}
    for node, way in zip(_NODES, _WAYS, strict=True):
        at = standing.get(node.digest)
        left = way if at is None else way[way.index(at.state) + 1 :]
        if left:
            due.setdefault(left[0], []).append(node.digest)
    return due


# Forgetting.


def _forget(world: World) -> None:
    """Let two nodes go, one of which waits; once they are gone there is nothing to do."""
    ledger, gone = _ledger(world), (_NODES[1].digest, _FORK[1].digest)
    ledger.tend()
    world.tell(Mark("forgetting", gone[0]))
    world.tell(Mark("forgetting", gone[1]))
    ledger.forget(gone, "a person's word")
    for digest in gone:
        world.tell(Mark("forgotten", digest))
    world.rest()
    # Reading the session again does not bring them back.
    ledger.take(_NODES[:3])


# The inbox.


def _entry(number: int) -> dict[str, object]:
    return {
        "type": "message",
        "id": f"p{number}",
        "parentId": f"p{number - 1}" if number else None,
        "timestamp": _AT,
        "message": {"role": "user", "content": f"Pi said {number}"},
    }


def _hand_over(world: World, name: str, numbers: Sequence[int], *, is_whole: bool = True) -> None:
    """Let Pi put a delta into the inbox."""
    delta: dict[str, object] = {
        "version": 1,
        "kind": "trajectory-delta",
        "projectRoot": str(world.project.root),
        "sessionId": _SESSION,
        "predecessor": f"p{numbers[0] - 1}" if numbers[0] else None,
        "entries": [_entry(number) for number in numbers],
        "settledLeaf": f"p{numbers[-1]}",
    }
    raw = json.dumps(delta).encode()
    inbox = world.layout.trajectory_inbox.root
    ensure_directory(world.volume, inbox)
    replace(world.volume, inbox / name, raw if is_whole else raw[:-9])
    entries = ",".join(f"p{number}" for number in numbers) if is_whole else ""
    world.tell(Mark("handed", f"{name} {entries}"))


def _handed(world: World) -> None:
    """Leave one delta whose beginning is there, one whose beginning is not, and one that nobody can read."""
    _folder(world)
    _hand_over(world, "a.json", (0, 1))
    _hand_over(world, "b.json", (4, 5))
    _hand_over(world, "c.json", (6,), is_whole=False)


def _take_in(world: World) -> None:
    inbox = Inbox(world.layout, world.volume, world.clock)
    for _ in inbox.take_in():
        world.rest()


def _answer(world: World) -> None:
    """Take in what lies there, then what Pi sends when it is asked for the beginning."""
    _take_in(world)
    _hand_over(world, "d.json", (2, 3))
    world.rest()
    _take_in(world)


def _answer_again(world: World) -> None:
    """Take in what lies there; Pi sends what it was asked for, while it is asked for it."""
    _take_in(world)
    if any(world.layout.trajectory_inbox.wanted.glob("*.json")):
        _hand_over(world, "d.json", (2, 3))
        _take_in(world)


# Erasing.


def _erase(world: World) -> None:
    world.tell(Mark("erasing"))
    erase_trajectory(world.volume, world.layout, world.project.key)
    world.tell(Mark("erased"))


_MANY: Final = tuple(_chain(MERGED_AT_ONCE, "many"))


def _story(name: str, prepare: Run, run: Run, again: Run) -> Scenario:
    return Scenario(name, {}, prepare, run, again, recover=again)


_LATE: Final = (_NODES[:2], (*_NODES[4:], *_FORK), _NODES[2:4])
"""The second batch comes before what it follows."""

TRAJECTORY_STORIES: Final = (
    _story("trajectory-taken", _folder, _taken(*_LATE), _taken(*_LATE)),
    _story("trajectory-settled", _then(_folder, _taken(_NODES)), _settle, _settle),
    _story("trajectory-covered", _then(_folder, _taken(_NODES)), _cover, _cover),
    _story(
        "trajectory-packed",
        _then(_folder, _taken(*([node] for node in _MANY[:-1]))),
        _taken(_MANY[-1:]),
        _then(_taken(_MANY[-1:]), _tend),
    ),
    _story("trajectory-forgotten", _then(_folder, _taken(_NODES[:2], _NODES[:1], _FORK)), _forget, _forget),
    _story("trajectory-handed-over", _handed, _answer, _then(_answer_again, _tend)),
    _story("trajectory-erased", _then(_folder, _taken(_NODES[:2], _FORK)), _erase, _erase),
)

FIRST_OF_A_TRAJECTORY: Final = _story("trajectory-first", _bare_folder, _taken(_NODES[:1]), _taken(_NODES[:1]))
"""Nothing of ours stands yet, not even the folder for it."""
