"""No word of evidence, of memory or of a key reaches the database, what lies beside it, or what of it is let go."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Final

from curator.audit.database import fold_in
from curator.durable.volume import Volume
from tests.cli.commands import Home, make_home

CANARY: Final = "quetzal-harbour"
WISH: Final = f"Please remember that we always call the staging host {CANARY} in our scripts."


def haystack(home: Home) -> bytes:
    found = sorted(home.layout.own.glob("shadow.sqlite*"))
    assert found
    return b"".join(path.read_bytes() for path in found).lower()


def test_no_canary_of_evidence_memory_or_key_is_found(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (home.layout.agent / "auth.json").write_text(json.dumps({"offline": {"type": "api_key", "key": CANARY}}), "utf-8")
    home.enqueue(WISH, name="a.jsonl")
    fold_in(home.layout, Volume(), print)
    home.review()
    home.enqueue(f"From now on, never deploy {CANARY} on a Friday, we agreed on that.", name="b.jsonl")
    fold_in(home.layout, Volume(), print)

    held = sqlite3.connect(home.layout.audit, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    held.execute("DELETE FROM jobs")
    with_journal = haystack(home)
    held.execute("ROLLBACK")
    held.close()

    everything = b"".join(path.read_bytes() for path in home.layout.root.rglob("*.json"))
    assert CANARY.encode() in everything
    for words in (CANARY, "staging host", str(home.project), "Please remember"):
        assert words.lower().encode() not in with_journal
    assert (home.layout.own / "shadow.sqlite-journal").exists() is False


def test_what_is_let_go_is_overwritten(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    job_id = home.enqueue(WISH)
    fold_in(home.layout, Volume(), print)
    before = haystack(home)
    for path in home.layout.root.rglob(f"{job_id}.json"):
        path.unlink()

    fold_in(home.layout, Volume(), print)

    assert job_id.encode() in before
    assert job_id.encode() not in haystack(home)
