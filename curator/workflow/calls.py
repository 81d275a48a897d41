"""The places for calls under way: a pool claims jobs ahead, and each waits here until one call more may be made.

What a call needs is then ready when another ends, and what follows an answer keeps no place from the next. Whoever has a
place looks at the memory afterwards, never before: it may have waited for as long as a call takes.

INVARIANT  At most `most` calls are between their reservation and their answer.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from curator.durable.baton import laid_down
from curator.workflow.lease import Lease

if TYPE_CHECKING:
    from types import TracebackType

    from curator.store.spool import Claim, Spool


class Calls:
    """The places of one process."""

    def __init__(self, most: int) -> None:
        """Make `most` places, all free."""
        self._most = most
        self._taken = 0
        self._is_shut = False
        self._change = threading.Condition()

    def resize(self, most: int) -> None:
        """Make it so many places from now on; calls that are under way end as they began."""
        with self._change:
            self._most = most
            self._change.notify_all()

    def shut(self) -> None:
        """Give no place until `reopen`, and let those who wait for one go: nobody is to be asked now."""
        with self._change:
            self._is_shut = True
            self._change.notify_all()

    def reopen(self) -> None:
        """Give places again."""
        with self._change:
            self._is_shut = False

    def take_at_once(self) -> bool:
        """Take a place if one is free."""
        with self._change:
            return self._take_free()

    def take(self) -> bool:
        """Take a place, however long that takes; False where none is to be had now."""
        with self._change:
            while not self._take_free():
                if self._is_shut:
                    return False
                self._change.wait()
            return True

    def give_back(self) -> None:
        """Leave a place to the next."""
        with self._change:
            self._taken -= 1
            self._change.notify()

    def _take_free(self) -> bool:
        is_free = self._taken < self._most and not self._is_shut
        self._taken += is_free
        return is_free


class Place:
    """One job's place among the calls under way: taken before it looks at the memory, left when its answer is there."""

    def __init__(self, calls: Calls) -> None:
        """Prepare to take one."""
        self._calls = calls
        self._is_taken = False

    def __enter__(self) -> Self:
        """Nothing is taken yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave it, if it is still taken."""
        self.leave()

    @property
    def is_taken(self) -> bool:
        """Whether a call may be made."""
        return self._is_taken

    def take(self, claim: Claim, spool: Spool) -> bool:
        """Take a place, with the claim kept alive meanwhile; False where no call is to be begun now."""
        self._is_taken = self._is_taken or self._calls.take_at_once()
        if not self._is_taken:
            with laid_down(), Lease(spool, claim):
                self._is_taken = self._calls.take()
        return self._is_taken

    def leave(self) -> None:
        """Let the next one ask."""
        if self._is_taken:
            self._is_taken = False
            self._calls.give_back()
