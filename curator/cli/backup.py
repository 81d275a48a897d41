"""`curator backup` and `curator restore`: one consistent copy while everybody works, and bringing it back."""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, PlainCommand, layout_of
from curator.cli.page import clean, counted, is_terminal, moment, say, warn
from curator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator.backup.restore import Plan, Restored

_Target = Annotated[Path, typer.Argument(metavar="FILE", help="The backup to write; it must not be there yet.")]
_Source = Annotated[Path, typer.Argument(metavar="FILE", help="A file that `curator backup` wrote.")]


def register(app: typer.Typer) -> None:
    """Add both commands."""
    app.command(cls=PlainCommand)(backup)
    app.command(cls=PlainCommand)(restore)


def backup(target: _Target, agent_dir: AgentDir = None) -> None:
    """Copy all that curator and its extension keep into one file, while they work.

    What is copied could be what a crash left at one moment: `curator restore` and the next review go on from there. The
    file holds evidence and memory; only you may read it. Not in it: heartbeats, locks, SQLite databases, and what is
    Pi's own, like credentials, models and sessions.
    """
    from curator.backup.snapshot import take
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume

    layout = layout_of(agent_dir)
    with _progress("copying") as told:
        taken = take(layout, Volume(), target.absolute(), SystemClock().now(), told)
    for path in taken.left_out:
        warn(f"{path}: left out, it is no readable, regular file")
    say(f"{counted(taken.files, 'file')} in {target}. Check it now and then: `curator restore` into an empty folder.")


def restore(
    source: _Source,
    agent_dir: AgentDir = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without, only check and tell.")] = False,
) -> None:
    """Bring a backup back, into an agent folder that has no state yet.

    Every digest is checked first. Attempts that were open when the backup was taken are closed, so that no call is made
    or counted anew. What was spent after the backup, it cannot know: to keep that counted, stop curator and close Pi,
    move everything in `no-forgetti` away but `curator/attempts`, and restore beside that; both journals are merged.
    Memory and jobs are those of the backup; a job that was reviewed since is reviewed again. Evidence
    gets a fresh term.
    """
    from curator.backup.restore import plan
    from curator.backup.restore import restore as bring_back
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume

    layout = layout_of(agent_dir)
    with _progress("checking"):
        planned = plan(layout, source)
    _tell_plan(planned, layout.root)
    if not yes:
        raise UsageError("nothing was restored", remedy="Run it again with --yes")
    with _progress("restoring") as told:
        done = bring_back(layout, Volume(), planned, SystemClock().now(), told)
    _tell(done, layout.root, agent_dir)


def _tell_plan(planned: Plan, root: Path) -> None:
    contents = planned.contents
    say(f"The backup of {moment(contents.made_at)} is whole: {counted(contents.files, 'file')}, to {root}.")
    if planned.kept:
        say(f"{counted(len(planned.kept), 'record')} of the journal there stay counted.")


def _tell(done: Restored, root: Path, agent_dir: Path | None) -> None:
    say(f"{counted(done.files, 'file')} restored to {root}.")
    closed = ((done.cancelled, "cancelled"), (done.settled, "settled"), (done.unknown, "unknown"))
    told = ", ".join(f"{number} {word}" for number, word in closed if number)
    if told:
        say(f"Open attempts closed: {told}.")
    if done.moved is not None:
        say(
            f"{counted(done.kept, 'journal record')} came from the folder that was there, which is now {done.moved.name}."
        )
    where = "" if agent_dir is None else f" --agent-dir {shlex.quote(str(agent_dir))}"
    say(f"Next: `curator verify{where}`, then `curator review --once{where}`.")


@contextlib.contextmanager
def _progress(doing: str) -> Iterator[Callable[[str], None]]:
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(doing, spinner="dots") as status:
        yield lambda part: status.update(f"{doing} {clean(part)}".replace("[", r"\["))
