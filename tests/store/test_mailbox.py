"""Who waits in Pi is answered once, with one card, and nobody else is."""

import dataclasses
from pathlib import Path

import pytest

from curator.durable.layout import Layout, ProjectLayout
from curator.durable.volume import Volume
from curator.errors import BusyError, ConflictError, InvalidRecordError
from curator.model.digest import canonical
from curator.model.feedback import Pending, Ready, Shown
from curator.model.ids import JobId, ProjectKey
from curator.model.limits import PENDING_MAX
from curator.store.mailbox import Mailbox
from tests.durable.volumes import Recorded, Unflushed
from tests.golden_fixtures import golden
from tests.made_up import AT, LATER, MAIN, job, other_digest

PENDING = Pending(job_id=job().id, job_digest=job().digest, requested_by="manual", queued_at=AT)
CARD = Ready(
    job_id=job().id,
    job_digest=job().digest,
    branch_name=MAIN,
    status="applied",
    messages=("Memory added.",),
    changes=(Shown(kind="add", text="Use pnpm."),),
)


@pytest.fixture
def layout(tmp_path: Path) -> ProjectLayout:
    return Layout(tmp_path).project(ProjectKey("826cdcf0ee7b9e3ad811eb46"))


@pytest.fixture
def mailbox(layout: ProjectLayout) -> Mailbox:
    return Mailbox(Volume(), layout)


def test_a_registration_is_a_private_canonical_line(mailbox: Mailbox, layout: ProjectLayout) -> None:
    mailbox.register(PENDING)

    path = layout.pending / f"{job().id}.json"
    assert path.read_text("utf-8") == canonical(PENDING.encode()) + "\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (mailbox.pending(job().id), mailbox.pending_ids()) == (PENDING, (job().id,))


def test_a_second_registration_of_a_job_keeps_the_first_and_flushes_it(layout: ProjectLayout) -> None:
    Mailbox(Volume(), layout).register(PENDING)
    volume = Recorded()

    Mailbox(volume, layout).register(dataclasses.replace(PENDING, queued_at=LATER))

    assert Mailbox(volume, layout).pending(job().id) == PENDING
    assert volume.asked == ["flush pending"]


def test_another_job_of_that_id_cannot_register(mailbox: Mailbox) -> None:
    mailbox.register(PENDING)

    with pytest.raises(ConflictError):
        mailbox.register(dataclasses.replace(PENDING, job_digest=other_digest()))


def test_a_registration_can_be_taken_back(mailbox: Mailbox) -> None:
    mailbox.register(PENDING)
    mailbox.discard(job().id)
    mailbox.discard(job().id)

    assert mailbox.pending_ids() == ()


def test_a_mailbox_holds_so_many_and_says_so(layout: ProjectLayout) -> None:
    mailbox = Mailbox(Unflushed(), layout)
    mailbox.register(PENDING)
    for number in range(PENDING_MAX - 1):
        (layout.pending / f"review_{number:040x}.json").touch()

    with pytest.raises(BusyError, match="1024 jobs of this project are waited for already"):
        mailbox.register(Pending(job_id=job("another").id, job_digest=job("another").digest))
    mailbox.register(PENDING)


def test_nobody_waits_and_nothing_is_written(mailbox: Mailbox, layout: ProjectLayout) -> None:
    assert not mailbox.answer(CARD)
    assert not layout.ready.exists()


def test_who_waits_gets_one_card(mailbox: Mailbox, layout: ProjectLayout) -> None:
    mailbox.register(PENDING)
    assert mailbox.lacks_card(job().id, job().digest)

    assert mailbox.answer(CARD)
    assert mailbox.answer(CARD)

    assert (layout.ready / f"{job().id}.json").read_text("utf-8") == canonical(CARD.encode()) + "\n"
    assert mailbox.ready(job().id) == CARD
    assert not mailbox.lacks_card(job().id, job().digest)


def test_a_second_card_of_other_content_is_a_conflict_and_the_first_stays(mailbox: Mailbox) -> None:
    mailbox.register(PENDING)
    mailbox.answer(CARD)

    with pytest.raises(ConflictError):
        mailbox.answer(dataclasses.replace(CARD, status="failed", changes=()))
    assert mailbox.ready(job().id) == CARD


def test_a_card_is_not_given_to_who_waits_for_another_job_of_that_id(mailbox: Mailbox) -> None:
    mailbox.register(dataclasses.replace(PENDING, job_digest=other_digest()))

    assert not mailbox.lacks_card(job().id, job().digest)
    with pytest.raises(ConflictError, match="waits for another job of that id"):
        mailbox.answer(CARD)


def test_a_damaged_or_open_registration_costs_that_one(mailbox: Mailbox, layout: ProjectLayout) -> None:
    mailbox.register(PENDING)
    path = layout.pending / f"{job().id}.json"
    path.chmod(0o644)
    with pytest.raises(InvalidRecordError, match="has mode 0644"):
        mailbox.pending(job().id)
    path.chmod(0o600)
    path.write_bytes(b"{")
    with pytest.raises(InvalidRecordError, match="not JSON"):
        mailbox.answer(CARD)


def test_strange_names_in_the_mailbox_are_nobody(mailbox: Mailbox, layout: ProjectLayout) -> None:
    mailbox.register(PENDING)
    for name in (".DS_Store", "review_x.json", f".{job().id}.json"):
        (layout.pending / name).touch()

    assert mailbox.pending_ids() == (job().id,)


def test_the_protocols_own_card_is_read(tmp_path: Path) -> None:
    layout = Layout(golden("h", tmp_path)).project(ProjectKey("826cdcf0ee7b9e3ad811eb46"))
    job_id = JobId(next(layout.ready.iterdir()).stem)
    mailbox = Mailbox(Volume(), layout)

    card = mailbox.ready(job_id)

    assert card is not None
    assert card.status == "applied"
    assert mailbox.answer(card)
