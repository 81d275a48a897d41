"""What the service does for trajectories in quiet moments: take in what Pi handed over, and keep ledgers small.

INVARIANT  A file, and a ledger, costs itself alone, and is told. A failing disk ends the round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.durable.ages import folders_in
from curator.durable.sweep import sweep
from curator.errors import CuratorError, StorageError
from curator.model.event import Stopped
from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
from curator.tracks.trajectory.inbox import Inbox, Turned
from curator.tracks.trajectory.ledger import Ledger

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ports import Clock, Listener


def take_in(layout: Layout, volume: Volume, clock: Clock, listener: Listener) -> int:
    """Take in what lies in the inbox, and return how many files were taken or wait now."""
    inbox = Inbox(layout, volume, clock)
    taken = 0
    try:
        for outcome in inbox.take_in():
            if not isinstance(outcome, Turned):
                taken += 1
            elif not outcome.is_kept:
                error = outcome.error
                listener.tell(Stopped(f"trajectory inbox {outcome.path.name}", error.code, error.fact, error.remedy))
    finally:
        inbox.close()
    return taken


def tend(layout: Layout, volume: Volume, clock: Clock, listener: Listener, refused_ms: int) -> None:
    """Finish what was begun, pack what is small, and let go of what is old: of refused files after so long."""
    now = clock.now()
    inbox = layout.trajectory_inbox
    Inbox(layout, volume, clock).retire(now - refused_ms)
    for folder in (inbox.root, inbox.wanted, inbox.refused):
        sweep(volume, folder, now)
    for key in sorted(folders_in(layout.trajectories)):
        if not PROJECT_KEY_PATTERN.fullmatch(key):
            continue
        ledger = Ledger(layout.trajectory(ProjectKey(key)), volume, clock)
        try:
            ledger.tend()
        except StorageError:
            raise
        except CuratorError as error:
            listener.tell(Stopped(f"trajectory {key}", error.code, error.fact, error.remedy))
        finally:
            ledger.close()
