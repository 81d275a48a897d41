"""What a service lacks that a terminal has, and what can be done about it.

A service manager starts a service with a bare environment. The agent folder and PATH are written into the unit. Keys
are not: what is taken from here are names, never values, and each one that the service would miss is told with its remedy.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from curator.durable.read import read_bounded
from curator.errors import ConfigError, InvalidRecordError, ReviewerSetupError, StorageError
from curator.model.digest import Json, MalformedJsonError, parse
from curator.model.settings import ReviewerProfile
from curator.pi.models import PI_FILE_BYTES_MAX, find_model

_OFFLINE: Final = "offline"
_SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
_WANTED_PROGRAMS: Final = ("node", "pi")
_NETWORK: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_VARIABLE: Final = re.compile(r"\$(?:[$!]|\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_FIRST_WORD: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([^\s"'|&;<>()$`]+))""")
_ENVIRONMENT_BYTES_MAX: Final = 65_536
_OTHERS: Final = 0o077


@dataclasses.dataclass(frozen=True, slots=True)
class Needs:
    """What the reviewer takes from its surroundings: names of variables, and programs that print a key."""

    names: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    has_command: bool = False
    fault: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Programs:
    """The PATH for a service, and what was and was not found for it."""

    path: str
    found: Mapping[str, Path]
    missing: tuple[str, ...]


def find_program(name: str, environ: Mapping[str, str], beside: Sequence[Path]) -> Path:
    """Return the absolute path of a program of ours: the one beside this command, by its most lasting name.

    Where PATH leads to the same file, PATH's name wins: it is the link that stays when a package is upgraded. Raises
    `ConfigError` if there is none.
    """
    on_path = shutil.which(name, path=environ.get("PATH"))
    own = next((folder / name for folder in beside if os.access(folder / name, os.X_OK)), None)
    if on_path is not None and (own is None or own.samefile(on_path)):
        return Path(os.path.abspath(on_path))  # noqa: PTH100 - no link is followed: it is what stays
    if own is None:
        remedy = "Install the package: `uv tool install .` or `pip install .` in its folder, then run again"
        raise ConfigError(f"{name} is not installed beside this command, nor on PATH", remedy=remedy)
    return Path(os.path.abspath(own))  # noqa: PTH100 - as above


def is_passing(program: Path, environ: Mapping[str, str], home: Path) -> bool:
    """Tell whether a program stands where things are cleared away: a cache, as of `uvx`."""
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    return Path(os.path.realpath(program)).is_relative_to(cache)


def find_programs(environ: Mapping[str, str], more: Iterable[str]) -> Programs:
    """Return a PATH that leads to node, to pi, to `more`, and to what every system has."""
    found: dict[str, Path] = {}
    missing: list[str] = []
    for name in dict.fromkeys((*_WANTED_PROGRAMS, *more)):
        where = shutil.which(name, path=environ.get("PATH"))
        if where is None:
            missing.append(name)
        else:
            found[name] = Path(os.path.abspath(where))  # noqa: PTH100 - version switchers work by links
    folders = [_lasting(place.parent, environ) for place in found.values()]
    kept = dict.fromkeys((*(str(folder) for folder in folders if ":" not in str(folder)), *_SYSTEM_PATH))
    return Programs(":".join(kept), found, tuple(missing))


def needs_of(agent: Path, profile: ReviewerProfile | None) -> Needs:
    """Return what the configured reviewer takes from its environment; the offline one takes nothing."""
    if profile is None or profile.provider == _OFFLINE:
        return Needs()
    try:
        model = find_model(agent, profile.provider, profile.model)
    except ReviewerSetupError as error:
        return Needs(fault=error.fact)
    key = _stored_key(agent, profile.provider) or model.api_key_source
    sources = [source for source in (key, *model.header_sources.values()) if source]
    commands = [source[1:] for source in sources if source.startswith("!")]
    names = [name for source in sources if not source.startswith("!") for name in names_in(source)]
    programs = [found[1] or found[2] or found[3] for command in commands if (found := _FIRST_WORD.match(command))]
    return Needs(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(programs)), has_command=bool(commands))


def names_in(template: str) -> Iterator[str]:
    """Yield the variables that Pi puts into a text: `$NAME` and `${NAME}`."""
    for found in _VARIABLE.finditer(template):
        if name := found[1] or found[2]:
            yield name


def network_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names by which this terminal reaches the network, and a service would not."""
    return tuple(name for known in _NETWORK for name in (known, known.lower()) if environ.get(name))


def file_names(path: Path) -> frozenset[str]:
    """Return the names that an environment file sets; its values are dropped unseen."""
    try:
        raw = read_bounded(path, _ENVIRONMENT_BYTES_MAX, follow=True)
    except (InvalidRecordError, StorageError):
        return frozenset()
    lines = (raw or b"").decode("utf-8", "replace").splitlines()
    return frozenset(
        line.partition("=")[0].strip() for line in lines if "=" in line and not line.lstrip().startswith(("#", ";"))
    )


def is_open(path: Path) -> bool:
    """Tell whether others may read or change a file that holds keys."""
    return path.exists() and bool(stat.S_IMODE(path.stat().st_mode) & _OTHERS)


def _lasting(folder: Path, environ: Mapping[str, str]) -> Path:
    """Return where a folder leads, if its own name lives only as long as a login: some version switchers do that."""
    passing = (environ.get("XDG_RUNTIME_DIR"), "/run", tempfile.gettempdir())
    if any(place and folder.is_relative_to(place) for place in passing):
        return Path(os.path.realpath(folder))
    return folder


def _stored_key(agent: Path, provider: str) -> str | None:
    """Return where auth.json takes a key from. What is wrong with the file, `curator config check` says."""
    try:
        raw = read_bounded(agent / "auth.json", PI_FILE_BYTES_MAX, follow=True)
        value: Json = parse((raw or b"{}").removeprefix(b"\xef\xbb\xbf"))
    except (InvalidRecordError, StorageError, MalformedJsonError):
        return None
    entry = value.get(provider) if isinstance(value, dict) else None
    key = entry.get("key") if isinstance(entry, dict) else None
    return key if isinstance(key, str) else None
