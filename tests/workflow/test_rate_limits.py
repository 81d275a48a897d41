"""Case A-049: many jobs meet a provider that allows few of them a minute; none is lost for that, and few calls are wasted."""

from pathlib import Path
from typing import Final

from curator.model.event import Failed
from curator.model.heartbeat import WorkerState
from curator.model.ids import JobId, LeaseToken
from curator.model.ports import Answer, CallFailure, Class, Prepared, Stop
from curator.model.times import ms_of
from curator.workflow.drain import drain
from curator.workflow.retry import spread_ms
from tests.kit import START_MS, ScriptedReviewer, World, adding, provenance_at
from tests.workflow.lives import HOUR

ALLOWED: Final = 5
MINUTE: Final = 60_000
JOBS: Final = 40
PROJECTS: Final = 8


class FewAMinute(ScriptedReviewer):
    """A provider with a limit of its rate, which it counts by its own clock."""

    def __init__(self, world: World) -> None:
        super().__init__(adding("Reviewed."), clock=world.clock)
        self._world = world
        self._minute = 0
        self._taken = 0
        self.refused = 0

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        now = self._world.clock.now()
        if now // MINUTE != self._minute:
            self._minute, self._taken = now // MINUTE, 0
        self._taken += 1
        if self._taken <= ALLOWED:
            return super().ask(prepared, stop)
        self.refused += 1
        wait = MINUTE - now % MINUTE
        message = "the provider answered with status 429: it takes nothing more for now"
        return CallFailure("rate_limited", Class.LATER, message, provenance_at(now, now), retry_after_ms=wait)


def test_a_backlog_is_worked_off_at_the_providers_own_pace_and_no_job_is_lost(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.clock.ms = START_MS + HOUR
    world.configure("external", maxCallsPerDay=JOBS + JOBS // ALLOWED)
    reviewer = FewAMinute(world)
    app = world.open(reviewer)
    keys = [world.project(app, tmp_path / f"p{number}") for number in range(PROJECTS)]
    for number in range(JOBS):
        app.shop.stores.spool.enqueue(world.job(app, keys[number % PROJECTS], f"entry-{number}"))

    turns = 0
    while app.shop.stores.spool.queued():
        turns += 1
        assert turns <= 2 * JOBS
        world.open(reviewer).review_once()
        waits = [ms_of(each.available_at) for each in app.shop.stores.spool.queued() if each.available_at is not None]
        world.clock.ms = max([world.clock.ms, *waits])

    assert [event for event in world.heard.events if isinstance(event, Failed)] == []
    assert len(app.shop.stores.spool.finished()) == JOBS
    assert reviewer.refused <= JOBS // ALLOWED, (
        "one call a minute shows that there is no room; no other is sent after it"
    )


def test_one_job_may_be_refused_as_often_as_it_takes(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()
    full = CallFailure("rate_limited", Class.LATER, "Full.", provenance_at(START_MS, START_MS))
    reviewer = ScriptedReviewer(*[full] * 9, adding("Reviewed."), clock=world.clock)
    app = world.open(reviewer)
    app.shop.stores.spool.enqueue(world.job(app, world.project(app, tmp_path / "code"), "entry-1"))
    waits = []
    for _ in range(9):
        before = world.clock.ms
        app.review_once()
        (queued,) = app.shop.stores.spool.queued()
        assert queued.available_at is not None
        waits.append(ms_of(queued.available_at) - before)
        world.clock.ms = ms_of(queued.available_at)
        app = world.open(reviewer)

    app.review_once()

    assert len(app.shop.stores.spool.finished()) == 1
    assert reviewer.briefs[-1].attempt == 1, "all three tries are still there"
    assert waits == sorted(waits), "and the pause grows"


def test_a_run_that_may_wait_sits_through_it_and_goes_on_with_all(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()
    full = CallFailure("rate_limited", Class.LATER, "Full.", provenance_at(START_MS, START_MS))
    reviewer = ScriptedReviewer(adding("Reviewed."), full, adding("Reviewed."), clock=world.clock)
    app = world.open(reviewer)
    for name in ("one", "two", "three"):
        app.shop.stores.spool.enqueue(world.job(app, world.project(app, tmp_path / name), "entry-1"))

    drained = drain(app.shop, limit=None, sleeper=Sleeping(world), pulse=Deaf())

    assert (drained.completed, drained.left, drained.blocked_by) == (3, 0, None)
    assert len(reviewer.asked) == 4, "the third was not sent after the second"


class Sleeping:
    """Somebody for whom time goes on while they wait."""

    def __init__(self, world: World) -> None:
        self._world = world

    def sleep(self, ms: int) -> None:
        self._world.clock.ms += ms


class Deaf:
    """Nobody who shows what is done."""

    def note(self, state: WorkerState, job_id: JobId | None = None, attempt: int | None = None) -> None:
        del state, job_id, attempt


def test_what_was_refused_at_once_does_not_come_back_at_once() -> None:
    tokens = [LeaseToken(f"{number:04x}" + "0" * 28) for number in range(0, 1 << 16, 1 << 12)]

    waits = [spread_ms(60_000, token) for token in tokens]

    assert len(set(waits)) == len(tokens)
    assert min(waits) == 60_000, "never sooner than asked"
    assert max(waits) < 75_000
