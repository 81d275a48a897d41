"""Another client of the protocol: it writes memory in the foreground as the extension does, with code of its own."""

from __future__ import annotations

import json
import os
import time
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def foreground_add(project: Path, text: str) -> None:
    """Add an entry to main under the project's lock, replacing the file as the protocol does."""
    lock = project / ".lock"
    descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, f"{os.getpid()}:{uuid.uuid4()}\n{int(time.time() * 1000)}\n".encode())
    os.close(descriptor)
    try:
        add_entry(project, text)
    finally:
        lock.unlink()


def add_entry(project: Path, text: str, branch_name: str = "main") -> None:
    """Add an entry to a branch, replacing its file; the project's lock is held."""
    path = project / "branches" / f"{branch_name}.json"
    branch = json.loads(path.read_text("utf-8"))
    now = "2026-01-03T09:00:00.000Z"
    branch["updatedAt"] = now
    entry = {"id": str(uuid.uuid4())[:12], "text": text, "createdAt": now, "updatedAt": now}
    branch["entries"].append(
        entry
        | {
            "sourceSessionId": "s",
            "createdBy": "assistant_tool",
            "updatedBy": "assistant_tool",
            "importance": "normal",
        }
    )
    staged = path.with_name(f"{path.name}.{os.getpid()}.{uuid.uuid4()}.tmp")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, (json.dumps(branch, ensure_ascii=False, indent=2) + "\n").encode())
    os.fsync(descriptor)
    os.close(descriptor)
    staged.rename(path)
