"""The options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from curator.durable.layout import Layout

AgentDir: TypeAlias = Annotated[
    Path | None,
    typer.Option("--agent-dir", help="Pi's agent folder. [default: $PI_CODING_AGENT_DIR, else ~/.pi/agent]"),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
ProjectDir: TypeAlias = Annotated[
    Path | None, typer.Option("--project", help="A folder of the project. [default: the current one]")
]
BranchOption: TypeAlias = Annotated[str, typer.Option("--branch", help="The memory's branch.")]
JobArgument: TypeAlias = Annotated[str, typer.Argument(metavar="JOB", help="A job's id, or its first digits.")]


def layout_of(agent_dir: Path | None) -> Layout:
    """Return where everything stands, without opening anything."""
    from curator.durable.layout import Layout
    from curator.pi.project import find_agent_dir

    return Layout(find_agent_dir(os.environ, None if agent_dir is None else str(agent_dir)))
