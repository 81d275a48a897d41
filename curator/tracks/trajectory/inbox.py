"""The inbox: how what was just said in Pi reaches the ledger, a delta at a time, at a cost that no session makes larger.

A file is taken in, waits, or is refused; in each case that is durable before its name goes.

INVARIANT  A file costs itself alone: what cannot be taken is set aside with why, and the next one is looked at.
CRASH      Until the name goes the file is taken in again, which changes nothing.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curator.durable.ages import ages_in
from curator.durable.aside import move_aside
from curator.durable.publish import ensure_directory, remove, replace
from curator.durable.read import mode_of, read_bounded, stamp_of
from curator.durable.records import read_record
from curator.durable.retire import retire_file
from curator.errors import BusyError, CuratorError, InvalidRecordError, NotFoundError, RefusedError, StorageError
from curator.model.digest import canonical
from curator.model.ids import session_key
from curator.model.ledger import Refusal, Wanted
from curator.model.limits import DELTA_BYTES_MAX, DELTA_ENTRIES_MAX, INBOX_AT_ONCE_MAX, JOURNAL_BYTES_MAX
from curator.model.times import iso
from curator.pi.project import find_project
from curator.store.standings import StandingStore
from curator.tracks.trajectory.handed import read_handed
from curator.tracks.trajectory.ledger import Ledger, Taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ids import ProjectKey
    from curator.model.ledger import Delta
    from curator.model.ports import Clock
    from curator.pi.project import Project

_OURS: Final = (InvalidRecordError, NotFoundError, RefusedError)
"""What says that a file will not be taken, however often it is tried."""


@dataclasses.dataclass(frozen=True, slots=True)
class Received:
    """What became of one delta."""

    key: ProjectKey
    taken: Taken | None
    """None where it waits for its beginning."""
    dropped: int
    """How many of its entries are none that this release knows."""


@dataclasses.dataclass(frozen=True, slots=True)
class Turned:
    """A file of the inbox that was refused, and why; or one that is left for later."""

    path: Path
    error: CuratorError
    is_kept: bool
    """Whether it stays in the inbox, to be tried again."""


class Inbox:
    """The inbox of one agent folder."""

    def __init__(self, layout: Layout, volume: Volume, clock: Clock) -> None:
        """Open it; nothing is read yet."""
        self._layout = layout
        self._place = layout.trajectory_inbox
        self._volume = volume
        self._clock = clock
        self._ledgers: dict[ProjectKey, Ledger] = {}

    def receive(self, raw: bytes) -> Received:
        """Take in one delta; durable when it returns.

        Raises `RefusedError` for what is none, for a snapshot, and for a project that a person excluded; `BusyError`
        for one that is paused; `NotFoundError` where the project's folder is not there.
        """
        handed = read_handed(raw)
        project = find_project(Path(handed.root))
        self._refuse_rest(project)
        ledger = self.ledger(project.key)
        taken = ledger.append(handed.delta)
        self._ask_for_beginning(project, ledger, handed.delta)
        return Received(project.key, taken, handed.dropped)

    def take_in(self, limit: int = INBOX_AT_ONCE_MAX) -> Iterator[Received | Turned]:
        """Take in what lies in the inbox, the oldest first. Raises `StorageError` where the disk fails."""
        for path in self.waiting()[:limit]:
            try:
                raw = read_bounded(path, DELTA_BYTES_MAX)
                if raw is None:
                    continue
                received = self.receive(raw)
            except BusyError as error:
                yield Turned(path, error, is_kept=True)
            except _OURS as error:
                self._set_aside(path, error)
                yield Turned(path, error, is_kept=False)
            else:
                remove(self._volume, path)
                yield received

    def waiting(self) -> list[Path]:
        """Return the files that were handed over and not looked at yet, the oldest first."""
        found: list[tuple[int, str]] = []
        try:
            with os.scandir(self._place.root) as entries:
                for entry in entries:
                    if entry.name.endswith(".json") and not entry.name.startswith("."):
                        status = entry.stat(follow_symlinks=False)
                        found += [] if stat.S_ISDIR(status.st_mode) else [(status.st_mtime_ns, entry.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(self._place.root, error) from error
        return [self._place.root / name for _, name in sorted(found)]

    def prepare(self) -> None:
        """Make the folder, so that Pi may write into it."""
        ensure_directory(self._volume, self._place.root)

    def retire(self, before_ms: int) -> None:
        """Let go of what was refused before a moment: it holds what was said, uncleaned."""
        for aged in list(ages_in(self._place.refused)):
            retire_file(self._volume, self._place.refused / aged.name, before_ms)

    def ledger(self, key: ProjectKey) -> Ledger:
        """Return the ledger of a project, opened once."""
        if key not in self._ledgers:
            self._ledgers[key] = Ledger(self._layout.trajectory(key), self._volume, self._clock)
        return self._ledgers[key]

    def close(self) -> None:
        """Let go of every ledger."""
        for ledger in self._ledgers.values():
            ledger.close()
        self._ledgers.clear()

    def _refuse_rest(self, project: Project) -> None:
        standing = StandingStore(self._volume, self._layout).find(project.key)
        if standing is None:
            return
        if standing.wish == "excluded" or standing.linked_to is not None:
            fact = f"{project.root}: a person excluded it, or let its memory go on elsewhere"
            raise RefusedError(fact, remedy=f"Run `curator project resume {project.key[:12]}` to take that back")
        if standing.is_resting:
            remedy = f"Run `curator project resume {project.key[:12]}`; until then it is left in the inbox"
            raise BusyError(f"{project.root}: the project is paused", remedy=remedy)

    def _ask_for_beginning(self, project: Project, ledger: Ledger, delta: Delta) -> None:
        """Say which entry is missing of a session, or take back what was said once nothing is."""
        session = session_key(delta.session_id)
        path = self._place.want(session)
        missing = ledger.missing_of(session)
        if missing is None:
            if stamp_of(path) is not None:
                remove(self._volume, path)
            return
        wanted = Wanted(
            project_root=str(project.root),
            session_id=delta.session_id,
            entry_id=missing,
            entries_max=DELTA_ENTRIES_MAX,
            bytes_max=DELTA_BYTES_MAX,
        )
        data = (canonical(wanted.encode()) + "\n").encode()
        if mode_of(path) is None or read_bounded(path, JOURNAL_BYTES_MAX) != data:
            ensure_directory(self._volume, self._place.wanted)
            replace(self._volume, path, data)
        else:
            # Who asked for it may have died between its rename and its flush, and the inbox lets go next.
            self._volume.sync_directory(self._place.wanted)

    def _set_aside(self, path: Path, error: CuratorError) -> None:
        """Say why, then move the file."""
        ensure_directory(self._volume, self._place.refused)
        at = self._clock.now()
        refusal = Refusal(name=path.name, code=error.code, fact=error.fact, remedy=error.remedy, at=iso(at))
        why = self._place.refused / f"{path.name}.why.json"
        replace(self._volume, why, (canonical(refusal.encode()) + "\n").encode())
        move_aside(self._volume, path, self._place.refused, at)


def refusals(layout: Layout) -> Iterator[Refusal]:
    """Yield why files of the inbox were refused, as far as that is kept."""
    folder = layout.trajectory_inbox.refused
    for aged in sorted(ages_in(folder), key=lambda each: each.name):
        if aged.name.endswith(".why.json"):
            refusal = read_record(folder / aged.name, Refusal, JOURNAL_BYTES_MAX)
            if refusal is not None:
                yield refusal
