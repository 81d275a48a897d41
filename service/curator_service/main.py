"""`curator-service`: the long-lived worker, for a service manager or a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from curator import __version__
from curator.app import new_clock, open_app
from curator.errors import CuratorError
from curator.logs import Log
from curator.model.event import Degraded, Stopped
from curator_service.collapse import Collapsing
from curator_service.heap import keep_few_arenas
from curator_service.loop import Service, Signals
from curator_service.notify import Notifier
from curator_service.outlet import Outlet
from curator_service.stall import LIMIT_S, STATUS, StallWatch
from curator_service.wake import Wake

if TYPE_CHECKING:
    from curator.model.ports import Listener

_STDERR: Final = 2


def run() -> int:
    """Serve until a signal; return the exit status."""
    _open_missing()
    outlet = Outlet(_STDERR)
    try:
        return _serve(outlet)
    finally:
        outlet.end()


def _serve(outlet: Outlet) -> int:
    os.umask(0o077)
    keep_few_arenas()
    asked = _arguments()
    clock = new_clock()
    signals = Signals(clock)
    signals.install()
    log = outlet.text()
    # No service manager's variable tells the form: terminals inherit those as well.
    listener = Collapsing(Log(log, clock, "console" if log.isatty() else "json"), clock)
    try:
        app = open_app(asked.agent_dir, environ=os.environ, worker_id=asked.worker_id, listener=listener)
        app.prepare()
        wake = Wake(
            app.watched_folders(), lambda fact: listener.tell(Degraded(fact, "Jobs are found by looking instead"))
        )
        signals.wake(wake.poke)
        notifier = Notifier(os.environ)
        Service(app, clock, notifier, wake, signals, _stall_watch(notifier, listener, outlet)).run()
    except CuratorError as error:
        log.write(f"curator-service: {error}".replace("\n", " ") + "\n")
        return error.exit_status
    return 0


def _stall_watch(notifier: Notifier, listener: Listener, outlet: Outlet) -> StallWatch:
    """Return what ends a process whose loop stands still, unless a manager does."""

    def give_up(limit_s: float) -> None:
        fact = (
            f"nothing was looked for in {limit_s:g} s: the loop stands still, so the process ends with status {STATUS}"
        )
        listener.tell(Stopped("service", "stalled", fact, "What was under way returns by its lease; please report it"))
        outlet.end()
        # A thread cannot end a main thread that hangs.
        os._exit(STATUS)

    limit_s = LIMIT_S if notifier.watchdog_s is None else 2 * notifier.watchdog_s
    return StallWatch(None if notifier.is_heard else limit_s, give_up)


def _open_missing() -> None:
    """Open the standard streams that whoever started us closed, so that no file of ours takes their number."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    while nowhere <= _STDERR:
        nowhere = os.dup(nowhere)
    os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", encoding="utf-8", closefd=False)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End with one line, as every command does."""
        self.exit(2, f"curator-service: {message}. See `curator-service --help`\n")


def _arguments() -> argparse.Namespace:
    parser = _Parser(
        prog="curator-service",
        description="Review the jobs of Pi's agent folder as they come, until stopped. See `curator service install`.",
    )
    parser.add_argument(
        "--agent-dir", type=Path, help="Pi's agent folder (default: PI_CODING_AGENT_DIR, or ~/.pi/agent)"
    )
    parser.add_argument("--version", action="version", version=f"curator-service {__version__}")
    parser.add_argument("--worker-id", help="the worker's name in heartbeats, after `curator:`")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run())
