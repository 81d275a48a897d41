"""`curator-service`: the long-lived worker, for a service manager or a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from curator.app import new_clock, open_app
from curator.errors import CuratorError
from curator.logs import Form, Log
from curator.model.event import Degraded
from curator_service.collapse import Collapsing
from curator_service.loop import Service, Signals
from curator_service.notify import Notifier
from curator_service.wake import Wake

_MANAGED: Final = ("INVOCATION_ID", "XPC_SERVICE_NAME")
"""What systemd and launchd set in the environment of what they start."""


def run() -> int:
    """Serve until a signal; return the exit status."""
    os.umask(0o077)
    asked = _arguments()
    clock = new_clock()
    listener = Collapsing(Log(sys.stderr, clock, _form(os.environ)), clock)
    wake: Wake | None = None
    try:
        app = open_app(asked.agent_dir, environ=os.environ, worker_id=asked.worker_id, listener=listener)
        app.prepare()
        wake = Wake(
            app.watched_folders(), lambda fact: listener.tell(Degraded(fact, "Jobs are found by looking instead"))
        )
        signals = Signals(wake.poke)
        signals.install()
        Service(app, clock, Notifier(os.environ), wake, signals).run()
    except CuratorError as error:
        sys.stderr.write(f"curator-service: {error}\n")
        return error.exit_status
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="curator-service",
        description="Review the jobs of Pi's agent folder as they come, until stopped. See `curator service install`.",
    )
    parser.add_argument(
        "--agent-dir", type=Path, help="Pi's agent folder (default: PI_CODING_AGENT_DIR, or ~/.pi/agent)"
    )
    parser.add_argument("--worker-id", help="the worker's name in heartbeats, after `curator:`")
    return parser.parse_args()


def _form(environ: Mapping[str, str]) -> Form:
    is_managed = any(environ.get(name) for name in _MANAGED)
    return "json" if is_managed or not sys.stderr.isatty() else "console"


if __name__ == "__main__":
    sys.exit(run())
