"""A begun change that nobody can finish is named, set aside on a person's word, and its job ends stale."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.app import App
from curator.errors import InvalidRecordError, RefusedError
from curator.model.event import Stopped
from curator.model.job import Job
from curator.workflow.stuck import Begun, begun_changes, give_up
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, adding

TEXT = "The build runs on Linux."
AFTER_RETRY_MS = 3_700_000


class Dying(Recorded):
    """Dies before a verb on the first file whose folder and name contain a text, and does nothing ever after."""

    def __init__(self, verb: str) -> None:
        super().__init__()
        self._verb = verb
        self._is_dead = False

    def _note(self, verb: str, path: Path) -> None:
        word, _, name = self._verb.partition(" ")
        self._is_dead = self._is_dead or (verb == word and name in f"{path.parent.name}/{path.name}")
        if self._is_dead:
            raise Crash(verb)
        super()._note(verb, path)


class Story:
    """One job whose admission was cut off, and what stood before it."""

    def __init__(self, world: World, app: App, job: Job, reviewer: ScriptedReviewer) -> None:
        self.world = world
        self.app = app
        self.job = job
        self.reviewer = reviewer
        self.project = app.layout.project(job.project_key)
        self.branch = self.project.branch(job.branch.name)
        self.before = self.branch.read_bytes()

    def cut_off(self, verb: str) -> None:
        with pytest.raises(Crash):
            self.world.open(self.reviewer, volume=Dying(verb)).review_once()
        self.world.clock.ms += 600_000

    @property
    def begun(self) -> list[Begun]:
        return list(begun_changes(self.app.layout))

    def review(self) -> None:
        self.world.clock.ms += AFTER_RETRY_MS
        self.world.open(self.reviewer).review_once()

    def ending(self) -> str:
        receipt = self.app.shop.memory(self.job.project_key, "external").receipt(self.job.id)
        assert receipt is not None
        assert self.app.shop.stores.spool.outcome(self.job.id) is not None
        return receipt.status

    def texts(self) -> list[str]:
        return self.world.texts(self.app, self.job.project_key)

    def quarantined(self) -> list[str]:
        folder = self.app.layout.quarantine
        return sorted(path.name.split(".")[1] for path in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture
def story(tmp_path: Path) -> Story:
    world = World(tmp_path / "agent")
    world.configure()
    reviewer = ScriptedReviewer(adding(TEXT), clock=world.clock)
    app = world.open(reviewer)
    key = world.project(app, tmp_path / "project")
    job = world.job(app, key, "frontier")
    app.shop.stores.spool.enqueue(job)
    return Story(world, app, job, reviewer)


def edited_outside(story: Story) -> None:
    story.cut_off("rename main.json")
    foreground_add(story.project.root, "Pi wrote this.")


def put_back_behind_its_revision(story: Story) -> None:
    story.cut_off("link .complete.json")
    story.branch.write_bytes(story.before)


def without_its_revision(story: Story) -> None:
    story.cut_off("link commit-receipts/")
    for revision in story.project.revisions(story.job.branch.name).iterdir():
        revision.unlink()


def torn(story: Story) -> None:
    story.cut_off("rename main.json")
    intent = story.project.intent(story.job.id)
    intent.write_bytes(intent.read_bytes()[:100])


def completed_by_another(story: Story) -> None:
    story.cut_off("rename main.json")
    intent, completion = story.project.intent(story.job.id), story.project.completion(story.job.id)
    completion.write_text(
        f'{{"version":1,"kind":"review-admission-complete","transactionId":"{story.job.id}",'
        f'"intentDigest":"{"0" * 64}"}}',
        "utf-8",
    )
    assert intent.exists()


STUCK = (edited_outside, put_back_behind_its_revision, without_its_revision, torn, completed_by_another)


@pytest.mark.parametrize("happened", STUCK)
def test_a_change_that_cannot_be_finished_is_set_aside_and_its_job_ends_stale(
    story: Story, happened: Callable[[Story], None]
) -> None:
    happened(story)
    story.review()
    stood = story.branch.read_bytes()
    intent = story.project.intent(story.job.id).read_bytes()
    (begun,) = story.begun
    assert begun.kind in ("unmatched", "unreadable")
    assert story.app.shop.stores.spool.outcome(story.job.id) is None

    moved = give_up(begun, story.app.shop)

    assert moved[0].read_bytes() == intent
    assert story.begun == []
    story.review()
    assert story.ending() == "stale"
    assert story.branch.read_bytes() == stood
    assert len(story.reviewer.asked) == 1


def test_what_stands_where_is_told(story: Story) -> None:
    edited_outside(story)

    (begun,) = story.begun

    assert begun.path == story.project.intent(story.job.id)
    assert "branch elsewhere, revision absent, completion not there" in begun.fact


def test_a_change_that_can_be_finished_is_not_given_up(story: Story) -> None:
    story.cut_off("rename main.json")
    (begun,) = story.begun

    assert begun.kind == "begun"
    with pytest.raises(RefusedError, match="can be finished"):
        give_up(begun, story.app.shop)
    story.review()
    assert (story.ending(), story.texts()) == ("applied", [TEXT])


def test_memory_that_is_damaged_is_to_be_mended_first(story: Story) -> None:
    """The intent may hold the only whole copy of it."""
    story.cut_off("rename main.json")
    story.branch.write_bytes(b"{")
    (begun,) = story.begun

    assert begun.kind == "damaged"
    with pytest.raises(InvalidRecordError, match=r"main\.json"):
        give_up(begun, story.app.shop)
    assert begun.path.exists()


def test_one_whose_decision_is_gone_is_set_aside_with_its_completion(story: Story) -> None:
    story.cut_off("link commit-receipts/")
    story.app.layout.decision(story.job.id).unlink()
    (begun,) = story.begun
    assert begun.kind == "undecided"

    give_up(begun, story.app.shop)

    assert story.quarantined() == ["complete", "intent"]
    assert story.texts() == [TEXT]


def test_the_rest_of_the_project_goes_on(story: Story) -> None:
    edited_outside(story)
    give_up(story.begun[0], story.app.shop)
    other = story.world.job(story.app, story.job.project_key, "later")
    story.app.shop.stores.spool.enqueue(other)

    story.review()

    assert story.ending() == "stale"
    assert sorted(story.texts()) == ["Pi wrote this.", TEXT]
    assert not [told for told in story.world.heard.events if isinstance(told, Stopped)]


@pytest.mark.parametrize("happened", [edited_outside, completed_by_another])
def test_giving_up_that_dies_at_any_verb_is_finished_by_the_next(
    story: Story, happened: Callable[[Story], None]
) -> None:
    happened(story)
    shop, survive = story.app.shop, 0
    while survive < 30:
        try:
            for begun in story.begun:
                give_up(begun, dataclasses.replace(shop, volume=Mortal(survive)))
        except Crash:
            survive += 1
        else:
            break

    assert survive > 2
    assert story.quarantined().count("intent") == 1
    story.review()
    assert story.ending() == "stale"
