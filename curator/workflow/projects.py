"""Projects as a person speaks of them: by a folder or by their key, with what was decided about each."""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.read import list_names
from curator.durable.volume import Volume
from curator.errors import CuratorError, InvalidRecordError, NotFoundError, RefusedError, UsageError
from curator.model.ids import BRANCH_NAME_PATTERN, PROJECT_KEY_PATTERN, BranchName, ProjectKey, project_key
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.model.project import Standing
from curator.model.times import iso
from curator.pi.project import check_recorded_root, find_project
from curator.store.standings import StandingStore
from curator.workflow.inspect.books import open_spool
from curator.workflow.inspect.memory import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.durable.layout import Layout
    from curator.model.project import Project, Wish
    from curator.workflow.shop import Shop

Place: TypeAlias = Literal["there", "gone", "elsewhere", "unknown"]
"""Where a recorded folder leads; unknown where no memory says which folder it is."""

_KEY_HEAD: Final = re.compile(r"[0-9a-f]{6,24}")


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """One branch of a project's memory, in figures."""

    name: BranchName
    entries: int
    chars: int
    revisions: int


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectView:
    """One project: its folder, what was decided, what it remembers in figures, and what waits for it."""

    key: ProjectKey
    root: str | None
    place: Place
    standing: Standing | None
    is_undecided: bool
    """Whether what was decided cannot be read: its jobs wait then."""
    branches: tuple[Held, ...]
    waiting: int
    running: int
    held: int
    faults: tuple[str, ...]
    """What of it cannot be read."""

    @property
    def word(self) -> str:
        """How it stands, in a word."""
        if self.is_undecided:
            return "unreadable"
        if self.standing is None:
            return "active"
        if self.standing.begun is not None:
            return f"{self.standing.begun} begun"
        if self.standing.linked_to is not None:
            return "linked"
        if self.standing.purged_at is not None and not self.branches and self.standing.wish == "active":
            return "purged"
        return self.standing.wish


def list_projects(layout: Layout) -> tuple[ProjectView, ...]:
    """Return every project that has a memory here, or of which something was decided, by folder."""
    keys = known_keys(layout)
    jobs = _jobs(layout)
    views = [_view(layout, key, jobs) for key in sorted(keys)]
    return tuple(sorted(views, key=lambda view: (view.root or "~", view.key)))


def show_project(layout: Layout, key: ProjectKey) -> ProjectView:
    """Return one project. Raises `NotFoundError` where nothing is known of it."""
    if key not in known_keys(layout):
        fact = f"{key}: nothing is known of this project under {layout.root}"
        raise NotFoundError(fact, remedy="See `curator project list`")
    return _view(layout, key, _jobs(layout))


def known_keys(layout: Layout) -> set[ProjectKey]:
    """Return the keys of all projects that stand here in some way."""
    names = {name for name in list_names(layout.root, DIRECTORY_NAMES_MAX) if PROJECT_KEY_PATTERN.fullmatch(name)}
    decided = {name.removesuffix(".json") for name in list_names(layout.standings, DIRECTORY_NAMES_MAX)}
    said = set(list_names(layout.trajectories, DIRECTORY_NAMES_MAX))
    return {
        ProjectKey(name) for name in names | {stem for stem in decided | said if PROJECT_KEY_PATTERN.fullmatch(stem)}
    }


def find_key(layout: Layout, given: str) -> ProjectKey:
    """Return the project that a folder, a folder that was, or the head of a key names.

    Raises `UsageError` for a head that fits several. A folder need not be there: its memory may have outlived it.
    """
    fitting = [key for key in known_keys(layout) if _KEY_HEAD.fullmatch(given) and key.startswith(given)]
    if len(fitting) > 1:
        fact = f"{len(fitting)} projects begin with {given}"
        raise UsageError(fact, remedy="Give more of the key; see `curator project list`")
    if fitting:
        return fitting[0]
    path = Path(os.path.normpath(Path(given).expanduser().absolute()))
    if _stands_at(layout, str(path)):
        # Whatever the folder leads to by now: this memory says that it is of this very path.
        return project_key(str(path))
    try:
        return find_project(path).key
    except NotFoundError:
        return project_key(str(path))


def find_known(layout: Layout, given: str) -> ProjectKey:
    """Return the project that is named so, as `find_key` does. Raises `NotFoundError` where nothing is known of it."""
    key = find_key(layout, given)
    if key not in known_keys(layout):
        named = Path(given).absolute() if given == "." else given
        fact = f"{named}: nothing is known of this project under {layout.root}"
        raise NotFoundError(fact, remedy="See `curator project list`")
    return key


def decide(shop: Shop, key: ProjectKey, wish: Wish) -> Standing:
    """Let a project's jobs wait, or go on. Raises `RefusedError` while more than a wish stands in the way."""
    project = _project(shop, key)

    def amend(before: Standing | None) -> Standing:
        if before is not None and before.wish == wish and before.linked_to is None and before.begun is None:
            return before
        refuse_begun(before)
        if before is not None and before.linked_to is not None:
            fact = f"{key}: its memory went on as {before.linked_to}"
            raise RefusedError(fact, remedy=f"Name that one; see `curator project show {before.linked_to}`")
        fresh = Standing(project_key=key, wish=wish, changed_at=iso(shop.clock.now()))
        after = fresh if before is None else dataclasses.replace(before, wish=wish, changed_at=fresh.changed_at)
        return after if project is None else dataclasses.replace(after, project_root=project.root)

    return shop.stores.standings.change(key, amend)


def refuse_begun(standing: Standing | None) -> None:
    """Raise `RefusedError` while a link or a purge of the project is not over."""
    if standing is not None and standing.begun is not None:
        fact = f"{standing.project_key}: a {standing.begun} of this project has begun and is not over"
        raise RefusedError(fact, remedy=f"Run `curator project {standing.begun}` again to finish it")


def refuse_excluded(shop: Shop, key: ProjectKey) -> None:
    """Raise `RefusedError` for a project that a person wants to be left alone."""
    standing = shop.stores.standings.find(key)
    if standing is not None and (standing.wish == "excluded" or standing.linked_to is not None):
        word = "is excluded" if standing.linked_to is None else f"went on as {standing.linked_to}"
        fact = f"{standing.project_root or key}: this project {word}"
        raise RefusedError(fact, remedy="Run `curator project resume` there to review it again")


def place_of(project: Project | None) -> Place:
    """Say where a recorded folder leads."""
    if project is None:
        return "unknown"
    try:
        return "there" if check_recorded_root(project.root, project.key) else "gone"
    except RefusedError:
        return "elsewhere"


def _project(shop: Shop, key: ProjectKey) -> Project | None:
    try:
        return shop.memory(key, "external").project()
    except InvalidRecordError:
        return None


def _stands_at(layout: Layout, root: str) -> bool:
    try:
        project = open_store(layout, project_key(root)).project()
    except CuratorError:
        return False
    return project is not None and project.root == root


@dataclasses.dataclass(frozen=True, slots=True)
class _Jobs:
    waiting: Mapping[str, int]
    running: Mapping[str, int]
    held: Mapping[str, int]


def _jobs(layout: Layout) -> _Jobs:
    spool = open_spool(layout)
    return _Jobs(
        waiting=Counter(each.glimpse.project_key for each in spool.waiting()),
        running=Counter(each.glimpse.project_key for each in spool.claimed()),
        held=Counter(each.job.project_key for each in spool.held()),
    )


def _view(layout: Layout, key: ProjectKey, jobs: _Jobs) -> ProjectView:
    faults: list[str] = []
    standing: Standing | None = None
    project: Project | None = None
    place: Place = "unknown"
    try:
        standing = StandingStore(Volume(), layout).find(key)
    except InvalidRecordError as error:
        faults.append(error.fact)
    is_undecided = bool(faults)
    try:
        project = open_store(layout, key).project()
        place = place_of(project)
    except CuratorError as error:
        faults.append(error.fact)
    root = project.root if project is not None else None if standing is None else standing.project_root
    return ProjectView(
        key=key,
        root=root,
        place=place,
        standing=standing,
        is_undecided=is_undecided,
        branches=_branches(layout, key, faults),
        waiting=jobs.waiting.get(key, 0),
        running=jobs.running.get(key, 0),
        held=jobs.held.get(key, 0),
        faults=tuple(faults),
    )


def _branches(layout: Layout, key: ProjectKey, faults: list[str]) -> tuple[Held, ...]:
    store = open_store(layout, key)
    found: list[Held] = []
    for name in branch_names(layout, key):
        try:
            branch, revisions = store.branch(name), store.revisions(name)
        except CuratorError as error:
            faults.append(error.fact)
            continue
        if branch is not None:
            found.append(Held(name, len(branch.entries), branch.chars, len(revisions)))
    return tuple(found)


def branch_names(layout: Layout, key: ProjectKey) -> tuple[BranchName, ...]:
    """Return the names of a project's branches."""
    stems = [name.removesuffix(".json") for name in list_names(layout.project(key).branches, DIRECTORY_NAMES_MAX)]
    return tuple(BranchName(stem) for stem in stems if BRANCH_NAME_PATTERN.fullmatch(stem))
