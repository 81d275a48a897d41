"""Read a tree of files as a state of the model: where a trace begins, and what it must have come to at its end."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Final

from faults.case import own_base, state_of
from faults.model.state import Attempt, Branch, Frozen, Held, Job, State, Value
from faults.view import digest, fields_of, list_of, number_of, text_of

if TYPE_CHECKING:
    from faults.view import Fields, Json, ProjectView, View

FOREIGN: Final = 1_000_000
"""From here on attempts are numbered that no claim of ours made."""


class RefusedError(Exception):
    """The model does not allow what was recorded."""


@dataclasses.dataclass(slots=True)
class Names:
    """How the files' names are the model's numbers; grows as a trace goes on."""

    jobs: dict[str, int] = dataclasses.field(default_factory=dict)
    branches: dict[str, int] = dataclasses.field(default_factory=dict)
    """By the path of their file."""
    homes: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """By job: its project and the name of its branch."""
    attempts: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    """By attempt: its job, and the claim that made it."""
    values: dict[str, Value] = dataclasses.field(default_factory=dict)
    """By digest: the branch state."""

    def copy(self) -> Names:
        """Return names that may grow apart from these."""
        return Names(dict(self.jobs), dict(self.branches), dict(self.homes), dict(self.attempts), dict(self.values))

    def value(self, of: str) -> Value:
        """Return the branch state that has a digest."""
        return self.values.setdefault(of, (of,))

    def learn(self, branch: Json) -> Value:
        """Return a branch as a value, and know it by its digest from now on."""
        return self.learn_as(digest(branch), branch)

    def learn_as(self, of: str, branch: Json) -> Value:
        """Know by a digest a branch of which the job or base record holds the texts."""
        texts = tuple(text_of(fields_of(each), "text") for each in list_of(fields_of(branch).get("entries")))
        known = self.values.get(of, ())
        if len(known) < 2:
            self.values[of] = (of, *texts)
        return self.values[of]

    def branch_path(self, job: str, *, is_shadow: bool) -> str:
        """Return where the branch of a job stands."""
        key, name = self.homes.get(job, ("", ""))
        return f"no-forgetti/{'curator/shadow/' if is_shadow else ''}{key}/branches/{name}.json"


def beginning(view: View, names: Names) -> State:
    """Return the state that a tree shows."""
    for project in view.projects:
        for name, record in project.branches.items():
            prefix = "no-forgetti/curator/shadow/" if project.is_shadow else "no-forgetti/"
            names.branches.setdefault(f"{prefix}{project.key}/branches/{name}.json", len(names.branches))
            names.learn(record)
    known = {job for records in (view.queued, view.running, view.held, view.outcomes) for job in records}
    known |= {*view.decisions, *view.finished, *view.accepted, *(job for job, _ in view.results)}
    for project in view.projects:
        known |= {*project.intents, *project.completions, *project.tombstones, *project.receipts}
    jobs: dict[str, Job] = {}
    for job in sorted(known | {text_of(steps[max(steps)], "jobId") for steps in view.attempts.values()} - {""}):
        names.jobs.setdefault(job, len(names.jobs))
        _find_home(view, names, job)
        jobs[job] = _job(view, names, job)
    listed = [Job()] * len(names.jobs)
    for job, found in jobs.items():
        listed[names.jobs[job]] = found
    branches = [Branch(())] * len(names.branches)
    for path, index in names.branches.items():
        branches[index] = Branch(_branch_at(view, names, path))
    return State(tuple(listed), tuple(branches))


def _branch_at(view: View, names: Names, path: str) -> Value:
    for project in view.projects:
        prefix = "no-forgetti/curator/shadow/" if project.is_shadow else "no-forgetti/"
        for name, record in project.branches.items():
            if path == f"{prefix}{project.key}/branches/{name}.json":
                return names.learn(record)
    return ()


def _find_home(view: View, names: Names, job: str) -> None:
    records = [fields_of(each[job].get("job")) for each in (view.queued, view.running, view.held) if job in each]
    records += [fields_of(each.get("job")) for of, each in view.decisions.items() if of == job]
    records += [fields_of(each.get("job")) for (of, _), each in view.results.items() if of == job]
    for record in records:
        meet(names, job, record)
    if job in view.finished:
        closing = view.finished[job]
        names.homes.setdefault(job, (text_of(closing, "projectKey"), text_of(closing, "branchName")))


def parse(content: bytes) -> Fields:
    """Return a record's fields, or none where it is no whole record."""
    try:
        value: Json = json.loads(content)
    except ValueError:
        return {}
    return fields_of(value)


def meet(names: Names, job: str, record: Fields) -> None:
    """Learn from a job's own record where it belongs and which branch it was captured from."""
    branch = fields_of(record.get("branch"))
    names.homes.setdefault(job, (text_of(record, "projectKey"), text_of(branch, "name")))
    names.learn_as(text_of(record, "baseBranchDigest"), branch)


def _job(view: View, names: Names, job: str) -> Job:
    stamp = view.accepted.get(job, {})
    is_shadow = text_of(stamp, "authority") == "shadow"
    path = names.branch_path(job, is_shadow=is_shadow)
    project = next((each for each in view.projects if is_shadow is each.is_shadow and f"/{each.key}/" in path), None)
    attempts = _attempts(view, names, job)
    outcome = fields_of(view.outcomes.get(job, {}).get("outcome"))
    elected = names.attempts.get(text_of(view.decisions.get(job, {}), "attemptId"), ("", 0))[1]
    found = Job(
        branch=names.branches.setdefault(path, len(names.branches)),
        is_accepted=True,
        is_stamped=bool(stamp),
        queued=_number(view, "queued", job, "nextAttempt"),
        running=_number(view, "running", job, "attempt"),
        is_live=job in view.running,
        held=Held.HELD if job in view.held else Held.NO,
        attempts=attempts,
        decision=elected,
        outcome=text_of(outcome, "status"),
        is_closed=job in view.finished,
    )
    return found if project is None else _with_change(found, project, names, job)


def _number(view: View, folder: str, job: str, name: str) -> int:
    """Return a claim's number; a record that cannot be read has the first one."""
    records = {"queued": view.queued, "running": view.running}[folder]
    is_there = f"no-forgetti/review-spool/{folder}/{job}.json" in view.files
    return number_of(records.get(job, {}), name) or int(is_there)


def _attempts(view: View, names: Names, job: str) -> tuple[Attempt, ...]:
    results = {attempt: result for (of, attempt), result in view.results.items() if of == job}
    own = names.value(own_base(view, job))
    found: list[Attempt] = []
    for attempt, steps in view.attempts.items():
        latest = steps[max(steps)]
        if text_of(latest, "jobId") == job:
            number = number_of(latest, "claimAttempt")
            names.attempts[attempt] = (job, number)
            base = text_of(latest, "baseBranchDigest")
            stands, result = state_of(steps), results.pop(attempt, {})
            stands = "reconciled" if text_of(latest, "source") == "operator" else stands
            calls = int(bool(result) or stands in ("settled", "corrected", "reconciled"))
            found.append(Attempt(number, names.value(base) if base else own, stands, calls, kind_of_result(result)))
    for attempt, result in sorted(results.items()):
        if kind_of_result(result) == "completed":
            names.attempts.setdefault(attempt, (job, FOREIGN + len(names.attempts)))
            found.append(Attempt(names.attempts[attempt][1], own, "", 0, "completed"))
    return tuple(sorted(found, key=lambda each: each.number))


def kind_of_result(result: Fields) -> str:
    """Return what a result brought: a proposal, a bill, or neither; nothing where none stands."""
    outcome = fields_of(result.get("outcome"))
    if text_of(outcome, "status") == "completed":
        return "completed"
    if not outcome:
        return ""
    return "failed" if "provenance" in outcome else "silent"


def _with_change(job: Job, project: ProjectView, names: Names, of: str) -> Job:
    intent = project.intents.get(of)
    tombstone = project.tombstones.get(of, {})
    frozen = None if intent is None else frozen_of(intent, names)
    written = {text_of(each, "id") for history in project.revisions.values() for each in history}
    revision = frozen.revision if frozen is not None else text_of(tombstone, "revisionId")
    return job._replace(
        intent=frozen,
        has_revision=revision in written,
        is_complete=of in project.completions,
        has_card=of in project.ready,
        has_receipt=of in project.receipts,
        has_tombstone=bool(tombstone),
    )


def frozen_of(intent: Fields, names: Names) -> Frozen:
    """Return an intent as the model knows it."""
    record = fields_of(fields_of(intent.get("revision")).get("record"))
    return Frozen(
        text_of(intent, "status"),
        names.value(text_of(intent, "expectedBranchDigest")),
        names.learn_as(text_of(intent, "resultingBranchDigest"), intent.get("afterBranch")),
        text_of(record, "id"),
    )
