"""`curator backfill`: learn from sessions that were over before curator came, planned first and promoted by hand."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from curator.cli.options import AgentDir, AsJson, PlainCommand, ProjectDir, layout_of
from curator.cli.page import counted, document, dollars, say, warn
from curator.cli.progress import progress
from curator.errors import UsageError

if TYPE_CHECKING:
    from curator.app import App
    from curator.cli.review import SignalStop
    from curator.model.ids import Day
    from curator.tracks.backfill.importing import Read
    from curator.tracks.backfill.records import Plan, Will
    from curator.tracks.backfill.shelf import PlanShelf
    from curator.workflow.halting import Halted

app = typer.Typer(help="Learn from old sessions: plan, review in shadow, and promote by hand what is worth it.")

_INTERRUPTED: Final = 130
_LATER: Final = 75
"""Something that passes by itself, the day's limit for one, ended the run."""
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 86_400_000
_NANO: Final = 1_000_000_000
_COST_MAX: Final = 1_000_000
_KEEP_DAYS: Final = 14
_KEEP_DAYS_MAX: Final = 365
_UNITS: Final = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000, "t": 1_000_000_000_000}


def _complete(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of plans that begin so, for the shell."""
    from curator.errors import CuratorError
    from curator.tracks.backfill.shelf import plan_ids

    try:
        found = plan_ids(layout_of(ctx.params.get("agent_dir")))
    except CuratorError:
        return []
    return [each for each in found if each.startswith((incomplete, f"plan_{incomplete}"))]


PlanArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="PLAN", help="A plan's id, or its first digits.", autocompletion=_complete)
]


@app.command()
def plan(
    *,
    project: ProjectDir = None,
    since: Annotated[str | None, typer.Option("--since", metavar="DAY", help="Nothing that ended before.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DAY", help="Nothing that began after.")] = None,
    files_max: Annotated[
        int | None, typer.Option("--max-files", metavar="N", min=1, help="Read at most so many sessions, the latest.")
    ] = None,
    size_max: Annotated[
        str | None, typer.Option("--max-bytes", metavar="SIZE", help="Read at most so much, as 500M or 2G.")
    ] = None,
    calls_max: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", min=1, help="Ask at most so often.")
    ] = None,
    tokens_max: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=1, help="Use at most so many.")
    ] = None,
    cost_max: Annotated[
        float | None, typer.Option("--max-cost", metavar="DOLLARS", min=0, max=_COST_MAX, help="Spend at most so much.")
    ] = None,
    hours_max: Annotated[
        float | None,
        typer.Option("--max-hours", metavar="HOURS", min=0.01, max=10_000, help="Run at most so long at once."),
    ] = None,
    disk_max: Annotated[
        str | None,
        typer.Option("--max-disk", metavar="SIZE", help="Let the plan's own folder grow to at most so much."),
    ] = None,
    keep_days: Annotated[
        float,
        typer.Option("--keep-days", metavar="DAYS", min=0.01, max=_KEEP_DAYS_MAX, help="Keep proposals for so long."),
    ] = _KEEP_DAYS,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Look through a project's old sessions, and say what reviewing them would come to.

    Each file is read once; nothing is sent, nothing is spent, and no memory changes. The plan is kept under an id, with
    the digest of each file. The estimates are of what would be held for the calls: they are rarely passed.
    """
    from curator.cli.backfill_page import plan_document, plan_lines
    from curator.pi.project import find_project
    from curator.tracks.backfill.planning import Asked, make_plan
    from curator.tracks.backfill.records import Caps
    from curator.tracks.backfill.shelf import PlanShelf
    from curator.workflow.projects import refuse_excluded

    caps = Caps(
        since=_day(since, "--since"),
        until=_day(until, "--until"),
        files=files_max,
        size=_size(size_max, "--max-bytes"),
        calls=calls_max,
        tokens=tokens_max,
        cost_nanousd=None if cost_max is None else round(cost_max * _NANO),
        running_ms=None if hours_max is None else max(1, round(hours_max * _HOUR_MS)),
        disk=_size(disk_max, "--max-disk"),
    )
    opened = open_agent(agent_dir)
    asked = Asked(find_project(Path.cwd() if project is None else project), caps, max(1, round(keep_days * _DAY_MS)))
    refuse_excluded(opened.shop, asked.project.key)
    with progress(is_shown=not as_json) as show:
        made = make_plan(asked, opened.shop, os.environ, lambda done, of: show(done, of, "reading"))
    PlanShelf(opened.shop.volume, opened.layout, made.id).keep(made)
    if as_json:
        document(plan_document(made))
        return
    for line in plan_lines(made):
        say(line)


@app.command(cls=PlainCommand)
def run(
    plan_id: PlanArgument,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=1, max=64, help="Read sessions with so many processes.")
    ] = 1,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Read sessions on the Dask cluster of this scheduler."),
    ] = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Index a plan's sessions, then review them in shadow: what comes of it is staged, and memory stays as it is.

    Calls are counted against the day's limits and the plan's own. It may be interrupted or killed at any moment: run it
    again, and it goes on; no call whose answer came is made twice. Ends with 75 where a limit or the provider ended it for
    now, 76 or 77 where the plan was made by another release or its files have changed, and 130 where it was interrupted.
    """
    from curator.cli.review import SignalStop
    from curator.durable.clock import SystemClock

    with SignalStop(SystemClock()) as stop:
        return _run(plan_id, _readers(jobs, dask), agent_dir, stop, as_json=as_json)


def _readers(jobs: int, dask: str | None) -> Read:
    """Return who reads the sessions. Calls to the reviewer leave from here alone, whoever does."""
    from functools import partial

    if dask is None:
        from curator.tracks.trajectory.pool import read_sessions

        return partial(read_sessions, jobs=jobs)
    from curator.tracks.trajectory.fleet import read_sessions_on

    if jobs != 1:
        raise UsageError("--jobs is of this machine, and --dask of a cluster", remedy="Leave one of them out")
    return partial(read_sessions_on, dask)


def _run(given: str, read: Read, agent_dir: Path | None, stop: SignalStop, *, as_json: bool) -> int:
    from curator.cli.backfill_page import standing_document, standing_lines
    from curator.tracks.backfill.importing import changed_inputs, import_inputs
    from curator.tracks.backfill.planning import open_ledger
    from curator.tracks.backfill.review import Reviewed, review
    from curator.tracks.backfill.standing import standing_of
    from curator.workflow.projects import refuse_excluded

    opened = open_agent(agent_dir, stop)
    opened.refuse_foreign_worker()
    made, shelf = find_plan(given, opened)
    refuse_excluded(opened.shop, made.project_key)
    halted: Halted | None = None
    ledger = open_ledger(made.project_key, opened.shop)
    with shelf.alone(), contextlib.closing(ledger), progress(is_shown=not as_json) as show:
        _go_on(made, shelf, opened)
        changed = () if shelf.windows() is None else changed_inputs(made)
        windows = import_inputs(made, shelf, ledger, opened.shop, read, lambda done, of: show(done, of, "indexing"))
        done, count = len(shelf.staged_numbers()), 0 if windows is None else len(windows.windows)
        for step in review(made, shelf, ledger, opened.shop) if windows is not None else ():
            if isinstance(step, Reviewed):
                done += 1
                show(done, count, dollars(step.spent.cost_nanousd))
            else:
                halted = step
        opened.project()
    if as_json:
        told = standing_document(standing_of(made, shelf, opened.shop)) | {"changedInputs": len(changed)}
        document(told if halted is None else told | {"halted": halted.fact})
    else:
        if changed:
            say(f"{counted(len(changed), 'session')} changed since: what was planned of them is reviewed as it was.")
        for line in standing_lines(standing_of(made, shelf, opened.shop)):
            say(line)
        if halted is not None:
            warn(f"{halted.fact}. {halted.remedy}")
    if stop.is_set():
        return _INTERRUPTED
    return 0 if halted is None or halted.is_wanted else _LATER


@app.command("list")
def list_(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """List the plans, and how each stands."""
    from curator.cli.backfill_page import standing_document, standing_line
    from curator.errors import CuratorError
    from curator.tracks.backfill.shelf import PlanShelf, plan_ids
    from curator.tracks.backfill.standing import standing_of

    opened = open_agent(agent_dir)
    found, faults = [], []
    for name in plan_ids(opened.layout):
        shelf = PlanShelf(opened.shop.volume, opened.layout, name)
        try:
            found.append(standing_of(shelf.plan(), shelf, opened.shop))
        except CuratorError as error:
            faults.append(error)
    found.sort(key=lambda each: each.plan.created_at)
    if as_json:
        document({"plans": [standing_document(each) for each in found], "faults": [each.fact for each in faults]})
        return
    for each in found:
        say(standing_line(each))
    for fault in faults:
        say(f"Attention: {fault.fact}. {fault.remedy}.")
    if not found and not faults:
        say("No plans yet. Make one with `curator backfill plan --project FOLDER`.")


@app.command(cls=PlainCommand)
def status(plan_id: PlanArgument, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show how a plan stands: what is reviewed, what it cost, what is in memory, until when the rest is kept."""
    from curator.cli.backfill_page import standing_document, standing_lines
    from curator.tracks.backfill.standing import standing_of

    opened = open_agent(agent_dir)
    made, shelf = find_plan(plan_id, opened)
    standing = standing_of(made, shelf, opened.shop)
    if as_json:
        document(standing_document(standing))
        return
    for line in standing_lines(standing):
        say(line)


@app.command(cls=PlainCommand)
def pause(plan_id: PlanArgument, agent_dir: AgentDir = None) -> None:
    """Let a run end after the call that is under way. `curator backfill run` goes on."""
    opened = open_agent(agent_dir)
    made, shelf = find_plan(plan_id, opened)
    _refuse_over(made, shelf)
    _want(made, shelf, "pause", opened)
    say(f"{made.id} is paused.")


@app.command(cls=PlainCommand)
def cancel(plan_id: PlanArgument, agent_dir: AgentDir = None) -> None:
    """End a plan for good: what is staged goes, and what was not reviewed may be planned anew.

    What was promoted stays in memory, and `curator backfill rollback` still takes it back.
    """
    from curator.errors import BusyError
    from curator.tracks.backfill.expiry import end

    opened = open_agent(agent_dir)
    made, shelf = find_plan(plan_id, opened)
    # Cancelling again finishes what a run that went on, or a crash, had left.
    _want(made, shelf, "cancel", opened)
    try:
        with shelf.alone():
            gone = end(made, shelf, "cancel", opened.shop)
    except BusyError as error:
        raise BusyError(f"{error.fact}, and ends after its call", remedy="Cancel it again then") from error
    say(f"{made.id} is cancelled; {counted(gone, 'file')} of proposals and answers went.")


def open_agent(agent_dir: Path | None, stop: SignalStop | None = None) -> App:
    """Open the agent folder."""
    from curator.app import open_app
    from curator.cli.listener import sentences_for

    return open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)), stop=stop)


def find_plan(given: str, opened: App) -> tuple[Plan, PlanShelf]:
    """Return the plan that is named, and its folder."""
    from curator.tracks.backfill.shelf import PlanShelf, find_plan_id

    shelf = PlanShelf(opened.shop.volume, opened.layout, find_plan_id(opened.layout, given))
    return shelf.plan(), shelf


def _go_on(made: Plan, shelf: PlanShelf, opened: App) -> None:
    """Take a pause back: who runs a plan wants it to go on."""
    _refuse_over(made, shelf)
    wish = shelf.wish()
    if wish is not None and wish.will == "pause":
        _want(made, shelf, "run", opened)


def _refuse_over(made: Plan, shelf: PlanShelf) -> None:
    from curator.tracks.backfill.errors import PlanOverError

    wish = shelf.wish()
    if wish is not None and wish.will in ("cancel", "expire"):
        word = "was cancelled" if wish.will == "cancel" else "is over: its proposals were kept as long as it said"
        fact = f"{made.id}: this plan {word}"
        raise PlanOverError(fact)


def _want(made: Plan, shelf: PlanShelf, will: Will, opened: App) -> None:
    from curator.model.times import iso
    from curator.tracks.backfill.records import Wish

    shelf.want(Wish(plan_id=made.id, will=will, changed_at=iso(opened.shop.clock.now())))


def _day(text: str | None, option: str) -> Day | None:
    from curator.cli.budget import day_of_option

    return None if text is None else day_of_option(text, option)


def _size(text: str | None, option: str) -> int | None:
    """Return a size in bytes: a number, with K, M, G or T behind it where it is large."""
    if text is None:
        return None
    digits = text.strip().lower().removesuffix("b").rstrip("kmgt")
    unit = text.strip().lower().removesuffix("b")[len(digits) :]
    if not (digits.isascii() and digits.isdigit() and int(digits) and unit in _UNITS):
        raise UsageError(f"{option} takes a size, as 500M or 2G")
    return int(digits) * _UNITS[unit]
