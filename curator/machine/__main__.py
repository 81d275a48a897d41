"""Print the machines as the README shows them: `python -m curator.machine`."""

from __future__ import annotations

import sys

from curator.machine import admission
from curator.machine.attempt import ATTEMPT
from curator.machine.coverage import COVERAGE
from curator.machine.job import JOB


def diagrams() -> str:
    """Return the state diagrams and the admission table, in Markdown."""
    parts = [f"```mermaid\n{machine.diagram()}\n```" for machine in (JOB, ATTEMPT, COVERAGE)]
    return "\n\n".join([*parts, admission.table()]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(diagrams())
