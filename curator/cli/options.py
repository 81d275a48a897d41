"""The options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click.formatting import HelpFormatter

    from curator.durable.layout import Layout

_SUMMARY_CHARS: Final = 200

AgentDir: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--agent-dir", metavar="FOLDER", help="Pi's agent folder. [default: $PI_CODING_AGENT_DIR, else ~/.pi/agent]"
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
ProjectDir: TypeAlias = Annotated[
    Path | None,
    typer.Option("--project", metavar="FOLDER", help="A folder of the project. [default: the current one]"),
]
BranchOption: TypeAlias = Annotated[str, typer.Option("--branch", metavar="NAME", help="The memory's branch.")]


class PlainCommand(TyperCommand):
    """A command whose usage names its arguments like its options: without braces."""

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer hides its base
        """Return the parts of the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class PlainGroup(TyperGroup):
    """A group whose list of commands shows each summary whole, wrapped where the line ends."""

    def format_commands(self, ctx: typer.Context, formatter: HelpFormatter) -> None:  # type: ignore[override]  # as above
        """Write the list of commands."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, each.get_short_help_str(_SUMMARY_CHARS)) for name, each in found if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def complete_job(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of jobs that begin so, for the shell: from the names of files alone."""
    from curator.errors import CuratorError
    from curator.workflow.inspect.jobs import known_job_ids

    try:
        found = known_job_ids(layout_of(ctx.params.get("agent_dir")), incomplete.removeprefix("review_"))
    except CuratorError:
        return []
    return sorted(found)


def complete_release(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what may be released and begins so: held jobs and the names of dead letters."""
    from curator.durable.read import list_names
    from curator.errors import CuratorError
    from curator.model.limits import SPOOL_NAMES_MAX
    from curator.workflow.inspect.letters import letter_names

    layout = layout_of(ctx.params.get("agent_dir"))
    try:
        held = [name.removesuffix(".json") for name in list_names(layout.held, SPOOL_NAMES_MAX * 2)]
        names = [*held, *letter_names(layout)]
    except CuratorError:
        return []
    return [name for name in names if name.startswith((incomplete, f"review_{incomplete}"))]


JobArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="JOB", help="A job's id, or its first digits.", autocompletion=complete_job)
]


def layout_of(agent_dir: Path | None) -> Layout:
    """Return where everything stands, without opening anything."""
    from curator.durable.layout import Layout
    from curator.pi.project import find_agent_dir

    return Layout(find_agent_dir(os.environ, None if agent_dir is None else str(agent_dir)))
