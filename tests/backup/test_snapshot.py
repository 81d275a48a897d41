"""A backup that is taken while everybody works could be what a crash left, wherever the work falls between its parts."""

from __future__ import annotations

import stat
import tarfile
import threading
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.errors import BusyError, NotFoundError, RefusedError
from curator.model.attempt import AttemptState
from curator.model.ids import Day
from tests.backup.backups import Facts, brought_back, taken
from tests.verify.scene import copy_of, find, scene

EVER = Day("0000-00-00")
PARTS = (
    "cards",
    "spool",
    "bases",
    "project",
    "accounting",
    "decisions",
    "attempts of 2026-01-03, step 3",
    "attempts of 2026-01-03, step 2",
    "results",
    "evidence",
    "attempts of 2026-01-03, step 1",
    "attempts of 2026-01-03, step 0",
    "closed days",
    "acceptances",
    "late bases",
    "the rest",
)


def names_in(archive: Path) -> list[str]:
    with tarfile.open(archive) as packed:
        return packed.getnames()


def assert_goes_on(facts: Facts, archive: Path, agent: Path) -> None:
    """Hold a restored copy to the oracles, before its recovery and after; every job in it comes to its end."""
    brought_back(archive, agent)
    assert find(agent) == []

    app, world = facts.elsewhere(agent)
    waited = [
        job
        for job in facts.ids
        if any((Layout(agent).spool / each / f"{job}.json").exists() for each in ("queued", "running"))
    ]
    spent = {seen.id: seen.state for job in facts.ids for seen in app.shop.stores.attempts.of_job(job, EVER)}
    for job in waited:
        results = {result.attempt_id: result for result in app.shop.stores.decisions.results(job)}
        for seen in app.shop.stores.attempts.of_job(job, EVER):
            assert seen.state is not AttemptState.SETTLED or seen.id in results
        for of, result in results.items():
            assert result.proposal_digest is None or app.shop.stores.decisions.evidence(job, of) is not None
    app.review_once()

    assert find(agent) == []
    for job in waited:
        assert app.shop.stores.spool.outcome(job) is not None
        assert app.shop.stores.finished.find(job) is not None
    over = {each.outcome.job_id: each.outcome.status == "completed" for each in app.shop.stores.spool.finished()}
    texts = [text for key in facts.keys for text in world.texts(app, key)]
    assert len(texts) == len(set(texts)) == sum(over.values())
    cards = [app.shop.mailbox(key).ready(job) for key in facts.keys for job in app.shop.mailbox(key).pending_ids()]
    assert {card.job_id: card.status == "applied" for card in cards if card is not None} == over
    after = {seen.id: seen.state for job in facts.ids for seen in app.shop.stores.attempts.of_job(job, EVER)}
    assert all(after[each] is state for each, state in spent.items() if state is not AttemptState.UNKNOWN)
    assert not any(seen.is_open for job in facts.ids for seen in app.shop.stores.attempts.of_job(job, EVER))


@pytest.mark.parametrize("part", PARTS)
def test_a_whole_drain_between_two_parts_leaves_a_legal_state(part: str, tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=5, refusals=(3,))
    facts.app.review_once(limit=1)

    def told(name: str) -> None:
        if name.startswith(part):
            facts.app.review_once()

    taken(facts.world.agent, tmp_path / "b.tar.gz", told)

    assert facts.app.shop.stores.spool.counts() == (0, 0)
    assert_goes_on(facts, tmp_path / "b.tar.gz", tmp_path / "copy")


@pytest.mark.parametrize(
    "part", [part for part in PARTS if part.startswith(("cards", "attempts", "results", "closed"))]
)
def test_a_day_that_is_closed_between_two_parts_costs_the_same(part: str, tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=4)
    facts.app.review_once()
    attempts = facts.app.shop.stores.attempts
    (day,) = attempts.days()
    spent = attempts.exposure("fixture-provider", day)

    def told(name: str) -> None:
        if name.startswith(part):
            assert attempts.close_day(day, lambda _: False, facts.world.clock.ms + 864_000_000)

    taken(facts.world.agent, tmp_path / "b.tar.gz", told)
    brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    app, _ = facts.elsewhere(tmp_path / "copy")
    assert find(tmp_path / "copy") == []
    assert app.shop.stores.attempts.exposure("fixture-provider", day) == spent


def test_one_job_between_any_two_parts_leaves_a_legal_state(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=30, projects=3, refusals=(7, 16, 23))
    parts: list[str] = []

    def told(name: str) -> None:
        parts.append(name)
        facts.app.review_once(limit=1)

    taken(facts.world.agent, tmp_path / "b.tar.gz", told)

    assert len(parts) > len(PARTS)
    assert_goes_on(facts, tmp_path / "b.tar.gz", tmp_path / "copy")


def test_backups_beside_a_running_drain_are_all_legal(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=40, projects=4)
    drain = threading.Thread(target=facts.app.review_once)

    drain.start()
    for number in range(4):
        taken(facts.world.agent, tmp_path / f"{number}.tar.gz")
    drain.join()

    for number in range(4):
        assert_goes_on(facts, tmp_path / f"{number}.tar.gz", tmp_path / f"copy{number}")


def test_a_copy_holds_every_record_byte_by_byte_and_nothing_that_only_lives(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    (mine.layout.spool / ".spool.lock.breaker").write_text("1:x")
    (mine.layout.days / "2026-01-03.1.01234567-0123-0123-0123-0123456789ab.tmp").write_text("x")
    (mine.layout.own / "curator.toml").write_text('evidence = "accept"\n')
    (mine.layout.project(mine.key).root / "skills").mkdir()
    (mine.layout.project(mine.key).root / "skills" / "SKILL.md").write_text("a skill of the project")

    taken(mine.agent, tmp_path / "b.tar.gz")
    brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    lives = ("review-workers", "runtimes")
    wanted = {
        path.relative_to(mine.agent): path.read_bytes()
        for path in mine.layout.root.rglob("*")
        if path.is_file() and path.parent.name not in lives and not path.name.endswith((".tmp", ".guard", ".breaker"))
    }
    copied = {
        path.relative_to(tmp_path / "copy"): path.read_bytes()
        for path in (tmp_path / "copy").rglob("*")
        if path.is_file()
    }
    new = {path for path in copied if path not in wanted}
    assert {path: copied[path] for path in wanted} == wanted
    # The one open attempt was closed.
    assert [path.name for path in new] == [f"{mine.attempts['running'].name}.2.json"]


def test_only_its_owner_may_read_a_backup_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path / "state")
    (tmp_path / "out").mkdir()

    taken(mine.agent, tmp_path / "out" / "b.tar.gz")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.tar.gz"]
    assert stat.S_IMODE((tmp_path / "out" / "b.tar.gz").stat().st_mode) == 0o600


def test_taking_a_backup_changes_nothing_and_keeps_no_lock(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    before = {path: path.read_bytes() for path in mine.agent.rglob("*") if path.is_file()}

    taken(mine.agent, tmp_path / "b.tar.gz")

    assert {path: path.read_bytes() for path in mine.agent.rglob("*") if path.is_file()} == before


def test_what_is_no_regular_file_is_left_out_and_named(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    link = mine.layout.dead_letter / "x.bad"
    link.symlink_to(mine.layout.service_json)

    assert taken(mine.agent, tmp_path / "b.tar.gz").left_out == (link,)
    assert not any(name.endswith("x.bad") for name in names_in(tmp_path / "b.tar.gz"))


def test_a_lock_that_is_held_is_waited_for_and_then_said(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=1)
    facts.app.shop.layout.spool_lock.write_text(f"1:{'0' * 36}\n0\n")

    with pytest.raises(BusyError):
        taken(facts.world.agent, tmp_path / "b.tar.gz")

    assert not (tmp_path / "b.tar.gz").exists()


def test_a_target_that_stands_or_lies_inside_is_refused(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    (tmp_path / "there").write_text("x")

    with pytest.raises(RefusedError):
        taken(mine.agent, tmp_path / "there")
    with pytest.raises(RefusedError):
        taken(mine.agent, mine.layout.root / "b.tar.gz")
    with pytest.raises(NotFoundError):
        taken(mine.agent, tmp_path / "nowhere" / "b.tar.gz")
    with pytest.raises(NotFoundError):
        taken(tmp_path / "no agent", tmp_path / "b.tar.gz")

    assert (tmp_path / "there").read_text() == "x"
