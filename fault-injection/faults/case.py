"""One moment to be judged, and how its files are read for that."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from faults.view import HOME, View, fields_of, list_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faults.recording import Mark
    from faults.view import Fields, ProjectView


IMMUTABLE: Final = re.compile(
    r"no-forgetti/(?:"
    r"review-spool/(?:outcomes|provider-results/[^/]+|proposal-decisions|accounting/identities)/[^/]+"
    r"|curator/(?:attempts/.+|bases/.+|jobs/[^/]+|evidence/.+|finished/.+)"
    r"|curator/backfill/[^/]+/(?:plan\.json|windows\.json|promotions/.+|rollbacks/.+)"
    r"|(?:curator/shadow/)?[0-9a-f]{24}/(?:project\.json|revisions/.+|review-admissions/.+|service/.+))"
)


MAY_GO: Final = re.compile(
    r"no-forgetti/(?:curator/shadow/)?[0-9a-f]{24}/review-admissions/[^/]+"
    r"|no-forgetti/[0-9a-f]{24}/service/review-feedback/.+"
)


STEP: Final = re.compile(
    r"no-forgetti/curator/attempts/([0-9-]{10})/[0-9a-f]{2}/(review_attempt_[0-9a-f]{40})\.[0-3]\.json"
)


EVIDENCE: Final = re.compile(
    r"no-forgetti/review-spool/(?:provider-results|proposal-decisions)/(review_[0-9a-f]{40}).*"
)

_SPOOL: Final = "no-forgetti/review-spool"
JOBS: Final = re.compile(
    rf"(?:{_SPOOL}/(?:queued|running|outcomes)|no-forgetti/curator/held)/(?:review_[0-9a-f]{{40}}\.json$)?"
)
"""Where jobs stand; a full match is a job's own name."""
DEAD: Final = re.compile(
    rf"{_SPOOL}/dead-letter/(?:.*\.bad$|review_[0-9a-f]{{40}}\.[0-9a-f]{{12}}\.[0-9a-f-]{{36}}\.json$)?"
)
"""Where the dead letters stand; a full match is a name that one may have."""

JOB: Final = re.compile(r"review_[0-9a-f]{40}")


AFTER: Final = {
    "reserved": {"reserved", "dispatched", "cancelled", "settled", "unknown"},
    "dispatched": {"dispatched", "settled", "unknown", "corrected"},
    "settled": {"settled"},
    "unknown": {"unknown", "corrected"},
    "cancelled": {"cancelled"},
    "corrected": {"corrected"},
}


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One moment to be judged."""

    now: View
    crashed: View
    """What the crash left, before any recovery."""
    before: tuple[Mark, ...]
    """What anybody had been told when the crash came."""
    since: tuple[Mark, ...]
    """What the recoveries told."""
    crashes: int
    is_over: bool = False
    """Whether everything had time to come to its end: then nothing may still be on its way."""
    lives_on: bool = False
    """Whether the process was only refused something and could still act on it."""
    damaged: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    """Records that could not be read before the story began."""
    ended: View | None = None
    """How the story ends where nobody is cut off."""

    def told(self, kind: str) -> list[str]:
        """Return the subjects of all marks of a kind, in order."""
        return [mark.subject for mark in (*self.before, *self.since) if mark.kind == kind]

    def told_before(self, kind: str) -> list[str]:
        """Return the subjects of the marks from before the crash."""
        return [mark.subject for mark in self.before if mark.kind == kind]

    def is_retired(self, job: str) -> bool:
        """Tell whether what a job left may have gone by its age: it is over, and long enough."""
        return job in self.now.finished and bool(self.told("aged"))


def state_of(steps: dict[int, Fields]) -> str:
    """Return what the highest step of an attempt says."""
    return text_of(steps[max(steps)], "state")


def may_have_aged(case: Case, path: str) -> bool:
    """Tell whether a name may have gone by its age: of a finished job, of a closed day, or of a day that Pi reads no more."""
    if not case.told("aged"):
        return False
    step = STEP.fullmatch(path)
    if step is not None:
        return step[2] in case.now.past or (step[1] in case.now.closed and step[2] in case.now.attempts)
    if path.startswith(f"{HOME}/curator/finished/") or "/revisions/" in path or path.endswith("/project.json"):
        return False
    if path.startswith((f"{HOME}/review-spool/accounting/identities/", f"{HOME}/curator/attempts/")):
        return True
    return any(case.is_retired(job) for job in JOB.findall(path))


def own_base(view: View, job: str, sealed: str = "") -> str:
    """Return the base that a job was captured from, wherever it still stands.

    Another job may stand under the same id, about to be set aside: `sealed` is the digest of the one that is meant.
    """
    places = (view.queued, view.running, view.held, view.decisions)
    standing = [records[job] for records in places if job in records]
    standing += [result for (of, _), result in view.results.items() if of == job]
    jobs = [fields_of(record.get("job")) for record in standing]
    meant = [each for each in jobs if sealed in ("", text_of(each, "digest"))]
    return text_of(meant[0], "baseBranchDigest") if meant else ""


def claims_of(view: View, job: str) -> int:
    """Return how often a job was claimed, as the spool says."""
    if job in view.finished or job in view.outcomes:
        return 1_000_000
    waiting = max(number_of(each.get(job, {}), "nextAttempt") - 1 for each in (view.queued, view.held))
    return max(waiting, number_of(view.running.get(job, {}), "attempt"))


def same_projects(case: Case) -> Iterator[tuple[ProjectView, ProjectView]]:
    """Yield each project as the crash left it and as it stands now."""
    now = {(project.key, project.is_shadow): project for project in case.now.projects}
    for project in case.crashed.projects:
        if (project.key, project.is_shadow) in now:
            yield project, now[project.key, project.is_shadow]


def owners_of(project: ProjectView) -> Counter[str]:
    """Count the jobs whose intent, tombstone or receipt names a revision."""
    named: set[tuple[str, str]] = set()
    for job, intent in project.intents.items():
        record = fields_of(fields_of(intent.get("revision")).get("record"))
        named.add((job, text_of(record, "id")))
    for proofs in (project.tombstones, project.receipts):
        named |= {(job, text_of(proof, "revisionId")) for job, proof in proofs.items()}
    return Counter(revision for _, revision in named if revision)


def texts_of(project: ProjectView) -> set[str]:
    entries = [entry for branch in project.branches.values() for entry in list_of(branch.get("entries"))]
    return {text_of(fields_of(entry), "text") for entry in entries}
