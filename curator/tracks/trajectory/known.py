"""Which node each entry of a session became, in memory that does not grow with the session.

Nearly every entry follows one of the last few, so those stay at hand; older ones go to a private temporary database that
SQLite deletes by itself. It holds ids and digests alone, and gets its index only when an old entry is asked for.
"""

from __future__ import annotations

import sqlite3
from typing import Final

_RECENT_MAX: Final = 16_384


class Known:
    """Entry ids and digests; the one told last counts. An empty digest stands for what is before a root."""

    def __init__(self, recent_max: int = _RECENT_MAX) -> None:
        self._recent: dict[str, str] = {}
        self._recent_max = recent_max
        self._older: sqlite3.Connection | None = None
        self._is_sorted = False

    def close(self) -> None:
        """Forget everything."""
        self._recent.clear()
        if self._older is not None:
            self._older.close()
            self._older = None

    def add(self, entry_id: str, digest: str) -> None:
        """Remember an entry's node."""
        self._recent[entry_id] = digest
        if len(self._recent) > self._recent_max:
            self._spill()

    def get(self, entry_id: str) -> str | None:
        """Return an entry's node, or None if no such entry was told."""
        digest = self._recent.get(entry_id)
        if digest is not None or self._older is None:
            return digest
        if not self._is_sorted:
            self._older.execute("CREATE INDEX by_entry ON node (entry)")
            self._is_sorted = True
        row = self._older.execute(
            "SELECT digest FROM node WHERE entry = ? ORDER BY rowid DESC LIMIT 1", (entry_id,)
        ).fetchone()
        return None if row is None else bytes(row[0]).hex()

    def _spill(self) -> None:
        if self._older is None:
            self._older = sqlite3.connect("", isolation_level=None)
            # Nobody ever reads it again after a crash, so nothing need be flushed, nor undone.
            self._older.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024;"
                "CREATE TABLE node (entry TEXT NOT NULL, digest BLOB NOT NULL)"
            )
        oldest = list(self._recent.items())[: self._recent_max // 2]
        self._older.execute("BEGIN")
        self._older.executemany(
            "INSERT INTO node VALUES (?, ?)", [(entry_id, bytes.fromhex(digest)) for entry_id, digest in oldest]
        )
        self._older.execute("COMMIT")
        for entry_id, _digest in oldest:
            del self._recent[entry_id]
