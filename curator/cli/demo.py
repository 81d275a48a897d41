"""`curator demo`: a whole review at home, without a key and without Pi."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from curator.cli.page import counted, recite, say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Lay it out in this folder. [default: ~/.local/share/curator/demo]")
    ] = None,
) -> int:
    """Review a bundled Pi session with the offline reviewer, and show what memory gained."""
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.durable.volume import Volume
    from curator.workflow.demo import demo_folder, lay_out
    from curator.workflow.inspect.memory import memory_of
    from curator.workflow.producer import MAIN, enqueue_session

    folder = demo_folder(os.environ) if keep is None else Path(os.path.abspath(keep))  # noqa: PTH100 - no link is followed
    laid = lay_out(Volume(), folder)
    say(f"A session of a made-up project lies in {laid.session}.")
    opened = open_app(laid.layout.agent, environ=os.environ, listener=sentences_for(laid.layout))
    production = enqueue_session(opened.shop, laid.session, laid.project)
    for job in production.jobs:
        say(f"Queued what was said there: {counted(job.turns, 'turn')}, {counted(job.chars, 'character')}.")
    if not production.jobs:
        say("It was reviewed before, so there is nothing new to queue.")
    drained = opened.review_once()
    memory = memory_of(laid.layout, laid.project, MAIN)
    if not production.jobs:
        for entry in memory.branch.entries:
            recite(f"    {entry.text}")
    say()
    say(f"The project remembers {counted(len(memory.branch.entries), 'thing')}, in {memory.path}")
    say("Now with your own Pi:")
    say("  curator config init                say who reviews; the offline reviewer needs no key")
    say("  curator enqueue --session FILE     queue a session of yours")
    say("  curator review --once              review it, and see what changed")
    say("  curator memory undo                take it back")
    return 1 if drained.failed or drained.left else 0
