"""The command `curator`: its groups, and how it ends.

Every expected failure becomes one line on stderr and an exit status of its own: 0 done, 1 a defect, 2 a wrong command
line, 65 a bad record, 66 not found, 67 figures that the files do not come to, 74 the disk, 75 busy, 76 a plan of another
release, 77 session files that have changed since their plan, 78 configuration, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curator import __version__
from curator.cli import (
    audit,
    authority,
    backfill,
    backfill_memory,
    backup,
    budget,
    config,
    demo,
    doctor,
    enqueue,
    evaluate,
    jobs,
    memory,
    project,
    release,
    replay,
    report,
    review,
    service,
    status,
    trajectory,
    verify,
)
from curator.cli.options import PlainGroup
from curator.cli.page import say, warn
from curator.errors import CuratorError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED: Final = 130
_STORAGE: Final = 74
_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2
_DEFAULTS: Final = {
    "jobs": "list",
    "memory": "show",
    "config": "check",
    "authority": "show",
    "service": "status",
    "project": "list",
    "budget": "show",
    "audit": "summary",
    "trajectory": "show",
    "backfill": "list",
}
"""What a group does when only the group is named."""

app = typer.Typer(
    name="curator",
    cls=PlainGroup,
    help="Reviews what was said in Pi, the coding agent, and keeps what is worth remembering in the project's memory.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for group in (review, enqueue, status, doctor, release, demo, verify, backup, evaluate, replay, report):
    group.register(app)
app.add_typer(jobs.app, name="jobs", cls=PlainGroup)
app.add_typer(memory.app, name="memory", cls=PlainGroup)
app.add_typer(config.app, name="config", cls=PlainGroup)
app.add_typer(authority.app, name="authority", cls=PlainGroup)
app.add_typer(service.app, name="service", cls=PlainGroup)
app.add_typer(project.app, name="project", cls=PlainGroup)
app.add_typer(budget.app, name="budget", cls=PlainGroup)
backfill_memory.register(backfill.app)
app.add_typer(backfill.app, name="backfill", cls=PlainGroup)
app.add_typer(audit.app, name="audit", cls=PlainGroup)
app.add_typer(trajectory.app, name="trajectory", cls=PlainGroup)


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        say(f"curator {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Show the help where no command is named."""
    del version
    if context.invoked_subcommand is None:
        say(context.get_help())


def run() -> None:
    """Run the command line of this process, and exit."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command line, and return the exit status."""
    _open_missing()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot spell a character shows its code; a review does not end for that.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a process starts with text files
    try:
        return _flushed(_invoke(_with_default(arguments)))
    except BrokenPipeError:
        # Whoever read has seen enough. Nobody is left to complain to.
        _drop_stdout()
        return 1


def _flushed(status: int) -> int:
    """Write out what was answered; what was done stays done where that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_stdout()
        warn(f"standard output: {error.strerror}. The command ended, and its answer could not be written")
        return _STORAGE
    return status


def _drop_stdout() -> None:
    """Let what is still unwritten go nowhere, so that the interpreter does not fail on it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_missing() -> None:
    """Open the standard streams that whoever started us closed, so that no file of ours takes their number.

    What is said to a closed stdout is lost like to a reader who has seen enough; complaints and questions have nobody.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    while nowhere <= _STDERR:
        nowhere = os.dup(nowhere)
    os.close(nowhere)
    if sys.stdin is None:
        sys.stdin = os.fdopen(_STDIN, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, _STDOUT)
        os.close(writing)
        sys.stdout = os.fdopen(_STDOUT, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", encoding="utf-8", closefd=False)


def _invoke(arguments: list[str]) -> int:
    try:
        status: object = app(arguments, prog_name="curator", standalone_mode=False)
    except CuratorError as error:
        warn(str(error))
        return error.exit_status
    except typer.Abort:
        warn("interrupted")
        return INTERRUPTED
    except typer.TyperException as error:
        command: object = getattr(getattr(error, "ctx", None), "command_path", "curator")
        fact = error.format_message().rstrip(".")
        warn(f"{fact}{'' if fact.endswith('?') else '.'} See `{command} --help`")
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        # A path that a person gave and the system denies; what we write ourselves says so with its own error.
        warn(f"{error.filename or 'the system'}: {error.strerror}. Check the path and its permissions")
        return _STORAGE
    return status if isinstance(status, int) else 0


def _with_default(arguments: Sequence[str]) -> list[str]:
    """Put in what a group does by itself: `curator jobs --json` lists."""
    head, rest = list(arguments[:1]), list(arguments[1:])
    names_only_group = bool(head) and head[0] in _DEFAULTS and not {"-h", "--help"}.intersection(rest)
    if names_only_group and (not rest or rest[0].startswith("-")):
        return [*head, _DEFAULTS[head[0]], *rest]
    return [*head, *rest]
