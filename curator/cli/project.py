"""`curator project`: which projects are remembered, and a person's word on one of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, moment, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.app import App
    from curator.model.digest import Json
    from curator.model.project import Standing, Wish
    from curator.workflow.projects import ProjectView

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


@app.command()
def show(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show one project: its folder, what was decided about it, and its memory in figures."""
    from curator.workflow.projects import find_key, show_project

    layout = layout_of(agent_dir)
    view = show_project(layout, find_key(layout, project))
    if as_json:
        document(_document(view))
        return
    for name, fact in _facts(view):
        say(f"{name:<10} {fact}")


@app.command()
def pause(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let a project's jobs wait until it is resumed."""
    _decide(project, "paused", agent_dir, as_json=as_json)


@app.command()
def resume(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let the jobs of a paused or excluded project go on."""
    _decide(project, "active", agent_dir, as_json=as_json)


@app.command()
def exclude(project: ProjectArgument = ".", agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Leave a project alone for good: nothing is enqueued by curator, and what Pi enqueues waits."""
    _decide(project, "excluded", agent_dir, as_json=as_json)


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
