"""The stories that are crashed: every arrow of the job and of the attempt, every ending of an admission, and more.

Each is as short as its point allows: what is not to be crashed happens in `prepare`. A test proves that together they
take every arrow and see every row, by what the recordings hold, not by what is said here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.durable.publish import publish, replace
from curator.model.decision import ProviderResult
from curator.model.digest import canonical
from curator.model.ids import LeaseToken, attempt_id
from curator.model.job import Queued
from curator.model.outcome import Completed, proposal_digest
from curator.model.ports import Class
from curator.model.proposal import Replace
from curator.store.spool.recovery import readmit
from curator.workflow.base import open_memory
from curator.workflow.claim import take
from curator.workflow.closing import cancel_job
from curator.workflow.election import decide
from curator.workflow.handover import hand_over
from curator.workflow.instance import is_service_running
from curator.workflow.replay import replay_job
from curator.workflow.undo import undo
from faults.campaign import Scenario
from faults.recording import Mark
from faults.trajectory_stories import FIRST_OF_A_TRAJECTORY, TRAJECTORY_STORIES
from faults.world import MAIN, MORNING, Fails, Limited, Says, SaysRaw, Stops, Unready, World, provenance_at

if TYPE_CHECKING:
    from faults.campaign import Run
    from faults.world import Reply

_DAY_MS: Final = 86_400_000
_BACK_OFF_MS: Final = 3_700_000
"""Longer than any back-off, and well within the day."""


def _memory(world: World) -> None:
    world.prepare_folder()
    world.configure("external")
    world.begin_memory("The build runs on Linux.")


def _queued(*frontiers: str) -> Run:
    """Return a preparation that leaves these jobs in the queue, all captured from one branch state."""

    def prepare(world: World) -> None:
        _memory(world)
        for job in [world.job(frontier) for frontier in frontiers]:
            world.clock.move(1_000)
            world.enqueue(job)

    return prepare


def _review(world: World) -> None:
    world.review()


def _review_twice(world: World) -> None:
    world.review()
    world.rest()
    world.clock.move(_BACK_OFF_MS)
    world.review()


def _review_thrice(world: World) -> None:
    _review_twice(world)
    world.rest()
    world.clock.move(_BACK_OFF_MS)
    world.review()


def _one(name: str, *replies: Reply, run: Run = _review, prepare: Run | None = None, again: Run = _review) -> Scenario:
    """Return the story of one job whose attempts meet these replies."""
    return Scenario(name, {"alpha": replies}, _queued("alpha") if prepare is None else prepare, run, again)


_ALPHA: Final = Says(("Alpha is remembered.",))


def _from_pi_to_pi(world: World) -> None:
    world.enqueue(world.job("alpha"))
    world.rest()
    world.open().review_once()


def _hand_over_again(world: World) -> None:
    """Let Pi and the worker begin once more, as if they had never been told how the first time ended."""
    job = world.job("alpha")
    if all(entry.text != "Alpha is remembered." for entry in job.branch.entries):
        world.enqueue(job)
    world.review()


def _write_and_hand_over(world: World) -> None:
    """Let one Pi write, and another hand over what it saw: no process that wrote may have flushed it."""
    world.write_foreground("Pi wrote this before.")
    world.rest()
    _hand_over_again(world)


def _beside_a_held_one(world: World) -> None:
    _queued("alpha", "beta")(world)
    job = world.job("beta")
    world.tell(Mark("holding", job.id))
    world.shop.stores.spool.hold(job.id)


def _enqueue_twice_and_otherwise(world: World) -> None:
    job = world.job("alpha")
    world.enqueue(job)
    world.enqueue(job)
    world.rest()
    world.write_foreground("Pi wrote this between.")
    world.shop.stores.spool.enqueue(world.job("alpha"))  # the same frontier with another digest: a conflict


def _wait_for_the_next_day(world: World) -> None:
    world.review()
    world.rest()
    world.clock.move(_DAY_MS)
    world.review()


def _one_call_a_day(world: World) -> None:
    _queued("alpha", "beta")(world)
    world.configure("external", calls=1)


def _settle_lost(world: World) -> None:
    """Let a person say what the lost call cost, and the job go on."""
    world.settle_lost()
    world.rest()
    world.clock.move(_BACK_OFF_MS)
    world.review()


def _another_worker_decided(world: World) -> None:
    """Leave a decision that the store cannot apply, as another worker of the protocol may have elected it."""
    _queued("alpha")(world)
    shop = world.shop
    job = world.job("alpha")
    operation = Replace(entry_id=job.branch.entries[0].id, content="Said anew.", importance="high")
    missing = Replace.decode(operation.encode() | {"entryId": "no-such-entry"}, "operation")
    provenance = provenance_at(world.clock.now())
    outcome = Completed(
        job_id=job.id,
        job_digest=job.digest,
        completed_at=provenance.completed_at,
        operations=(missing,),
        provenance=provenance,
    )
    of = attempt_id(job.digest, 1, LeaseToken("ab" * 16))
    result = ProviderResult(attempt_id=of, proposal_digest=proposal_digest(outcome), job=job, outcome=outcome)
    shop.stores.decisions.record_result(result)
    shop.stores.decisions.elect(result)


def _shadow(world: World) -> None:
    _queued("alpha", "beta")(world)
    world.configure("shadow")


def _switched(first: str, then: str) -> Run:
    """Return a run that changes the mode while a job waits for its second try, and back again."""

    def run(world: World) -> None:
        world.review()
        world.rest()
        world.configure("shadow" if then == "shadow" else "external")
        world.clock.move(_BACK_OFF_MS)
        world.review()
        world.rest()
        world.configure("shadow" if first == "shadow" else "external")
        world.clock.move(_BACK_OFF_MS)
        world.review()

    return run


def _begun_shadow(world: World) -> None:
    _queued("alpha")(world)
    world.configure("shadow")


def _applied(world: World) -> None:
    _queued("alpha")(world)
    world.review()


def _undo(world: World) -> None:
    world.tell(Mark("undoing", "Alpha is remembered."))
    undo(world.shop, world.project.key, MAIN)
    world.tell(Mark("undone", "Alpha is remembered."))


def _hold_and_release(world: World) -> None:
    spool, job = world.shop.stores.spool, world.job("alpha")
    world.tell(Mark("holding", job.id))
    spool.hold(job.id)
    world.rest()
    world.review()
    world.rest()
    spool.release(job.id)
    world.tell(Mark("released", job.id))
    world.rest()
    world.review()


def _cancel_waiting(world: World) -> None:
    job = world.job("alpha")
    cancel_job(world.shop, job.id)
    world.tell(Mark("over", job.id))


def _cancel_held(world: World) -> None:
    shop, job = world.shop, world.job("alpha")
    world.tell(Mark("holding", job.id))
    shop.stores.spool.hold(job.id)
    cancel_job(shop, job.id)
    world.tell(Mark("over", job.id))


def _renew(world: World) -> None:
    shop = world.shop
    claim = take(shop, shop.stores.spool.waiting()[0])
    assert claim is not None
    world.clock.move(1_000)
    shop.stores.spool.renew(claim)


def _damaged(world: World) -> None:
    """Leave one record that nobody can read beside one that waits."""
    _queued("alpha")(world)
    bad = world.layout.queued / f"review_{'0' * 40}.json"
    publish(world.volume, bad, b'{"version":1,"job":')


def _damaged_lease(world: World) -> None:
    """Leave one running record that nobody can read beside a job that waits."""
    _queued("alpha")(world)
    publish(world.volume, world.layout.running / f"review_{'0' * 40}.json", b'{"version":1,"job":')


def _held_beside_another(world: World) -> None:
    """Leave a held job, and one in the queue that has its id: Pi, which knows no held jobs, handed it over later."""
    _memory(world)
    job = world.job("alpha")
    world.enqueue(job, is_awaited=False)
    world.tell(Mark("holding", job.id))
    world.shop.stores.spool.hold(job.id)
    world.write_foreground("Pi wrote this between.")
    other = Queued(job=world.job("alpha"), next_attempt=1)
    replace(world.volume, world.layout.queued / f"{job.id}.json", canonical(other.encode()).encode())


def _set_aside(world: World) -> None:
    _damaged(world)
    world.review()


def _mend(world: World) -> None:
    """Put right what was set aside, as a person does, and bring it back."""
    name = next(path.name for path in world.layout.dead_letter.iterdir())
    job = world.job("beta")
    text = canonical({"version": 1, "job": job.encode(), "nextAttempt": 1})
    replace(world.volume, world.layout.dead_letter / name, text.encode())
    world.tell(Mark("mended", job.id))
    world.rest()
    readmit(world.shop.stores.spool, name)
    world.tell(Mark("accepted", job.id))
    world.rest()
    world.review()


def _failed(world: World) -> None:
    _queued("alpha")(world)
    world.review()


def _retry_as_next_generation(world: World) -> None:
    job = replay_job(world.shop, world.job("alpha").id)
    world.tell(Mark("accepted", job.id))
    world.rest()
    world.review()


def _without_card(world: World) -> None:
    """Leave a failed job whose card was never told, as a worker that died before it leaves it."""
    _failed(world)
    job = world.job("alpha")
    world.volume.unlink(world.layout.project(world.project.key).ready / f"{job.id}.json")


def _queued_again_without(proof: str) -> Run:
    """Return a preparation that leaves a job half closed: it is in the queue again, and one proof of its end is gone."""

    def prepare(world: World) -> None:
        _queued("alpha")(world)
        job = world.job("alpha")
        world.review()
        project = world.layout.project(world.project.key)
        closing = world.layout.finished / job.id.removeprefix("review_")[:2] / f"{job.id}.json"
        gone = {"receipt": project.receipt(job.id), "tombstone": project.tombstone(job.id)}[proof]
        for path in (gone, closing, world.layout.outcomes / f"{job.id}.json"):
            assert world.volume.unlink(path)
        waiting = Queued(job=job, next_attempt=2)
        replace(world.volume, world.layout.queued / f"{job.id}.json", canonical(waiting.encode()).encode())
        world.tell(Mark("tampered", job.id))

    return prepare


def _legacy(world: World) -> None:
    _queued("alpha")(world)
    budget: dict[str, str | int | float] = {
        "version": 1,
        "day": "2026-01-02",
        "calls": 3,
        "tokens": 1234,
        "costUsd": 0.25,
    }
    publish(world.volume, world.layout.legacy_budget, canonical(dict(budget)).encode())


def _decided(world: World) -> None:
    """Leave one job with an elected decision and a lease that nobody holds any more, and one that waits."""
    _queued("alpha", "beta")(world)
    shop = world.shop
    claim = take(shop, shop.stores.spool.waiting()[0])
    assert claim is not None
    decide(claim, open_memory(claim.job, shop), shop)
    # A kernel's lock file is made once and stays; it is no change of the volume's.
    assert not is_service_running(shop)


def _release(world: World) -> None:
    world.clock.move(_BACK_OFF_MS)
    for job_id in hand_over(world.shop).closed:
        world.tell(Mark("over", job_id))


def _take_over(world: World) -> None:
    world.clock.move(_BACK_OFF_MS)
    world.review()


def _long_ago(world: World) -> None:
    """Leave two finished jobs whose cards Pi has shown: one that was retried, and one that failed."""
    _queued("alpha", "beta")(world)
    _review_twice(world)
    world.take_cards()


def _maintain(world: World) -> None:
    world.clock.move(_DAY_MS)
    world.maintain()
    world.rest()
    world.clock.move(8 * _DAY_MS)
    world.maintain()


def _closed_by_another(world: World) -> None:
    """Leave finished jobs as a worker without closing records leaves them."""
    _long_ago(world)
    for closing in sorted(world.layout.finished.glob("*/*.json")):
        world.volume.unlink(closing)
        world.tell(Mark("tampered", closing.stem))


def _replay(world: World) -> None:
    """Let an old job come back when all that is left of it is its closing record."""
    world.enqueue(world.job("alpha"))
    world.rest()
    world.review()


def _long_gone(world: World) -> None:
    _applied(world)
    world.take_cards()
    world.clock.move(9 * _DAY_MS)
    world.maintain()
    world.clock.move(_DAY_MS)
    world.maintain()


_TERMINAL: Final = Fails("invalid_request", Class.TERMINAL)
_PI_WRITES: Final = ("Pi wrote a first note.", "Pi wrote a second note.", "Pi wrote a third note.")

_ALL: Final = (
    _one("applied", _ALPHA, prepare=_memory, run=_from_pi_to_pi, again=_hand_over_again),
    _one("noop", Says()),
    _one("rejected", Says(), prepare=_another_worker_decided),
    _one("rebased", Says(("Alpha is remembered.",), meanwhile=_PI_WRITES[:1])),
    _one("stale", Says(("Alpha is remembered.",), meanwhile=_PI_WRITES)),
    Scenario(
        "base",
        {"alpha": (_ALPHA,), "beta": (Says(("Beta is remembered.",)),)},
        _queued("alpha", "beta"),
        _review,
    ),
    _one("retried", Fails(), _ALPHA, run=_review_twice),
    _one("billed", Fails("unexpected_tool_use", has_provenance=True), _ALPHA, run=_review_twice),
    _one("limited", Limited(MORNING + _BACK_OFF_MS, _ALPHA), run=_review_twice),
    _one("unusable", SaysRaw("I would rather chat."), _ALPHA, run=_review_twice),
    _one("failed", _TERMINAL),
    _one("spent", Fails(), Fails(), Fails(), run=_review_thrice),
    _one("unready", Unready(MORNING + _BACK_OFF_MS, _ALPHA), run=_review_twice),
    Scenario(
        "budget",
        {"alpha": (_ALPHA,), "beta": (Says(("Beta is remembered.",)),)},
        _one_call_a_day,
        _wait_for_the_next_day,
    ),
    _one("reconciled", Fails(), _ALPHA, prepare=_failed, run=_settle_lost, again=_settle_lost),
    _one("stopped-before", Stops(_ALPHA), run=_review),
    _one("stopped-meanwhile", Fails("aborted", Class.STOPPED, stops=True), _ALPHA, run=_review),
    _one("overslept", Says(("Alpha is remembered.",), sleeps=True), run=_review_twice),
    Scenario(
        "shadow",
        {"alpha": (_ALPHA,), "beta": (Says(("Beta is remembered.",)),)},
        _shadow,
        _review,
    ),
    _one("external-then-shadow", Fails(), _ALPHA, run=_switched("external", "shadow")),
    _one("shadow-then-external", Fails(), _ALPHA, prepare=_begun_shadow, run=_switched("shadow", "external")),
    _one("undone", _ALPHA, prepare=_applied, run=_undo),
    _one("enqueued", _ALPHA, prepare=_memory, run=_enqueue_twice_and_otherwise),
    _one("held", _ALPHA, run=_hold_and_release),
    _one("cancelled", _ALPHA, run=_cancel_waiting),
    _one("cancelled-held", _ALPHA, run=_cancel_held),
    _one("renewed", _ALPHA, run=_renew),
    _one("set-aside", _ALPHA, prepare=_damaged),
    _one("set-aside-running", _ALPHA, prepare=_damaged_lease),
    _one("set-aside-held", _ALPHA, prepare=_held_beside_another),
    Scenario(
        "mended",
        {"alpha": (_ALPHA,), "beta": (Says(("Beta is remembered.",)),)},
        _set_aside,
        _mend,
    ),
    _one("next-generation", _TERMINAL, prepare=_failed, run=_retry_as_next_generation),
    _one("card-repaired", _TERMINAL, prepare=_without_card, run=_review),
    _one("receipt-rebuilt", _ALPHA, prepare=_queued_again_without("receipt")),
    _one("tombstone-expired", _ALPHA, prepare=_queued_again_without("tombstone")),
    _one("legacy", _ALPHA, prepare=_legacy),
    Scenario("maintained", {"alpha": (Fails(), _ALPHA), "beta": (_TERMINAL,)}, _long_ago, _maintain, World.maintain),
    Scenario(
        "closed-late", {"alpha": (Fails(), _ALPHA), "beta": (_TERMINAL,)}, _closed_by_another, _maintain, World.maintain
    ),
    _one("replayed", Says(), prepare=_long_gone, run=_replay),
    Scenario(
        "released",
        {"alpha": (_ALPHA,), "beta": (Says(("Beta is remembered.",)),)},
        _decided,
        _release,
    ),
    Scenario(
        "taken-over",
        {"alpha": (_ALPHA,), "beta": (Says(("Beta is remembered.",)),)},
        _decided,
        _take_over,
    ),
)

SCENARIOS: Final[dict[str, Scenario]] = {each.name: each for each in (*_ALL, *TRAJECTORY_STORIES)}

_FOR_SECOND_LIVES: Final = (
    _one("written-before", _ALPHA, prepare=_memory, run=_write_and_hand_over, again=_hand_over_again),
    Scenario("beside-held", {"alpha": (_ALPHA,), "beta": (_ALPHA,)}, _beside_a_held_one, _review),
    FIRST_OF_A_TRAJECTORY,
)
SECOND_LIVES: Final[dict[str, Scenario]] = {each.name: each for each in _FOR_SECOND_LIVES}
"""Stories that take no arrow of their own: only what the next process does after a kill is worth asking in them."""
