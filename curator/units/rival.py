"""The extension's own worker as a service: found among the person's units, whoever wrote them.

Two workers may not review one agent folder, and a service manager would start the other one again at each login. Found
is what runs `no-forgetti … review`, by its name, by node, by npx or inside a shell's line; a script of the person's own
that hides it is found by its heartbeat when curator starts, and named by its process then.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from curator.units.commands import SupervisorError
from curator.units.quoting import words_of
from curator.units.supervisor import Supervisor

_PROGRAM: Final = re.compile(r"no-forgetti(?:@[\w.^~-]+)?(?:\.[cm]?[jt]s)?")
_PREFIXES: Final = "@-:+!|"
_PARTS: Final = re.compile(r"[\s;&|()]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Rival:
    """A unit of the other worker; `names` are what has to be stopped: its timers first, then itself."""

    name: str
    path: Path
    names: tuple[str, ...]


def find_rivals(supervisor: Supervisor, agent: Path) -> tuple[Rival, ...]:
    """Return the units that run the other worker on that agent folder and are active, or would start by themselves.

    A unit that does not name its folder is taken to mean this one. Where no service manager answers, all are returned.
    """
    found: list[Rival] = []
    is_reachable: bool | None = None
    for unit in supervisor.units():
        if not runs_rival(unit.words) or _names_other(unit.words, agent):
            continue
        is_reachable = supervisor.is_reachable() if is_reachable is None else is_reachable
        names = (*supervisor.triggers(unit), unit.name)
        if not is_reachable or any(_is_on(supervisor, name) for name in names):
            found.append(Rival(unit.name, unit.path, names))
    return tuple(found)


def runs_rival(words: Iterable[str]) -> bool:
    """Tell whether a command line runs the extension's worker."""
    is_named = False
    for word in _flat(words):
        if is_named and word == "review":
            return True
        name = word.lstrip(_PREFIXES).rsplit("/", 1)[-1]
        is_named = is_named or _PROGRAM.fullmatch(name) is not None
    return False


def stop_commands(supervisor: Supervisor, rival: Rival) -> tuple[tuple[str, ...], ...]:
    """Return the commands that stop it for good."""
    return tuple(command for name in rival.names for command in supervisor.end_commands(name, rival.path))


def undo_commands(supervisor: Supervisor, rival: Rival) -> tuple[tuple[str, ...], ...]:
    """Return the commands that start it again."""
    return supervisor.undo_commands(rival.names[0], rival.path)


def stop_rival(supervisor: Supervisor, rival: Rival) -> None:
    """Stop it for good. Raises `SupervisorError` if it is still on."""
    reasons = [
        ran.reason for command in stop_commands(supervisor, rival) if not (ran := supervisor.execute(command)).is_good
    ]
    if any(_is_on(supervisor, name) for name in rival.names):
        reason = f": {reasons[0]}" if reasons else ""
        raise SupervisorError(f"{rival.name} was not stopped{reason}", remedy="Stop it by hand, and run again")


def _is_on(supervisor: Supervisor, name: str) -> bool:
    state = supervisor.state(name)
    return state.is_active or state.is_enabled


def _names_other(words: Iterable[str], agent: Path) -> bool:
    flat = [part for word in _flat(words) for part in word.split("=", 1)]
    named = [after for before, after in itertools.pairwise(flat) if before == "--agent-dir" and after.startswith("/")]
    return bool(named) and os.path.realpath(named[-1]) != os.path.realpath(agent)


def _flat(words: Iterable[str]) -> Iterator[str]:
    """Yield the words, and those inside of a word that is itself a line of shell."""
    for word in words:
        if _PARTS.search(word):
            yield from _flat(part for inner in words_of(word) for part in _PARTS.split(inner) if part)
        else:
            yield word
