"""Every name under the folder: whose it is, who may read it, and what belongs to nobody."""

from __future__ import annotations

import dataclasses
import enum
import os
import re
import stat
from typing import TYPE_CHECKING, Final

from curator.errors import StorageError
from curator.verify.finding import Finding, error, stray

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.durable.layout import Layout

_OTHERS: Final = 0o077
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_JOB: Final = r"review_[0-9a-f]{40}"
_ATTEMPT: Final = r"review_attempt_[0-9a-f]{40}"
_PLAN: Final = r"plan_[0-9a-f]{16}"
_KEY: Final = r"(?:curator/shadow/)?[0-9a-f]{24}"
_STAGED: Final = re.compile(rf"(?:.+\.\d+\.{_UUID}|\.{_UUID})\.tmp")
_LOCK_LEFT: Final = re.compile(rf".+\.(?:breaker|stale\.{_UUID})")


class _Care(enum.Enum):
    """Who may read a file."""

    EXACT = "exact"
    """Mode 0600 and no other: readers refuse it otherwise."""
    PRIVATE = "private"
    """Nobody else: it holds evidence, memory, or what is made of them."""
    OPEN = "open"
    """Whoever the person lets: it holds neither."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    folder: re.Pattern[str]
    files: re.Pattern[str]
    care: _Care = _Care.PRIVATE
    is_strict: bool = False
    """Whether a name that does not belong stops the protocol's own worker."""
    staged: re.Pattern[str] = _STAGED
    """How a staged leftover may be spelled there."""


def _place(
    folder: str, files: str, care: _Care = _Care.PRIVATE, *, is_strict: bool = False, staged: str | None = None
) -> _Place:
    spelled = _STAGED if staged is None else re.compile(staged)
    return _Place(re.compile(folder), re.compile(files), care, is_strict, spelled)


_HIDDEN: Final = rf"\.{_UUID}\.tmp"
_PLACES: Final = (
    _place(r"", r"service\.json|review-budget\.json(\.lock)?|review-ledger\.sqlite(-wal|-shm|-journal)?", _Care.OPEN),
    _place(r"review-workers|runtimes", r"[0-9a-f]{24}\.json", _Care.OPEN),
    _place(r"review-spool", r"\.spool\.lock"),
    _place(r"review-spool/(queued|running|outcomes)", rf"{_JOB}\.json"),
    _place(r"review-spool/dead-letter", rf"{_JOB}\.[0-9a-f]{{12}}\.{_UUID}\.json|.+\.bad"),
    _place(r"review-spool/accounting", r"\.lock"),
    _place(
        r"review-spool/accounting/days",
        r"\d{4}-\d\d-\d\d",
        _Care.EXACT,
        is_strict=True,
        staged=r"\d{4}-\d\d-\d\d\.\d+\.[0-9a-f-]{36}\.tmp",
    ),
    _place(
        r"review-spool/accounting/identities",
        _ATTEMPT,
        _Care.EXACT,
        is_strict=True,
        staged=rf"{_ATTEMPT}\.\d+\.[0-9a-f-]{{36}}\.tmp",
    ),
    _place(r"review-spool/provider-results", r"(?!)", is_strict=True, staged=r"(?!)"),
    _place(
        rf"review-spool/provider-results/{_JOB}",
        r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\.json",
        _Care.EXACT,
        is_strict=True,
        staged=_HIDDEN,
    ),
    _place(r"review-spool/proposal-decisions", rf"{_JOB}\.json", _Care.EXACT, is_strict=True, staged=_HIDDEN),
    _place(r"review-spool/proposal-decisions/\.locks", rf"{_JOB}\.lock"),
    _place(r"curator", r"curator\.toml|[a-z-]+\.(guard|lock|pid)|shadow\.sqlite(-wal|-shm|-journal)?", _Care.OPEN),
    _place(r"curator/report", r"report\.html"),
    _place(r"curator/(evidence|bases|finished|shadow)", r"(?!)"),
    _place(r"curator/(projects|authority)", r".+\.json"),
    _place(r"curator/backfill", r"(?!)"),
    _place(rf"curator/backfill/{_PLAN}", r"(plan|windows|wish)\.json|run\.(guard|pid)"),
    _place(
        rf"curator/backfill/{_PLAN}/(answers|staged|promotions|rollbacks|snapshots)",
        r"\d{6}(\.\d+)?\.json",
        _Care.EXACT,
    ),
    _place(r"curator/quarantine", r".+\.bad"),
    _place(r"curator/attempts", r"\d{4}-\d\d-\d\d\.closed\.json", _Care.EXACT),
    _place(r"curator/attempts/\d{4}-\d\d-\d\d", r"legacy\.[0-9a-f]{24}\.json", _Care.EXACT),
    _place(r"curator/attempts/\d{4}-\d\d-\d\d/[0-9a-f]{2}", rf"{_ATTEMPT}\.[0-3]\.json", _Care.EXACT),
    _place(r"curator/jobs", rf"{_JOB}\.json", _Care.EXACT),
    _place(r"curator/held", rf"{_JOB}\.json"),
    _place(rf"curator/bases/{_JOB}", r"[0-9a-f]{64}\.json", _Care.EXACT),
    _place(r"curator/evidence/[0-9a-f]{2}", rf"{_JOB}\.{_ATTEMPT}\.json", _Care.EXACT),
    _place(r"curator/finished/[0-9a-f]{2}", rf"{_JOB}\.json", _Care.EXACT),
    _place(r"curator/trajectory", r"(?!)"),
    _place(r"curator/trajectory/[0-9a-f]{24}", r"trajectory\.guard|index\.sqlite(-wal|-shm|-journal)?"),
    _place(r"curator/trajectory/[0-9a-f]{24}/(segments|settled|coverage|forgotten|waiting)", r"[0-9a-f]{64}\.z"),
    _place(r"curator/trajectory/[0-9a-f]{24}/sources", r"[0-9a-f]{32}\.json"),
    _place(r"curator/trajectory-inbox", r"(?!\.).+\.json"),
    _place(r"curator/trajectory-inbox/wanted", r"[0-9a-f]{32}\.json"),
    _place(r"curator/trajectory-inbox/refused", r".+\.(bad|why\.json)"),
    _place(_KEY, r"\.lock|project\.json|skill-review\.json"),
    _place(rf"{_KEY}/(branches|reviews)", r"[a-z][a-z0-9_-]{0,63}\.json"),
    _place(rf"{_KEY}/revisions", r"(?!)"),
    _place(rf"{_KEY}/revisions/[a-z][a-z0-9_-]{{0,63}}", r"\d{12}-[0-9a-f-]{36}\.json"),
    _place(rf"{_KEY}/review-admissions", rf"{_JOB}\.(intent|complete)\.json"),
    _place(rf"{_KEY}/review-admissions/retired", rf"{_JOB}\.json"),
    _place(rf"{_KEY}/service", r"(?!)"),
    _place(rf"{_KEY}/service/commit-receipts", rf"{_JOB}\.json"),
    _place(rf"{_KEY}/service/review-feedback", r"\.lock"),
    _place(rf"{_KEY}/service/review-feedback/(pending|ready)", rf"{_JOB}\.json", _Care.EXACT),
)
_NOT_OURS: Final = re.compile(
    rf"{_KEY}/(memory-pending|skills|skill-pending|skill-revisions|skill-activity-index)(/.*)?"
)
"""The extension's alone: not looked into."""


def check_names(layout: Layout) -> Iterator[Finding]:
    """Yield every name that does not belong, and every mode that lets others read."""
    root = layout.root
    yield from _folder(root, "")


def _folder(path: Path, inside: str) -> Iterator[Finding]:
    place = next((each for each in _PLACES if each.folder.fullmatch(inside)), None)
    if place is None:
        yield stray(path, "is a folder of nobody; it is not looked into")
        return
    mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116 - beside scandir, whose entries tell the same
    if mode & _OTHERS and place.care is not _Care.OPEN:
        yield error(path, f"is a folder that others may enter: its mode is {mode:04o}, not 0700")
    folders: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                else:
                    yield from _file(path, place, entry)
    except FileNotFoundError:
        return
    except OSError as failure:
        raise StorageError(path, failure) from failure
    for name in sorted(folders):
        below = f"{inside}/{name}" if inside else name
        if not _NOT_OURS.fullmatch(below):
            yield from _known_folder(path / name, below, place)


def _known_folder(path: Path, inside: str, above: _Place) -> Iterator[Finding]:
    if above.is_strict and not any(each.folder.fullmatch(inside) for each in _PLACES):
        yield error(path, "does not belong here, and stops the other worker")
    else:
        yield from _folder(path, inside)


def _file(folder: Path, place: _Place, entry: os.DirEntry[str]) -> Iterator[Finding]:
    path = folder / entry.name
    if place.files.fullmatch(entry.name):
        yield from _mode(path, place.care, entry)
    elif place.staged.fullmatch(entry.name):
        yield stray(path, "is a staged leftover, or a write that goes on")
    elif place.is_strict:
        yield error(path, "does not belong here, and stops the other worker")
    elif entry.name.endswith(".json") and place.folder.fullmatch("review-spool/queued"):
        yield error(path, "is no job's name: the queue's readers set it aside")
    elif _LOCK_LEFT.fullmatch(entry.name):
        yield stray(path, "is what a dead owner left of a lock")
    else:
        yield stray(path, "belongs to nobody")


def _mode(path: Path, care: _Care, entry: os.DirEntry[str]) -> Iterator[Finding]:
    if entry.is_symlink():
        # A record behind one is judged where it is read.
        return
    try:
        mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if care is _Care.EXACT and mode != 0o600:  # noqa: PLR2004 - the protocol's mode
        yield error(path, f"has mode {mode:04o}, and its readers want 0600")
    elif care is _Care.PRIVATE and mode & _OTHERS:
        yield error(path, f"may be read by others: its mode is {mode:04o}, not 0600")
