"""Before a dispatch nothing is spent: a call that cannot be made ready is a cancelled attempt, however often that happens."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Final

from curator.model.attempt import AttemptState
from curator.model.budget import Exposure
from curator.model.event import Retrying, Stopped
from curator.model.limits import LEASE_MS, RETRY_CONFIG_BASE_MS, RETRY_CONFIG_MS_MAX
from curator.model.ports import Brief, Prepared, Stop, Unready
from curator.model.times import ms_of
from curator.store.spool import Claim
from tests.kit import Listening, ScriptedReviewer, World, adding
from tests.workflow.lives import DAY, HOUR, Life

OFFLINE = Unready("provider_unreachable", "provider p cannot be reached", "See that the network is up")

LOOKS: Final = 20
"""How often the first hours of a day offline are looked at."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bound(Prepared):
    """A call whose host is there or not."""

    obstacle: Callable[[], Unready | None]

    def make_ready(self, stop: Stop) -> Prepared | Unready:
        assert not stop.is_set()
        return self.obstacle() or self


class Line(ScriptedReviewer):
    """A reviewer at the end of a line that can be cut."""

    def __init__(self, world: World) -> None:
        super().__init__(adding("Reviewed."), clock=world.clock)
        self.obstacle: Unready | None = OFFLINE
        self.before: Callable[[], None] = lambda: None

    def prepare(self, brief: Brief) -> Prepared:
        made = super().prepare(brief)
        fields = {field.name: getattr(made, field.name) for field in dataclasses.fields(Prepared)}
        return Bound(**fields, obstacle=self._look)

    def _look(self) -> Unready | None:
        self.before()
        return self.obstacle


def cut_off(tmp_path: Path) -> tuple[Life, Line]:
    life = Life(tmp_path)
    life.reviewer = line = Line(life.world)
    life.reopen()
    return life, line


def states(life: Life) -> list[AttemptState]:
    store = life.app.shop.stores.attempts
    return [seen.state for day in store.days() for seen in store.of_day(day)]


def total(life: Life) -> Exposure:
    store = life.app.shop.stores.attempts
    whole = Exposure()
    for day in store.days():
        whole += store.exposure("fixture-provider", day)
    return whole


def test_offline_for_a_day_burns_nothing_and_then_the_review_goes_on(tmp_path: Path) -> None:
    life, line = cut_off(tmp_path)
    jobs = [life.enqueue("entry-1"), life.enqueue("entry-2")]
    began = life.world.clock.ms
    waits: list[int] = []
    while life.world.clock.ms < began + DAY:
        if len(waits) == LOOKS:
            # Each look is like the one before; for the rest of the day the machine sleeps.
            life.world.clock.ms = began + DAY - RETRY_CONFIG_MS_MAX
        life.app.review_once()
        queued = life.app.shop.stores.spool.queued()
        at = max(ms_of(each.available_at) for each in queued if each.available_at is not None)
        waits.append(-((life.world.clock.ms - at) // 1_000) * 1_000)  # the clock goes on with each look
        life.world.clock.ms = at
        life.reopen()
    assert waits[:3] == [RETRY_CONFIG_BASE_MS, 2 * RETRY_CONFIG_BASE_MS, 4 * RETRY_CONFIG_BASE_MS]
    assert waits[3:] == [RETRY_CONFIG_MS_MAX] * (len(waits) - 3)
    assert len(waits) > LOOKS
    assert set(states(life)) == {AttemptState.CANCELLED}
    assert (total(life), line.asked) == (Exposure(), [])

    line.obstacle = None
    life.app.review_once()

    assert [life.app.shop.stores.finished.stands(job.id) for job in jobs] == [True, True]
    assert line.briefs[-2].attempt == 1, "not one of the three tries is gone"
    assert total(life).actual.calls == 2


def test_what_keeps_a_call_from_being_sent_is_told_with_its_remedy_and_blocks_all(tmp_path: Path) -> None:
    life, _ = cut_off(tmp_path)
    life.enqueue("entry-1")
    ear = life.app.shop.listener
    assert isinstance(ear, Listening)

    drained = life.app.review_once()

    told = [event for event in ear.events if isinstance(event, Stopped)]
    assert told == [Stopped("reviewer", OFFLINE.code, OFFLINE.fact, OFFLINE.remedy)]
    assert [event.code for event in ear.events if isinstance(event, Retrying)] == [OFFLINE.code]
    assert (drained.blocked_by, drained.left, states(life)) == (OFFLINE.code, 1, [AttemptState.CANCELLED])


def test_who_slept_past_its_lease_before_the_dispatch_asks_nobody(tmp_path: Path) -> None:
    """A worker that knows nothing of our journal has the job by then: it is not paid for a second time."""
    life, line = cut_off(tmp_path)
    life.enqueue("entry-1")
    other = life.world.open(
        ScriptedReviewer(adding("Reviewed by another."), clock=life.world.clock), worker="other"
    ).shop
    taken: list[Claim] = []

    def sleep() -> None:
        if not taken:
            life.world.clock.ms += 2 * LEASE_MS
            (running,) = other.stores.spool.claimed()
            claim = other.stores.spool.claim(running, other.worker_id)
            assert claim is not None
            taken.append(claim)

    line.obstacle, line.before = None, sleep
    life.app.review_once()

    assert line.asked == []
    assert states(life) == [AttemptState.CANCELLED]
    other.stores.spool.check_lease(taken[0])


def test_an_hour_offline_in_the_middle_of_a_life_takes_no_try_away(tmp_path: Path) -> None:
    life, line = cut_off(tmp_path)
    job = life.enqueue("entry-1")
    for _ in range(5):
        life.app.review_once()
        life.world.clock.ms += HOUR
        life.reopen()
    line.obstacle = None

    life.app.review_once()

    assert life.app.shop.stores.finished.stands(job.id)
    assert states(life).count(AttemptState.SETTLED) == 1
