"""`curator service`: run curator in the background, by systemd or launchd, and say plainly what that does."""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import document, is_terminal, say, warn
from curator.cli.unit_page import LINGER, shell_line, show_plan, state_line, status_document, stop_line, tell_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator.durable.layout import Layout
    from curator.units.notes import Note
    from curator.units.rival import Rival
    from curator.units.supervisor import Kind, Supervisor, Wanted
    from curator.units.surroundings import Needs

app = typer.Typer(help="Run curator in the background, by systemd or launchd.")

PrintOnly = Annotated[bool, typer.Option("--print", help="Show everything that would be done; do nothing.")]


@app.command()
def install(
    print_only: PrintOnly = False,
    timer: Annotated[
        bool,
        typer.Option(
            "--timer", help="Instead of the daemon: run `curator review --once --maintain` every five minutes."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Stop the extension's own worker without asking.")] = False,
    linger: Annotated[bool, typer.Option("--linger", help="Keep it running while you are logged out.")] = False,
    agent_dir: AgentDir = None,
) -> None:
    """Write the unit, and start it now and at each login."""
    from curator.durable.volume import Volume
    from curator.units import install as units
    from curator.units.choose import wanted_of
    from curator.units.notes import notes_of
    from curator.units.rival import find_rivals
    from curator.units.supervisor import Kind
    from curator.workflow.settings_files import read_service

    _refuse_sudo()
    layout = layout_of(agent_dir)
    supervisor, needs = _supervisor(), _needs(layout)
    wanted = wanted_of(Kind.TIMER if timer else Kind.SERVICE, layout.agent, needs, os.environ, _home(), _beside())
    rivals = find_rivals(supervisor, layout.agent)
    if print_only:
        show_plan(supervisor, wanted, rivals, linger=linger)
        tell_notes(notes_of(supervisor, wanted, needs, os.environ, _home()))
        return
    mode = read_service(layout).mode
    _require(supervisor, wanted)
    _settle_rivals(supervisor, rivals, yes=yes)
    if linger:
        _stay(supervisor)
    wanted = dataclasses.replace(wanted, has_fence=supervisor.can_fence())
    done = units.install(Volume(), supervisor, wanted)
    for word, paths in (("Removed", done.removed), ("Wrote", done.written), ("Unchanged:", done.unchanged)):
        for path in paths:
            say(f"{word} {path}")
    say(f"{supervisor.names(wanted.base, wanted.kind)[0]} runs now, and from each login on.")
    if mode == "embedded":
        say("The mode is embedded: Pi reviews by itself, and curator claims nothing until that changes.")
    tell_notes(notes_of(supervisor, wanted, needs, os.environ, _home()))
    say("After an upgrade of the package: `curator service restart`. To undo this: `curator service uninstall`.")


@app.command()
def uninstall(print_only: PrintOnly = False, agent_dir: AgentDir = None) -> None:
    """Stop the service and remove its unit. Queue and memory stay as they are."""
    from curator.durable.volume import Volume
    from curator.units import install as units
    from curator.units.supervisor import Kind

    _refuse_sudo()
    supervisor, base = _supervisor(), _base(agent_dir)
    if print_only:
        paths = [path for kind in Kind for path in units.standing_paths(supervisor, base, kind)]
        for path in paths:
            say(f"Would stop and remove {path}")
        if not paths:
            say("No unit of curator stands.")
        return
    done = units.uninstall(Volume(), supervisor, base)
    for path in done.paths:
        say(f"Removed {path}")
    if not done.paths:
        say("No unit of curator stands; nothing was done.")
        return
    if not done.was_told:
        say(f"{supervisor.title} does not answer, so what may still run was not stopped: see `curator status`.")
    if supervisor.runs_logged_out:
        say("Lingering was left on, for other services may want it. To end it: loginctl disable-linger")
    say("Queue and memory are as they were. To take this back: `curator service install`.")


@app.command()
def start(agent_dir: AgentDir = None) -> None:
    """Start the installed service."""
    supervisor, base, kind = _installed(agent_dir)
    supervisor.start(base, kind)
    say(f"{supervisor.names(base, kind)[0]} runs. To undo this: `curator service stop`.")


@app.command()
def stop(agent_dir: AgentDir = None) -> None:
    """Stop the service until it is started, or until the next login."""
    supervisor, base, kind = _installed(agent_dir)
    supervisor.stop(base, kind)
    say(
        f"{supervisor.names(base, kind)[0]} is stopped, and starts at the next login. To undo this: `curator service start`."
    )


@app.command()
def restart(agent_dir: AgentDir = None) -> None:
    """Stop and start the service, as after an upgrade of the package."""
    supervisor, base, kind = _installed(agent_dir)
    supervisor.restart(base, kind)
    say(f"{supervisor.names(base, kind)[0]} was restarted.")


@app.command()
def status(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show how the service stands, and what it lacks; changes nothing."""
    from curator.units.install import installed_kind, standing_paths
    from curator.units.rival import find_rivals

    layout = layout_of(agent_dir)
    supervisor, base = _supervisor(), _base(agent_dir)
    kind = installed_kind(supervisor, base)
    paths = () if kind is None else standing_paths(supervisor, base, kind)
    states = {} if kind is None else {name: supervisor.state(name) for name in supervisor.names(base, kind)}
    gone = [word for unit in supervisor.units() if unit.path in paths for word in _gone(unit.words)]
    notes = () if kind is None else _notes(supervisor, kind, layout, paths)
    rivals = find_rivals(supervisor, layout.agent)
    if as_json:
        document(status_document(supervisor, kind, paths, states, gone, notes, rivals))
        return
    for path in paths:
        say(f"unit      {path}")
    if kind is None:
        say(f"unit      none; `curator service install` writes one for {supervisor.title}")
    for name, state in states.items():
        say(f"state     {name}: {state_line(state)}")
    for program in gone:
        say(f"program   {program} is gone. Run `curator service install` again.")
    for rival in rivals:
        say(f"rival     {rival.name} runs the extension's own worker. Run: {stop_line(supervisor, rival)}")
    tell_notes([note for note in notes if note.is_lack])
    if kind is not None:
        say(f"log       `curator service logs`, or {shlex.join(supervisor.log(base, kind, 100, follow=True))}")


@app.command()
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=100_000, help="Show so many lines.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as lines come; end it by Ctrl-C.")] = False,
    agent_dir: AgentDir = None,
) -> int:
    """Show the last lines of the service's log."""
    from curator.units.commands import SystemRunner

    supervisor, base, kind = _installed(agent_dir)
    sys.stdout.flush()
    try:
        return SystemRunner(os.environ).hand_over(supervisor.log(base, kind, lines, follow=follow))
    except KeyboardInterrupt:
        return 0


def _supervisor() -> Supervisor:
    from curator.units.choose import choose
    from curator.units.commands import SystemRunner

    return choose(sys.platform, SystemRunner(os.environ), os.environ, _home())


def _home() -> Path:
    return Path(os.environ.get("HOME") or Path.home())


def _base(agent_dir: Path | None) -> str:
    from curator.units.supervisor import base_of

    return base_of(layout_of(agent_dir).agent, _home())


def _installed(agent_dir: Path | None) -> tuple[Supervisor, str, Kind]:
    """Return what is installed. Raises `NotFoundError` where nothing is."""
    from curator.errors import NotFoundError
    from curator.units.install import installed_kind

    supervisor, base = _supervisor(), _base(agent_dir)
    kind = installed_kind(supervisor, base)
    if kind is None:
        raise NotFoundError("no unit of curator stands for this agent folder", remedy="Run `curator service install`")
    return supervisor, base, kind


def _needs(layout: Layout) -> Needs:
    """Return what the reviewer needs; a configuration that cannot be read needs nothing yet."""
    from curator.errors import ConfigError
    from curator.units.surroundings import Needs, needs_of
    from curator.workflow.settings_files import find_service

    try:
        service = find_service(layout)
    except ConfigError as error:
        return Needs(fault=error.fact)
    return needs_of(layout.agent, None if service is None else service.reviewer)


def _beside() -> tuple[Path, ...]:
    """Return where programs stand that were installed together with this one."""
    started = Path(sys.argv[0]).absolute().parent
    return (started, Path(sysconfig.get_path("scripts")), Path(sysconfig.get_path("scripts", f"{os.name}_user")))


def _notes(supervisor: Supervisor, kind: Kind, layout: Layout, paths: Sequence[Path]) -> tuple[Note, ...]:
    """Return what a standing unit lacks; nothing where its program is not even installed."""
    from curator.errors import ConfigError
    from curator.units.choose import wanted_of
    from curator.units.install import standing_text
    from curator.units.notes import notes_of

    needs = _needs(layout)
    try:
        wanted = wanted_of(kind, layout.agent, needs, os.environ, _home(), _beside())
    except ConfigError:
        return ()
    has_fence = not any("PrivateUsers=no" in (standing_text(path) or "") for path in paths)
    return notes_of(supervisor, dataclasses.replace(wanted, has_fence=has_fence), needs, os.environ, _home())


def _refuse_sudo() -> None:
    from curator.errors import UsageError

    if os.geteuid() == 0 and os.environ.get("SUDO_USER"):
        raise UsageError("the service belongs to your own account", remedy="Run it as yourself, without sudo")


def _require(supervisor: Supervisor, wanted: Wanted) -> None:
    """Raise whatever would stop the installation, before anything is stopped or written."""
    from curator.units.choose import cron_line
    from curator.units.commands import SupervisorError
    from curator.units.install import standing_paths
    from curator.units.supervisor import Kind

    for kind in Kind:
        standing_paths(supervisor, wanted.base, kind)
    if not supervisor.is_reachable():
        fact = f"{supervisor.title} does not answer for this account, so nothing was written"
        remedy = f"Log in directly rather than by su, or run `curator-service` in a terminal, or take cron: {cron_line(wanted, os.environ, _beside())}"
        raise SupervisorError(fact, remedy=remedy)


def _settle_rivals(supervisor: Supervisor, rivals: Sequence[Rival], *, yes: bool) -> None:
    from curator.errors import BusyError
    from curator.units.rival import stop_rival, undo_commands

    for rival in rivals:
        question = f"{rival.name} runs the extension's own worker, and two cannot review one folder. Stop it for good?"
        if not yes and not (is_terminal(sys.stdin) and typer.confirm(question)):
            fact = f"{rival.path} runs the extension's own worker, so nothing was written"
            raise BusyError(fact, remedy=f"Run again with --yes, or first: {stop_line(supervisor, rival)}")
        stop_rival(supervisor, rival)
        say(f"Stopped {rival.name} for good. To undo this: {shell_line(undo_commands(supervisor, rival))}")


def _stay(supervisor: Supervisor) -> None:
    if supervisor.title != "systemd":
        warn("launchd knows no lingering; the service runs while you are logged in")
    elif (ran := supervisor.execute(LINGER)).is_good:
        say("It goes on while you are logged out. To undo this: loginctl disable-linger")
    else:
        warn(f"lingering is not on: {ran.reason}. Ask whoever administers the machine")


def _gone(words: Sequence[str]) -> Iterator[str]:
    """Yield the program of ours that a unit names and that is not there any more."""
    for word in words:
        if word.rsplit("/", 1)[-1] in ("curator", "curator-service") and not os.access(
            word.replace("%%", "%"), os.X_OK
        ):
            yield word
