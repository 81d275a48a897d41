"""`curator release`: leave the agent folder so that another worker of the protocol may take over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, moment, say, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.model.digest import Json
    from curator.workflow.handover import HandedOver


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(release)


def release(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Finish what has begun without any call, so that another worker may take over. Stop the service first."""
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.workflow.handover import hand_over

    opened = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))
    done = hand_over(opened.shop)
    if as_json:
        document(_document(done))
        return
    for line in _lines(done):
        say(line)


def _lines(done: HandedOver) -> Iterator[str]:
    for job_id in done.let_go:
        yield f"{short(job_id)}: its worker is gone, so it waits in the queue again."
    for job_id in done.closed:
        yield f"{short(job_id)}: was decided, and is over now; nobody was asked."
    if done.stopped:
        yield f"Said of {counted(done.stopped, 'dead worker')} that it has stopped."
    yield f"The accounting that Pi and other workers read is exact for {', '.join(done.days)}."
    for running in done.leased:
        until = moment(running.lease_until)
        yield f"{short(running.job.id)} is leased to {running.worker_id} until {until}, and returns by itself then."
    yield f"{counted(done.waiting, 'job')} in the queue. Another worker may take over now."
    yield "If a unit of curator is installed, run `curator service uninstall`, or it starts at the next login."


def _document(done: HandedOver) -> Json:
    return {
        "letGo": list(done.let_go),
        "closed": list(done.closed),
        "days": list(done.days),
        "stopped": done.stopped,
        "waiting": done.waiting,
        "leased": [
            {"jobId": each.job.id, "workerId": each.worker_id, "leaseUntil": each.lease_until} for each in done.leased
        ],
    }
