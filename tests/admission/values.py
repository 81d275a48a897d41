"""Branches, entries and briefs to admit proposals against."""

from __future__ import annotations

import dataclasses

from curator.model.ids import BranchName, EntryId, ProjectKey, SessionKey
from curator.model.job import Job, make_job
from curator.model.memory import Branch, Entry, branch_digest, empty_branch
from curator.model.ports import Brief
from curator.model.proposal import Importance

AT = "2026-01-01T00:00:00.000Z"
NOW = "2026-01-02T00:00:00.000Z"
LATER = "2026-01-03T00:00:00.000Z"
NEW_IDS = ("0000000a-4aa", "0000000b-4bb", "0000000c-4cc", "0000000d-4dd")


def entry(entry_id: str, text: str, importance: Importance = "normal", session: str | None = None) -> Entry:
    return Entry(
        id=EntryId(entry_id),
        text=text,
        created_at=AT,
        updated_at=AT,
        source_session_id=session,
        created_by="assistant_tool",
        importance=importance,
    )


def branch(*entries: Entry) -> Branch:
    return dataclasses.replace(empty_branch(BranchName("main"), AT), entries=entries)


def job(base: Branch, transcript: str, max_chars: int = 6_000) -> Job:
    return make_job(
        project_key=ProjectKey("826cdcf0ee7b9e3ad811eb46"),
        session_key=SessionKey("abe633f3a47a2758174eabe9160daf36"),
        through_entry_id="entry-9",
        transcript=transcript,
        branch=base.sanitized(),
        base_branch_digest=branch_digest(base),
        max_chars=max_chars,
    )


def brief(base: Branch, transcript: str = "USER: hello", *, is_final: bool = False, max_chars: int = 6_000) -> Brief:
    return Brief(job(base, transcript, max_chars), base.sanitized(), 1, is_final)


def texts(of: Branch) -> list[str]:
    return [each.text for each in of.entries]


def ids(*names: str) -> tuple[EntryId, ...]:
    return tuple(EntryId(name) for name in names)
