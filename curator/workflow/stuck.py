"""Begun changes of memory that nobody can finish: what stands where, and setting them aside on a person's word.

While such an intent stands Pi stays off in its project. It is moved to the quarantine and kept there; its job then ends
stale, whatever the branch has become meanwhile, for a change that was begun twice could be made twice.

CRASH  The intent stands under both names; setting it aside again goes on.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from curator.durable.aside import move_aside
from curator.durable.read import list_names, stamp_of
from curator.errors import ConflictError, InvalidRecordError
from curator.machine.admission import Step, next_step
from curator.model.ids import PROJECT_KEY_PATTERN, JobId, ProjectKey
from curator.model.limits import DIRECTORY_NAMES_MAX
from curator.workflow.inspect.memory import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.machine.admission import Seen
    from curator.store.memory import ProjectStore
    from curator.workflow.shop import Shop

Authority: TypeAlias = Literal["external", "shadow"]
Kind: TypeAlias = Literal["begun", "unmatched", "unreadable", "undecided", "damaged"]
"""begun: it can be finished. undecided: it is whole, but its decision is gone, so that its receipt cannot be made.
damaged: memory itself cannot be read, and has to be mended before anything else."""

_LEFT: Final = re.compile(r"(review_[0-9a-f]{40})\.(?:intent|complete)\.json")
GIVEN_UP: Final[frozenset[Kind]] = frozenset({"unmatched", "unreadable", "undecided"})


@dataclasses.dataclass(frozen=True, slots=True)
class Begun:
    """One change of a project's memory that has begun and is not over."""

    key: ProjectKey
    authority: Authority
    job_id: JobId
    path: Path
    kind: Kind
    fact: str
    """What stands where."""


def begun_changes(layout: Layout) -> tuple[Begun, ...]:
    """Return every begun change of every project. Changes nothing."""
    places: tuple[tuple[Path, Authority], ...] = ((layout.root, "external"), (layout.shadow, "shadow"))
    return tuple(
        begun
        for folder, authority in places
        for name in list_names(folder, DIRECTORY_NAMES_MAX)
        if PROJECT_KEY_PATTERN.fullmatch(name)
        for begun in _of_project(layout, ProjectKey(name), authority)
    )


def give_up(begun: Begun, shop: Shop) -> tuple[Path, ...]:
    """Set a change aside that nobody can finish, and return where it lies. Its job is let go on, to end stale.

    Raises `RefusedError` where it can go on by now, and `InvalidRecordError` where memory itself is damaged.
    """
    moved: list[Path] = []

    def move(path: Path) -> None:
        target = move_aside(shop.volume, path, shop.layout.quarantine, shop.clock.now())
        if target is not None:
            moved.append(target)

    is_undecided = not shop.stores.decisions.is_elected(begun.job_id)
    shop.memory(begun.key, begun.authority).give_up(begun.job_id, move, is_undecided=is_undecided)
    for waiting in shop.stores.spool.waiting():
        if waiting.job_id == begun.job_id and waiting.glimpse.due_ms:
            shop.stores.spool.hurry(waiting)
    return tuple(moved)


def was_given_up(job_id: JobId, shop: Shop) -> bool:
    """Tell whether a begun change of that job was set aside."""
    names = list_names(shop.layout.quarantine, DIRECTORY_NAMES_MAX)
    return any(name.startswith(f"{job_id}.") for name in names)


def _of_project(layout: Layout, key: ProjectKey, authority: Authority) -> Iterator[Begun]:
    memory = open_store(layout, key, authority)
    names = list_names(memory.layout.admissions, DIRECTORY_NAMES_MAX)
    # A completion alone is what a crash leaves of one that was being set aside.
    found = {
        JobId(match.group(1)): memory.layout.admissions / name for name in names if (match := _LEFT.fullmatch(name))
    }
    for job_id, completion in found.items():
        intent = memory.layout.intent(job_id)
        kind, fact = _judge(job_id, memory, layout)
        yield Begun(key, authority, job_id, intent if intent.name in names else completion, kind, fact)


def _judge(job_id: JobId, memory: ProjectStore, layout: Layout) -> tuple[Kind, str]:
    try:
        seen = memory.sight(job_id)
    except ConflictError as error:
        return "unmatched", error.fact
    except InvalidRecordError as error:
        return ("unreadable" if error.path.parent == memory.layout.admissions else "damaged"), error.fact
    step = next_step(seen)
    if step is None:
        return "unmatched", f"memory stands neither where it began nor where it leads: {_told(seen)}"
    if step is Step.RECEIPT and stamp_of(layout.decision(job_id)) is None:
        return "undecided", f"it is whole, and its decision is gone: {_told(seen)}"
    return "begun", f"next is: {step.value}"


def _told(seen: Seen) -> str:
    """Say what stands where, in the words of the table."""
    flags = (("completion", seen.completion), ("receipt", seen.receipt), ("tombstone", seen.tombstone))
    standing = ", ".join(f"{name} {'there' if is_there else 'not there'}" for name, is_there in flags)
    return f"branch {seen.branch.value}, revision {seen.revision.value}, {standing}"
