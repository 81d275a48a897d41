"""What the doctor does itself: only what is safe, and each thing said.

INVARIANT  Nothing that anybody alive holds or could still need is removed. A begun change is set aside on a person's word
           alone, and kept.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, assert_never

from curator.doctor.finding import Drop, GiveUp, Reap, Restrict
from curator.doctor.locks import is_abandoned
from curator.durable.lock import reap_if_stale
from curator.durable.read import mode_of
from curator.errors import CuratorError
from curator.workflow.stuck import give_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from curator.doctor.finding import Finding, Mend
    from curator.durable.volume import Volume
    from curator.workflow.shop import Shop


def fix(
    findings: Sequence[Finding], volume: Volume, now: int, open_shop: Callable[[], Shop], *, is_agreed: bool
) -> Iterator[str]:
    """Mend what can be mended, and yield what was done or why not, a sentence each.

    Without `is_agreed` a begun change is only named. `open_shop` opens the folder as a worker would, where that is
    needed.
    """
    for finding in findings:
        mend = finding.mend
        if mend is None:
            continue
        if isinstance(mend, GiveUp) and not is_agreed:
            yield f"Not done without --yes: setting aside {mend.begun.path}"
            continue
        try:
            yield from _done(mend, volume, now, open_shop)
        except CuratorError as error:
            yield f"Not done: {error}"


def _done(mend: Mend, volume: Volume, now: int, open_shop: Callable[[], Shop]) -> Iterator[str]:
    match mend:
        case Restrict(paths, mode):
            for path in paths:
                yield _restricted(volume, path, mode)
        case Reap(path):
            # The first try may only clear a dead reaper's breaker out of the way.
            is_gone = reap_if_stale(path) or reap_if_stale(path)
            yield f"Removed {path}" if is_gone else f"Not done: {path} is held again"
        case Drop(paths, are_locks):
            left = [path for path in paths if not are_locks or is_abandoned(path, now)]
            yield from (f"Removed {path}" for path in left if volume.unlink(path))
        case GiveUp(begun):
            for target in give_up(begun, open_shop()):
                yield f"Set aside: {target}"
            yield f"{begun.job_id} ends stale at the next run. Run `curator review --once`"
        case _:
            assert_never(mend)


def _restricted(volume: Volume, path: Path, mode: int) -> str:
    if mode_of(path) is None:
        return f"Not done: {path} is gone"
    if os.geteuid() not in (0, path.lstat().st_uid):
        return f"Not done: {path} belongs to another user"
    volume.restrict(path, mode)
    return f"Gave {path} the mode {mode:04o}"
