"""What the scenarios really go through: counted from what they wrote, not from what they say they do."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Final

from curator.machine.admission import ADMISSION, Place, RevisionSeen, Seen
from curator.machine.attempt import ATTEMPT
from curator.machine.coverage import COVERAGE
from faults.trajectory_oracles import look_at_trajectory, walks_of
from faults.view import digest, fields_of, look, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faults.campaign import Stage
    from faults.recording import Asked
    from faults.view import Fields, ProjectView, View

JOB_SITES: Final = {
    "enqueue": "Spool.enqueue",
    "claim": "Spool.claim",
    "renew": "Spool.renew",
    "rebase": "Spool.reclaim",
    "defer": "Spool.defer",
    "take over": "Spool._take_over",
    "expire": "_settle_running",
    "finish": "Spool.publish_outcome",
    "hold": "Spool.hold",
    "release": "Spool.release",
    "cancel": "cancel_job",
    "quarantine": "_move_aside",
    "readmit": "readmit",
}
"""By arrow of the job, the function that takes it. A graceful stop returns a job by the same function as a deferral."""


def arrows_of(asked: Asked) -> list[str]:
    """Return the arrows of the job beneath whose functions something was asked."""
    names = {call.function.partition(":")[2] for call in asked.stack}
    return [arrow for arrow, function in JOB_SITES.items() if function in names]


def job_arrows(stages: Iterable[Stage]) -> Counter[str]:
    """Count the verbs asked beneath each function that takes an arrow of the job."""
    counts: Counter[str] = Counter(dict.fromkeys(JOB_SITES, 0))
    for stage in stages:
        for asked in stage.recording.asked:
            counts.update(arrows_of(asked))
    return counts


def attempt_arrows(stages: Iterable[Stage]) -> Counter[str]:
    """Count the arrows of the attempt that the journals hold at the ends of the scenarios."""
    counts: Counter[str] = Counter({f"{arrow.source} {arrow.verb}": 0 for arrow in ATTEMPT.transitions})
    for stage in stages:
        view = look(stage.disk.whole(stage.disk.points[-1]))
        for steps in view.attempts.values():
            states = [text_of(steps[step], "state").replace("corrected", "settled") for step in sorted(steps)]
            for arrow in ATTEMPT.transitions:
                pairs = itertools.pairwise(states)
                counts[f"{arrow.source} {arrow.verb}"] += (arrow.source, arrow.target) in list(pairs)
    return counts


def coverage_arrows(stages: Iterable[Stage]) -> Counter[str]:
    """Count the arrows that turns and nodes of a trajectory went along, at the ends of the scenarios."""
    counts: Counter[str] = Counter({f"{arrow.source} {arrow.verb}": 0 for arrow in COVERAGE.transitions})
    for stage in stages:
        walks = walks_of(look_at_trajectory(look(stage.disk.whole(stage.disk.points[-1]))))
        for source, target in (step for walk in walks.values() for step in itertools.pairwise(walk)):
            for arrow in COVERAGE.transitions:
                counts[f"{arrow.source} {arrow.verb}"] += (arrow.source.value, arrow.target.value) == (source, target)
    return counts


def admission_rows(stages: Iterable[Stage]) -> Counter[str]:
    """Count the states of process crashes that each row of the admission table is about."""
    counts: Counter[str] = Counter({_name(index): 0 for index in range(len(ADMISSION))})
    for stage in stages:
        met: set[tuple[str, int]] = set()
        for point in stage.disk.points:
            view = look(stage.disk.whole(point))
            for job, seen in _admissions(view):
                for index, row in enumerate(ADMISSION):
                    if row.matches(seen) and (job, index) not in met:
                        met.add((job, index))
                        counts[_name(index)] += 1
    return counts


def _name(index: int) -> str:
    row = ADMISSION[index]
    return f"row {index + 1}: {row.step.value} ({row.why})"


def _admissions(view: View) -> Iterator[tuple[str, Seen]]:
    for project in view.projects:
        jobs = {*project.intents, *project.tombstones, *project.receipts, *view.decisions}
        for job in sorted(jobs):
            yield job, _seen(project, job)


def _seen(project: ProjectView, job: str) -> Seen:
    intent = project.intents.get(job)
    return Seen(
        tombstone=job in project.tombstones,
        intent=intent is not None,
        branch=Place.ELSEWHERE if intent is None else _place(project, intent),
        revision=RevisionSeen.NONE_DUE if intent is None else _revision(project, intent),
        completion=job in project.completions,
        receipt=job in project.receipts,
    )


def _place(project: ProjectView, intent: Fields) -> Place:
    stands = digest(project.branches.get(text_of(intent, "branchName")))
    if stands == text_of(intent, "resultingBranchDigest"):
        return Place.RESULT
    return Place.BASE if stands == text_of(intent, "expectedBranchDigest") else Place.ELSEWHERE


def _revision(project: ProjectView, intent: Fields) -> RevisionSeen:
    record = fields_of(fields_of(intent.get("revision")).get("record"))
    if not record:
        return RevisionSeen.NONE_DUE
    history = project.revisions.get(text_of(intent, "branchName"), [])
    written = {text_of(each, "id") for each in history}
    return RevisionSeen.PRESENT if text_of(record, "id") in written else RevisionSeen.ABSENT
