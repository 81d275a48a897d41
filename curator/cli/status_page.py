"""How everything stands, shown: in lines for a person, in one line for a log, and as a document for programs."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from curator.cli.budget_page import budget_document, budget_lines
from curator.cli.job_page import RESULTS
from curator.cli.page import counted, moment, short, span
from curator.cli.reasons import group_lines, reason_document
from curator.model.times import iso, ms_of
from curator.workflow.inspect.steps import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.workflow.inspect.jobs import JobLine
    from curator.workflow.inspect.status import ProjectLine, Status, Worker

_LAST: Final = 5
"""So many results are told."""
_PROJECTS_SHOWN: Final = 10


def status_lines(layout: Layout, found: Status) -> Iterator[str]:
    """Tell first what needs somebody."""
    for project in found.admitting:
        where = project.root or project.key
        yield f"A change of memory has begun and is not over in {where}; run `curator review --once` to finish it."
    for fault in found.faults:
        yield f"Attention: {fault.fact}. {fault.remedy}."
    yield f"agent     {layout.agent}" + ("" if found.is_there else ", which is not there")
    yield f"mode      {_mode(found)}"
    yield from _worker_lines(found)
    yield from (f"running   {_running(found, line)}" for line in found.of("running"))
    yield f"queue     {_queue(found)}"
    reasons = {line.id: line.waits_for for line in found.jobs if line.waits_for is not None}
    yield from (f"        {line}" for line in group_lines(reasons))
    for letter in found.set_aside:
        yield f"          {letter.short} is set aside: {letter.reason}; see `curator jobs list`"
    projects = found.projects()
    yield from (f"project   {_project(project)}" for project in projects[:_PROJECTS_SHOWN])
    if len(projects) > _PROJECTS_SHOWN:
        yield f"          and {counted(len(projects) - _PROJECTS_SHOWN, 'more project')}; see `curator jobs list`"
    for budget in found.budgets:
        first, *more = budget_lines(budget, "today")
        yield f"budget    {first}"
        yield from (f"          {line}" for line in more)
    if found.storage is not None:
        promise = "survives power loss" if found.storage.is_power_safe else "survives a crash, but not power loss"
        yield f"storage   {found.storage.kind} at {found.storage.point}: what is accepted {promise}"
    for line in found.of("over")[-_LAST:]:
        where = f" in {PurePath(line.root).name}" if line.root else ""
        yield f"result    {short(line.id)}{where}: {RESULTS.get(line.result or '', line.result)}, {moment(line.since)}"


def status_glance(found: Status) -> str:
    """Return the whole look in one line: what changes when something happens, and nothing that only grows older."""
    running = [f"{short(line.id)} {_step_word(found, line)}" for line in found.of("running")]
    parts = [
        ", ".join(f"{worker.beat.worker_id} {worker.beat.state}" for worker in found.workers if worker.is_here)
        or "no worker",
        _counts(found),
        *running,
        *(f"{budget.provider} {counted(budget.exposure.total.calls, 'call')} today" for budget in found.budgets),
        *(f"last {short(line.id)} {RESULTS.get(line.result or '', line.result)}" for line in found.of("over")[-1:]),
        *(f"attention: {fault.fact}" for fault in found.faults),
    ]
    return "; ".join(parts)


def _running(found: Status, line: JobLine) -> str:
    where = f" in {PurePath(line.root).name}" if line.root else ""
    step = found.steps.get(line.id)
    name = "its step is not known" if step is None else STEPS[step.name]
    asked = f" ({step.reviewer})" if step is not None and step.reviewer is not None else ""
    return f"{short(line.id)}{where}: {name}{asked}, attempt {line.attempt}, since {moment(line.since)}"


def _step_word(found: Status, line: JobLine) -> str:
    step = found.steps.get(line.id)
    return "running" if step is None else step.name


def _project(project: ProjectLine) -> str:
    counts = ((state, project.of(state)) for state in ("queued", "waiting", "running", "held"))
    return f"{project.root or project.key}: {', '.join(f'{number} {state}' for state, number in counts if number)}"


def _mode(found: Status) -> str:
    if found.service is None:
        return "unknown, see above" if found.is_configured else "not configured; run `curator config init`"
    reviewer = found.service.reviewer
    named = "no reviewer" if reviewer is None else f"{reviewer.provider}/{reviewer.model}"
    note = ": Pi reviews by itself, curator claims nothing" if found.service.mode == "embedded" else ""
    return f"{found.service.mode}, {named}{note}"


def _worker_lines(found: Status) -> Iterator[str]:
    shown = [worker for worker in found.workers if worker.is_here]
    if not shown and found.workers:
        last = found.workers[0]
        yield f"worker    none runs; {last.beat.worker_id} was here {span(last.age_ms)} ago"
    elif not shown:
        yield "worker    none has run here yet"
    for worker in shown:
        job = "" if worker.beat.job_id is None else f" on {short(worker.beat.job_id)}"
        gone = "" if worker.is_alive else ", but its process is gone"
        yield f"worker    {worker.beat.worker_id}: {worker.beat.state}{job}, {span(worker.age_ms)} ago{gone}"


def _queue(found: Status) -> str:
    queued = found.of("queued")
    oldest = (
        "" if not queued else f"; the oldest since {moment(queued[0].since)}, {span(_age_ms(found, queued[0]))} ago"
    )
    return _counts(found) + oldest


def _counts(found: Status) -> str:
    parts = [f"{len(found.of(state))} {state}" for state in ("queued", "waiting", "running", "held")]
    if found.set_aside:
        parts.append(f"{len(found.set_aside)} set aside")
    return ", ".join(parts)


def _age_ms(found: Status, line: JobLine) -> int:
    return max(0, found.now - ms_of(line.since))


def status_document(layout: Layout, found: Status) -> dict[str, Json]:
    """Return the whole look for a program."""
    configured: dict[str, Json] = {} if found.service is None else {"service": found.service.encode()}
    storage: dict[str, Json] = {}
    if found.storage is not None:
        ground = found.storage
        storage["storage"] = {
            "kind": ground.kind,
            "mountPoint": str(ground.point),
            "isPowerSafe": ground.is_power_safe,
            "isNetwork": ground.is_network,
        }
    waiting: list[Json] = [{"jobId": line.id, "availableAt": line.since} for line in found.of("waiting")]
    reasons: dict[str, Json] = {line.id: reason_document(line.waits_for) for line in found.jobs if line.waits_for}
    running: list[Json] = [_running_document(found, line) for line in found.of("running")]
    queued = found.of("queued")
    oldest: dict[str, Json] = {} if not queued else {"oldestQueuedAt": queued[0].since}
    results: list[Json] = [
        {"jobId": line.id, "result": line.result, "completedAt": line.since, "projectKey": line.project_key}
        for line in found.of("over")[-_LAST:]
    ]
    return {
        "agentDir": str(layout.agent),
        "at": iso(found.now),
        **configured,
        "workers": [_worker_document(worker) for worker in found.workers if worker.is_here],
        "stoppedWorkers": sum(not worker.is_here for worker in found.workers),
        "queue": {"queued": len(queued), **oldest, "waiting": waiting, "running": running},
        "held": [line.id for line in found.of("held")],
        "waitsFor": reasons,
        "setAside": [letter.name for letter in found.set_aside],
        "setAsideFor": {letter.name: letter.reason for letter in found.set_aside},
        "projects": [_project_document(project) for project in found.projects()],
        "day": found.day,
        "budgets": [budget_document(budget) for budget in found.budgets],
        **storage,
        "admitting": [
            {"projectKey": each.key, "projectRoot": each.root, "authority": each.authority, "jobs": list(each.jobs)}
            for each in found.admitting
        ],
        "results": results,
        "faults": [{"fact": fault.fact, "remedy": fault.remedy} for fault in found.faults],
    }


def _running_document(found: Status, line: JobLine) -> Json:
    told: dict[str, Json] = {"jobId": line.id, "claimedAt": line.since, "attempt": line.attempt}
    step = found.steps.get(line.id)
    if step is not None:
        told |= {"step": step.name} | ({} if step.reviewer is None else {"provider": step.reviewer})
    return told


def _project_document(project: ProjectLine) -> Json:
    counts: dict[str, Json] = {state: project.of(state) for state in ("queued", "waiting", "running", "held")}
    return {"projectKey": project.key, "projectRoot": project.root, **counts}


def _worker_document(worker: Worker) -> Json:
    return {
        "workerId": worker.beat.worker_id,
        "pid": worker.beat.pid,
        "state": worker.beat.state,
        "updatedAt": worker.beat.updated_at,
        "isFresh": worker.is_fresh,
        "isAlive": worker.is_alive,
    }
