"""The service's life: recover, then fill slots whenever something may be due, until a signal ends it.

Wake-ups only set a flag; everything is decided from the files. A first TERM or INT lets what is under way finish within
its grace and gives the rest back; a second one hurries. HUP, or a changed file, reads the configuration anew.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

from curator.app import App, Pool
from curator.errors import ConfigError, CuratorError
from curator.model.event import Leaving, Serving, Stopped
from curator.model.limits import MAINTENANCE_MS_MAX, MAINTENANCE_MS_MIN, SERVICE_POLL_MS
from curator.model.ports import Clock
from curator_service.collapse import CONFIGURATION
from curator_service.notify import Notifier
from curator_service.stall import StallWatch
from curator_service.wake import Wake

GRACE_MS: Final = 20_000
"""How long a call that is under way may go on after a wish to stop."""
HURRY_MS: Final = 5_000
WAITING: Final = "waiting for jobs"
ECHO_MS: Final = 500
"""The same signal this soon again is the first one, forwarded by a wrapper beside the terminal's own (W20)."""
FOLD_AFTER_MS: Final = 5_000
"""How long the service has been idle before it folds: nobody's job waits then."""
FOLD_EVERY_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000


class Signals:
    """What was asked of the process from outside. Listens before anything is opened, so that no signal is met unprepared."""

    def __init__(self, clock: Clock) -> None:
        """Nobody has asked for anything yet; `clock` tells a second wish from an echo of the first."""
        self._clock = clock
        self._poke: Callable[[], None] | None = None
        self._last: tuple[int, int] | None = None
        self.stops = 0
        self.hurry = threading.Event()
        self.reload = False

    def install(self) -> None:
        """Listen to the signals."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGHUP, self._on_reload)

    def wake(self, poke: Callable[[], None]) -> None:
        """Let every signal poke from now on."""
        self._poke = poke

    def _on_stop(self, number: int, _frame: FrameType | None) -> None:
        now, last = self._clock.monotonic(), self._last
        self._last = (number, now)
        if last is not None and last[0] == number and now - last[1] <= ECHO_MS:
            return
        self.stops += 1
        if self.stops > 1:
            self.hurry.set()
        self._tell()

    def _on_reload(self, _number: int, _frame: FrameType | None) -> None:
        self.reload = True
        self._tell()

    def _tell(self) -> None:
        if self._poke is not None:
            self._poke()


class Service:
    """One long-lived worker over one agent folder."""

    def __init__(
        self, app: App, clock: Clock, notifier: Notifier, wake: Wake, signals: Signals, stall: StallWatch
    ) -> None:
        """Prepare to serve `app`; `stall` looks after the loop where no manager does."""
        self._app = app
        self._clock = clock
        self._notifier = notifier
        self._wake = wake
        self._signals = signals
        self._stall = stall
        self._stamp = app.settings_stamp()
        self._maintain_at = 0
        self._fold_at: int | None = None
        self._folded_at = 0
        self._is_idle = False
        self._said = WAITING

    def run(self) -> None:
        """Serve until a signal ends it. Raises `BusyError` where another service or a foreign worker lives."""
        # Before anybody counts on the service: it is the longest part of a start.
        self._app.load()
        with self._app.sole_service():
            self._app.refuse_foreign_worker()
            self._app.tell_promise()
            with self._app.beating() as heart:
                self._guarded(self._app.recover)
                self._plan_maintenance()
                pool = self._app.pool(heart, self._wake.poke)
                self._wake.start()
                self._notifier.ready(self._said)
                self._tell_serving()
                self._stall.start()
                try:
                    self._serve(pool)
                finally:
                    self._stall.end()
                    self._notifier.stopping()
                    self._app.shop.listener.tell(Leaving(pool.busy))
                    self._wind_up(pool)
                    self._wake.stop()

    def _tell_serving(self) -> None:
        shop = self._app.shop
        shop.listener.tell(Serving(shop.worker_id, shop.service.mode, shop.settings.concurrency))

    def _serve(self, pool: Pool) -> None:
        if not self._app.claims_jobs:
            self._app.tell_embedded()
        while not self._signals.stops:
            self._reload_if_due(pool)
            if self._app.claims_jobs:
                self._guarded(pool.fill)
            self._between(pool)
            self._say_status(pool.busy)
            self._notifier.alive()
            self._stall.round()
            self._wake.wait(self._pause_ms(pool) / 1000)

    def _say_status(self, busy: int) -> None:
        """Show in the manager's own words for a status what is done now."""
        if not self._app.claims_jobs:
            said = "the mode is embedded: nothing is claimed"
        else:
            said = f"jobs under way: {busy}" if busy else WAITING
        if said != self._said:
            self._said = said
            self._notifier.status(said)

    def _between(self, pool: Pool) -> None:
        """Do what waits for a quiet moment."""
        if self._clock.now() >= self._maintain_at:
            self._guarded(self._app.maintain)
            self._plan_maintenance()
            self._plan_fold()
        was_idle, self._is_idle = self._is_idle, pool.busy == 0
        if self._is_idle and not was_idle:
            self._guarded(self._app.project)
        if self._is_idle:
            self._guarded(self._app.take_in)
        self._app.end_fold()
        if not self._is_idle:
            self._plan_fold()
        elif self._fold_at is not None and self._clock.now() >= self._fold_at:
            self._fold_at, self._folded_at = None, self._clock.now()
            self._guarded(self._app.fold_audit)

    def _plan_fold(self) -> None:
        self._fold_at = max(self._clock.now() + FOLD_AFTER_MS, self._folded_at + FOLD_EVERY_MS)

    def _wind_up(self, pool: Pool) -> None:
        ended = pool.close(GRACE_MS, self._signals.hurry)
        if not ended:
            pool.abort(HURRY_MS)
        self._app.end_fold(at_once=True)
        self._guarded(self._app.project)

    def _pause_ms(self, pool: Pool) -> int:
        now = self._clock.now()
        due = [self._maintain_at - now, SERVICE_POLL_MS]
        if pool.next_at is not None:
            due.append(pool.next_at - now)
        if self._fold_at is not None and pool.busy == 0:
            due.append(self._fold_at - now)
        if self._notifier.watchdog_s is not None:
            due.append(int(self._notifier.watchdog_s * 1000))
        # A head that is due but not begun waits for a slot, whose end wakes the loop.
        return max(min(due), 0 if pool.busy == 0 and not self._is_idle else 50)

    def _plan_maintenance(self) -> None:
        quarter = int(self._app.service.evidence_ttl_hours * _HOUR_MS / 4)
        self._maintain_at = self._clock.now() + max(MAINTENANCE_MS_MIN, min(MAINTENANCE_MS_MAX, quarter))

    def _reload_if_due(self, pool: Pool) -> None:
        stamp = self._app.settings_stamp()
        if stamp == self._stamp and not self._signals.reload:
            return
        self._stamp, self._signals.reload = stamp, False
        self._notifier.reloading()
        try:
            self._app = self._app.reloaded()
        except ConfigError as error:
            remedy = f"The old configuration holds until it is mended. {error.remedy}"
            self._app.shop.listener.tell(Stopped(CONFIGURATION, error.code, error.fact, remedy))
        else:
            pool.replace_shop(self._app.shop)
            self._tell_serving()
            if self._app.claims_jobs:
                self._guarded(self._app.let_go_on)
            else:
                self._app.tell_embedded()
        self._notifier.ready(self._said)

    def _guarded(self, step: Callable[[], object]) -> None:
        """Do a step whose expected failure must not end the service: it is told, and tried again at its next time."""
        try:
            step()
        except CuratorError as error:
            self._app.shop.listener.tell(Stopped("service", error.code, error.fact, error.remedy))
