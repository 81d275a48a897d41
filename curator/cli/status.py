"""`curator status`: how everything stands, at one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from curator.cli.job_page import RESULTS, exposed
from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, dollars, moment, say, short, span
from curator.cli.reasons import group_lines, reason_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.workflow.inspect.status import Budget, Status, Worker

_LAST = 5
"""So many results are told."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show at one look how everything stands.

    Worker, queue, budget, storage and the last results, and first what needs somebody. Changes nothing.
    """
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.status import look

    layout = layout_of(agent_dir)
    found = look(layout, SystemClock().now())
    if as_json:
        document(_document(layout, found))
        return
    for line in _lines(layout, found):
        say(line)


def _lines(layout: Layout, found: Status) -> Iterator[str]:
    """Tell first what needs somebody."""
    for project in found.admitting:
        where = project.root or project.key
        yield f"A change of memory has begun and is not over in {where}; run `curator review --once` to finish it."
    for fault in found.faults:
        yield f"Attention: {fault.fact}. {fault.remedy}."
    yield f"agent     {layout.agent}" + ("" if found.storage is not None else ", which is not there")
    yield f"mode      {_mode(found)}"
    yield from _worker_lines(found)
    yield f"queue     {_queue(found)}"
    reasons = {line.id: line.waits_for for line in found.jobs if line.waits_for is not None}
    yield from (f"        {line}" for line in group_lines(reasons))
    for letter in found.set_aside:
        yield f"          {letter.short} is set aside: {letter.reason}; see `curator jobs list`"
    for budget in found.budgets:
        yield f"budget    {_budget(budget)}"
    if found.storage is not None:
        promise = "survives power loss" if found.storage.is_power_safe else "survives a crash, but not power loss"
        yield f"storage   {found.storage.kind} at {found.storage.point}: what is accepted {promise}"
    for line in found.of("over")[-_LAST:]:
        yield f"result    {short(line.id)} {RESULTS.get(line.result or '', line.result)}, {moment(line.since)}"


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
    queued, waiting, running, held = (found.of(state) for state in ("queued", "waiting", "running", "held"))
    parts = [f"{len(queued)} queued", f"{len(waiting)} waiting", f"{len(running)} running", f"{len(held)} held"]
    if found.set_aside:
        parts.append(f"{len(found.set_aside)} set aside")
    oldest = "" if not queued else f"; the oldest since {moment(queued[0].since)}"
    return ", ".join(parts) + oldest


def _budget(budget: Budget) -> str:
    exposure, limits = budget.exposure, budget.limits
    columns = (("spent", exposure.actual), ("held", exposure.held), ("unknown", exposure.unknown))
    told = [f"{exposed(budget.provider, amount)} {name}" for name, amount in columns if amount.calls or name == "spent"]
    bound = ""
    if limits is not None:
        bound = f", of {counted(limits.calls, 'call')}, {limits.tokens:,} tokens, {dollars(limits.cost_nanousd)}"
    return f"{budget.provider} today: {'; '.join(told)}{bound}"


def _document(layout: Layout, found: Status) -> Json:
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
    running: list[Json] = [{"jobId": line.id, "claimedAt": line.since} for line in found.of("running")]
    queued = found.of("queued")
    oldest: dict[str, Json] = {} if not queued else {"oldestQueuedAt": queued[0].since}
    results: list[Json] = [
        {"jobId": line.id, "result": line.result, "completedAt": line.since} for line in found.of("over")[-_LAST:]
    ]
    return {
        "agentDir": str(layout.agent),
        **configured,
        "workers": [_worker_document(worker) for worker in found.workers if worker.is_here],
        "stoppedWorkers": sum(not worker.is_here for worker in found.workers),
        "queue": {"queued": len(queued), **oldest, "waiting": waiting, "running": running},
        "held": [line.id for line in found.of("held")],
        "waitsFor": reasons,
        "setAside": [letter.name for letter in found.set_aside],
        "setAsideFor": {letter.name: letter.reason for letter in found.set_aside},
        "day": found.day,
        "budgets": [_budget_document(budget) for budget in found.budgets],
        **storage,
        "admitting": [
            {"projectKey": each.key, "projectRoot": each.root, "authority": each.authority, "jobs": list(each.jobs)}
            for each in found.admitting
        ],
        "results": results,
        "faults": [{"fact": fault.fact, "remedy": fault.remedy} for fault in found.faults],
    }


def _worker_document(worker: Worker) -> Json:
    return {
        "workerId": worker.beat.worker_id,
        "pid": worker.beat.pid,
        "state": worker.beat.state,
        "updatedAt": worker.beat.updated_at,
        "isFresh": worker.is_fresh,
        "isAlive": worker.is_alive,
    }


def _budget_document(budget: Budget) -> Json:
    columns = (("actual", budget.exposure.actual), ("held", budget.exposure.held), ("unknown", budget.exposure.unknown))
    told: dict[str, Json] = {"provider": budget.provider}
    for name, amount in columns:
        told[name] = {"calls": amount.calls, "tokens": amount.tokens, "costNanodollars": amount.cost_nanousd}
    if budget.limits is not None:
        limits = budget.limits
        told["limits"] = {"calls": limits.calls, "tokens": limits.tokens, "costNanodollars": limits.cost_nanousd}
    return told
