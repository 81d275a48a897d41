"""How a branch came to be: its revisions, one file each, numbered without a gap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from curator.durable.read import list_names
from curator.durable.records import read_as
from curator.errors import InvalidRecordError
from curator.model.limits import DIRECTORY_NAMES_MAX, PROJECT_FILE_BYTES_MAX
from curator.model.memory import Revision, decode_revision, revision_filename

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.ids import BranchName, RevisionId

_NAME: Final = re.compile(r"\d{12}-([a-f0-9-]{36})\.json")


def read_history(folder: Path, name: BranchName) -> tuple[Revision, ...]:
    """Return a branch's history, oldest first. Raises `InvalidRecordError` if a sequence is missing or damaged."""
    return tuple(_numbered(folder / each, sequence, name) for sequence, each in enumerate(_names(folder), start=1))


def read_revision(folder: Path, revision_id: RevisionId) -> Revision | None:
    """Return one revision by its id, whatever the others are like; None where it does not stand."""
    for each in _names(folder):
        if each.endswith(f"-{revision_id}.json"):
            return read_as(folder / each, decode_revision, PROJECT_FILE_BYTES_MAX)
    return None


def next_sequence(folder: Path, name: BranchName) -> int:
    """Return the number of the next revision, by the names and the last one: a long history is not read for it (W25).

    Raises `InvalidRecordError` where a number is missing or taken twice, or the last one is damaged.
    """
    names = _names(folder)
    for sequence, each in enumerate(names, start=1):
        if not each.startswith(f"{sequence:012}-"):
            raise _not_it(folder / each, sequence, name)
    if names:
        _numbered(folder / names[-1], len(names), name)
    return len(names) + 1


def _names(folder: Path) -> list[str]:
    return [each for each in list_names(folder, DIRECTORY_NAMES_MAX) if _NAME.fullmatch(each)]


def _numbered(path: Path, sequence: int, name: BranchName) -> Revision:
    record = read_as(path, decode_revision, PROJECT_FILE_BYTES_MAX)
    if record is None or record.sequence != sequence or revision_filename(sequence, record.id) != path.name:
        raise _not_it(path, sequence, name)
    return record


def _not_it(path: Path, sequence: int, name: BranchName) -> InvalidRecordError:
    return InvalidRecordError(path, f"is not revision {sequence} of {name}")
