"""Who a project is: its root, canonical, and the key under which its memory lies (interop.md 8.1).

INVARIANT  A recorded root either still leads to its key, or is refused: no project ever becomes another one.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from curator.errors import NotFoundError, RefusedError, StorageError
from curator.model.ids import ProjectKey, project_key

_AGENT_DIR: Final = "PI_CODING_AGENT_DIR"
_ROOT: Final = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Project:
    """A canonical project root and its key."""

    root: Path
    key: ProjectKey


def find_agent_dir(environ: Mapping[str, str], given: str | None = None) -> Path:
    """Return Pi's agent folder, absolute: `given`, else PI_CODING_AGENT_DIR, else ~/.pi/agent.

    It need not exist. A leading `~` means the home folder, as it does for Pi; `~name` means nothing special. Raises
    `RefusedError` to root in the folder of somebody else, as under sudo with the home kept: what root writes there its
    owner could not change any more.
    """
    # Path.home knows the account's folder where HOME is not set, as under some service managers.
    home = Path(environ.get("HOME") or Path.home())
    chosen = given or environ.get(_AGENT_DIR) or "~/.pi/agent"
    if chosen == "~":
        path = home
    elif chosen.startswith("~/"):
        path = home / chosen[2:]
    else:
        path = Path(chosen)
    found = Path(os.path.normpath(path.absolute()))
    if os.geteuid() == _ROOT:
        _refuse_a_strangers(found)
    return found


def _refuse_a_strangers(agent: Path) -> None:
    """Refuse a folder, or the nearest one above that stands, which is not root's own."""
    standing = next(each for each in (agent, *agent.parents) if each.exists())
    owner = standing.stat().st_uid
    if owner != _ROOT:
        fact = f"{standing}: belongs to user {owner}, and this is root, whose files that user could not change any more"
        raise RefusedError(fact, remedy="Nothing was done; run it as that user, without sudo")


def find_project(folder: Path) -> Project:
    """Return the project that `folder` belongs to: the nearest folder above it with a .git, else itself.

    Raises `NotFoundError` if the folder is not there: a project that moved must not be guessed. Raises `StorageError`
    where looking is denied, and `RefusedError` for a name that is not Unicode, which Pi could not spell either.
    """
    start = _real(folder)
    if start is None:
        raise NotFoundError(
            f"{folder}: the project folder is not there",
            remedy="Give the folder's present place with --project; memory of the old place stays as it is",
        )
    root = next((each for each in (start, *start.parents) if _has_git(each)), start)
    return Project(root, _key_of(root))


def check_recorded_root(root: str, key: ProjectKey) -> bool:
    """Tell whether a recorded root is there, having proved that it leads to `key` and to nothing else.

    False means that the folder is gone while its memory stays. Raises `RefusedError` if the record contradicts itself
    or the root now leads elsewhere: by a symbolic link, say, it would silently become another project.
    """
    recorded = Path(root)
    if not recorded.is_absolute() or project_key(root) != key:
        raise RefusedError(
            f"{root}: the recorded project root does not belong to the key {key}",
            remedy="Mend projectRoot in that project.json; nothing was changed",
        )
    real = _real(recorded)
    if real is not None and _key_of(real) != key:
        raise RefusedError(
            f"{root}: the project root now leads to {real}, which is another project",
            remedy="Put the folder back in place of the link; its memory is kept under the old key and was not touched",
        )
    return real is not None


def _real(path: Path) -> Path | None:
    """Return the path with every link resolved, or None if it leads nowhere. Denied is not absent."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(path, error) from error


def _has_git(folder: Path) -> bool:
    git = folder / ".git"
    try:
        mode = git.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StorageError(git, error) from error
    # A linked worktree and a submodule have a file there; both are projects of their own.
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)


def _key_of(root: Path) -> ProjectKey:
    text = os.fspath(root)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise RefusedError(
            f"{os.fsencode(text)!r}: the project's path is not Unicode",
            remedy="Rename the folder; Pi cannot name it either",
        ) from None
    return project_key(text)
