"""What bytes mean, remembered: the same bytes are decoded once, however many files and readers show them.

Decoding is a function of the bytes, so nothing here can be stale. Records are frozen, so they can be shared.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_BYTES_MAX: Final = 2_000_000
"""What is remembered takes some five times its bytes; the working set of sixteen jobs is less than half of this."""
_ONE_MAX: Final = 40_000
"""A record larger than this costs more to keep than to read again."""


class Memo(Generic[T]):
    """The latest meanings, by kind and bytes."""

    def __init__(self, bytes_max: int = _BYTES_MAX) -> None:
        """Remember meanings of at most `bytes_max` bytes."""
        self._bytes_max = bytes_max
        self._known: OrderedDict[tuple[object, bytes], T] = OrderedDict()
        self._size = 0
        self._mutex = threading.Lock()

    def find(self, kind: object, raw: bytes) -> T | None:
        """Return what the bytes are known to mean as this kind."""
        with self._mutex:
            found = self._known.get((kind, raw))
            if found is not None:
                self._known.move_to_end((kind, raw))
            return found

    def known(self) -> tuple[tuple[object, bytes, T], ...]:
        """Return what is remembered: kind, bytes, meaning."""
        with self._mutex:
            return tuple((kind, raw, meaning) for (kind, raw), meaning in self._known.items())

    def keep(self, kind: object, raw: bytes, meaning: T) -> None:
        """Remember a meaning; the one that was not asked for longest goes first."""
        if len(raw) > _ONE_MAX:
            return
        with self._mutex:
            if (kind, raw) not in self._known:
                self._size += len(raw)
            self._known[kind, raw] = meaning
            while self._size > self._bytes_max:
                (_, gone), _ = self._known.popitem(last=False)
                self._size -= len(gone)
