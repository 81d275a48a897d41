"""`curator demo`: a whole review at home, without a key and without Pi."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AsJson
from curator.cli.page import command, counted, document, recite, say

if TYPE_CHECKING:
    from curator.model.digest import Json
    from curator.model.event import Drained, Event
    from curator.model.ports import Listener
    from curator.workflow.demo import Demo
    from curator.workflow.inspect.memory import Memory
    from curator.workflow.producer import Production


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="FOLDER", help="Lay it out in this folder. [default: ~/.local/share/curator/demo]"
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Review a bundled Pi session, without key or network.

    The offline reviewer reads it, and what memory gained is shown. Nothing outside the demo's folder is touched.
    """
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.durable.volume import Volume
    from curator.workflow.demo import demo_folder, lay_out
    from curator.workflow.inspect.memory import memory_of
    from curator.workflow.producer import MAIN, enqueue_session

    folder = demo_folder(os.environ) if keep is None else Path(os.path.abspath(keep))  # noqa: PTH100 - no link is followed
    laid = lay_out(Volume(), folder)
    listener: Listener = _Silence() if as_json else sentences_for(laid.layout)
    if not as_json:
        say(f"A session of a made-up project lies in {laid.session}.")
    opened = open_app(laid.layout.agent, environ=os.environ, listener=listener)
    production = enqueue_session(opened.shop, laid.session, laid.project)
    if not as_json:
        _tell_queued(production)
    drained = opened.review_once()
    memory = memory_of(laid.layout, laid.project, MAIN)
    if as_json:
        document(_document(laid, production, drained, memory))
    else:
        _tell_memory(memory, is_new=bool(production.jobs))
    return 1 if drained.failed or drained.left else 0


class _Silence:
    """Nobody listens: a program reads the one document at the end."""

    def tell(self, event: Event) -> None:
        """Keep quiet."""


def _tell_queued(production: Production) -> None:
    for job in production.jobs:
        say(f"Queued what was said there: {counted(job.turns, 'turn')}, {counted(job.chars, 'character')}.")
    if not production.jobs:
        say("It was reviewed before, so there is nothing new to queue.")


def _tell_memory(memory: Memory, *, is_new: bool) -> None:
    if not is_new:
        for entry in memory.branch.entries:
            recite(f"    {entry.text}")
    say()
    say(f"The project remembers {counted(len(memory.branch.entries), 'thing')}, in {memory.path}")
    say("Now with your own Pi:")
    lines = (
        ("config init", "say who reviews; the offline reviewer needs no key"),
        ("enqueue --session FILE", "queue a session of yours"),
        ("review --once", "review it, and see what changed"),
        ("memory undo", "take it back"),
    )
    for words, meaning in lines:
        say(f"  {command()} {words:<25}{meaning}")


def _document(laid: Demo, production: Production, drained: Drained, memory: Memory) -> Json:
    return {
        "folder": str(laid.folder),
        "agentDir": str(laid.layout.agent),
        "session": str(laid.session),
        "jobs": [job.job_id for job in production.jobs],
        "completed": drained.completed,
        "failed": drained.failed,
        "left": drained.left,
        "path": str(memory.path),
        "entries": [entry.encode() for entry in memory.branch.entries],
    }
