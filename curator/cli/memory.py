"""`curator memory`: what a project remembers, how it came to be, and taking the last review back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curator.cli.options import AgentDir, AsJson, BranchOption, ProjectDir, layout_of
from curator.cli.page import counted, document, moment, recite, say
from curator.errors import UsageError

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.model.ids import BranchName
    from curator.model.memory import Entry
    from curator.workflow.inspect.history import Step
    from curator.workflow.inspect.memory import Memory

app = typer.Typer(help="Show memory and its history, or take a review back.")


@app.command()
def show(
    project: ProjectDir = None, branch: BranchOption = "main", agent_dir: AgentDir = None, as_json: AsJson = False
) -> None:
    """Show what a project remembers."""
    from curator.admission.apply import TARGET_CHARS

    memory = _memory_of(layout_of(agent_dir), project, branch)
    entries = memory.branch.entries
    is_full = memory.branch.chars >= TARGET_CHARS
    if as_json:
        told: list[Json] = [entry.encode() for entry in entries]
        document(_head(memory) | {"chars": memory.branch.chars, "isFull": is_full, "entries": told})
        return
    size = f"{counted(len(entries), 'entry', 'entries')}, {counted(memory.branch.chars, 'character')}"
    if is_full:
        size += f": full, for its working size is {TARGET_CHARS:,}"
    say(f"{memory.root}, branch {memory.branch.name}: {size}, in {memory.path}")
    for entry in entries:
        recite(f"  {_mark(entry)} {entry.text}".replace("\n", "\n    "))


@app.command()
def log(
    project: ProjectDir = None, branch: BranchOption = "main", agent_dir: AgentDir = None, as_json: AsJson = False
) -> None:
    """Show how a project's memory came to be.

    The latest change comes last. A text that is in memory no longer is shown while its review's decision is kept.
    """
    from curator.cli.changes import changes_document, show_changes
    from curator.workflow.inspect.memory import log_of

    layout = layout_of(agent_dir)
    memory = _memory_of(layout, project, branch)
    steps = log_of(layout, memory)
    if as_json:
        told: list[Json] = [_step_document(step) | {"changes": changes_document(step.lines)} for step in steps]
        document(_head(memory) | {"revisions": told})
        return
    if not steps:
        say(f"{memory.root}, branch {memory.branch.name}: no review has changed it yet.")
    for step in steps:
        kind = "undo" if step.is_undone else "review"
        say(f"{step.revision.sequence}. {kind}, {moment(step.revision.committed_at)}")
        show_changes(step.lines)


@app.command()
def undo(
    project: ProjectDir = None, branch: BranchOption = "main", agent_dir: AgentDir = None, as_json: AsJson = False
) -> None:
    """Take the last review of a branch back, whole or not at all.

    What was written since to other entries stays. If an entry of that review was changed since, nothing is taken back
    and the entry is named. `/memory undo` in Pi does the same.
    """
    from curator.app import open_app
    from curator.cli.changes import changes_document, show_changes
    from curator.cli.listener import sentences_for
    from curator.workflow.inspect.history import lines_between
    from curator.workflow.undo import undo as take_back

    layout = layout_of(agent_dir)
    memory = _memory_of(layout, project, branch)
    opened = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout))
    undone = take_back(opened.shop, memory.key, memory.branch.name)
    lines = lines_between(undone.before, undone.after)
    if as_json:
        revision: dict[str, Json] = {"revisionId": undone.revision.id, "undone": undone.revision.review_revision_id}
        document(_head(memory) | revision | {"changes": changes_document(lines)})
        return
    say(f"{memory.root}, branch {memory.branch.name}: the last review is taken back.")
    show_changes(lines)


def _memory_of(layout: Layout, project: Path | None, branch: str) -> Memory:
    from curator.workflow.inspect.memory import memory_of

    return memory_of(layout, Path.cwd() if project is None else project, _branch_name(branch))


def _branch_name(branch: str) -> BranchName:
    from curator.model.ids import BRANCH_NAME_PATTERN, BranchName

    if not BRANCH_NAME_PATTERN.fullmatch(branch):
        raise UsageError(f"{branch!a} is not a branch's name", remedy="The first branch is called main")
    return BranchName(branch)


def _mark(entry: Entry) -> str:
    return "-" if entry.importance == "normal" else f"- [{entry.importance}]"


def _head(memory: Memory) -> dict[str, Json]:
    return {
        "projectRoot": memory.root,
        "projectKey": memory.key,
        "branchName": memory.branch.name,
        "path": str(memory.path),
    }


def _step_document(step: Step) -> dict[str, Json]:
    revision = step.revision
    kind = "undo" if step.is_undone else "review"
    return {"sequence": revision.sequence, "id": revision.id, "kind": kind, "committedAt": revision.committed_at}
