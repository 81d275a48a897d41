"""The mailbox's records: what Pi waits for, and the card that it shows (interop.md 10)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, TypeAlias

from curator.model.ids import ABranchName, ADigest, AJobId, AnIso
from curator.model.limits import MESSAGE_CHARS_MAX, MESSAGES_MAX
from curator.model.memory import Branch
from curator.model.record import Items, Record, Text
from curator.model.text import sanitize, sanitized_fault

FeedbackStatus: TypeAlias = Literal["applied", "noop", "stale", "rejected", "failed"]
RequestedBy: TypeAlias = Literal["automatic", "manual"]
_Shown = Annotated[str, Text(1, MESSAGE_CHARS_MAX, sanitized_fault)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pending(Record):
    """Somebody in Pi waits for this job."""

    version: Literal[1] = 1
    job_id: AJobId
    job_digest: ADigest
    branch_name: ABranchName | None = None
    requested_by: RequestedBy | None = None
    queued_at: AnIso | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Record):
    """One line of the card: something came, went, or was weighed anew."""

    kind: Literal["add", "remove", "assess"]
    text: _Shown


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShownReplace(Record):
    """One line of the card: something is said anew."""

    kind: Literal["replace"] = "replace"
    text: _Shown
    old_text: _Shown


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ready(Record):
    """The card."""

    version: Literal[1] = 1
    job_id: AJobId
    job_digest: ADigest
    branch_name: ABranchName
    status: FeedbackStatus
    messages: Annotated[tuple[_Shown, ...], Items(0, MESSAGES_MAX)]
    changes: Annotated[tuple[Shown | ShownReplace, ...], Items(0, MESSAGES_MAX)]
    requested_by: RequestedBy | None = None


def shown_changes(before: Branch, after: Branch) -> tuple[Shown | ShownReplace, ...]:
    """Return the card's lines: additions, then what was said or weighed anew, then removals (interop.md 10).

    `before` is sanitized; `after` comes from the disk, and is shown sanitized, so that an untouched entry is never
    taken for a changed one (W17).
    """
    clean = after.sanitized()
    old = {entry.id: entry for entry in before.entries}
    added = [Shown(kind="add", text=entry.text) for entry in clean.entries if entry.id not in old]
    changed: list[Shown | ShownReplace] = []
    for entry in clean.entries:
        was = old.get(entry.id)
        if was is None:
            continue
        if was.text != entry.text:
            changed.append(ShownReplace(text=entry.text, old_text=was.text))
        elif (was.importance, was.importance_assessed_at) != (entry.importance, entry.importance_assessed_at):
            changed.append(Shown(kind="assess", text=sanitize(f"{entry.importance}: {entry.text}")))
    kept = {entry.id for entry in clean.entries}
    removed = [Shown(kind="remove", text=entry.text) for entry in before.entries if entry.id not in kept]
    return (*added, *changed, *removed)[:MESSAGES_MAX]
