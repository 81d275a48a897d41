"""`curator report`: what happened, as one page for a browser; in a file, or kept live on this machine."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curator.cli.options import AgentDir, layout_of
from curator.cli.page import say, warn
from curator.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.audit.questions import Scope
    from curator.audit.report.page import Report
    from curator.durable.layout import Layout

_ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STDOUT: Final = Path("-")
_PORTS_MAX: Final = 65_535


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    target: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; - is standard output. [default: in the agent folder]"
        ),
    ] = None,
    is_opened: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
    is_served: Annotated[bool, typer.Option("--serve", help="Keep it live on this machine until Ctrl-C.")] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=_PORTS_MAX, help="The port for --serve. [default: any]"),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="FOLDER", help="One project, by a folder of it or its key. [default: all]"),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DAY", help="From this UTC day on, YYYY-MM-DD. [default: all]")
    ] = None,
    agent_dir: AgentDir = None,
) -> None:
    """Write a page of what happened: spend, calls, outcomes, queue, memory and how it changed, what was set aside.

    The page is one file, which asks no network and runs nothing. It shows words of memory, none of evidence, so only you
    may read it. With --serve it is kept live at an address of this machine that nobody can guess.
    """
    from curator.cli.audit import scope_of

    if port is not None and not is_served:
        raise UsageError("--port goes with --serve")
    if is_opened and target == _STDOUT:
        raise UsageError("a browser opens no standard output", remedy="Leave --open or the - out")
    if is_served and target is not None:
        raise UsageError("--serve writes no file", remedy="Leave --output or --serve out")
    layout = layout_of(agent_dir)
    if not layout.root.is_dir():
        raise NotFoundError(f"{layout.root}: there is nothing to tell of", remedy="Run `curator config init` first")
    scope = scope_of(since, project)
    if is_served:
        _serve(layout, scope, port or 0, is_opened=is_opened)
    else:
        _write(layout, scope, target, is_opened=is_opened)


def _write(layout: Layout, scope: Scope, target: Path | None, *, is_opened: bool) -> None:
    from curator.audit.report.page import page
    from curator.cli.audit import progress
    from curator.durable.publish import ensure_directory, replace
    from curator.durable.volume import Volume

    with progress() as tell:
        made = _made(layout, scope, tell)
        written = page(made)
    if target == _STDOUT:
        sys.stdout.write(written)
        return
    path = layout.report if target is None else target.absolute()
    if target is None:
        ensure_directory(Volume(), path.parent)
    replace(Volume(), path, written.encode())
    say(f"The page is {path}")
    if not made.can_draw:
        _advise()
    if is_opened:
        _open(path.as_uri())


def _serve(layout: Layout, scope: Scope, port: int, *, is_opened: bool) -> None:
    from curator.audit.report.picture import can_draw
    from curator.audit.report.serve import ReportServer, Source

    warned = _once()
    with ReportServer(Source(lambda: _made(layout, scope, None, warned)), port) as server:
        # A queue, for an event's own lock may be held by the very thread that the signal interrupts.
        ends: SimpleQueue[int] = SimpleQueue()
        before = [(number, signal.signal(number, lambda number, _: ends.put(number))) for number in _ENDS]
        serving = threading.Thread(target=server.serve_forever, name="report", daemon=True)
        serving.start()
        try:
            say(f"The page is live at {server.url} until Ctrl-C. Whoever has this address can read it.")
            if not can_draw():
                _advise()
            sys.stdout.flush()
            if is_opened:
                _open(server.ticket_url())
            ends.get()
        finally:
            server.shutdown()
            serving.join()
            for number, handler in before:
                signal.signal(number, handler)


def _made(
    layout: Layout,
    scope: Scope,
    tell: Callable[[int, int], None] | None,
    warned: Callable[[str], None] = warn,
) -> Report:
    from curator.audit.report.make import report_of
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume

    return report_of(layout, Volume(), warned, scope, SystemClock().now(), tell)


def _once() -> Callable[[str], None]:
    """Return a complaint that is not said again and again, as long as it is the same."""
    said: set[str] = set()

    def tell(text: str) -> None:
        if text not in said:
            said.add(text)
            warn(text)

    return tell


def _advise() -> None:
    from curator.audit.report.picture import MISSING

    say(f"It has figures and no pictures: what draws them is brought by {MISSING}")


def _open(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        warn("no browser was found to open it")
