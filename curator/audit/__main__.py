"""Fold once and end: `python -m curator.audit AGENT_FOLDER`, which the service starts at its quiet moments."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from curator.audit.database import ask, fold_in
from curator.durable.clock import SystemClock
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import CuratorError
from curator.workflow.settings_files import read_curator

_NICE: Final = 10


def main(agent: str) -> int:
    """Fold one agent folder; what is to be told goes to stderr."""
    os.nice(_NICE)
    layout = Layout(Path(agent))
    folded = _told(partial(fold_in, layout, Volume(), _say, turn_ms=0))
    # Whoever else folds, or mends what is wrong, writes the figures after it.
    written = 0 if folded else _told(partial(_write_metrics, layout))
    return max(folded, written, _told(partial(_fold_out, layout)))


def _write_metrics(layout: Layout) -> None:
    textfile = read_curator(layout).metrics.textfile
    if textfile is not None:
        from curator.audit.metrics import limits_of, metrics_of, write_textfile  # noqa: PLC0415 - most have no such file

        limits, now = limits_of(layout), SystemClock().now()
        volume = Volume()
        data = ask(layout, volume, _say, lambda connection: metrics_of(connection, limits, now))
        write_textfile(volume, Path(textfile), data)


def _fold_out(layout: Layout) -> None:
    url = read_curator(layout).audit.url
    if url is not None:
        from curator.audit.server import fold_out  # noqa: PLC0415 - most have no such server

        fold_out(layout, url)


def _told(step: Callable[[], object]) -> int:
    try:
        step()
    except CuratorError as error:
        if error.code != "busy":
            _say(error.fact)
        return error.exit_status
    return 0


def _say(fact: str) -> None:
    sys.stderr.write(f"{fact}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
