"""One service per agent folder. Any number of `curator review --once` may run beside it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from curator.durable.lock import try_kernel_lock
from curator.durable.publish import replace_lazily
from curator.durable.read import read_bounded
from curator.errors import BusyError, InvalidRecordError
from curator.model.limits import LOCK_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.workflow.shop import Shop


@contextlib.contextmanager
def sole_service(shop: Shop) -> Iterator[None]:
    """Be the one service of the agent folder. Raises `BusyError` naming the other one's process."""
    with no_other_service(shop):
        try:
            # Only a name for messages: the kernel's lock decides, so a crash may leave an old one.
            replace_lazily(shop.volume, shop.layout.instance_pid, f"{os.getpid()}\n".encode())
            yield
        finally:
            shop.volume.unlink(shop.layout.instance_pid)


@contextlib.contextmanager
def no_other_service(shop: Shop) -> Iterator[None]:
    """Keep every service from starting meanwhile. Raises `BusyError` naming the process of one that runs."""
    lock = try_kernel_lock(shop.layout.instance_guard)
    if lock is None:
        other = running_service(shop)
        fact = "another curator service runs for this agent folder" + (f": process {other}" if other else "")
        raise BusyError(fact, remedy="Stop it with `curator service stop`, or leave the work to it")
    try:
        yield
    finally:
        lock.release()


def running_service(shop: Shop) -> int | None:
    """Return the process id that the running service wrote, if it can be told."""
    try:
        raw = read_bounded(shop.layout.instance_pid, LOCK_BYTES_MAX)
    except InvalidRecordError:
        return None
    text = "" if raw is None else raw.decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None


def is_service_running(shop: Shop) -> bool:
    """Tell whether a service holds the agent folder now."""
    lock = try_kernel_lock(shop.layout.instance_guard)
    if lock is None:
        return True
    lock.release()
    return False
