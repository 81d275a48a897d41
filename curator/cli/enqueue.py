"""`curator enqueue`: queue what was said in a Pi session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, AsJson, ProjectDir
from curator.cli.page import counted, document, say, short, warn

if TYPE_CHECKING:
    from curator.model.digest import Json
    from curator.workflow.producer import Produced, Production


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(enqueue)


def enqueue(
    session: Annotated[Path, typer.Option("--session", help="A session file of Pi, in JSON lines.")],
    project: ProjectDir = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Queue what was said in a session and not reviewed yet, for `curator review`.

    The project is the one the session was held in, unless --project names another folder.
    """
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.cli.options import layout_of
    from curator.workflow.producer import enqueue_session

    app = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))
    production = enqueue_session(app.shop, session, project)
    if as_json:
        document(_document(production))
    else:
        _tell(production)
    if app.service.mode == "embedded":
        warn("the mode is embedded, so nothing will review it. Run `curator config init --mode external --force`")
    return 0


def result_of(production: Production) -> str:
    """Return the one word for how it ended: quarantined, enqueued, duplicate or nothing."""
    endings = {job.ending.value for job in production.jobs}
    for word in ("quarantined", "enqueued", "duplicate"):
        if word in endings:
            return word
    return "duplicate" if production.covered_by is not None else "nothing"


def _tell(production: Production) -> None:
    for job in production.jobs:
        say(_line(job))
    match result_of(production):
        case "enqueued":
            say("Run `curator review --once` to review it.")
        case "duplicate" if not production.jobs and production.covered_by is not None:
            covered_by = short(production.covered_by)
            say(f"Nothing new: {covered_by} covers the session to its end. See `curator jobs show {covered_by}`.")
        case "nothing":
            say("Nothing to review: the session holds nothing that is not reviewed yet.")
        case _:
            pass
    if production.is_more:
        say("There is more; run the same command again once these are reviewed.")


def _line(job: Produced) -> str:
    size = f"{counted(job.turns, 'turn')}, {counted(job.chars, 'character')}"
    match job.ending.value:
        case "enqueued":
            return f"{short(job.job_id)}: queued ({size})."
        case "duplicate":
            return f"{short(job.job_id)}: stands already."
        case _:
            return f"{short(job.job_id)}: another job has this id, so this one was set aside in the dead letters."


def _document(production: Production) -> Json:
    jobs: list[Json] = [
        {
            "jobId": job.job_id,
            "result": job.ending.value,
            "turns": job.turns,
            "chars": job.chars,
            "throughEntryId": job.through_entry_id,
        }
        for job in production.jobs
    ]
    covered: dict[str, Json] = {} if production.covered_by is None else {"coveredBy": production.covered_by}
    return {
        "result": result_of(production),
        "jobs": jobs,
        **covered,
        "isMore": production.is_more,
        "projectKey": production.project.key,
        "projectRoot": production.project.root,
        "branchName": production.branch,
    }
