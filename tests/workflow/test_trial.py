"""A call that belongs to no job: held, counted, capped, and never in the way of a job's own tries."""

import json
from pathlib import Path

import pytest

from curator.app import App
from curator.durable.layout import Layout
from curator.model.attempt import AttemptState, Correction, Settled, unknown_from
from curator.model.budget import Amount
from curator.model.ids import Day
from curator.model.job import Job
from curator.model.ports import Answer, Brief, CallFailure, Class, Hold, Prepared, Stop, Unready
from curator.model.times import day_of, iso
from curator.verify.whole import verify
from curator.workflow.attempt import Spent
from curator.workflow.judging import Found, Lacking
from curator.workflow.recovery import recover
from curator.workflow.trial import Capped, Errand, Heard, Purse, Tried, Unsent, try_out
from tests.kit import HandClock, ScriptedReviewer, World, adding

CALL = Amount(1, 160, 3_100_000)
HELD = Amount(1, 400, 50_000_000)


class Place:
    """A world with one project and one job's evidence, and a reviewer that is asked in vain or not."""

    def __init__(self, folder: Path, *script: str | CallFailure, calls: int = 100) -> None:
        self.world = World(folder / "agent", HandClock())
        self.world.configure(maxCallsPerDay=calls)
        self.reviewer = ScriptedReviewer(*script, clock=self.world.clock)
        self.app: App = self.world.open(self.reviewer)
        self.key = self.world.project(self.app, folder / "shop")
        self.job: Job = self.world.job(self.app, self.key, "e1")

    @property
    def brief(self) -> Brief:
        return Brief(job=self.job, base=self.job.branch, attempt=1, is_final=False)

    @property
    def day(self) -> Day:
        return Day(day_of(self.world.clock.now()))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, adding("Tests run with pytest."))


def test_a_trial_is_settled_in_the_journal_and_belongs_to_no_job(place: Place) -> None:
    tried = try_out(place.brief, place.app.shop, Purse())

    assert isinstance(tried, Tried)
    assert isinstance(tried.judged, Found)
    assert (tried.charged, tried.is_certain) == (CALL, True)
    (seen,) = place.app.shop.stores.attempts.of_day(place.day)
    assert (seen.state, seen.latest.origin, seen.latest.job_id) == (AttemptState.SETTLED, "trial", None)
    assert place.app.shop.stores.attempts.of_job(place.job.id, Day("0000-00-00")) == ()
    assert place.app.shop.stores.attempts.exposure("fixture-provider", place.day).actual == CALL


def test_a_trial_shows_in_pis_panel_and_verifies(place: Place) -> None:
    try_out(place.brief, place.app.shop, Purse())
    place.app.project()

    panel = json.loads((Layout(place.world.agent).days / place.day).read_text("utf-8"))
    (shown,) = panel["providers"]["fixture-provider"]
    assert (shown["state"], shown["chargedTokens"], "jobId" in shown) == ("settled", 160, False)
    assert list(verify(Layout(place.world.agent), lambda _path: None)) == []


def test_a_trial_leaves_nothing_but_its_count(place: Place) -> None:
    layout = Layout(place.world.agent)
    before = place.world.texts(place.app, place.key)

    try_out(place.brief, place.app.shop, Purse())

    assert place.world.texts(place.app, place.key) == before
    for folder in (layout.results, layout.decisions, layout.outcomes, layout.running, layout.queued, layout.evidence):
        assert not folder.exists() or list(folder.iterdir()) == []


def test_a_trial_without_a_trustworthy_end_is_charged_at_its_hold(tmp_path: Path) -> None:
    place = Place(tmp_path, CallFailure("connection_reset", Class.RETRY, "the connection was reset"))
    purse = Purse()

    tried = try_out(place.brief, place.app.shop, purse)

    assert isinstance(tried, Tried)
    assert isinstance(tried.judged, Lacking)
    assert (tried.charged, tried.is_certain, purse.spent) == (HELD, False, HELD)
    assert place.app.shop.stores.attempts.exposure("fixture-provider", place.day).unknown == HELD


def test_a_days_limit_holds_for_trials_too(tmp_path: Path) -> None:
    place = Place(tmp_path, adding("Tests run with pytest."), calls=1)

    first, second = (try_out(place.brief, place.app.shop, Purse()) for _ in range(2))

    assert isinstance(first, Tried)
    assert isinstance(second, Spent)
    assert len(place.reviewer.asked) == 1


@pytest.mark.parametrize(
    ("purse", "calls", "cap"),
    [
        (Purse(calls_max=2), 2, "calls"),
        (Purse(cost_nanousd_max=53_100_000), 2, "cost"),
        (Purse(cost_nanousd_max=49_999_999), 0, "cost"),
        (Purse(cost_nanousd_max=0), 0, "cost"),
    ],
)
def test_the_purse_is_a_hard_cap_held_before_each_call(place: Place, purse: Purse, calls: int, cap: str) -> None:
    tried = [try_out(place.brief, place.app.shop, purse) for _ in range(4)]

    assert len(place.reviewer.asked) == calls
    assert tried[-1] == Capped(cap)
    assert len(place.app.shop.stores.attempts.of_day(place.day)) == calls


def test_a_wish_to_stop_cancels_before_the_dispatch(place: Place) -> None:
    place.world.stop.set()

    tried = try_out(place.brief, place.app.shop, Purse())

    assert tried == Unsent(None)
    assert place.reviewer.asked == []
    assert [seen.state for seen in place.app.shop.stores.attempts.of_day(place.day)] == [AttemptState.CANCELLED]


class Keyless(ScriptedReviewer):
    """A reviewer whose key is found missing right before the dispatch."""

    def prepare(self, brief: Brief) -> Prepared:
        super().prepare(brief)
        return _Keyless("fixture-provider", "m", "a", "s", "u", self.briefs[0].job.digest, Hold(400, 50_000_000))


class _Keyless(Prepared):
    def make_ready(self, stop: Stop) -> Unready:
        del stop
        return Unready("auth_unavailable", "there is no key", "Log in with Pi")


def test_what_cannot_be_sent_is_cancelled_and_says_why(tmp_path: Path) -> None:
    place = Place(tmp_path)
    reviewer = Keyless(adding("x"), clock=place.world.clock)

    tried = try_out(place.brief, place.world.open(reviewer).shop, Purse())

    assert tried == Unsent(Unready("auth_unavailable", "there is no key", "Log in with Pi"))
    assert reviewer.asked == []


class Orphaned(ScriptedReviewer):
    """While it answers, a worker that starts takes the call for an orphan and closes it as unknown."""

    place: Place

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        shop = self.place.app.shop
        (seen,) = shop.stores.attempts.of_day(self.place.day)
        shop.stores.attempts.advance(unknown_from(seen.latest, iso(shop.clock.now())))  # type: ignore[arg-type]  # dispatched
        return super().ask(prepared, stop)


def test_a_call_that_was_taken_for_an_orphan_is_corrected_by_its_answer(tmp_path: Path) -> None:
    place = Place(tmp_path)
    reviewer = Orphaned(adding("Tests run with pytest."), clock=place.world.clock)
    reviewer.place = place

    tried = try_out(place.brief, place.world.open(reviewer).shop, Purse())

    assert isinstance(tried, Tried)
    assert tried.charged == CALL
    fresh = place.world.open(reviewer).shop.stores.attempts
    assert fresh.exposure("fixture-provider", place.day).total == CALL
    (seen,) = fresh.of_day(place.day)
    assert isinstance(seen.correction, Correction)
    assert not isinstance(seen.latest, Settled)


class Dying(ScriptedReviewer):
    """The process dies while it is asked."""

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        super().ask(prepared, stop)
        raise KeyboardInterrupt


def test_a_trial_that_died_under_way_is_closed_by_the_next_start_and_counts(tmp_path: Path) -> None:
    place = Place(tmp_path)
    reviewer = Dying(adding("x"), clock=place.world.clock)

    with pytest.raises(KeyboardInterrupt):
        try_out(place.brief, place.world.open(reviewer).shop, Purse())
    place.world.clock.ms += 60_000
    recover(place.world.open(place.reviewer).shop, leave_expired=True)

    fresh = place.world.open(place.reviewer).shop.stores.attempts
    assert [seen.state for seen in fresh.of_day(place.day)] == [AttemptState.UNKNOWN]
    assert fresh.exposure("fixture-provider", place.day).unknown == HELD


def test_a_trial_that_died_is_closed_though_the_panels_day_cannot_be_read(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        try_out(place.brief, place.world.open(Dying(adding("x"), clock=place.world.clock)).shop, Purse())
    place.app.project()
    day = Layout(place.world.agent).days / place.day
    day.write_bytes(b"{")
    place.world.clock.ms += 60_000

    recover(place.world.open(place.reviewer).shop, leave_expired=True)

    fresh = place.world.open(place.reviewer).shop.stores.attempts
    assert [seen.state for seen in fresh.of_day(place.day)] == [AttemptState.UNKNOWN]


def test_what_an_errand_keeps_is_kept_before_its_call_is_settled(place: Place) -> None:
    attempts, told = place.app.shop.stores.attempts, list[tuple[str, AttemptState, bool]]()

    def keep(heard: Heard) -> None:
        (seen,) = attempts.of_day(place.day)
        told.append((seen.id, seen.state, isinstance(heard.judged, Found)))

    try_out(place.brief, place.app.shop, Purse(), Errand("backfill", "ab" * 8, keep))

    (seen,) = attempts.of_day(place.day)
    assert told == [(seen.id, AttemptState.DISPATCHED, True)]
    assert (seen.latest.origin, seen.state) == ("backfill", AttemptState.SETTLED)
    assert seen.latest.lease_token.startswith("ab" * 8)


def test_a_purse_counts_tokens_and_what_was_spent_before(place: Place) -> None:
    within = try_out(place.brief, place.app.shop, Purse(tokens_max=1_000, spent=Amount(3, 600, 0)))
    beyond = try_out(place.brief, place.app.shop, Purse(tokens_max=1_000, spent=Amount(3, 601, 0)))

    assert isinstance(within, Tried)
    assert beyond == Capped("tokens")
    assert try_out(place.brief, place.app.shop, Purse(calls_max=3, spent=Amount(3, 0, 0))) == Capped("calls")
