"""How units are shown: files and commands before they are used, notes, states, and a document for programs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from curator.cli.page import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curator.model.digest import Json
    from curator.units.notes import Note
    from curator.units.rival import Rival
    from curator.units.supervisor import Kind, State, Supervisor, Wanted

LINGER = ("loginctl", "enable-linger")


def show_plan(supervisor: Supervisor, wanted: Wanted, rivals: Sequence[Rival], *, linger: bool) -> None:
    """Show the files that would be written and the commands that would run."""
    for file in supervisor.render(wanted):
        say(f"# {file.path}")
        say(file.text)
    for rival in rivals:
        say(f"Would ask to stop {rival.name}, the extension's own worker: {stop_line(supervisor, rival)}")
    if linger and supervisor.title == "systemd":
        say(f"Would run: {shlex.join(LINGER)}")
    say(f"Would start {supervisor.names(wanted.base, wanted.kind)[0]}, now and at each login.")
    say("Nothing was written or started.")


def tell_notes(notes: Sequence[Note]) -> None:
    """Say what the service has and lacks, one line each."""
    for note in notes:
        remedy = "" if note.remedy is None else f". {note.remedy}"
        say(f"{'lacks' if note.is_lack else 'has':<9} {note.subject}: {note.fact}{remedy}")


def stop_line(supervisor: Supervisor, rival: Rival) -> str:
    """Return the shell's line that stops the other worker for good."""
    from curator.units.rival import stop_commands

    return shell_line(stop_commands(supervisor, rival))


def shell_line(commands: Sequence[Sequence[str]]) -> str:
    """Return commands as one line of shell."""
    return " && ".join(shlex.join(command) for command in commands)


def state_line(state: State) -> str:
    """Return how a unit stands, for a person."""
    parts = [state.word, "" if state.pid is None else f"process {state.pid}"]
    if state.restarts:
        parts.append(f"restarted {state.restarts} times")
    if state.last_exit:
        parts.append(f"last exit {state.last_exit}")
    parts.append("starts at each login" if state.is_enabled else "")
    return ", ".join(part for part in parts if part)


def status_document(
    supervisor: Supervisor,
    kind: Kind | None,
    paths: Sequence[Path],
    states: Mapping[str, State],
    gone: Sequence[str],
    notes: Sequence[Note],
    rivals: Sequence[Rival],
) -> Json:
    """Return everything of `curator service status`, for a program."""
    told: dict[str, Json] = {} if kind is None else {"kind": kind.value}
    return {
        "supervisor": supervisor.title,
        **told,
        "files": [str(path) for path in paths],
        "units": {name: _state_document(state) for name, state in states.items()},
        "missingPrograms": list(gone),
        "notes": [_note_document(note) for note in notes],
        "rivals": [{"name": rival.name, "path": str(rival.path)} for rival in rivals],
    }


def _state_document(state: State) -> Json:
    told: dict[str, Json] = {"isActive": state.is_active, "isEnabled": state.is_enabled, "state": state.word}
    numbers = (("pid", state.pid), ("restarts", state.restarts), ("lastExit", state.last_exit))
    return {**told, **{key: value for key, value in numbers if value is not None}}


def _note_document(note: Note) -> Json:
    told: dict[str, Json] = {"subject": note.subject, "fact": note.fact, "isLack": note.is_lack}
    return told if note.remedy is None else {**told, "remedy": note.remedy}
