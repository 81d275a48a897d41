"""An agent folder to be examined, and how its findings are read."""

import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from curator.doctor.finding import Finding
from curator.durable.layout import Layout
from curator.model.times import ms_of

NOW = ms_of("2099-01-03T12:00:00.000Z")
"""After the start of every process that runs now."""
DEAD = 2**22 + 7
"""No system gives a process such a number."""


def levels(findings: Iterable[Finding]) -> list[str]:
    return [finding.level for finding in findings]


def bad(findings: Iterable[Finding]) -> list[Finding]:
    """Return what is a warning or worse; each says what to do."""
    found = [finding for finding in findings if finding.level in ("warning", "error")]
    assert all(finding.remedy for finding in found)
    return found


def make_lock(path: Path, pid: int, age_ms: int, now: int = NOW) -> Path:
    """Leave a lock of the protocol as its owner would."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_bytes(f"{pid}:{uuid.uuid4()}\n{now - age_ms}\n".encode())
    path.chmod(0o600)
    at = (now - age_ms) * 1_000_000
    os.utime(path, ns=(at, at))
    return path


def configure(layout: Layout, mode: str = "external") -> None:
    """Write a configuration with the offline reviewer."""
    layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    value = {"version": 1, "mode": mode, "reviewer": {"provider": "offline", "model": "rules-1"}}
    layout.service_json.write_text(json.dumps(value), "utf-8")
    layout.service_json.chmod(0o600)
