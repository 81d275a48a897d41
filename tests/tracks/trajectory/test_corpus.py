"""The graph of nodes is what Pi's own reader makes of the same files, whoever reads them first and however often."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from curator.model.digest import Digest, Json
from curator.model.trajectory import Node, read_node
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.reading import Batch, index_file
from tests.fakes.pis import EACH_PI
from tests.tracks.trajectory.corpus import Made, made_sessions

NOW: Final = 1_780_000_000_000
READER: Final = Path(__file__).with_name("pis_reader.mjs")
REAL: Final = Path(__file__).parents[2] / "golden"
ROLES: Final = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


class Read(NamedTuple):
    nodes: list[Node]
    ended: Ended


def read(path: Path) -> Read:
    """Read a whole file; parents come before children, and each line holds the node of its digest."""
    nodes: list[Node] = []
    known: set[Digest] = set()
    for event in index_file(str(path), NOW):
        if isinstance(event, Ended):
            return Read(nodes, event)
        taken = [read_node(line) for line in event.lines.splitlines()]
        assert list(event.digests) == [node.digest for node in taken]
        assert list(event.parents) == [node.parent for node in taken]
        assert list(event.roles) == [node.role for node in taken]
        assert list(event.chars) == [len(node.text) for node in taken]
        for node in taken:
            assert node.parent is None or node.parent in known
            known.add(node.digest)
        nodes += taken
    raise AssertionError("it never ended")


def real_sessions() -> list[Made]:
    """Return the sessions that real Pis wrote."""
    found = []
    for name in ("consumed-by-real-pi", "queued-by-real-pi"):
        with tarfile.open(REAL / f"{name}.tar.gz") as archive:
            for member in archive.getmembers():
                taken = archive.extractfile(member) if member.name.endswith(".jsonl") else None
                if taken is not None:
                    found.append(Made(f"{name}.jsonl", taken.read(), 3, is_whole=True))
    assert found
    return found


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Made, Path]]:
    folder = tmp_path_factory.mktemp("sessions")
    made = [*made_sessions(), *real_sessions()]
    for each in made:
        (folder / each.name).write_bytes(each.content)
    return {each.name: (each, folder / each.name) for each in made}


def digests(laid: dict[str, tuple[Made, Path]], names: list[str]) -> dict[str, list[Digest]]:
    return {name: [node.digest for node in read(laid[name][1]).nodes] for name in names}


def test_any_order_of_reading_gives_the_same_digests_and_so_does_reading_again(
    laid: dict[str, tuple[Made, Path]],
) -> None:
    forward = digests(laid, sorted(laid))
    backward = digests(laid, sorted(laid, reverse=True))

    assert len(laid) >= 200
    assert sum(not made.is_whole for made, _ in laid.values()) >= 50
    assert forward == backward
    assert all(path.read_bytes() == made.content for made, path in laid.values())


def test_every_line_ends_as_a_node_or_is_told(laid: dict[str, tuple[Made, Path]]) -> None:
    for made, path in laid.values():
        nodes, ended = read(path)
        bookmarks = made.content.count(b'"type":"label"')
        lines = made.content.replace(b"\r\n", b"\n").rstrip(b"\n").count(b"\n")
        assert len(nodes) + bookmarks + ended.facts.damage_count >= lines, made.name
        assert ended.size == len(made.content)
        if made.is_whole:
            assert (len(nodes) + bookmarks, ended.facts.damage_count) == (lines, 0), made.name


def test_going_on_at_any_line_gives_what_reading_at_once_gives(laid: dict[str, tuple[Made, Path]]) -> None:
    for made, path in list(laid.values())[::5]:
        whole = read(path)
        for until in range(made.content.index(b"\n") + 1, len(made.content), max(1, len(made.content) // 7)):
            begun = list(index_file(str(path), NOW, until=until))
            first = begun[-1]
            assert isinstance(first, Ended)
            rest = list(index_file(str(path), NOW, resume=first.progress))
            last = rest[-1]
            assert isinstance(last, Ended)
            seen = [digest for event in (*begun, *rest) if isinstance(event, Batch) for digest in event.digests]
            assert set(seen) == {node.digest for node in whole.nodes}, (made.name, until)
            assert last.progress == whole.ended.progress
            assert {tip.digest for tip in last.leaves} == {tip.digest for tip in whole.ended.leaves}


# --- beside Pi -------------------------------------------------------------------------------------------------------


class Graph(NamedTuple):
    """Entries with the nearest entry above that is no bookmark, by number where the file has no ids, and paths."""

    parents: dict[str, tuple[str | None, str]]
    paths: dict[str, list[str]]


def pis_graph(told: Json, *, by_number: bool) -> Graph:
    assert isinstance(told, dict)
    entries, paths = told["entries"], told["paths"]
    assert isinstance(entries, list)
    assert isinstance(paths, dict)
    above = {entry[0]: entry[1] for entry in entries if isinstance(entry, list)}
    kind = {entry[0]: entry[2] for entry in entries if isinstance(entry, list)}
    name = {
        entry[0]: str(number) if by_number else str(entry[0])
        for number, entry in enumerate(entries)
        if isinstance(entry, list)
    }
    found: dict[str, tuple[str | None, str]] = {}
    for entry in entries:
        assert isinstance(entry, list)
        entry_id, parent, entry_type, role = entry
        if entry_type == "label":
            continue
        while parent is not None and kind[parent] == "label":
            parent = above[parent]
        spoken = (
            ROLES.get(str(role), "other")
            if entry_type == "message"
            else "summary"
            if entry_type == "compaction"
            else "other"
        )
        found[name[entry_id]] = (None if parent is None else name[parent], spoken)
    trodden = [
        [name[each] for each in path if kind[each] != "label"] for path in paths.values() if isinstance(path, list)
    ]
    return Graph(found, {path[-1]: path for path in trodden if path})


def our_graph(nodes: list[Node], made: Made) -> Graph:
    entries = [json.loads(line) for line in made.content.splitlines()[1:]]
    names = [str(number) for number, entry in enumerate(entries) if entry["type"] != "label"]
    name = {node.digest: names[at] if made.version == 1 else node.entry_id for at, node in enumerate(nodes)}
    by_digest = {node.digest: node for node in nodes}
    parents: dict[str, tuple[str | None, str]] = {
        name[node.digest]: (
            None if node.parent is None else name[node.parent],
            "other" if node.role == "skills" else node.role,
        )
        for node in nodes
    }
    paths = {}
    for node in nodes:
        path, at = [], node
        while True:
            path.append(name[at.digest])
            if at.parent is None:
                break
            at = by_digest[at.parent]
        paths[path[0]] = path[::-1]
    return Graph(parents, paths)


def ask(pi: str, folder: Path, files: list[Path], forks: list[tuple[Path, str]]) -> dict[str, list[Json]]:
    """Ask Pi's own reader, in one process for all."""
    package = next(
        each for each in Path(pi).resolve().parents if (each / "package.json").exists() and each.name != "dist"
    )
    task = folder / "task.json"
    asked = {"files": list(map(str, files)), "forks": [{"file": str(path), "leaf": leaf} for path, leaf in forks]}
    task.write_text(json.dumps(asked), "utf-8")
    path = f"{Path(pi).parent}{os.pathsep}{os.environ['PATH']}"
    node = shutil.which("node", path=path)
    assert node is not None, "Pi is there, and no Node"
    environ = {"PATH": path, "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent"), "PI_OFFLINE": "1"}
    command = [node, str(READER), str(package / "dist" / "core" / "session-manager.js"), str(task)]
    ran = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, list[Json]] = json.loads(ran.stdout)
    return told


class Heard(NamedTuple):
    """What one Pi says: each whole session's graph, and the forks that it made, by the session's name."""

    graphs: dict[str, Graph]
    forks: dict[str, Path | None]


@pytest.fixture(scope="module", params=EACH_PI)
def heard(
    request: pytest.FixtureRequest, laid: dict[str, tuple[Made, Path]], tmp_path_factory: pytest.TempPathFactory
) -> Heard:
    folder = tmp_path_factory.mktemp("pi")
    whole = {name: made for name, (made, _) in laid.items() if made.is_whole}
    copies = {name: Path(shutil.copy(laid[name][1], folder / name)) for name in whole}
    leaves = {name: read(laid[name][1]).ended.progress.tips[-1].entry_id for name in whole if whole[name].version == 3}
    told = ask(request.param, folder, list(copies.values()), [(copies[name], leaf) for name, leaf in leaves.items()])
    graphs = {
        name: pis_graph(each, by_number=made.version == 1)
        for (name, made), each in zip(whole.items(), told["read"], strict=True)
    }
    forks = {
        name: Path(fork) if isinstance(fork, str) else None for name, fork in zip(leaves, told["forks"], strict=True)
    }
    return Heard(graphs, forks)


def test_the_graph_is_what_pis_own_reader_makes_of_it(heard: Heard, laid: dict[str, tuple[Made, Path]]) -> None:
    assert len(heard.graphs) >= 150
    for name, theirs in heard.graphs.items():
        made, path = laid[name]
        nodes, ended = read(path)
        ours = our_graph(nodes, made)
        assert list(ours.parents) == list(theirs.parents), name
        assert ours.parents == theirs.parents, name
        for leaf, trodden in theirs.paths.items():
            assert ours.paths[leaf] == trodden, name
        if made.version > 1:
            followed = {parent for parent, _ in theirs.parents.values()}
            assert {tip.entry_id for tip in ended.leaves} == set(theirs.parents) - followed, name


def test_forks_made_by_pi_share_their_nodes_with_what_they_were_forked_from(
    heard: Heard, laid: dict[str, tuple[Made, Path]]
) -> None:
    bookmarked = 0
    for name, fork in heard.forks.items():
        if fork is None or not fork.exists():
            continue
        made, path = laid[name]
        shared = {node.digest for node in read(fork).nodes}
        assert shared <= {node.digest for node in read(path).nodes}, name
        assert {tip.digest for tip in read(fork).ended.leaves} <= shared
        bookmarked += b'"type":"label"' in made.content
    assert bookmarked >= 10
