"""The same trouble told once: what repeats is counted and told again only when it changes or a while has passed."""

from __future__ import annotations

from typing import Final

from curator.model.event import Degraded, Event, Idle, Serving, Stopped
from curator.model.ports import Clock, Listener

QUIET_MS: Final = 600_000
"""How long the same trouble stays untold."""
_KNOWN_MAX: Final = 1_000
CONFIGURATION: Final = "configuration"
"""The subject of a configuration that cannot be taken over."""


class Collapsing:
    """A listener before another one. Idle is no news in a log."""

    def __init__(self, inner: Listener, clock: Clock) -> None:
        """Pass events on to `inner`, with the time of `clock`."""
        self._inner = inner
        self._clock = clock
        self._told: dict[tuple[str, str, str], int] = {}

    def tell(self, event: Event) -> None:
        """Pass on what is new."""
        if isinstance(event, Idle):
            return
        if isinstance(event, Serving):
            # What was wrong with the configuration is mended; the same mistake made again is news.
            self._told = {key: at for key, at in self._told.items() if key[0] != CONFIGURATION}
        if isinstance(event, Stopped | Degraded) and self._is_known(event):
            return
        self._inner.tell(event)

    def _is_known(self, event: Stopped | Degraded) -> bool:
        key = (event.subject, event.code, event.fact) if isinstance(event, Stopped) else ("", "", event.fact)
        now = self._clock.monotonic()
        last = self._told.get(key)
        if last is not None and now - last < QUIET_MS:
            return True
        if len(self._told) >= _KNOWN_MAX:
            self._told.clear()
        self._told[key] = now
        return False
