"""What a package in Pi hands over: a few entries as Pi wrote them, and the one before them; read strictly, kept cleaned.

An entry whose parent is not among them follows the predecessor. A bookmark gets no node, as in a session file: what
follows it follows what it follows.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.errors import RefusedError
from curator.model.digest import MalformedJsonError, parse
from curator.model.ids import SAFE_ID_PATTERN, EntryId
from curator.model.ledger import Delta, Payload
from curator.model.limits import DELTA_BYTES_MAX, DELTA_ENTRIES_MAX
from curator.model.record import Violation
from curator.pi.stream import SESSION_ID_CHARS_MAX
from curator.tracks.trajectory.entry import is_bookmark, read_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.model.digest import Json

_KEYS: Final = frozenset({"version", "kind", "projectRoot", "sessionId", "predecessor", "entries", "settledLeaf"})
_FORMAT: Final = "Write it as docs/trajectory-inbox.md says"
_SMALLER: Final = (
    "Send what came since the last delta, in several if it is much; a session as a whole is read from its file"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Handed:
    """One delta, and the folder in which its session was held."""

    root: str
    delta: Delta
    dropped: int
    """Entries that are none of Pi's, or none of this release: they are left out."""


def read_handed(raw: bytes) -> Handed:
    """Return what was handed over. Raises `RefusedError` naming the rule that it breaks, never what stands there."""
    if len(raw) > DELTA_BYTES_MAX:
        fact = f"the delta has {len(raw):,} bytes, and {DELTA_BYTES_MAX:,} at most may be: it is a snapshot, or several"
        raise RefusedError(fact, remedy=_SMALLER)
    try:
        value = parse(raw)
    except MalformedJsonError as error:
        raise RefusedError(f"the delta is {error}", remedy=_FORMAT) from error
    try:
        return _handed(value)
    except Violation as broken:
        raise RefusedError(f"the delta breaks a rule: {broken}", remedy=_FORMAT) from broken


def _handed(value: Json) -> Handed:
    if not isinstance(value, dict):
        raise Violation("delta", "is not an object")
    if value.keys() - _KEYS or not value.keys() >= _KEYS - {"predecessor", "settledLeaf"}:
        raise Violation("delta", f"does not have the keys {', '.join(sorted(_KEYS))}")
    if value["version"] != 1 or isinstance(value["version"], bool) or value["kind"] != "trajectory-delta":
        raise Violation("delta", "is of another version or kind")
    root, entries = _text(value, "projectRoot", 4_096), value["entries"]
    if not root.startswith("/"):
        raise Violation("delta.projectRoot", "is not an absolute path")
    if not isinstance(entries, list):
        raise Violation("delta.entries", "is not a list")
    if len(entries) > DELTA_ENTRIES_MAX:
        fact = f"the delta has {len(entries):,} entries, and {DELTA_ENTRIES_MAX:,} at most may be: it is a snapshot"
        raise RefusedError(fact, remedy=_SMALLER)
    payloads, alias = _payloads(entries)
    predecessor, leaf = _id(value, "predecessor"), _id(value, "settledLeaf")
    if leaf is not None:
        leaf = alias.get(leaf, leaf)
        leaf = predecessor if leaf is None else leaf
    at = next((each.at for each in payloads if each.entry_id == leaf), None)
    delta = Delta(
        session_id=_text(value, "sessionId", SESSION_ID_CHARS_MAX),
        predecessor=predecessor,
        entries=payloads,
        settled_leaf=leaf,
        settled_at=at,
    )
    delta.check("delta")
    return Handed(root, delta, len(entries) - len(payloads))


def _payloads(entries: list[Json]) -> tuple[tuple[Payload, ...], dict[EntryId, EntryId | None]]:
    """Return what may be kept of each entry, and which entry each id stands for: a bookmark for the one before it."""
    payloads: list[Payload] = []
    alias: dict[EntryId, EntryId | None] = {}
    for number, value in enumerate(entries):
        said = read_entry(value) if isinstance(value, dict) else None
        if said is None or not isinstance(value, dict):
            continue
        entry_id = EntryId(said.id)
        if entry_id in alias:
            raise Violation(f"delta.entries[{number}]", "has the id of another entry")
        after = None if said.parent_id is None else alias.get(EntryId(said.parent_id))
        if is_bookmark(value):
            alias[entry_id] = after
            continue
        alias[entry_id] = entry_id
        payloads.append(Payload(entry_id=entry_id, after=after, at=said.at, role=said.role, text=said.text))
    return tuple(payloads), alias


def _text(value: Mapping[str, Json], key: str, chars: int) -> str:
    text = value[key]
    if not isinstance(text, str) or not 0 < len(text) <= chars or not text.isprintable():
        raise Violation(f"delta.{key}", f"is not a text of 1 to {chars} characters")
    return text


def _id(value: Mapping[str, Json], key: str) -> EntryId | None:
    given = value.get(key)
    if given is None:
        return None
    if not isinstance(given, str) or not SAFE_ID_PATTERN.fullmatch(given):
        raise Violation(f"delta.{key}", "is not an entry's id")
    return EntryId(given)
