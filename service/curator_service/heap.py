"""Few places to allocate from: the threads take turns, and one place a thread keeps what nobody uses any more."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_M_ARENA_MAX: Final = -8
_ARENAS: Final = 2


def keep_few_arenas() -> None:
    """Let glibc make no arena for each thread, which in a day of calls costs a fifth of the memory; others make none."""
    if sys.platform == "linux":
        adjust = getattr(ctypes.CDLL(None), "mallopt", None)
        if adjust is not None:
            adjust(_M_ARENA_MAX, _ARENAS)
