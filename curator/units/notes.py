"""What a person should know of a service before trusting it: what it found, what it lacks, and what to do about that."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from curator.units.supervisor import Kind, Supervisor, Wanted
from curator.units.surroundings import Needs, file_names, find_programs, is_open, is_passing, network_names

_BY_PI: Final = ("node", "pi")


@dataclasses.dataclass(frozen=True, slots=True)
class Note:
    """One thing that a service has, or lacks; a lack has a remedy wherever there is one."""

    subject: str
    fact: str
    is_lack: bool = False
    remedy: str | None = None


def notes_of(
    supervisor: Supervisor, wanted: Wanted, needs: Needs, environ: Mapping[str, str], home: Path
) -> tuple[Note, ...]:
    """Return everything that is worth saying, what it has before what it lacks."""
    found = (
        Note("agent folder", str(wanted.agent)),
        Note("PATH", wanted.path),
        *_programs(wanted, needs, environ, home),
        *_reviewer(supervisor, wanted, needs),
        *_variables(supervisor, wanted, needs, environ),
        *_presence(supervisor, wanted),
    )
    return tuple(sorted(found, key=lambda note: note.is_lack))


def _programs(wanted: Wanted, needs: Needs, environ: Mapping[str, str], home: Path) -> Iterator[Note]:
    programs = find_programs(environ, needs.programs)
    for name in _BY_PI:
        if name in programs.found:
            yield Note(name, str(programs.found[name]))
        else:
            fact = "is not on PATH here, so the service will not find it either; a review by an API key needs none"
            yield Note(name, fact, is_lack=True, remedy="Run the installation again from a terminal that has it")
    if set(programs.missing).difference(_BY_PI):
        # A person's own command stays unnamed: it stands in a file of secrets.
        fact = "a command that prints it is not on PATH here"
        yield Note("key", fact, is_lack=True, remedy="Name it by its absolute path in models.json or auth.json")
    if is_passing(wanted.program, environ, home):
        fact = f"{wanted.program} stands in a cache, which is cleared now and then"
        yield Note(
            "program", fact, is_lack=True, remedy="Install it to stay, as by `uv tool install`, and run this again"
        )


def _reviewer(supervisor: Supervisor, wanted: Wanted, needs: Needs) -> Iterator[Note]:
    if needs.fault is not None:
        yield Note("reviewer", needs.fault, is_lack=True, remedy="Run `curator config check`")
    if needs.has_command and supervisor.title == "systemd":
        fact = "a command prints it, and runs where only the agent folder can be written and no right can be gained"
        name = supervisor.names(wanted.base, wanted.kind)[-1]
        remedy = f"If it has to write elsewhere: `systemctl --user edit {name}`, with ReadWritePaths= in [Service]"
        yield Note("key", fact, is_lack=True, remedy=remedy)


def _variables(supervisor: Supervisor, wanted: Wanted, needs: Needs, environ: Mapping[str, str]) -> Iterator[Note]:
    asked = (*needs.names, *network_names(environ))
    file = supervisor.environment_file(wanted.base)
    known = (
        supervisor.known_names(asked) | (frozenset() if file is None else file_names(file)) if asked else frozenset()
    )
    for name in asked:
        what = "the reviewer's key or header" if name in needs.names else "how this terminal reaches the network"
        if name in known:
            yield Note(name, f"{what}; the service finds it")
        else:
            yield Note(name, f"{what}; the service does not see it", is_lack=True, remedy=_remedy(name, file))
    if file is not None and is_open(file):
        yield Note("keys", f"{file}: others may read it", is_lack=True, remedy=f"Run: chmod 600 '{file}'")


def _remedy(name: str, file: Path | None) -> str:
    if file is None:
        keychain = f"!security find-generic-password -w -s {name}"
        return f"At each login: launchctl setenv {name} VALUE; or let models.json ask the keychain: {keychain}"
    once = f"systemctl --user import-environment {name}"
    return f"Write {name}=VALUE into {file}, with mode 0600; or at each login, from a shell that has it: {once}"


def _presence(supervisor: Supervisor, wanted: Wanted) -> Iterator[Note]:
    if supervisor.title == "launchd":
        yield Note("logged out", "launchd runs it only while you are logged in at the screen", is_lack=True)
        if wanted.kind is Kind.SERVICE:
            fact = "launchd tries a wrong configuration again every 30 s, and knows no watchdog, fence or memory limit"
            yield Note("limits", fact, is_lack=True)
        return
    if not wanted.has_fence:
        fact = "this system forbids it to users: the service sees the disk as you do; its other limits hold"
        yield Note("fence", fact, is_lack=True)
    match supervisor.runs_logged_out:
        case True:
            yield Note("logged out", "it goes on while you are logged out, and starts with the machine")
        case False:
            fact = "it ends when you log out"
            yield Note("logged out", fact, is_lack=True, remedy="To keep it running: loginctl enable-linger")
        case None:
            fact = "whether it goes on while you are logged out is not known: loginctl does not answer"
            yield Note("logged out", fact, is_lack=True, remedy="To keep it running: loginctl enable-linger")
