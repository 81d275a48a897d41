"""Ledgers to try things on: made-up sessions as nodes, a clock that is moved by hand, and what Pi would hand over."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from curator.durable.layout import Layout
from curator.model.digest import Digest
from curator.model.ids import EntryId, ProjectKey, project_key
from curator.model.trajectory import Node, Role, make_node
from curator.tracks.trajectory.ledger import Ledger
from tests.durable.volumes import Unflushed
from tests.kit import HandClock

AT = "2026-01-02T09:00:00.000Z"


def key_of(root: Path) -> ProjectKey:
    """The key of a project's folder, which is made."""
    root.mkdir(exist_ok=True)
    return project_key(str(root))


def open_ledger(tmp_path: Path) -> Ledger:
    """The ledger of the one project in a scratch folder; opened anew, as another process would."""
    layout = Layout(tmp_path / "agent")
    return Ledger(layout.trajectory(key_of(tmp_path / "project")), Unflushed(), HandClock())


def chain(count: int, parent: Digest | None = None, name: str = "e", role: Role = "user") -> list[Node]:
    """So many nodes, each after the one before."""
    nodes: list[Node] = []
    for number in range(count):
        nodes.append(make_node(parent, EntryId(f"{name}{number}"), AT, role, f"USER: {name} said {number}"))
        parent = nodes[-1].digest
    return nodes


def digests(nodes: Sequence[Node]) -> list[Digest]:
    return [node.digest for node in nodes]


def files_of(ledger: Ledger) -> dict[str, bytes]:
    """Every file of a ledger that counts, by its path below the ledger's folder."""
    root = ledger.layout.root
    found = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix in (".z", ".json"))
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def entry(number: int, name: str = "p", text: str = "") -> dict[str, object]:
    """A user's message as Pi writes it, after the one before."""
    return {
        "type": "message",
        "id": f"{name}{number}",
        "parentId": f"{name}{number - 1}" if number else None,
        "timestamp": AT,
        "message": {"role": "user", "content": text or f"{name} said {number}"},
    }


def delta(root: Path, numbers: Sequence[int], name: str = "p", **more: object) -> bytes:
    """A delta of such messages, which comes to rest at its end."""
    told: dict[str, object] = {
        "version": 1,
        "kind": "trajectory-delta",
        "projectRoot": str(root),
        "sessionId": f"session-{name}",
        "predecessor": f"{name}{numbers[0] - 1}" if numbers and numbers[0] else None,
        "entries": [entry(number, name) for number in numbers],
        "settledLeaf": f"{name}{numbers[-1]}" if numbers else None,
    }
    return json.dumps(told | more).encode()


def texts(ledger: Ledger, leaf: Digest) -> Iterator[str]:
    return (node.text for node in ledger.path_to(leaf))
