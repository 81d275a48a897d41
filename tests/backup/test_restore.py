"""Bringing a backup back: whole or not at all, and no spent call comes back unspent."""

from __future__ import annotations

import gzip
import json
import shutil
import stat
from pathlib import Path

import pytest

from curator.app import App
from curator.backup.restore import plan
from curator.durable.layout import Layout
from curator.errors import ConflictError, InvalidRecordError, NotFoundError, RefusedError
from curator.model.attempt import AttemptState, Reserved, dispatched_from
from curator.model.decision import ProviderResult
from curator.model.digest import Digest
from curator.model.ids import Day, attempt_id
from curator.model.outcome import Completed, proposal_digest
from curator.model.proposal import Add
from curator.model.times import day_of, iso
from curator.store.spool import Claim, recover
from curator.workflow.claim import take
from tests.backup.backups import NOW, Facts, brought_back, taken
from tests.kit import provenance_at
from tests.verify.scene import copy_of, find, scene

EVER = Day("0000-00-00")


def claimed(facts: Facts) -> Claim:
    """Claim the first job that waits."""
    claim = take(facts.app.shop, facts.app.shop.stores.spool.waiting()[0])
    assert claim is not None
    return claim


def reserved(facts: Facts, claim: Claim) -> Reserved:
    """Hold budget for a claim."""
    now = facts.world.clock.now()
    draft = Reserved(
        id=attempt_id(claim.job.digest, claim.attempt, claim.running.lease_token),
        day=Day(day_of(now)),
        provider="fixture-provider",
        job_id=claim.job.id,
        job_digest=claim.job.digest,
        claim_attempt=claim.attempt,
        lease_token=claim.running.lease_token,
        reserved_at=iso(now),
        hold_tokens=400,
        hold_cost_nanousd=50_000_000,
        base_branch_digest=claim.job.base_branch_digest,
        origin="curator",
    )
    held = facts.app.shop.stores.attempts.reserve(draft, None)
    assert isinstance(held, Reserved)
    return held


def dispatched(facts: Facts, held: Reserved) -> None:
    """Say that a request leaves now."""
    request = (Digest("ab" * 32), "fixture-reviewer", "fixture-api")
    facts.app.shop.stores.attempts.advance(dispatched_from(held, iso(facts.world.clock.now()), request))


def answered(facts: Facts, claim: Claim, held: Reserved) -> None:
    """Keep an answer, and settle nothing."""
    provenance = provenance_at(facts.world.clock.now(), facts.world.clock.now())
    outcome = Completed(
        job_id=claim.job.id,
        job_digest=claim.job.digest,
        completed_at=provenance.completed_at,
        operations=(Add(content="What was answered in time.", importance="normal"),),
        provenance=provenance,
    )
    result = ProviderResult(
        attempt_id=held.id, proposal_digest=proposal_digest(outcome), job=claim.job, outcome=outcome
    )
    facts.app.shop.stores.decisions.record_result(result)


def states(app: App, facts: Facts) -> list[AttemptState]:
    attempts = app.shop.stores.attempts
    return [seen.state for job in facts.ids for seen in attempts.of_job(job, EVER)]


def journal_of(agent: Path) -> dict[str, bytes]:
    root = Layout(agent).attempts
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def keep_only_the_journal(agent: Path) -> None:
    """Do what the help says: move everything away but the journal."""
    layout = Layout(agent)
    for folder in (layout.root, layout.own):
        for path in list(folder.iterdir()):
            if path not in (layout.own, layout.attempts):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_a_whole_folder_comes_back_and_is_found_right(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")

    done = brought_back(tmp_path / "b.tar.gz", tmp_path / "new" / "agent")

    assert (done.unknown, done.cancelled, done.settled, done.moved) == (1, 0, 0, None)
    assert find(tmp_path / "new" / "agent") == []
    modes = {path.is_dir(): stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new" / "agent").rglob("*")}
    assert modes == {True: 0o700, False: 0o600}
    assert [path.name for path in (tmp_path / "new" / "agent").iterdir()] == ["no-forgetti"]


def test_an_open_attempt_is_closed_and_stays_counted(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=3, projects=3)
    claims = [claimed(facts) for _ in facts.ids]
    holds = [reserved(facts, claim) for claim in claims]
    for held in holds[1:]:
        dispatched(facts, held)
    answered(facts, claims[2], holds[2])
    taken(facts.world.agent, tmp_path / "b.tar.gz")

    done = brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    assert (done.cancelled, done.unknown, done.settled) == (1, 1, 1)
    app, _ = facts.elsewhere(tmp_path / "copy")
    exposure = app.shop.stores.attempts.exposure("fixture-provider", holds[0].day)
    assert (exposure.unknown.calls, exposure.actual.calls, exposure.held.calls) == (1, 1, 0)
    assert (exposure.unknown.tokens, exposure.actual.tokens) == (400, 160)


def test_an_answer_in_the_backup_is_elected_without_another_call(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=1)
    claim = claimed(facts)
    held = reserved(facts, claim)
    dispatched(facts, held)
    answered(facts, claim, held)
    taken(facts.world.agent, tmp_path / "b.tar.gz")
    brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    app, world = facts.elsewhere(tmp_path / "copy")
    app.review_once()

    assert world.texts(app, facts.keys[0]) == ["What was answered in time."]
    assert states(app, facts) == [AttemptState.SETTLED]


def test_a_job_keeps_its_tries_over_a_restore(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=1)
    for _ in range(3):
        dispatched(facts, reserved(facts, claimed(facts)))
        facts.world.clock.ms += 400_000
        recover(facts.app.shop.stores.spool)
    taken(facts.world.agent, tmp_path / "b.tar.gz")
    brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    app, _ = facts.elsewhere(tmp_path / "copy")
    app.review_once()

    over = app.shop.stores.spool.outcome(facts.ids[0])
    assert over is not None
    assert over.outcome.status == "failed"
    assert states(app, facts) == [AttemptState.UNKNOWN] * 3


def test_what_was_spent_since_stays_counted_where_the_journal_stays(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=3)
    facts.app.review_once(limit=1)
    taken(facts.world.agent, tmp_path / "b.tar.gz")
    facts.app.review_once()
    day = facts.app.shop.stores.attempts.days()[0]
    spent = facts.app.shop.stores.attempts.exposure("fixture-provider", day)
    before = journal_of(facts.world.agent)
    keep_only_the_journal(facts.world.agent)

    done = brought_back(tmp_path / "b.tar.gz", facts.world.agent)

    assert journal_of(facts.world.agent) == before
    assert done.kept == 6
    assert done.moved is not None
    assert done.moved.is_dir()
    assert find(facts.world.agent) == []
    app = facts.open()
    assert app.shop.stores.attempts.exposure("fixture-provider", day) == spent
    app.review_once()
    assert find(facts.world.agent) == []
    assert app.shop.stores.attempts.exposure("fixture-provider", day).total.calls == spent.total.calls + 2


def test_a_reservation_that_was_sent_since_is_not_cancelled(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=1)
    held = reserved(facts, claimed(facts))
    taken(facts.world.agent, tmp_path / "b.tar.gz")
    dispatched(facts, held)
    keep_only_the_journal(facts.world.agent)

    done = brought_back(tmp_path / "b.tar.gz", facts.world.agent)

    assert (done.cancelled, done.unknown) == (0, 1)


def test_two_journals_that_say_two_things_under_one_name_refuse_the_restore(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=1)
    dispatched(facts, reserved(facts, claimed(facts)))
    taken(facts.world.agent, tmp_path / "b.tar.gz")
    keep_only_the_journal(facts.world.agent)
    (step,) = Layout(facts.world.agent).attempts.rglob("*.1.json")
    step.write_text(json.dumps(json.loads(step.read_text()) | {"model": "another"}))
    before = journal_of(facts.world.agent)

    with pytest.raises(ConflictError):
        brought_back(tmp_path / "b.tar.gz", facts.world.agent)

    assert journal_of(facts.world.agent) == before


def test_jobs_wait_in_the_order_in_which_they_were_accepted(tmp_path: Path) -> None:
    facts = Facts(tmp_path, jobs=8, projects=2)
    # Their names say another order: they are hashes.
    order = {key: [job for job in facts.ids if _project_of(facts.app, job) == key] for key in facts.keys}
    taken(facts.world.agent, tmp_path / "b.tar.gz")
    brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    app, _ = facts.elsewhere(tmp_path / "copy")
    waiting = sorted(app.shop.stores.spool.waiting(), key=lambda each: each.queued_ms)

    for key, ids in order.items():
        assert [each.job_id for each in waiting if each.glimpse.project_key == key] == ids


def _project_of(app: App, job_id: str) -> str:
    return next(each.glimpse.project_key for each in app.shop.stores.spool.waiting() if each.job_id == job_id)


@pytest.mark.parametrize("place", ["service.json", "review-spool/queued/x.json", "curator/jobs/x.json"])
def test_a_folder_that_holds_anything_else_is_refused(place: str, tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")
    path = tmp_path / "copy" / "no-forgetti" / place
    path.parent.mkdir(parents=True)
    path.write_text("x")

    with pytest.raises(RefusedError):
        brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    assert [each for each in (tmp_path / "copy").rglob("*") if each.is_file()] == [path]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")
    (tmp_path / "copy" / "no-forgetti").mkdir(parents=True)

    brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    assert find(tmp_path / "copy") == []


def test_a_place_behind_a_symlink_is_refused(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")
    (tmp_path / "copy").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "copy" / "no-forgetti").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(RefusedError):
        brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")


def test_a_restore_that_was_cut_short_is_named_and_not_gone_over(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")
    (tmp_path / "copy" / "no-forgetti.restoring").mkdir(parents=True)

    with pytest.raises(RefusedError, match=r"no-forgetti\.restoring"):
        brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")


def test_a_damaged_backup_leaves_nothing_behind(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")
    whole = gzip.decompress((tmp_path / "b.tar.gz").read_bytes())
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(whole.replace(b"USER: please", b"USER: pleasf")))

    with pytest.raises(InvalidRecordError):
        brought_back(tmp_path / "b.tar.gz", tmp_path / "copy")

    assert not (tmp_path / "copy").exists()


def test_a_backup_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        plan(Layout(tmp_path), tmp_path / "none")


def test_a_plan_changes_nothing(tmp_path: Path) -> None:
    mine = copy_of(scene(), tmp_path)
    taken(mine.agent, tmp_path / "b.tar.gz")

    planned = plan(Layout(tmp_path / "copy"), tmp_path / "b.tar.gz")

    assert planned.contents.files > 100
    assert planned.contents.made_at == iso(NOW)
    assert not (tmp_path / "copy").exists()
