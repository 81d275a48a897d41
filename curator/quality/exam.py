"""Put a reviewer to the corpus: each conversation as a job of its own, through the gates of a real review.

The brief, the answer's way through parsing and screening, and the rules by which memory takes a proposal are those of a
job; only the disk is missing, so no memory but the corpus's own is read or changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from curator.admission.gates import recheck
from curator.model.decision import Evidence
from curator.model.ids import LeaseToken, attempt_id
from curator.model.memory import Branch
from curator.model.ports import Answer, Brief, CallFailure, Clock, Reviewer, Stop
from curator.model.settings import ReviewerProfile
from curator.quality.corpus import Conversation, Half
from curator.quality.score import Marks, groups_of, mark, total
from curator.reviewer.providers.offline import OfflineReviewer
from curator.workflow.judging import Found, Lacking, judge

Ask: TypeAlias = Callable[[Brief], Answer | CallFailure]
_AFTER: Final = "2026-01-05T10:00:00.000Z"
"""When the corpus's memory is changed: an hour after it was written, whenever that is measured."""
_TOKEN: Final = LeaseToken("0" * 32)


@dataclasses.dataclass(frozen=True, slots=True)
class Paper:
    """What one conversation came to."""

    conversation: Conversation
    half: Half
    after: Branch
    marks: Marks
    code: str | None
    """Why the answer held no proposal."""


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """The marks of one half: all of them, and by what conversations are counted under."""

    half: Half
    all: Marks
    groups: tuple[tuple[str, str, Marks], ...]


def brief_of(conversation: Conversation) -> Brief:
    """Return what a reviewer is asked about a conversation: what its first try as a job would be."""
    job = conversation.job()
    return Brief(job=job, base=job.branch, attempt=1, is_final=False)


def sit(conversation: Conversation, half: Half, ask: Ask) -> Paper:
    """Let a conversation be reviewed once, and mark the memory after it."""
    brief = brief_of(conversation)
    return marked(conversation, half, judge(ask(brief), brief, require_evidence=False))


def marked(conversation: Conversation, half: Half, judged: Found | Lacking) -> Paper:
    """Apply what a proposal says to the conversation's memory, by the rules of a job, and mark what stands then."""
    job = conversation.job()
    if isinstance(judged, Lacking):
        marks = mark(conversation, job.branch, has_failed=True)
        return Paper(conversation, half, job.branch, marks, judged.missed.code)
    screened = judged.screened
    evidence = Evidence(
        job_id=job.id,
        job_digest=job.digest,
        attempt_id=attempt_id(job.digest, 1, _TOKEN),
        spans=screened.spans,
        dropped=screened.messages,
    )
    after = recheck(
        job=job,
        operations=screened.operations,
        branch=job.branch,
        is_at_base=True,
        evidence=evidence,
        require_evidence=False,
        now=_AFTER,
        new_ids=tuple(f"new-{number}" for number, _ in enumerate(screened.operations)),
    ).after
    return Paper(conversation, half, after, mark(conversation, after), None)


def table_of(half: Half, papers: Iterable[Paper]) -> Table:
    """Add up the papers of a half."""
    own = [paper for paper in papers if paper.half == half]
    grouped: dict[tuple[str, str], Marks] = {}
    for paper in own:
        for group in groups_of(paper.conversation):
            grouped[group] = grouped.get(group, Marks()) + paper.marks
    rows = tuple((kind, name, marks) for (kind, name), marks in sorted(grouped.items()))
    return Table(half, total(paper.marks for paper in own), rows)


class _Never:
    def is_set(self) -> bool:
        return False


def offline(clock: Clock) -> Ask:
    """Return the offline reviewer, which needs no agent folder, no key and no network."""
    reviewer: Reviewer = OfflineReviewer(ReviewerProfile(provider="offline", model="rules-1"), clock)
    never: Stop = _Never()
    return lambda brief: reviewer.ask(reviewer.prepare(brief), never)


def sit_all(conversations: Iterable[Conversation], half: Half, ask: Ask) -> Iterator[Paper]:
    """Let each conversation be reviewed, in order."""
    return (sit(conversation, half, ask) for conversation in conversations)
