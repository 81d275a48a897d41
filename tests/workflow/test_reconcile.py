"""A person's word on a call whose end nobody knows: one word a call, kept for ever, and never about a call under way."""

import contextlib
import dataclasses
from pathlib import Path
from typing import Final

import pytest

from curator.cli.proof import prove_figures
from curator.errors import ConflictError, NotFoundError, RefusedError, UsageError
from curator.model.attempt import AttemptState, Correction, Unknown
from curator.model.budget import Amount, Exposure
from curator.model.event import BudgetExhausted
from curator.model.ids import Day
from curator.model.ports import Answer, CallFailure, Class, Prepared, Stop
from curator.model.times import DAY_MS, day_of, next_midnight
from curator.store.attempts import AttemptStore, Seen
from curator.verify.finding import Severity
from curator.verify.whole import verify
from curator.workflow.adoption import adopt_all
from curator.workflow.headroom import let_go_on
from curator.workflow.reconcile import Bill, Word, Words, reconcile, reconcile_before
from tests.durable.volumes import Crash, Mortal
from tests.kit import ScriptedReviewer, adding
from tests.workflow.adoptions import DAY, checkpoint_of, take_without_owner
from tests.workflow.lives import HOUR, Life

PROVIDER: Final = "fixture-provider"
LOST: Final = CallFailure("model_timeout", Class.RETRY, "No answer in time.")
WHY: Final = "It is on the bill of January."
HOLD: Final = Amount(1, 400, 50_000_000)


def lost_calls(tmp_path: Path, *script: str | CallFailure) -> Life:
    """Live one call whose end nobody knows, and then what else the script says, an hour apart."""
    life = Life(tmp_path, LOST, *script)
    life.enqueue()
    for _ in range(1 + len(script)):
        life.app.review_once()
        life.world.clock.ms += HOUR
        life.reopen()
    return life


def only(life: Life) -> Seen:
    store = life.app.shop.stores.attempts
    (seen,) = [each for day in store.days() for each in store.of_day(day)]
    return seen


def spent(life: Life) -> Exposure:
    store = life.app.shop.stores.attempts
    total = Exposure()
    for day in store.days():
        total += store.exposure(PROVIDER, day)
    return total


@pytest.mark.parametrize(
    ("bill", "actual"),
    [((90, 7), Amount(1, 90, 7)), ((0, 0), Amount(1, 0, 0)), (None, Amount()), ((9_000, 5), Amount(1, 9_000, 5))],
)
def test_a_word_settles_the_call_by_its_bill(tmp_path: Path, bill: Bill, actual: Amount) -> None:
    life = lost_calls(tmp_path)
    before = only(life)

    word = reconcile(before.id, bill, WHY, life.app.shop)

    assert word == Word(before.id, before.latest.day, PROVIDER, is_new=True, charged=actual)
    assert spent(life) == Exposure(actual=actual)
    correction = only(life).correction
    assert correction is not None
    assert (correction.source, correction.reason) == ("operator", WHY)
    assert only(life).state is AttemptState.SETTLED
    path = next(life.layout.attempts.rglob(f"{before.id}.3.json"))
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_same_word_again_changes_nothing_and_another_one_is_a_conflict(tmp_path: Path) -> None:
    life = lost_calls(tmp_path)
    reconcile(only(life).id, (90, 7), WHY, life.app.shop)
    before = life.tree()
    life.world.clock.ms += HOUR

    again = reconcile(only(life).id, (90, 7), "Said another time.", life.app.shop)
    with pytest.raises(ConflictError, match="settled already, as billed 90 tokens and 7 nano-dollars"):
        reconcile(only(life).id, None, WHY, life.app.shop)
    with pytest.raises(ConflictError):
        reconcile(only(life).id, (91, 7), WHY, life.app.shop)

    assert not again.is_new
    assert life.tree() == before, "the first reason stays, too"


def test_not_billed_and_billed_nothing_are_two_words(tmp_path: Path) -> None:
    life = lost_calls(tmp_path)
    reconcile(only(life).id, None, WHY, life.app.shop)

    with pytest.raises(ConflictError, match="as not billed"):
        reconcile(only(life).id, (0, 0), WHY, life.app.shop)


def test_an_attempt_is_named_by_the_head_of_its_id(tmp_path: Path) -> None:
    life = lost_calls(tmp_path, LOST)
    ids = [seen.id for seen in life.app.shop.stores.attempts.of_day(Day(day_of(life.world.clock.ms)))]

    with pytest.raises(NotFoundError, match="no attempt begins with"):
        reconcile("ffffffffffff", None, WHY, life.app.shop)
    with pytest.raises(UsageError, match="2 attempts begin with"):
        reconcile("review_attempt_", None, WHY, life.app.shop)

    assert reconcile(ids[0].removeprefix("review_attempt_")[:12], None, WHY, life.app.shop).attempt_id == ids[0]


def test_a_call_that_told_its_cost_or_never_left_is_nobodys_to_settle(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.review()

    with pytest.raises(RefusedError, match="is settled by what its provider told"):
        reconcile(only(life).id, None, WHY, life.app.shop)

    assert spent(life).actual == Amount(1, 160, 3_100_000)


class _Watched(ScriptedReviewer):
    """A reviewer that lets somebody try to reconcile its call while it runs, and one that dies in its call."""

    life: Life
    caught: list[str]
    dies = False

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        if self.dies:
            raise Crash
        with pytest.raises(RefusedError) as refused:
            reconcile(only(self.life).id, None, WHY, self.life.app.shop)
        self.caught.append(refused.value.fact)
        return super().ask(prepared, stop)


def watched(tmp_path: Path, *, dies: bool = False) -> tuple[Life, _Watched]:
    life = Life(tmp_path)
    life.reviewer = reviewer = _Watched(adding("Heard."), clock=life.world.clock)
    reviewer.life, reviewer.caught, reviewer.dies = life, [], dies
    life.reopen()
    return life, reviewer


def test_a_call_that_is_under_way_is_left_to_its_owner(tmp_path: Path) -> None:
    life, reviewer = watched(tmp_path)

    job = life.review()

    assert [fact.partition(" is ")[2] for fact in reviewer.caught] == ["under way: its owner has not said how it ended"]
    assert life.app.shop.stores.finished.stands(job.id)
    assert spent(life) == Exposure(actual=Amount(1, 160, 3_100_000))


def test_a_call_whose_owner_died_is_closed_first_and_settled_then(tmp_path: Path) -> None:
    life, _ = watched(tmp_path, dies=True)
    life.enqueue()
    with pytest.raises(Crash):
        life.app.review_once()
    life.reopen()
    with pytest.raises(RefusedError, match="is under way"):
        reconcile(only(life).id, (90, 7), WHY, life.app.shop)
    life.world.clock.ms += HOUR
    life.reopen()

    reconcile(only(life).id, (90, 7), WHY, life.app.shop)

    assert spent(life) == Exposure(actual=Amount(1, 90, 7))


def test_a_result_that_came_late_counts_more_than_a_persons_word(tmp_path: Path) -> None:
    scene = take_without_owner("c", tmp_path)
    adopt_all(scene.shop)
    scene.shop.stores.decisions.record_result(checkpoint_of(tmp_path, scene))
    (lost,) = scene.shop.stores.attempts.of_day(DAY)

    with pytest.raises(ConflictError, match="as billed 160 tokens"):
        reconcile(lost.id, None, WHY, scene.shop)

    (seen,) = scene.shop.stores.attempts.of_day(DAY)
    assert isinstance(seen.correction, Correction)
    assert seen.correction.source == "late-result"


def test_all_of_the_days_before_one_are_settled_each_by_a_record_of_its_own(tmp_path: Path) -> None:
    life = lost_calls(tmp_path, LOST)
    today = Day(day_of(life.world.clock.ms))
    life.world.clock.ms += DAY_MS
    life.reopen()
    life.enqueue("entry-9")
    life.reviewer = ScriptedReviewer(LOST, clock=life.world.clock)
    life.reopen()
    for _ in range(3):
        life.app.review_once()
        life.world.clock.ms += HOUR
        life.reopen()

    words = reconcile_before(Day(day_of(life.world.clock.ms)), None, WHY, life.app.shop, at_hold=False)

    assert [(each.day, each.charged) for each in words.said] == [(today, Amount())] * 2
    store = life.app.shop.stores.attempts
    assert store.exposure(PROVIDER, today) == Exposure()
    assert store.unresolved(PROVIDER, Day("9999-01-01")).unknown.calls > 0, "today's are left alone"
    assert reconcile_before(today, None, WHY, life.app.shop, at_hold=False) == Words((), ())


def test_without_a_bill_all_are_settled_at_what_was_held_in_their_own_day(tmp_path: Path) -> None:
    life = lost_calls(tmp_path)
    life.world.clock.ms += DAY_MS
    life.reopen()

    (word,) = reconcile_before(Day(day_of(life.world.clock.ms)), None, WHY, life.app.shop, at_hold=True).said

    assert word.charged == HOLD
    assert spent(life) == Exposure(actual=HOLD)


def test_a_call_of_a_closed_day_is_settled_and_stays_so(tmp_path: Path) -> None:
    life = lost_calls(tmp_path, adding("Heard."))
    (lost,) = [
        each for each in life.app.shop.stores.attempts.of_day(Day("2026-01-03")) if isinstance(each.latest, Unknown)
    ]
    for _ in range(3):
        life.world.clock.ms += HOUR
        life.reopen()
        life.app.review_once()
    life.pass_by(10 * DAY_MS)
    life.pass_by(DAY_MS)
    assert life.app.shop.stores.attempts.past(Day("2026-01-03"))

    assert reconcile(lost.id, (90, 7), WHY, life.app.shop).is_new
    life.reopen()
    assert not reconcile(lost.id, (90, 7), WHY, life.app.shop).is_new
    with pytest.raises(ConflictError):
        reconcile(lost.id, None, WHY, life.app.shop)


@pytest.mark.parametrize("bill", [(90, 7), None])
def test_what_was_said_is_right_for_the_checker_and_the_proof_before_and_after_its_day_is_closed(
    tmp_path: Path, bill: Bill
) -> None:
    life = lost_calls(tmp_path, adding("Heard."))
    lost = life.app.shop.stores.attempts.of_day(Day("2026-01-03"))[0]
    reconcile(lost.id, bill, WHY, life.app.shop)
    for _ in range(2):
        errors = [each for each in verify(life.layout, lambda _: None) if each.severity is Severity.ERROR]
        assert (errors, prove_figures(life.layout).findings) == ([], ())
        life.pass_by(10 * DAY_MS)
        life.pass_by(DAY_MS)
    assert life.app.shop.stores.attempts.past(Day("2026-01-03"))[lost.id].state == "corrected"


def test_what_a_word_frees_lets_the_jobs_go_on_at_once(tmp_path: Path) -> None:
    life = Life(tmp_path, LOST, adding("Heard."))
    life.world.configure("external", maxCallsPerDay=1)
    life.reopen()
    life.enqueue("entry-1")
    life.app.review_once()
    life.world.clock.ms = next_midnight(life.world.clock.ms) + HOUR
    life.reopen()
    life.app.review_once()
    assert [type(event) for event in life.world.heard.events].count(BudgetExhausted) == 1
    assert let_go_on(life.app.shop) == 0

    reconcile(only(life).id, None, WHY, life.app.shop)

    assert let_go_on(life.app.shop) == 1
    life.app.review_once()
    assert life.world.texts(life.app, life.key) == ["Heard."]


VERBS: Final = 5
"""Stage, link, remove the staged name, flush the folder; and one more, so that it is survived."""


@pytest.mark.parametrize("survive", range(VERBS))
def test_wherever_it_dies_it_is_said_or_not_and_saying_it_again_ends_it(tmp_path: Path, survive: int) -> None:
    life = lost_calls(tmp_path)
    attempts = AttemptStore(Mortal(survive), life.layout)
    shop = dataclasses.replace(life.app.shop, stores=dataclasses.replace(life.app.shop.stores, attempts=attempts))
    dies = survive < VERBS - 1
    with pytest.raises(Crash) if dies else contextlib.nullcontext():
        reconcile(only(life).id, (90, 7), WHY, shop)
    life.reopen()

    is_said = survive > 1
    assert spent(life) == (Exposure(actual=Amount(1, 90, 7)) if is_said else Exposure(unknown=HOLD))
    assert reconcile(only(life).id, (90, 7), WHY, life.app.shop).is_new is not is_said
    assert spent(life) == Exposure(actual=Amount(1, 90, 7))
