"""`curator enqueue`: queue what was said in a Pi session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, AsJson
from curator.cli.page import counted, document, say, short, warn

if TYPE_CHECKING:
    from curator.model.digest import Json
    from curator.workflow.producer import Produced, Production


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(enqueue)


def enqueue(
    session: Annotated[Path, typer.Option("--session", metavar="FILE", help="A session file of Pi, in JSON lines.")],
    project: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="FOLDER",
            help="A folder of the project to remember it in. [default: where the session was held]",
        ),
    ] = None,
    leaf: Annotated[
        str | None,
        typer.Option("--leaf", metavar="ENTRY", help="The branch that ends there. [default: the one written last]"),
    ] = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Queue what was said in a session and not reviewed yet.

    It is reviewed by the next `curator review --once`, or by the service. Enqueueing it again finds nothing new.
    """
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.cli.options import layout_of
    from curator.workflow.producer import enqueue_session
    from curator.workflow.settings_files import LET_REVIEW

    app = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))
    production = enqueue_session(app.shop, session, project, leaf)
    is_embedded = app.service.mode == "embedded"
    if as_json:
        document(_document(production))
        return 0
    _tell(production, is_embedded=is_embedded)
    _warn_of_what_is_left(session, production)
    if is_embedded:
        waits = "The jobs wait. " if production.jobs else ""
        fact = "the mode is embedded, so Pi reviews by itself and curator claims nothing"
        warn(f"{fact}. {waits}{LET_REVIEW} to let curator review")
    return 0


def result_of(production: Production) -> str:
    """Return the one word for how it ended: quarantined, enqueued, duplicate or nothing."""
    endings = {job.ending.value for job in production.jobs}
    for word in ("quarantined", "enqueued", "duplicate"):
        if word in endings:
            return word
    return "duplicate" if production.covered_by is not None else "nothing"


def _tell(production: Production, *, is_embedded: bool) -> None:
    for job in production.jobs:
        say(_line(job))
    match result_of(production):
        case "enqueued" if not is_embedded:
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


def _warn_of_what_is_left(session: Path, production: Production) -> None:
    if (skipped := production.skipped) is not None:
        lines = "1 line was" if skipped.count == 1 else f"{skipped.count:,} lines were"
        at = f"line {skipped.first.line}, byte {skipped.first.byte}"
        warn(f"{session}: {lines} not taken, or not whole, the first at {at}: {skipped.first.fault.value}")
    if others := production.other_leaves:
        branches = "1 other branch was" if len(others) == 1 else f"{len(others):,} other branches were"
        warn(f"{session}: {branches} not queued. Run the command with `--leaf {others[-1]}` to queue the last of them")


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
        **_skipped(production),
        "isMore": production.is_more,
        "otherLeaves": list(production.other_leaves),
        "projectKey": production.project.key,
        "projectRoot": production.project.root,
        "branchName": production.branch,
    }


def _skipped(production: Production) -> dict[str, Json]:
    if (skipped := production.skipped) is None:
        return {}
    first: dict[str, Json] = {
        "line": skipped.first.line,
        "byte": skipped.first.byte,
        "fact": skipped.first.fault.value,
    }
    return {"skipped": {"count": skipped.count, "first": first}}
