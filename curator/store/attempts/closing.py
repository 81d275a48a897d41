"""A day that is over becomes one file.

INVARIANT  The file is durable before anything goes from the folder, and nothing goes but what it covers: an attempt that
           came later, or a correction of one whose end nobody knew, stays.
CRASH      Once the file stands it wins; what it left of the folder counts for nothing, and is removed the next time.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from curator.durable.ages import ages_in, folders_in
from curator.durable.publish import publish
from curator.durable.read import stamp_of
from curator.durable.sweep import sweep
from curator.errors import ConflictError, InvalidRecordError
from curator.model.attempt import AttemptState, Unknown
from curator.model.budget import Amount
from curator.model.closed_day import ClosedDay, PastAttempt, PastState, Total
from curator.model.digest import compact
from curator.model.ids import AttemptId, Day, file_key
from curator.model.limits import CLOSED_DAY_ATTEMPTS_MAX, CLOSED_DAY_BYTES_MAX
from curator.store.attempts.fold import SHARD, STEP_NAME, DayFold, Seen, closed_path_of, past_of, read_closed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.lock import Domain
    from curator.durable.volume import Volume

_CORRECTION: Final = "3"


def closed_day_of(fold: DayFold) -> ClosedDay | None:
    """Return a day as one record; None while an attempt has no end, or a record cannot be read."""
    attempts = sorted(fold.attempts.values(), key=lambda seen: seen.id)
    if fold.faults or any(seen.exposure.held != Amount() for seen in attempts):
        return None
    lost = [seen.latest for seen in attempts if seen.correction is None and isinstance(seen.latest, Unknown)]
    unresolved = {each.id for each in lost}
    return ClosedDay(
        day=Day(fold.root.name),
        totals={provider: Total.of(fold.totals[provider]) for provider in sorted(fold.totals)},
        legacy=tuple(fold.legacy[provider] for provider in sorted(fold.legacy)),
        unresolved=tuple(lost),
        attempts=tuple(_past(seen).row for seen in attempts if seen.id not in unresolved),
    )


def close(volume: Volume, root: Path, day: ClosedDay) -> None:
    """Publish a closed day; the first one counts. Raises `InvalidRecordError` where it would be too large to be read."""
    path = closed_path_of(root)
    data = (compact(day.encode()) + "\n").encode()
    if len(data) > CLOSED_DAY_BYTES_MAX or len(day.attempts) + len(day.unresolved) > CLOSED_DAY_ATTEMPTS_MAX:
        raise InvalidRecordError(
            path, f"would be larger than {CLOSED_DAY_BYTES_MAX} bytes", remedy="The day stays open"
        )
    if stamp_of(path) is None:
        with contextlib.suppress(ConflictError):
            # Another process was first, and saw a correction more or less: what its file covers is covered.
            publish(volume, path, data)


def clear(volume: Volume, root: Path, domain: Domain, now: int) -> None:
    """Remove from a closed day's folder what its file covers, one shard a time under the lock, and then what is empty."""
    # Whoever published the file may have died before its flush, and what it stands for goes now.
    volume.sync_directory(root.parent)
    covers = _covered(closed_path_of(root))
    for folder in (*(root / name for name in sorted(folders_in(root)) if SHARD.fullmatch(name)), root):
        sweep(volume, folder, now)
        gone = sorted(aged.name for aged in ages_in(folder) if covers(aged.name))
        with domain.hold():
            for name in gone:
                volume.unlink(folder / name)
        if not volume.remove_directory(folder) and gone:
            volume.sync_directory(folder)
    volume.sync_directory(root.parent)


def _covered(path: Path) -> Callable[[str], bool]:
    """Return what tells whether a name in the folder says nothing that the file does not."""
    closed = read_closed(path)
    past, lost = past_of(closed, path), {unknown.id for unknown in closed.unresolved}
    carries = {f"legacy.{file_key(carry.provider)}.json" for carry in closed.legacy}

    def is_covered(name: str) -> bool:
        step = STEP_NAME.fullmatch(name)
        if step is None:
            return name in carries
        attempt_id = AttemptId(step.group(1))
        return attempt_id in past or (attempt_id in lost and step.group(2) != _CORRECTION)

    return is_covered


def _past(seen: Seen) -> PastAttempt:
    state: PastState = "settled"
    if seen.correction is not None:
        state = "corrected"
    elif seen.state is AttemptState.CANCELLED:
        state = "cancelled"
    return PastAttempt(seen.id, state, seen.exposure.actual, seen.latest.provider, seen.latest.job_id)
