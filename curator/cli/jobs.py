"""`curator jobs`: what waits, runs or is over, and a person's word on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, AsJson, JobArgument, PlainCommand, complete_job, complete_release, layout_of
from curator.cli.page import counted, document, say, short
from curator.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from curator.app import App
    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.model.ids import JobId
    from curator.workflow.inspect.jobs import Word

app = typer.Typer(help="List jobs, look at one, and retry, cancel, hold or release it.")


@app.command("list")
def list_(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """List every job, and what can be done with it.

    First what runs, then what waits and for what, what is held, what is over; last what was set aside.
    """
    from curator.cli.job_page import job_line, line_document
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.books import open_books
    from curator.workflow.inspect.jobs import list_jobs
    from curator.workflow.inspect.letters import read_letters

    layout = layout_of(agent_dir)
    books = open_books(layout)
    lines, letters = list_jobs(books, SystemClock().now()), read_letters(layout)
    faults = [fault for each in books.spool.faults() if (fault := each.fault) is not None]
    if as_json:
        listed: list[Json] = [line_document(line) for line in lines]
        damaged: list[Json] = [{"path": str(fault.path), "fact": fault.why} for fault in faults]
        why: dict[str, Json] = {each.name: each.reason for each in letters}
        document({"jobs": listed, "setAside": list(why), "setAsideFor": why, "unreadable": damaged})
        return
    for line in lines:
        say(job_line(line))
    for fault in faults:
        say(f"unreadable: {fault.fact}. The next run sets it aside.")
    for each in letters:
        say(f"{each.short}  set aside: {each.reason} [release, once it is mended]")
    if letters:
        say(f"What was set aside lies in {layout.dead_letter}.")
    if not (lines or letters or faults):
        say("No jobs. Run `curator enqueue --session FILE`, or let Pi enqueue one.")


@app.command(cls=PlainCommand)
def show(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show one job: ids, sizes, state, attempts, failures.

    Its evidence is never shown.
    """
    from curator.cli.job_page import job_document, job_facts
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.jobs import find_job_id, show_job

    layout = layout_of(agent_dir)
    view = show_job(layout, find_job_id(layout, job), SystemClock().now())
    if as_json:
        document(job_document(view))
        return
    for name, fact in job_facts(view):
        say(f"{name + ':':<12} {fact}")


@app.command(cls=PlainCommand)
def retry(
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB]", help="A job's id, or its first digits.", autocompletion=complete_job),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every job that waits for a time, as for the next day.")] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Let a waiting job run now, or review one that is over again.

    What is over is reviewed again as a new job, from the evidence that is kept, against memory as it stands.
    """
    from curator.workflow.inspect.jobs import find_job_id
    from curator.workflow.replay import replay_job

    if (job is None) is not all_:
        raise UsageError("say which job, or --all", remedy="See `curator jobs retry --help`")
    opened = _open(agent_dir)
    if job is None:
        _hurry_all(opened, as_json=as_json)
        return
    job_id = find_job_id(opened.layout, job)
    spool = opened.shop.stores.spool
    waiting = next((each for each in spool.waiting() if each.job_id == job_id), None)
    if waiting is not None:
        spool.hurry(waiting)
        _tell({"jobId": job_id, "result": "hurried"}, f"{short(job_id)}: runs at the next review.", as_json=as_json)
        return
    _require(opened.layout, job_id, "retry")
    again = replay_job(opened.shop, job_id)
    said = f"{short(job_id)}: queued again as {short(again.id)}. Run `curator review --once`."
    _tell({"jobId": again.id, "result": "enqueued", "replays": job_id}, said, as_json=as_json)


@app.command(cls=PlainCommand)
def cancel(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """End a job that waits or is held; it can be retried later."""
    from curator.workflow.closing import cancel_job

    opened, job_id = _opened_for(job, "cancel", agent_dir)
    cancel_job(opened.shop, job_id)
    _tell({"jobId": job_id, "result": "cancelled"}, f"{short(job_id)}: cancelled.", as_json=as_json)


@app.command(cls=PlainCommand)
def hold(job: JobArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let a job that waits wait on, until it is released."""
    opened, job_id = _opened_for(job, "hold", agent_dir)
    opened.shop.stores.spool.hold(job_id)
    said = f"{short(job_id)}: held. Run `curator jobs release {short(job_id)}` to let it go on."
    _tell({"jobId": job_id, "result": "held"}, said, as_json=as_json)


@app.command(cls=PlainCommand)
def release(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB|NAME",
            help="A held job, or a mended record that was set aside; the first digits will do.",
            autocompletion=complete_release,
        ),
    ],
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Let a held job go on, or bring a mended record back."""
    from curator.store.spool.recovery import readmit
    from curator.workflow.inspect.jobs import find_job_id
    from curator.workflow.inspect.letters import find_letter

    opened = _open(agent_dir)
    spool = opened.shop.stores.spool
    is_held = any(each.job.id.startswith((job, f"review_{job}")) for each in spool.held())
    letter = find_letter(opened.layout, job)
    if letter is not None and is_held:
        fact = f"both a held job and a record that was set aside begin with {job!a}"
        raise UsageError(fact, remedy="Give the whole name of the record, or the whole id of the job")
    if letter is not None:
        job_id = readmit(spool, letter)
    else:
        job_id = find_job_id(opened.layout, job)
        _require(opened.layout, job_id, "release")
        spool.release(job_id)
    _tell({"jobId": job_id, "result": "queued"}, f"{short(job_id)}: waits in the queue again.", as_json=as_json)


def _hurry_all(opened: App, *, as_json: bool) -> None:
    spool = opened.shop.stores.spool
    later = [each for each in spool.waiting() if each.glimpse.due_ms]
    for each in later:
        spool.hurry(each)
    told: dict[str, Json] = {"result": "hurried", "jobs": [each.job_id for each in later]}
    runs = "runs" if len(later) == 1 else "run"
    said = f"{counted(len(later), 'job')} {runs} at the next review." if later else "No job waits for a time."
    _tell(told, said, as_json=as_json)


def _opened_for(job: str, word: Word, agent_dir: Path | None) -> tuple[App, JobId]:
    from curator.workflow.inspect.jobs import find_job_id

    opened = _open(agent_dir)
    job_id = find_job_id(opened.layout, job)
    _require(opened.layout, job_id, word)
    return opened, job_id


_DONE = {"hold": "held", "release": "released", "cancel": "cancelled", "retry": "retried"}


def _require(layout: Layout, job_id: JobId, word: Word) -> None:
    """Raise `RefusedError` unless a job is where a person's word on it has a meaning, naming what has one."""
    from curator.cli.job_page import RESULTS
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.jobs import show_job

    view = show_job(layout, job_id, SystemClock().now())
    if word in view.words:
        return
    result = "" if view.closing is None else f" ({RESULTS.get(view.closing.status, view.closing.status)})"
    state = "not in the spool" if view.state is None else view.state
    fact = f"{short(job_id)} is {state}{result}, so it cannot be {_DONE[word]}"
    can = " or ".join(f"`curator jobs {each} {short(job_id)}`" for each in view.words)
    if can:
        remedy = f"Nothing was changed; what can be done: {can}"
    elif view.state == "over":
        remedy = "Its evidence is not kept any more"
    else:
        remedy = f"Nothing was changed; see `curator jobs show {short(job_id)}`"
    raise RefusedError(fact, remedy=remedy)


def _open(agent_dir: Path | None) -> App:
    from curator.app import open_app
    from curator.cli.listener import sentences_for

    return open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))


def _tell(answer: dict[str, Json], sentence: str, *, as_json: bool) -> None:
    if as_json:
        document(answer)
    else:
        say(sentence)
