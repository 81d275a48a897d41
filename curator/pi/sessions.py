"""Which session files belong to a project: found by what their headers say, never by what their folders are called.

Pi names a folder after the working directory, and two directories may get one name, so the name tells nothing. A header
tells: its directory is the project's root, lies in it, or lies in a place from which the project moved. A file whose
header is unreadable is listed as quarantined and given to nobody. What curator's or No Forgetti's own reviewers said is
left out with a count, and so are links: what they lead to within the sessions is found by itself, and what lies outside
is not looked at. Only the first lines of a file are read here.
"""

from __future__ import annotations

import dataclasses
import enum
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from curator.errors import InvalidRecordError, NotFoundError, RefusedError, StorageError
from curator.model.digest import Json
from curator.model.limits import SESSION_FILES_MAX
from curator.pi.project import Project, find_project
from curator.pi.stream import Head, lines, load, open_session, read_head

_SESSION_DIR: Final = "PI_CODING_AGENT_SESSION_DIR"
_DEPTH_MAX: Final = 4
_OPENING_LINES_MAX: Final = 64
_OPENING_BYTES_MAX: Final = 1_048_576
_NAME_ODD: Final = re.compile(r"[/\\:]")
_OWN: Final = re.compile(
    r"Review job review_[0-9a-f]{40}, up to entry "
    r"|Review (?:the (?:entire )?|one bounded )completed (?:Pi )?conversation "
)
"""How a reviewer is asked: by curator, by the extension for memory, and by the extension for skills."""


class Doubt(enum.StrEnum):
    """Why a file in a project's sessions is given to nobody."""

    HEADER = "header unreadable"
    NO_FOLDER = "its header names no folder"
    FOLDER_GONE = "its folder is gone, and may have been a project of its own"
    DENIED = "reading is denied"


class Origin(enum.StrEnum):
    """What is known of the session that one was forked from. Its entries were copied, so nothing is lost without it."""

    NONE = "none"
    AVAILABLE = "parent available"
    UNAVAILABLE = "parent unavailable"


@dataclasses.dataclass(frozen=True, slots=True)
class SessionFile:
    """One session of the project."""

    path: Path
    size: int
    modified_ms: int
    """When the file was last written, by the file system: what a header or an entry says may be any time."""
    head: Head
    origin: Origin


@dataclasses.dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that may be the project's and is not taken."""

    path: Path
    size: int
    doubt: Doubt


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """The sessions of one project, by path, and what was left out."""

    sessions: tuple[SessionFile, ...]
    quarantined: tuple[Quarantined, ...]
    """Those in the project's own folder, or in no project's; `quarantined_elsewhere` counts the rest."""
    quarantined_elsewhere: int = 0
    own_reviews: int = 0
    """Sessions of the project in which a reviewer was asked."""
    other_projects: int = 0
    links: int = 0
    """Symbolic links, of files and folders, that were not followed."""


def find_sessions_root(environ: Mapping[str, str], agent: Path, setting: Json = None) -> Path:
    """Return where Pi keeps sessions: by its variable, by `sessionDir` of its settings, else in its agent folder."""
    chosen = environ.get(_SESSION_DIR) or setting
    if not isinstance(chosen, str) or not chosen:
        return agent / "sessions"
    home = Path(environ.get("HOME") or Path.home())
    return home / chosen.removeprefix("~").lstrip("/") if chosen == "~" or chosen.startswith("~/") else Path(chosen)


def find_sessions(
    root: Path, project: Project, moved_from: Collection[str] = (), *, files_max: int = SESSION_FILES_MAX
) -> Found:
    """Return the sessions below `root` whose headers name the project, or a root that it was moved from.

    No folder of that name means no sessions. Raises `StorageError` where listing it is denied, and `RefusedError` for
    more files than curator looks through.
    """
    search = _Search(root, project, moved_from, files_max)
    for path, status in search.files():
        search.look(path, status)
    return search.found()


def folder_name(cwd: str) -> str:
    """Return how Pi calls the folder of sessions that were started in `cwd`."""
    return f"--{_NAME_ODD.sub('-', cwd.removeprefix('/'))}--"


class _Search:
    """One look through all sessions, for one project."""

    def __init__(self, root: Path, project: Project, moved_from: Collection[str], files_max: int) -> None:
        self._root = Path(os.path.realpath(root))
        self._project = project
        self._files_max = files_max
        self._roots = (os.fspath(project.root), *moved_from)
        self._folders = {folder_name(each) for each in self._roots}
        self._places: dict[str, Doubt | bool] = {}
        self._sessions: list[SessionFile] = []
        self._quarantined: list[Quarantined] = []
        self._elsewhere = self._own = self._others = self._links = 0

    def found(self) -> Found:
        return Found(
            sessions=tuple(self._sessions),
            quarantined=tuple(self._quarantined),
            quarantined_elsewhere=self._elsewhere,
            own_reviews=self._own,
            other_projects=self._others,
            links=self._links,
        )

    def files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the session files by path, without following a link."""
        count = 0
        waiting: list[tuple[Path, int]] = [(self._root, 1)]
        while waiting:
            folder, depth = waiting.pop()
            below: list[tuple[Path, int]] = []
            for path, status in self._listed(folder):
                if stat.S_ISLNK(status.st_mode):
                    self._links += 1
                elif stat.S_ISDIR(status.st_mode):
                    below += [(path, depth + 1)] if depth < _DEPTH_MAX else []
                elif path.suffix == ".jsonl" and stat.S_ISREG(status.st_mode):
                    count += 1
                    if count > self._files_max:
                        fact = f"{self._root}: holds more than {self._files_max} sessions"
                        raise RefusedError(fact, remedy="Nothing was read; move old sessions away")
                    yield path, status
            waiting += reversed(below)

    def _listed(self, folder: Path) -> list[tuple[Path, os.stat_result]]:
        try:
            paths = sorted(folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StorageError(folder, error) from error
        listed: list[tuple[Path, os.stat_result]] = []
        for path in paths:
            try:
                listed.append((path, path.lstat()))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StorageError(path, error) from error
        return listed

    def look(self, path: Path, status: os.stat_result) -> None:
        """Read how a file begins, and put it where it belongs."""
        try:
            head, is_own = _opening(path)
        except NotFoundError:
            return
        except (InvalidRecordError, StorageError) as error:
            self._doubt(path, status, Doubt.DENIED if isinstance(error, StorageError) else Doubt.HEADER)
            return
        place = Doubt.NO_FOLDER if head.cwd is None else self._place(head.cwd)
        if isinstance(place, Doubt):
            self._doubt(path, status, place)
        elif not place:
            self._others += 1
        elif is_own:
            self._own += 1
        else:
            modified_ms = status.st_mtime_ns // 1_000_000
            self._sessions.append(SessionFile(path, status.st_size, modified_ms, head, self._origin(head)))

    def _doubt(self, path: Path, status: os.stat_result, doubt: Doubt) -> None:
        is_near = path.parent == self._root or any(part in self._folders for part in path.parts)
        if is_near or doubt is Doubt.FOLDER_GONE:
            self._quarantined.append(Quarantined(path, status.st_size, doubt))
        else:
            self._elsewhere += 1

    def _place(self, cwd: str) -> Doubt | bool:
        """Tell whether a folder is in the project; asked once for each."""
        if cwd not in self._places:
            self._places[cwd] = self._is_in_project(cwd)
        return self._places[cwd]

    def _is_in_project(self, cwd: str) -> Doubt | bool:
        if cwd in self._roots:
            return True
        if not cwd.startswith("/") or "\0" in cwd:
            return False
        # What lay in a place that the project moved from lies in the project now.
        former = next((each for each in self._roots[1:] if cwd.startswith(f"{each}/")), None)
        folder = Path(cwd) if former is None else self._project.root / cwd[len(former) + 1 :]
        is_below = former is not None or cwd.startswith(f"{self._roots[0]}/")
        try:
            return find_project(folder).root == self._project.root
        except NotFoundError:
            return Doubt.FOLDER_GONE if is_below else False
        except (StorageError, RefusedError):
            return Doubt.DENIED if is_below else False

    def _origin(self, head: Head) -> Origin:
        """Look for the parent session by its path; nothing outside the sessions is looked at."""
        if head.parent is None:
            return Origin.NONE
        path = Path(head.parent)
        if "\0" in head.parent or ".." in path.parts or self._root not in path.parents:
            return Origin.UNAVAILABLE
        between = [path, *path.parents][: len(path.parts) - len(self._root.parts)]
        try:
            modes = [each.lstat().st_mode for each in between]
        except OSError:
            return Origin.UNAVAILABLE
        is_plain = stat.S_ISREG(modes[0]) and all(map(stat.S_ISDIR, modes[1:]))
        return Origin.AVAILABLE if is_plain else Origin.UNAVAILABLE


def _opening(path: Path) -> tuple[Head, bool]:
    """Return a session's header, and whether its first question is one that a reviewer is asked."""
    try:
        with open_session(path) as file:
            taken = lines(file, until=_OPENING_BYTES_MAX)
            head = read_head(path, next(taken, None))
            for line in taken:
                asked = _asked(load(line.raw)) if line.number <= _OPENING_LINES_MAX else ""
                if asked is not None:
                    return head, bool(_OWN.match(asked))
            return head, False
    except OSError as error:
        raise StorageError(path, error) from error


def _asked(value: Json) -> str | None:
    """Return a user's text, or None if this entry is none."""
    message = value.get("message") if isinstance(value, dict) else None
    if not isinstance(message, dict) or message.get("role") != "user":
        return None
    said = message.get("content")
    blocks = said if isinstance(said, list) else [{"text": said}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return next((text for text in texts if isinstance(text, str)), "").lstrip()
