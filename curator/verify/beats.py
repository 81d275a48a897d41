"""Signs of life and the two configurations: small records that stand alone."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Final

from curator.model.digest import digest_of_text
from curator.model.limits import (
    CURATOR_TOML_BYTES_MAX,
    RUNTIME_BYTES_MAX,
    SERVICE_JSON_BYTES_MAX,
    WORKER_BYTES_MAX,
)
from curator.verify.finding import Finding, Severity, error, pending, sure
from curator.verify.shape import Fields, Rule, Shape, matching, moment, one, text, text_of, whole
from curator.verify.shapes.common import JOB_ID, ONE, PROJECT_KEY
from curator.verify.tree import BrokenError, alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.verify.tree import Tree

_STATES: Final = ("starting", "idle", "working", "waiting-retry", "budget-exhausted", "stopped")
_WORKER: Final = Shape(
    {"version": ONE, "workerId": text(1, 128), "pid": whole(1), "startedAt": moment, "updatedAt": moment}
    | {"state": one(*_STATES)},
    {"memoryPolicyVersion": whole(1), "maxMemoryChars": whole(1), "jobId": JOB_ID, "attempt": whole(1)},
)
_RUNTIME: Final = Shape(
    {"version": ONE, "runtimeId": matching(r"[0-9a-f]{24}", "a runtime id"), "kind": one("extension", "worker")}
    | {"pid": whole(1), "releaseVersion": text(1, 64), "memoryPolicyVersion": whole(1), "startedAt": moment}
    | {"updatedAt": moment, "state": one("running", "stopped")},
    {"projectRoot": text(1), "projectKey": PROJECT_KEY},
)
_SERVICE: Final = Shape({"version": ONE, "mode": one("embedded", "shadow", "external")}, is_open=True)


def check_beats(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with heartbeats and configurations. A torn heartbeat is written anew at the next beat."""
    layout = tree.layout
    for path in tree.records(layout.workers):
        yield from _lazily(tree, path, _WORKER, WORKER_BYTES_MAX, _worker)
    for path in tree.records(layout.runtimes):
        yield from _lazily(tree, path, _RUNTIME, RUNTIME_BYTES_MAX, _runtime)
    yield from tree.judge(layout.service_json, _SERVICE, SERVICE_JSON_BYTES_MAX, alone)
    yield from sure(lambda: _toml(tree, layout.curator_toml))


def _lazily(
    tree: Tree, path: Path, rule: Rule, limit: int, body: Callable[[Path, Fields], Iterator[Finding]]
) -> Iterator[Finding]:
    for finding in tree.judge(path, rule, limit, body):
        is_torn = finding.severity is Severity.ERROR and tree.find(path, rule, limit) is None
        yield pending(path, f"{finding.fact}: it is not flushed, and beats anew") if is_torn else finding


def _worker(path: Path, beat: Fields) -> Iterator[Finding]:
    if digest_of_text(text_of(beat, "workerId"))[:24] != path.stem:
        yield error(path, "is another worker's than its name says")


def _runtime(path: Path, beat: Fields) -> Iterator[Finding]:
    if beat["runtimeId"] != path.stem:
        yield error(path, "is another runtime's than its name says")


def _toml(tree: Tree, path: Path) -> Iterator[Finding]:
    try:
        raw = tree.read(path, CURATOR_TOML_BYTES_MAX) if tree.stands(path) else None
        if raw is not None:
            tomllib.loads(raw.decode("utf-8"))
    except BrokenError as broken:
        yield error(path, str(broken))
    except ValueError:
        yield error(path, "is not TOML")
