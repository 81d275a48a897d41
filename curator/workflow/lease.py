"""Keep a claim alive while a long call runs, and notice when it is lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from curator.errors import BusyError, LeaseLostError, StorageError
from curator.model.limits import LEASE_MS

if TYPE_CHECKING:
    from types import TracebackType

    from curator.store.spool import Claim, Spool


class Lease:
    """A background thread that renews one claim every third of its lease.

    INVARIANT  It only renews. A lost lease is noticed by the next fenced write; a busy lock or a full disk is tried
               again at the next turn, for the lease has two turns left.
    """

    def __init__(self, spool: Spool, claim: Claim, lease_ms: int = LEASE_MS) -> None:
        """Prepare to keep `claim` alive."""
        self._spool = spool
        self._claim = claim
        self._every_s = lease_ms / 3 / 1000
        self._lease_ms = lease_ms
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> Self:
        """Start renewing."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop renewing and wait until nothing is being written."""
        self._done.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._done.wait(self._every_s):
            try:
                self._spool.renew(self._claim, self._lease_ms)
            except LeaseLostError:
                return
            except (BusyError, StorageError):
                continue
