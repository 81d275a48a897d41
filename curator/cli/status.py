"""`curator status`: how everything stands, at one look or for as long as somebody looks."""

from __future__ import annotations

import select
import signal
import sys
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import clean, document, is_terminal, mended, moment, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.text import Text

    from curator.durable.layout import Layout
    from curator.workflow.inspect.status import Status

_EVERY_S: Final = 1.0
"""How often a look is taken while somebody watches."""
_ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            "-w",
            help="Go on looking until Ctrl-C: redrawn on a terminal, elsewhere one line for each change.",
        ),
    ] = False,
) -> None:
    """Show at one look how everything stands.

    Worker, what runs in which step, queue, projects, budget, storage and the last results, and first what needs somebody.
    Changes nothing. In a bar of the budget # is spent, = held for what is under way, ? unknown, and . is left.
    """
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.status import look

    layout = layout_of(agent_dir)
    if watch:
        _watch(layout, as_json=as_json)
        return
    from curator.cli.status_page import status_document, status_lines

    found = look(layout, SystemClock().now())
    if as_json:
        document(status_document(layout, found))
        return
    for line in status_lines(layout, found):
        say(line)


def _watch(layout: Layout, *, as_json: bool) -> None:
    """Show every look until a signal ends it: that is how a watch ends, and no failure."""
    looks = _looks(layout)
    if as_json:
        _tell_changes(looks, lambda found: _as_document(layout, found))
    elif is_terminal(sys.stdout):
        _redraw(layout, looks)
    else:
        _tell_changes(looks, _as_line)


def _looks(layout: Layout) -> Iterator[Status]:
    """Yield a look each second until a signal comes; what cannot have changed is not read again."""
    from curator.durable.clock import SystemClock
    from curator.workflow.inspect.watching import Watching

    # A queue, for an event's own lock may be held by the very thread that the signal interrupts.
    ends: SimpleQueue[int] = SimpleQueue()
    before = [(number, signal.signal(number, lambda number, _: ends.put(number))) for number in _ENDS]
    clock, watching = SystemClock(), Watching(layout)
    try:
        while True:
            yield watching.look(clock.now())
            try:
                ends.get(timeout=_EVERY_S)
            except Empty:
                _prove_heard()
                continue
            return
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _prove_heard() -> None:
    """Raise `BrokenPipeError` where whoever read stdout has gone: with nothing new to write, no write would tell."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if any(happened & (select.POLLERR | select.POLLHUP) for _, happened in poll.poll(0)):
        raise BrokenPipeError


def _tell_changes(looks: Iterator[Status], tell: Callable[[Status], tuple[object, Callable[[], None]]]) -> None:
    """Write what differs from what was written last."""
    last: object = None
    for found in looks:
        told, write = tell(found)
        if told != last:
            write()
            sys.stdout.flush()
            last = told


def _as_document(layout: Layout, found: Status) -> tuple[object, Callable[[], None]]:
    from curator.cli.status_page import status_document

    told = status_document(layout, found)
    return {**told, "at": None}, lambda: document(told)


def _as_line(found: Status) -> tuple[object, Callable[[], None]]:
    from curator.cli.status_page import status_glance
    from curator.model.times import iso

    told = status_glance(found)
    return told, lambda: say(f"{moment(iso(found.now))}  {told}")


def _redraw(layout: Layout, looks: Iterator[Status]) -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(highlight=False), auto_refresh=False) as live:
        for found in looks:
            live.update(_drawn(layout, found), refresh=True)


def _drawn(layout: Layout, found: Status) -> Text:
    from rich.text import Text

    from curator.cli.status_page import status_lines
    from curator.model.times import iso

    lines = [f"{moment(iso(found.now))}, each second until Ctrl-C", *status_lines(layout, found)]
    return Text("\n".join(clean(mended(line)) for line in lines))
