"""One session to read, as a task that another process can be given, and what comes back from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from curator.errors import CuratorError, InvalidRecordError, NotFoundError, StorageError
from curator.model.trajectory import Progress
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.reading import Batch, index_file


@dataclasses.dataclass(frozen=True, slots=True)
class Task:
    """What `index_file` is to be given, but the time."""

    path: str
    resume: Progress | None = None
    until: int | None = None
    is_digested: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why a session was not read: the last event of its task. An error itself does not travel."""

    kind: Literal["invalid", "not-found", "storage"]
    path: str
    fact: str
    remedy: str
    errno: int = 0

    def error(self) -> CuratorError:
        """Return the error that reading it here would have raised."""
        match self.kind:
            case "invalid":
                return InvalidRecordError(Path(self.path), self.fact, remedy=self.remedy)
            case "not-found":
                return NotFoundError(self.fact, remedy=self.remedy)
            case "storage":
                return StorageError(Path(self.path), OSError(self.errno, self.fact))


Event: TypeAlias = Batch | Ended | Refusal
"""What a task gives: batches, then one of the others."""


def events_of(task: Task, now: int) -> Iterator[Event]:
    """Do a task; what `index_file` raises becomes its last event."""
    try:
        yield from index_file(task.path, now, resume=task.resume, until=task.until, is_digested=task.is_digested)
    except InvalidRecordError as error:
        yield Refusal("invalid", str(error.path), error.why, error.remedy)
    except NotFoundError as error:
        yield Refusal("not-found", task.path, error.fact, error.remedy)
    except StorageError as error:
        fact = error.fact.removeprefix(f"{error.path}: ")
        yield Refusal("storage", str(error.path), fact, error.remedy, error.errno or 0)
