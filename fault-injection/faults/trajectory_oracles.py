"""What must hold of a trajectory's files, read without curator: by zlib, JSON and digests computed anew."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import re
import zlib
from typing import TYPE_CHECKING, Final

from faults.view import HOME, digest, fields_of, list_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.case import Case
    from faults.view import Fields, View

_FILE: Final = re.compile(rf"{HOME}/curator/trajectory/[0-9a-f]{{24}}/([a-z]+)/([^/]+)")
_INBOX: Final = f"{HOME}/curator/trajectory-inbox"
_ARROWS: Final = {
    ("pending", "leased"),
    ("pending", "excluded"),
    ("pending", "damaged"),
    ("leased", "pending"),
    ("leased", "processed"),
    ("leased", "excluded"),
    ("leased", "damaged"),
    ("excluded", "pending"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class TrajectoryView:
    """One trajectory, as its files say."""

    nodes: dict[str, Fields]
    waiting: dict[str, Fields]
    deltas: tuple[Fields, ...]
    settled: tuple[Fields, ...]
    coverage: tuple[Fields, ...]
    tombs: dict[str, Fields]
    sources: tuple[Fields, ...]
    odd: tuple[str, ...]
    """Files that are not what their names say, and nodes that are not what their digests say."""
    texts: bytes
    """All that any file of it holds, unpacked."""


def look_at_trajectory(view: View) -> TrajectoryView:
    """Read what the files of a trajectory say; once for the many oracles that ask about one moment."""
    return _look(tuple(sorted(each for each in view.files.items() if _FILE.fullmatch(each[0]))))


@functools.lru_cache(256)
def _look(files: tuple[tuple[str, bytes], ...]) -> TrajectoryView:
    lines: dict[str, list[Fields]] = {}
    odd: list[str] = []
    texts: list[bytes] = []
    for path, content in files:
        found = _FILE.fullmatch(path)
        assert found is not None
        raw = content if found[1] == "sources" else _unpacked(content)
        texts.append(raw)
        if found[1] != "sources" and f"{hashlib.sha256(raw).hexdigest()}.z" != found[2]:
            odd.append(f"{path} is not what its name says")
            continue
        lines.setdefault(found[1], []).extend(fields_of(json.loads(line)) for line in raw.splitlines())
    nodes, kept = _nodes(lines.get("segments", ()), odd), lines.get("waiting", ())
    return TrajectoryView(
        nodes=nodes,
        waiting=_nodes([each for each in kept if text_of(each, "kind") == "trajectory-node"], odd),
        deltas=tuple(each for each in kept if text_of(each, "kind") == "trajectory-delta"),
        settled=tuple(lines.get("settled", ())),
        coverage=tuple(lines.get("coverage", ())),
        tombs={text_of(each, "digest"): each for each in lines.get("forgotten", ())},
        sources=tuple(lines.get("sources", ())),
        odd=tuple(odd),
        texts=b"\n".join(texts),
    )


def _unpacked(content: bytes) -> bytes:
    try:
        return zlib.decompress(content)
    except zlib.error:
        return b""


def _nodes(lines: list[Fields] | tuple[Fields, ...], odd: list[str]) -> dict[str, Fields]:
    nodes: dict[str, Fields] = {}
    for line in lines:
        name = text_of(line, "digest")
        if digest({key: value for key, value in line.items() if key != "digest"}) != name:
            odd.append(f"{name} is not what its digest says")
        nodes[name] = line
    return nodes


def a_line_is_what_its_name_says(case: Case) -> Iterator[str]:
    """A file holds what its name says, and a node what its digest says, at whatever moment somebody looks."""
    for view in (case.crashed, case.now):
        yield from look_at_trajectory(view).odd


def a_node_has_its_ancestors(case: Case) -> Iterator[str]:
    """A node stands only when its parent does, or when that was forgotten."""
    for view in (case.crashed, case.now):
        seen = look_at_trajectory(view)
        for name, node in seen.nodes.items():
            parent = text_of(node, "parent")
            if parent and parent not in seen.nodes and parent not in seen.tombs and not case.told("erasing"):
                yield f"{name} stands without its parent {parent}"


def what_was_taken_stays(case: Case) -> Iterator[str]:
    """Once `take` has returned, a node stands or waits, until it is forgotten."""
    if case.told("erasing"):
        return
    for view, told in ((case.crashed, case.told_before("taken")), (case.now, case.told("taken"))):
        seen = look_at_trajectory(view)
        for name in told:
            if name not in {*seen.nodes, *seen.waiting, *seen.tombs}:
                yield f"{name} was taken, and is gone"
    if case.is_over:
        seen = look_at_trajectory(case.now)
        for name in set(case.told("taken")) - {*seen.nodes, *seen.tombs}:
            yield f"{name} was taken, and still waits"


def what_was_forgotten_is_gone(case: Case) -> Iterator[str]:
    """Once `forget` has returned the text is nowhere, and it does not come back; its tombstone stands."""
    for view, told in ((case.crashed, case.told_before("forgotten")), (case.now, case.told("forgotten"))):
        seen = look_at_trajectory(view)
        for name in told:
            if name.encode() in seen.texts and (name in seen.nodes or name in seen.waiting):
                yield f"{name} was forgotten, and stands"
            if name not in seen.tombs:
                yield f"{name} was forgotten, and its tombstone is gone"
    seen = look_at_trajectory(case.now)
    for name in set(seen.tombs).intersection({*seen.nodes, *seen.waiting}):
        yield f"{name} has a tombstone, and its text stands after a recovery"


def a_tombstone_is_wanted(case: Case) -> Iterator[str]:
    """Nothing is forgotten that nobody wanted forgotten."""
    for name in set(look_at_trajectory(case.now).tombs) - set(case.told("forgetting")):
        yield f"{name} was forgotten, and nobody asked for that"


def what_was_settled_is_kept(case: Case) -> Iterator[str]:
    """A checkpoint stands once it was told, and a source only over what was taken."""
    for view, settled, read in (
        (case.crashed, case.told_before("settled"), case.told_before("read")),
        (case.now, case.told("settled"), case.told("read")),
    ):
        seen = look_at_trajectory(view)
        leaves = {text_of(each, "leaf") for each in seen.settled}
        tips = {text_of(fields_of(tip), "digest") for each in seen.sources for tip in list_of(each.get("leaves"))}
        yield from (f"the checkpoint at {name} is gone" for name in set(settled) - leaves)
        yield from (f"a source read to {name} is read anew" for name in set(read) - tips)
        yield from (f"a source was read to {name}, which does not stand" for name in tips - {*seen.nodes, *seen.tombs})


def coverage_walks_along_the_table(case: Case) -> Iterator[str]:
    """Each batch has a number of its own, each digest goes along the arrows, and what was told stands."""
    for view, told in ((case.crashed, case.told_before("covered")), (case.now, case.told("covered"))):
        seen = look_at_trajectory(view)
        distinct = {json.dumps(each, sort_keys=True) for each in seen.coverage}
        if len(distinct) != len({number_of(each, "number") for each in seen.coverage}):
            yield "two batches of coverage have one number"
        walks = walks_of(seen)
        for name, walk in walks.items():
            for step in itertools.pairwise(walk):
                if step not in _ARROWS:
                    yield f"{name} went from {step[0]} to {step[1]}"
        for each in told:
            name, _, state = each.partition(" ")
            if state not in walks.get(name, ()):
                yield f"{name} was covered as {state}, and that is lost"


def walks_of(seen: TrajectoryView) -> dict[str, list[str]]:
    """Return which states each covered digest went through, in order."""
    walks: dict[str, list[str]] = {}
    batches = {number_of(each, "number"): each for each in seen.coverage}
    for number in sorted(batches):
        for name in map(str, list_of(batches[number].get("digests"))):
            walks.setdefault(name, ["pending"]).append(text_of(batches[number], "state"))
    return walks


def what_was_handed_over_is_not_lost(case: Case) -> Iterator[str]:
    """A delta lies in the inbox until it stands, waits, or is refused with why; a beginning that is missing is asked for."""
    for view, told in ((case.crashed, case.told_before("handed")), (case.now, case.told("handed"))):
        seen = look_at_trajectory(view)
        standing = {text_of(node, "entryId") for node in seen.nodes.values()}
        waiting = {
            text_of(fields_of(entry), "entryId") for delta in seen.deltas for entry in list_of(delta.get("entries"))
        }
        for each in told:
            name, _, entries = each.partition(" ")
            if f"{_INBOX}/{name}" in view.files:
                continue
            if not entries:
                aside = [path for path in view.files if path.startswith(f"{_INBOX}/refused/{name}.")]
                if not any(path.endswith(".bad") for path in aside) or f"{_INBOX}/refused/{name}.why.json" not in aside:
                    yield f"{name} was refused, and it or the reason is lost"
            elif not {*entries.split(",")} <= standing | waiting:
                yield f"{name} was handed over, and is lost"
        waits = {text_of(delta, "predecessor") for delta in seen.deltas}
        asked = {
            text_of(fields_of(json.loads(view.files[path])), "entryId") for path in view.files if "/wanted/" in path
        }
        if view is case.now and waits - standing - asked - waiting:
            yield f"{waits} are missing, and nobody asks for them"
    if case.is_over:
        seen = look_at_trajectory(case.now)
        if seen.deltas:
            yield "a delta waits although its beginning has come"
        settled, ends = {text_of(each, "entryId") for each in seen.settled}, _ends(case)
        yield from (f"the session came to rest at {end}, and no checkpoint says so" for end in ends - settled)


def _ends(case: Case) -> set[str]:
    return {each.rpartition(",")[2].rpartition(" ")[2] for each in case.told("handed")} - {""}


def what_was_erased_is_gone(case: Case) -> Iterator[str]:
    """Once a person was told that a project's trajectory is erased, no file of it holds anything."""
    for view, is_told in ((case.crashed, case.told_before("erased")), (case.now, case.told("erased"))):
        if is_told and look_at_trajectory(view).texts:
            yield "the trajectory was erased, and some of it stands"
    crashed = look_at_trajectory(case.crashed)
    for name in set(crashed.nodes).intersection(case.told_before("forgotten")):
        yield f"{name} outlived its tombstone"


TRAJECTORY_ORACLES: Final = (
    a_line_is_what_its_name_says,
    a_node_has_its_ancestors,
    what_was_taken_stays,
    what_was_forgotten_is_gone,
    a_tombstone_is_wanted,
    what_was_settled_is_kept,
    coverage_walks_along_the_table,
    what_was_handed_over_is_not_lost,
    what_was_erased_is_gone,
)
