"""Which service manager this system has, and what a unit of this person's is to say."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from curator.units.commands import Runner
from curator.units.launchd import Launchd
from curator.units.supervisor import RUN, Kind, Supervisor, Wanted, base_of
from curator.units.surroundings import Needs, find_program, find_programs
from curator.units.systemd import Systemd


def choose(platform: str, runner: Runner, environ: Mapping[str, str], home: Path) -> Supervisor:
    """Return launchd on macOS, and systemd elsewhere: whether it is there is asked when something is to be done."""
    return Launchd(runner, home) if platform == "darwin" else Systemd(runner, environ, home)


def wanted_of(
    kind: Kind, agent: Path, needs: Needs, environ: Mapping[str, str], home: Path, beside: Sequence[Path]
) -> Wanted:
    """Return what the units say. Raises `ConfigError` if the program they start is not installed."""
    program = find_program("curator-service" if kind is Kind.SERVICE else "curator", environ, beside)
    return Wanted(base_of(agent, home), kind, agent, program, find_programs(environ, needs.programs).path)


def cron_line(wanted: Wanted, environ: Mapping[str, str], beside: Sequence[Path]) -> str:
    """Return a line for crontab that does what the timer does, where there is no service manager."""
    program = find_program("curator", environ, beside)
    words = (str(program), *RUN, "--agent-dir", str(wanted.agent))
    # cron takes a bare percent sign for the end of the line.
    command = f"PATH={shlex.quote(wanted.path)} {shlex.join(words)}".replace("%", r"\%")
    return f"*/5 * * * * {command}"
