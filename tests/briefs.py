"""Briefs for reviewers, and a clock that a test moves by hand."""

import dataclasses
from collections.abc import Callable

from curator.model.ids import BranchName, EntryId, ProjectKey, SessionKey
from curator.model.job import make_job
from curator.model.memory import Branch, Entry, branch_digest, empty_branch
from curator.model.ports import Brief
from curator.model.proposal import Importance

AT = "2026-05-01T00:00:00.000Z"
NOW = 1_780_000_000_000


@dataclasses.dataclass
class HandClock:
    """Stands still until somebody moves it."""

    at: int = NOW
    each: int = 0
    """How far it moves at each look."""

    def now(self) -> int:
        self.at += self.each
        return self.at

    def monotonic(self) -> int:
        self.at += self.each
        return self.at


@dataclasses.dataclass
class Flag:
    """A wish to stop, set from the beginning or as soon as a condition holds."""

    when: Callable[[], bool] = lambda: False

    def is_set(self) -> bool:
        return self.when()


def entry(entry_id: str, text: str, importance: Importance = "normal") -> Entry:
    return Entry(id=EntryId(entry_id), text=text, created_at=AT, updated_at=AT, importance=importance)


def memory(*texts: str) -> Branch:
    """Return a branch that holds the texts under the ids mem_1, mem_2 and so on."""
    entries = tuple(entry(f"mem_{number}", text) for number, text in enumerate(texts, 1))
    return dataclasses.replace(empty_branch(BranchName("main"), AT), entries=entries)


def brief(
    transcript: str,
    base: Branch | None = None,
    *,
    attempt: int = 1,
    is_final: bool = False,
    last_failure_code: str | None = None,
    max_chars: int = 6_000,
) -> Brief:
    branch = base or memory()
    job = make_job(
        project_key=ProjectKey("826cdcf0ee7b9e3ad811eb46"),
        session_key=SessionKey("abe633f3a47a2758174eabe9160daf36"),
        through_entry_id="entry-9",
        transcript=transcript,
        branch=branch,
        base_branch_digest=branch_digest(branch),
        max_chars=max_chars,
    )
    return Brief(job, branch, attempt, is_final, last_failure_code)
