"""Fold once and end: `python -m curator.audit AGENT_FOLDER`, which the service starts at its quiet moments."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from curator.audit.database import fold_in
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import CuratorError

_NICE: Final = 10


def main(agent: str) -> int:
    """Fold one agent folder; what is to be told goes to stderr."""
    os.nice(_NICE)
    try:
        fold_in(Layout(Path(agent)), Volume(), _say, wait_ms=0)
    except CuratorError as error:
        if error.code != "busy":
            _say(error.fact)
        return error.exit_status
    return 0


def _say(fact: str) -> None:
    sys.stderr.write(f"{fact}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
