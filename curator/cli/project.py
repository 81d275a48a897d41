"""`curator project`: which projects are remembered, and a person's word on one of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from curator.cli.options import AgentDir, AsJson, PlainCommand, layout_of
from curator.cli.page import counted, document, moment, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.app import App
    from curator.model.digest import Json
    from curator.model.project import Standing, Wish
    from curator.workflow.linking import Link
    from curator.workflow.projects import ProjectView
    from curator.workflow.purging import Purge

app = typer.Typer(help="List projects, pause or exclude one, follow one that was moved, or forget one.")

ProjectArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="[FOLDER|KEY]", help="A project's folder, or the head of its key.")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do what the plan says.")]
_PLACES = {"there": "", "gone": ", which is gone", "elsewhere": ", which now leads elsewhere", "unknown": ""}


@app.command("list")
def list_(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """List the projects that are remembered here, and how each stands."""
    from curator.workflow.projects import list_projects

    views = list_projects(layout_of(agent_dir))
    if as_json:
        document({"projects": [_document(view) for view in views]})
        return
    for view in views:
        say(_line(view))
    if not views:
        say("No projects yet. Open Pi in one, or run `curator enqueue --session FILE`.")


@app.command(cls=PlainCommand)
def show(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show one project: its folder, what was decided about it, and its memory in figures."""
    from curator.workflow.projects import find_known, show_project

    layout = layout_of(agent_dir)
    view = show_project(layout, find_known(layout, project))
    if as_json:
        document(_document(view))
        return
    for name, fact in _facts(view):
        say(f"{name:<10} {fact}")


@app.command(cls=PlainCommand)
def pause(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let a project's jobs wait until it is resumed."""
    _decide(project, "paused", agent_dir, as_json=as_json)


@app.command(cls=PlainCommand)
def resume(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let the jobs of a paused or excluded project go on."""
    _decide(project, "active", agent_dir, as_json=as_json)


@app.command(cls=PlainCommand)
def exclude(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Leave a project alone for good: nothing is enqueued by curator, and what Pi enqueues waits."""
    _decide(project, "excluded", agent_dir, as_json=as_json)


@app.command(cls=PlainCommand)
def link(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The folder as it was called, or the head of its key.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The folder as it is called now.")],
    yes: Yes = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Let a renamed or moved folder keep its memory. Shows the plan; --yes does it."""
    from curator.workflow.linking import link as link_projects
    from curator.workflow.linking import plan_link
    from curator.workflow.projects import find_key

    opened = _open(agent_dir)
    plan = plan_link(opened.shop, find_key(opened.layout, old), new)
    made = link_projects(opened.shop, plan) if yes else ()
    if as_json:
        document(_link_document(plan, made, is_done=yes))
        return
    for line in _link_lines(plan):
        say(line)
    if yes:
        say(f"{plan.new.root} has the memory of {plan.old.root} now; {counted(len(made), 'job')} made anew.")
    else:
        say("Nothing was done. Run it again with --yes to do it.")


@app.command(cls=PlainCommand)
def purge(
    project: Annotated[str, typer.Argument(metavar="FOLDER|KEY", help="A project's folder, or the head of its key.")],
    yes: Yes = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Forget a project: its memory, its jobs and what was made of them. Shows the plan; --yes does it."""
    from curator.tracks.backfill.expiry import forget_project
    from curator.workflow.projects import find_known
    from curator.workflow.purging import plan_purge
    from curator.workflow.purging import purge as purge_project

    opened = _open(agent_dir)
    plan = plan_purge(opened.shop, find_known(opened.layout, project))
    if yes:
        purge_project(opened.shop, plan.view.key)
        forget_project(plan.view.key, opened.shop)
    if as_json:
        document(_purge_document(plan, is_done=yes))
        return
    for line in _purge_lines(plan):
        say(line)
    say("It is forgotten." if yes else "Nothing was done. Run it again with --yes to do it; it cannot be undone.")


_SAID = {
    "paused": "paused: its jobs wait. Run `curator project resume` to let them go on",
    "active": "active: its jobs go on",
    "excluded": "excluded: curator leaves it alone. Run `curator project resume` to take that back",
}


def _decide(given: str, wish: Wish, agent_dir: Path | None, *, as_json: bool) -> None:
    from curator.workflow.projects import decide, find_key

    opened = _open(agent_dir)
    standing = decide(opened.shop, find_key(opened.layout, given), wish)
    if as_json:
        document(standing.encode())
        return
    say(f"{standing.project_root or standing.project_key} is {_SAID[wish]}.")


def _open(agent_dir: Path | None) -> App:
    from curator.app import open_app
    from curator.cli.listener import sentences_for

    return open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))


def _line(view: ProjectView) -> str:
    entries = sum(branch.entries for branch in view.branches)
    waiting = view.waiting + view.running + view.held
    jobs = f", {counted(waiting, 'job')}" if waiting else ""
    where = (view.root or "a folder that nothing names") + _PLACES[view.place]
    return f"{view.key[:12]}  {view.word:<12} {counted(entries, 'entry', 'entries')}{jobs}  {where}"


def _facts(view: ProjectView) -> Iterator[tuple[str, str]]:
    yield "project", view.key
    yield "folder", (view.root or "not recorded") + _PLACES[view.place]
    yield "state", view.word
    if view.standing is not None:
        yield from _decided(view.standing)
    for branch in view.branches:
        figures = f"{counted(branch.entries, 'entry', 'entries')}, {counted(branch.chars, 'character')}"
        yield "memory", f"branch {branch.name}: {figures}, {counted(branch.revisions, 'revision')}"
    yield "jobs", f"{view.waiting} waiting, {view.running} running, {view.held} held"
    for fault in view.faults:
        yield "fault", fault


def _decided(standing: Standing) -> Iterator[tuple[str, str]]:
    yield "since", moment(standing.changed_at)
    if standing.linked_to is not None:
        yield "goes on as", standing.linked_to
    if standing.linked_from is not None:
        yield "came from", standing.linked_from
    if standing.purged_at is not None:
        yield "purged", moment(standing.purged_at)


def _link_lines(plan: Link) -> Iterator[str]:
    yield f"from       {plan.old.root} ({plan.old.key[:12]})"
    yield f"to         {plan.new.root} ({plan.new.key[:12]})"
    for branch in plan.branches:
        revisions = counted(len(plan.histories.get(branch.name, {})), "revision")
        yield f"memory     branch {branch.name}: {counted(len(branch.entries), 'entry', 'entries')}, {revisions}"
    if plan.decided:
        yield f"decided    {counted(len(plan.decided), 'job')}: first carried to its end, for it is paid for"
    if plan.jobs:
        yield f"waiting    {counted(len(plan.jobs), 'job')}: made anew for the new place"
    yield "kept       the old store, marked as linked; the extension's skills of this project stay there"


def _link_document(plan: Link, made: tuple[str, ...], *, is_done: bool) -> Json:
    return {
        "isDone": is_done,
        "from": {"projectKey": plan.old.key, "projectRoot": plan.old.root},
        "to": {"projectKey": plan.new.key, "projectRoot": plan.new.root},
        "branches": [
            {"name": each.name, "entries": len(each.entries), "revisions": len(plan.histories.get(each.name, {}))}
            for each in plan.branches
        ],
        "decided": list(plan.decided),
        "jobs": list(plan.jobs),
        "madeAnew": list(made),
    }


def _purge_lines(plan: Purge) -> Iterator[str]:
    view = plan.view
    yield f"project    {view.root or view.key}"
    for branch in view.branches:
        figures = f"{counted(branch.entries, 'entry', 'entries')}, {counted(branch.revisions, 'revision')}"
        yield f"memory     branch {branch.name}: {figures}"
    yield f"jobs       {view.waiting + view.held} waiting or held: ended without a review"
    yield f"traces     evidence, results, decisions and outcomes of {counted(len(plan.jobs), 'job')}"
    for letter in plan.letters:
        yield f"set aside  {letter}"
    yield "said       what was indexed of its sessions, and what Pi handed over of them"
    yield "kept       every attempt and what it cost, and closing records, which hold ids and figures alone"
    if plan.origin is not None:
        again = f"`curator project purge {plan.origin[:12]}`"
        yield f"stays      the memory and evidence of {plan.origin[:12]}, from which it was linked; to forget that too: {again}"
    for path in plan.kept:
        yield f"Pi keeps   {path}"
    yield "Pi keeps   the sessions that were held in that folder"


def _purge_document(plan: Purge, *, is_done: bool) -> Json:
    view = plan.view
    return {
        "isDone": is_done,
        "project": _document(view),
        "jobs": list(plan.jobs),
        "letters": [str(path) for path in plan.letters],
        "kept": [str(path) for path in plan.kept],
        "linkedFrom": plan.origin,
    }


def _document(view: ProjectView) -> Json:
    told: dict[str, Json] = {"projectKey": view.key, "state": view.word, "place": view.place}
    if view.root is not None:
        told["projectRoot"] = view.root
    if view.standing is not None:
        told["standing"] = view.standing.encode()
    return told | {
        "branches": [
            {"name": each.name, "entries": each.entries, "chars": each.chars, "revisions": each.revisions}
            for each in view.branches
        ],
        "jobs": {"waiting": view.waiting, "running": view.running, "held": view.held},
        "faults": list(view.faults),
    }
