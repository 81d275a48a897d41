"""`curator jobs`: what waits, runs or is over, and a person's word on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, AsJson, JobArgument, layout_of
from curator.cli.page import counted, document, dollars, moment, say, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.app import App
    from curator.model.digest import Json
    from curator.store.attempts import Seen
    from curator.workflow.inspect.jobs import JobLine, JobView

app = typer.Typer(help="List jobs, look at one, and retry, cancel, hold or release it.")


@app.command("list")
def list_(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """List the jobs that wait, run, are held, or are over, and what was set aside."""
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.jobs import list_jobs, open_spool, set_aside

    layout = layout_of(agent_dir)
    lines, letters = list_jobs(layout, SystemClock().now()), set_aside(layout)
    faults = [fault for each in open_spool(layout).faults() if (fault := each.fault) is not None]
    if as_json:
        listed: list[Json] = [_line_document(line) for line in lines]
        damaged: list[Json] = [{"path": str(fault.path), "fact": fault.why} for fault in faults]
        document({"jobs": listed, "setAside": list(letters), "unreadable": damaged})
        return
    for line in lines:
        say(_line(line))
    for fault in faults:
        say(f"unreadable: {fault.fact}. The next run sets it aside.")
    for name in letters:
        say(f"set aside: {name}. Mend it in {layout.dead_letter}, then run `curator jobs release {name}`.")
    if not (lines or letters or faults):
        say("No jobs. Run `curator enqueue --session FILE`, or let Pi enqueue one.")


@app.command()
def show(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show one job: ids, sizes, state and attempts. Its evidence is never shown."""
    from curator.workflow.inspect.jobs import find_job_id, show_job

    layout = layout_of(agent_dir)
    view = show_job(layout, find_job_id(layout, job))
    if as_json:
        document(_view_document(view))
        return
    for name, fact in _facts(view):
        say(f"{name + ':':<12} {fact}")
    for seen in view.attempts:
        say(f"{'attempt:':<12} {_attempt(seen)}")


@app.command()
def retry(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Review a finished job's evidence again, as a new job; or let a waiting one run now."""
    from curator.workflow.inspect.jobs import find_job_id
    from curator.workflow.replay import replay_job

    opened = _open(agent_dir)
    job_id = find_job_id(opened.layout, job)
    spool = opened.shop.stores.spool
    waiting = next((each for each in spool.waiting() if each.record.job.id == job_id), None)
    if waiting is not None:
        spool.hurry(waiting)
        _tell({"jobId": job_id, "result": "hurried"}, f"{short(job_id)}: runs at the next review.", as_json=as_json)
        return
    again = replay_job(opened.shop, job_id)
    said = f"{short(job_id)}: queued again as {short(again.id)}. Run `curator review --once`."
    _tell({"jobId": again.id, "result": "enqueued", "replays": job_id}, said, as_json=as_json)


@app.command()
def cancel(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """End a job that waits or is held; it can be retried later."""
    from curator.workflow.closing import cancel_job
    from curator.workflow.inspect.jobs import find_job_id

    opened = _open(agent_dir)
    job_id = find_job_id(opened.layout, job)
    cancel_job(opened.shop, job_id)
    _tell({"jobId": job_id, "result": "cancelled"}, f"{short(job_id)}: cancelled.", as_json=as_json)


@app.command()
def hold(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Set a job that waits aside, until it is released."""
    from curator.workflow.inspect.jobs import find_job_id

    opened = _open(agent_dir)
    job_id = find_job_id(opened.layout, job)
    opened.shop.stores.spool.hold(job_id)
    said = f"{short(job_id)}: held. Run `curator jobs release {short(job_id)}` to let it go on."
    _tell({"jobId": job_id, "result": "held"}, said, as_json=as_json)


@app.command()
def release(
    job: Annotated[str, typer.Argument(metavar="JOB|NAME", help="A held job, or a mended record that was set aside.")],
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Let a held job go on, or bring a mended record back from the dead letters."""
    from curator.store.spool.recovery import readmit
    from curator.workflow.inspect.jobs import find_job_id, set_aside

    opened = _open(agent_dir)
    spool = opened.shop.stores.spool
    if job in set_aside(opened.layout):
        job_id = readmit(spool, job)
    else:
        job_id = find_job_id(opened.layout, job)
        spool.release(job_id)
    _tell({"jobId": job_id, "result": "queued"}, f"{short(job_id)}: waits in the queue again.", as_json=as_json)


def _open(agent_dir: Path | None) -> App:
    from curator.app import open_app
    from curator.cli.listener import sentences_for

    return open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))


def _tell(answer: dict[str, Json], sentence: str, *, as_json: bool) -> None:
    if as_json:
        document(answer)
    else:
        say(sentence)


def _line(line: JobLine) -> str:
    since = moment(line.since) if line.since else ""
    prefix = {"waiting": "until ", "running": "since ", "queued": "since "}.get(line.state, "")
    result = f", {line.result}" if line.result else ""
    return f"{short(line.id)}  {line.state:<8}{prefix + since}{result}, attempt {line.attempt}"


def _line_document(line: JobLine) -> Json:
    parts = {"projectKey": line.project_key, "result": line.result, "since": line.since or None}
    told: dict[str, Json] = {"jobId": line.id, "state": line.state, "attempt": line.attempt}
    return told | {key: value for key, value in parts.items() if value is not None}


def _attempt(seen: Seen) -> str:
    latest, total = seen.latest, seen.exposure.total
    cost = f"{counted(total.tokens, 'token')}, {dollars(total.cost_nanousd)}"
    return f"{latest.claim_attempt}, {seen.state.value}, {latest.provider}, {moment(latest.reserved_at)}, {cost}"


def _facts(view: JobView) -> Iterator[tuple[str, str]]:
    """Name what is known, in the order in which it came about."""
    from curator.model.record import u16_len

    yield "job", view.id
    yield "state", view.state or "not in the spool"
    if (job := view.job) is not None:
        yield "digest", job.digest
        yield "project", f"{job.project_key}, branch {job.branch.name}"
        yield "session", f"{job.session_key}, through {job.through_entry_id}"
        yield "evidence", counted(u16_len(job.transcript), "character")
        yield "base", f"{len(job.branch.entries)} entries, {job.branch.chars:,} of {job.max_chars:,} characters"
    if view.acceptance is not None:
        yield "accepted", f"{moment(view.acceptance.accepted_at)}, {view.acceptance.authority}"
    if view.next_attempt is not None:
        after = "" if view.available_at is None else f", not before {moment(view.available_at)}"
        yield "next", f"attempt {view.next_attempt}{after}"
    if (running := view.running) is not None:
        yield "running", f"attempt {running.attempt} by {running.worker_id}, lease until {moment(running.lease_until)}"
    if view.decision is not None:
        yield "decision", f"{counted(len(view.decision.outcome.operations), 'operation')}, {view.decision.attempt_id}"
    if view.is_admitting:
        yield "admission", "begun, and not over; the next run rolls it forward"
    if view.receipt is not None:
        yield "receipt", f"{view.receipt.status}, {moment(view.receipt.committed_at)}"
    if (closing := view.closing) is not None:
        code = f" ({closing.failure_code})" if closing.failure_code else ""
        yield "result", f"{closing.status}{code}, {moment(closing.finished_at)}"
    if view.pending is not None:
        yield "card", "ready for Pi" if view.has_card else "somebody waits in Pi"


def _view_document(view: JobView) -> dict[str, Json]:
    from curator.model.record import u16_len

    told: dict[str, Json] = {"jobId": view.id, "state": view.state, "results": view.results}
    if (job := view.job) is not None:
        told |= {
            "jobDigest": job.digest,
            "projectKey": job.project_key,
            "branchName": job.branch.name,
            "baseBranchDigest": job.base_branch_digest,
            "sessionKey": job.session_key,
            "throughEntryId": job.through_entry_id,
            "transcriptChars": u16_len(job.transcript),
            "branchEntries": len(job.branch.entries),
            "branchChars": job.branch.chars,
            "maxChars": job.max_chars,
        }
        told |= {} if job.generation is None else {"generation": job.generation}
    if (running := view.running) is not None:
        lease: dict[str, Json] = {"attempt": running.attempt, "workerId": running.worker_id}
        told["running"] = lease | {"claimedAt": running.claimed_at, "leaseUntil": running.lease_until}
    told |= _present("nextAttempt", view.next_attempt) | _present("availableAt", view.available_at)
    told["attempts"] = [_attempt_document(seen) for seen in view.attempts]
    told["isAdmitting"] = view.is_admitting
    if view.acceptance is not None:
        told |= {"authority": view.acceptance.authority, "acceptedAt": view.acceptance.accepted_at}
    if view.decision is not None:
        told["decision"] = {
            "attemptId": view.decision.attempt_id,
            "proposalDigest": view.decision.proposal_digest,
            "operations": len(view.decision.outcome.operations),
        }
    if view.receipt is not None:
        told["receipt"] = {"status": view.receipt.status, "committedAt": view.receipt.committed_at}
    if view.closing is not None:
        told |= {"status": view.closing.status, "finishedAt": view.closing.finished_at}
        told |= _present("failureCode", view.closing.failure_code)
    return told | {"isWaitedFor": view.pending is not None, "hasCard": view.has_card}


def _present(key: str, value: str | int | None) -> dict[str, Json]:
    return {} if value is None else {key: value}


def _attempt_document(seen: Seen) -> Json:
    latest, total = seen.latest, seen.exposure.total
    return {
        "id": seen.id,
        "claimAttempt": latest.claim_attempt,
        "state": seen.state.value,
        "provider": latest.provider,
        "day": latest.day,
        "reservedAt": latest.reserved_at,
        "tokens": total.tokens,
        "costNanodollars": total.cost_nanousd,
    }
