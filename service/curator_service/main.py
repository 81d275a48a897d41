"""`curator-service`: the long-lived worker, for a service manager or a terminal."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from curator import __version__
from curator.app import new_clock, open_app
from curator.errors import CuratorError
from curator.logs import Form, Log
from curator.model.event import Degraded
from curator_service.collapse import Collapsing
from curator_service.loop import Service, Signals
from curator_service.notify import Notifier
from curator_service.wake import Wake

_STDERR: Final = 2


def run() -> int:
    """Serve until a signal; return the exit status."""
    _open_missing()
    try:
        return _serve()
    finally:
        _drop_unwritten()


def _serve() -> int:
    os.umask(0o077)
    asked = _arguments()
    clock = new_clock()
    signals = Signals(clock)
    signals.install()
    listener = Collapsing(Log(sys.stderr, clock, _form()), clock)
    try:
        app = open_app(asked.agent_dir, environ=os.environ, worker_id=asked.worker_id, listener=listener)
        app.prepare()
        wake = Wake(
            app.watched_folders(), lambda fact: listener.tell(Degraded(fact, "Jobs are found by looking instead"))
        )
        signals.wake(wake.poke)
        Service(app, clock, Notifier(os.environ), wake, signals).run()
    except CuratorError as error:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"curator-service: {error}".replace("\n", " ") + "\n")
        return error.exit_status
    return 0


def _open_missing() -> None:
    """Open the standard streams that whoever started us closed, so that no file of ours takes their number."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    while nowhere <= _STDERR:
        nowhere = os.dup(nowhere)
    os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", encoding="utf-8", closefd=False)


def _drop_unwritten() -> None:
    """Let what the log could not take go nowhere: how the service ended says its status, not its log."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="curator-service",
        description="Review the jobs of Pi's agent folder as they come, until stopped. See `curator service install`.",
    )
    parser.add_argument(
        "--agent-dir", type=Path, help="Pi's agent folder (default: PI_CODING_AGENT_DIR, or ~/.pi/agent)"
    )
    parser.add_argument("--version", action="version", version=f"curator-service {__version__}")
    parser.add_argument("--worker-id", help="the worker's name in heartbeats, after `curator:`")
    return parser.parse_args()


def _form() -> Form:
    """Return the form that suits who reads. No service manager's variable tells: terminals inherit those as well."""
    return "console" if sys.stderr.isatty() else "json"


if __name__ == "__main__":
    sys.exit(run())
