"""One project's memory: changed by durable intents, rolled forward by the table, failing closed (interop.md 8 and 9)."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout, ProjectLayout
from curator.durable.volume import Volume
from curator.errors import ConflictError, CuratorError, InvalidRecordError, UnmatchedStateError
from curator.machine.admission import Step
from curator.model.admission import Admitted, Intent, Receipt, Status, make_intent, receipt_of
from curator.model.digest import pretty
from curator.model.ids import BranchName, EntryId, JobId, ProjectKey, RevisionId
from curator.model.job import Job
from curator.model.memory import Branch, Entry, Review, branch_digest, changes_between
from curator.model.project import Project
from curator.store.memory import ProjectStore
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.made_up import AT, LATER, MAIN, StillClock, completed, entry, job

KEY: Final = ProjectKey("826cdcf0ee7b9e3ad811eb46")
PROJECT: Final = Project("/home/ann/project", KEY)
TEXT: Final = "Run the checks."


def opened(layout: ProjectLayout, volume: Volume | None = None) -> ProjectStore:
    return ProjectStore(volume or Volume(), layout, StillClock())


@pytest.fixture
def layout(tmp_path: Path) -> ProjectLayout:
    return Layout(tmp_path).project(KEY)


@pytest.fixture
def store(layout: ProjectLayout) -> ProjectStore:
    store = opened(layout)
    store.initialise(PROJECT)
    write(layout, entry())
    return store


def write(layout: ProjectLayout, *entries: Entry, name: BranchName = MAIN) -> Branch:
    """Write a branch as a person's own session would."""
    branch = Branch(name=name, created_at=AT, updated_at=AT, entries=entries)
    layout.branch(name).write_text(pretty(branch.encode()), "utf-8")
    return branch


def of_main(store: ProjectStore, of: Job | None = None) -> Branch:
    branch = store.branch((of or job()).branch.name)
    assert branch is not None
    return branch


Freeze = Callable[[Branch, int], Intent]


def freezing(of: Job, status: Status = "applied", text: str = TEXT) -> Freeze:
    """Return what makes a job's intent: one addition, or no change at all."""

    def freeze(branch: Branch, sequence: int) -> Intent:
        base = branch_digest(branch)
        if status != "applied":
            return make_intent(of, completed(of), base, Admitted(status, ("Nothing.",), branch, LATER, None))
        added = Entry(id=EntryId(f"new-{sequence}"), text=text, created_at=LATER, updated_at=LATER, importance="high")
        after = dataclasses.replace(branch, updated_at=LATER, entries=(*branch.entries, added))
        review = Review(
            sequence=sequence,
            id=RevisionId(f"00000000-0000-4000-8000-{sequence:012x}"),
            branch_name=branch.name,
            committed_at=LATER,
            before_digest=base,
            after_digest=branch_digest(after),
            changes=changes_between(branch, after),
        )
        return make_intent(of, completed(of), base, Admitted("applied", ("Memory added.",), after, LATER, review))

    return freeze


def receipt_for(store: ProjectStore, of: Job) -> Receipt:
    done = store.intent(of.id) or store.tombstone(of.id)
    assert done is not None
    return receipt_of(of, completed(of), done)


def admit(store: ProjectStore, of: Job | None = None, status: Status = "applied") -> Step:
    """Carry a job's change to its end."""
    whose = of or job()
    step = store.admit(whose.id, whose.branch.name, freezing(whose, status))
    while step is not Step.DONE:
        step = store.finish(receipt_for(store, whose))
    return step


def stands(layout: ProjectLayout, of: JobId | None = None) -> list[str]:
    """Return which of a job's admission records stand."""
    job_id = of or job().id
    places = {
        "intent": layout.intent(job_id),
        "completion": layout.completion(job_id),
        "tombstone": layout.tombstone(job_id),
        "receipt": layout.receipt(job_id),
    }
    return [name for name, path in places.items() if path.exists()]


# --- a project -------------------------------------------------------------------------------------------------------


def test_a_project_is_initialised_as_the_extension_would(layout: ProjectLayout) -> None:
    opened(layout).initialise(PROJECT)

    assert json.loads(layout.project_json.read_text("utf-8")) == PROJECT.encode(AT)
    assert json.loads(layout.branch(MAIN).read_text("utf-8"))["entries"] == []
    assert json.loads((layout.reviews / "main.json").read_text("utf-8"))["turnsSinceReview"] == 0
    assert opened(layout).project() == PROJECT
    assert not layout.lock.exists()


def test_initialising_again_changes_nothing(store: ProjectStore, layout: ProjectLayout) -> None:
    before = {path: path.read_bytes() for path in layout.root.rglob("*.json")}

    store.initialise(PROJECT)

    assert {path: path.read_bytes() for path in layout.root.rglob("*.json")} == before


def test_a_project_of_another_folder_is_a_conflict(store: ProjectStore) -> None:
    with pytest.raises(ConflictError, match="belongs to another folder than /elsewhere"):
        store.initialise(Project("/elsewhere", KEY))


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":2,"name":"main","entries":[]}'])
def test_a_damaged_branch_is_named_and_kept(store: ProjectStore, layout: ProjectLayout, damage: bytes) -> None:
    layout.branch(MAIN).write_bytes(damage)

    with pytest.raises(InvalidRecordError, match=r"main\.json"):
        store.current(MAIN)
    with pytest.raises(InvalidRecordError, match=r"main\.json"):
        store.admit(job().id, MAIN, freezing(job()))
    assert layout.branch(MAIN).read_bytes() == damage
    assert stands(layout) == []


def test_a_shadow_branch_is_seeded_once(layout: ProjectLayout) -> None:
    store = opened(layout)
    first = Branch(name=MAIN, created_at=AT, updated_at=AT, entries=(entry(),))

    store.seed(first)
    store.seed(dataclasses.replace(first, entries=()))

    assert store.branch(MAIN) == first


def test_a_branch_that_is_judged_is_flushed_for_it_may_be_another_ones_rename(layout: ProjectLayout) -> None:
    opened(layout).initialise(PROJECT)
    volume = Recorded()

    store = opened(layout, volume)
    store.current(MAIN)
    store.flush_branches()

    assert volume.asked[-1] == "flush branches"


# --- admission -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["applied", "noop", "stale", "rejected"])
def test_every_status_ends_with_a_tombstone_and_a_receipt(
    store: ProjectStore, layout: ProjectLayout, status: Status
) -> None:
    assert admit(store, status=status) is Step.DONE

    assert stands(layout) == ["tombstone", "receipt"]
    receipt = store.receipt(job().id)
    assert receipt is not None
    assert receipt.status == status
    assert len(store.revisions(MAIN)) == (status == "applied")
    assert [each.text for each in of_main(store).entries][1:] == ([TEXT] if status == "applied" else [])


def test_the_steps_of_a_change_come_in_their_order_each_flushed_before_the_next(layout: ProjectLayout) -> None:
    opened(layout).initialise(PROJECT)
    volume = Recorded()
    store = opened(layout, volume)

    store.admit(job().id, MAIN, freezing(job()))
    store.finish(receipt_for(store, job()))

    job_id = job().id
    revision = "000000000001-00000000-0000-4000-8000-000000000001.json"
    written = [f"link {job_id}.intent.json", "flush review-admissions", "rename main.json", "flush branches"]
    written += [f"link {revision}", "flush main", f"link {job_id}.complete.json", "flush review-admissions"]
    written += [f"link {job_id}.json", "flush commit-receipts", f"link {job_id}.json", "flush retired"]
    written += [f"unlink {job_id}.intent.json", "flush review-admissions", f"unlink {job_id}.complete.json"]
    rest = iter(volume.asked)
    assert all(verb in rest for verb in written), f"{written} is not a part of {volume.asked}"


def test_an_admission_that_is_over_is_not_begun_again(store: ProjectStore, layout: ProjectLayout) -> None:
    admit(store)
    before = layout.branch(MAIN).read_bytes()

    assert store.admit(job().id, MAIN, freezing(job(), text="Something else.")) is Step.DONE
    assert layout.branch(MAIN).read_bytes() == before


def test_a_second_change_is_the_next_revision(store: ProjectStore) -> None:
    admit(store)
    admit(store, job("entry-10"))

    assert [each.sequence for each in store.revisions(MAIN)] == [1, 2]


@pytest.mark.parametrize("status", ["applied", "stale"])
@pytest.mark.parametrize("survive", range(45))
def test_an_admission_that_dies_at_any_verb_is_carried_to_the_same_end(
    layout: ProjectLayout, status: Status, survive: int
) -> None:
    opened(layout).initialise(PROJECT)
    try:
        admit(opened(layout, Mortal(survive)), status=status)
    except Crash:
        layout.lock.unlink(missing_ok=True)

    store = opened(layout)
    store.roll_pending()
    admit(store, status=status)

    assert stands(layout) == ["tombstone", "receipt"]
    assert [each.text for each in of_main(store).entries] == ([TEXT] if status == "applied" else [])
    assert len(store.revisions(MAIN)) == (status == "applied")
    assert not list(layout.admissions.glob("*.json"))


def cut_off(layout: ProjectLayout, verb: str, of: Job | None = None, status: Status = "applied") -> None:
    """Let an admission die just before a verb."""
    with pytest.raises(Crash):
        admit(opened(layout, Until(verb)), of, status)


class Until(Recorded):
    """Dies before a verb that begins so."""

    def __init__(self, verb: str) -> None:
        super().__init__()
        self._verb = verb

    def _note(self, verb: str, path: Path) -> None:
        super()._note(verb, path)
        if self.asked[-1].startswith(self._verb):
            raise Crash(verb)


@pytest.mark.parametrize(
    ("dies_at", "flushed", "before"),
    [
        ("rename main.json", "review-admissions", "rename main.json"),
        ("link 000000000001", "branches", "link 000000000001"),
        (f"link {job().id}.complete", "main", f"link {job().id}.complete"),
    ],
    ids=["intent before branch", "branch before revision", "revision before completion"],
)
def test_what_a_dead_writer_left_is_flushed_before_anything_is_built_on_it(
    layout: ProjectLayout, dies_at: str, flushed: str, before: str
) -> None:
    opened(layout).initialise(PROJECT)
    cut_off(layout, dies_at)
    volume = Recorded()

    opened(layout, volume).roll_pending()

    asked = [verb for verb in volume.asked if verb.startswith(("flush", before))]
    first = next(index for index, verb in enumerate(asked) if verb.startswith(before))
    assert f"flush {flushed}" in asked[:first]


def test_a_receipt_that_is_found_is_flushed_before_anybody_hears_that_all_is_done(
    store: ProjectStore, layout: ProjectLayout
) -> None:
    admit(store)
    volume = Recorded()

    assert opened(layout, volume).admit(job().id, MAIN, freezing(job())) is Step.DONE
    assert "flush commit-receipts" in volume.asked


def test_the_completion_is_flushed_before_the_receipt_and_the_receipt_before_the_tombstone(
    layout: ProjectLayout,
) -> None:
    opened(layout).initialise(PROJECT)
    opened(layout).admit(job().id, MAIN, freezing(job()))
    volume = Recorded()
    store = opened(layout, volume)

    store.finish(receipt_for(store, job()))

    assert volume.asked.index("flush review-admissions") < volume.asked.index(f"link {job().id}.json")

    cut_off(layout, f"link {job('b').id}.json", job("b"))
    opened(layout).finish(receipt_for(opened(layout), job("b")))
    assert stands(layout, job("b").id) == ["tombstone", "receipt"]


def test_an_intent_that_was_gone_is_flushed_as_gone_before_its_completion_goes(layout: ProjectLayout) -> None:
    opened(layout).initialise(PROJECT)
    cut_off(layout, f"unlink {job().id}.complete")
    assert stands(layout) == ["completion", "tombstone", "receipt"]
    volume = Recorded()

    assert opened(layout, volume).admit(job().id, MAIN, freezing(job())) is Step.DONE

    removal = volume.asked.index(f"unlink {job().id}.complete.json")
    assert "flush review-admissions" in volume.asked[:removal]
    assert stands(layout) == ["tombstone", "receipt"]


# --- failing closed --------------------------------------------------------------------------------------------------


def test_an_outside_edit_during_an_admission_stops_that_job_and_leaves_every_byte(
    store: ProjectStore, layout: ProjectLayout
) -> None:
    cut_off(layout, "rename main.json")
    write(layout, entry("outside", "Written by hand."))
    before = {path: path.read_bytes() for path in layout.root.rglob("*") if path.is_file()}

    for go_on in (
        lambda: store.admit(job().id, MAIN, freezing(job())),
        lambda: store.current(MAIN),
        store.roll_pending,
        lambda: store.admit(job("another").id, MAIN, freezing(job("another"))),
    ):
        with pytest.raises(UnmatchedStateError, match="neither where this change began nor where it leads") as caught:
            go_on()
        assert "curator doctor --fix --yes" in caught.value.remedy

    assert {path: path.read_bytes() for path in layout.root.rglob("*") if path.is_file()} == before


def test_a_change_that_stops_is_taken_up_when_the_branch_is_put_back(
    store: ProjectStore, layout: ProjectLayout
) -> None:
    whole = layout.branch(MAIN).read_bytes()
    cut_off(layout, "rename main.json")
    write(layout, entry("outside", "Written by hand."))
    with pytest.raises(UnmatchedStateError):
        store.roll_pending()

    layout.branch(MAIN).write_bytes(whole)

    assert store.roll_pending() == (job().id,)
    assert admit(store) is Step.DONE


def test_a_change_that_stops_lets_the_other_branches_of_its_project_go_on(
    store: ProjectStore, layout: ProjectLayout
) -> None:
    other = BranchName("experiment")
    write(layout, entry(), name=other)
    cut_off(layout, "rename main.json")
    write(layout, entry("outside", "Written by hand."))

    assert store.current(other) is not None
    with pytest.raises(UnmatchedStateError):
        store.current(MAIN)


def test_an_edit_after_the_change_was_whole_stops_nothing(store: ProjectStore, layout: ProjectLayout) -> None:
    store.admit(job().id, MAIN, freezing(job()))
    edited = write(layout, entry("outside", "Written by hand."))

    assert admit(store) is Step.DONE
    assert of_main(store) == edited


@pytest.mark.parametrize("damage", [b"{", None], ids=["damaged", "gone"])
def test_a_branch_that_no_row_looks_at_stops_nothing(
    store: ProjectStore, layout: ProjectLayout, damage: bytes | None
) -> None:
    cut_off(layout, f"link {job().id}.complete", status="stale")
    if damage is None:
        layout.branch(MAIN).unlink()
    else:
        layout.branch(MAIN).write_bytes(damage)

    assert store.roll_pending() == (job().id,)
    assert store.finish(receipt_for(store, job())) is Step.DONE


@pytest.mark.parametrize("kind", ["intent", "completion", "tombstone", "receipt"])
def test_a_record_under_anothers_name_is_refused(store: ProjectStore, layout: ProjectLayout, kind: str) -> None:
    other = job("another").id
    if kind in {"intent", "completion"}:
        store.admit(job().id, MAIN, freezing(job()))
    else:
        admit(store)
    path = {
        "intent": layout.intent,
        "completion": layout.completion,
        "tombstone": layout.tombstone,
        "receipt": layout.receipt,
    }
    path[kind](job().id).rename(path[kind](other))

    with pytest.raises(CuratorError, match="holds another job than its name says"):
        store.admit(other, MAIN, freezing(job("another")))


def test_a_completion_of_another_intent_is_a_conflict(store: ProjectStore, layout: ProjectLayout) -> None:
    store.admit(job().id, MAIN, freezing(job()))
    value = json.loads(layout.completion(job().id).read_text("utf-8"))
    layout.completion(job().id).write_text(pretty(value | {"intentDigest": "0" * 64}), "utf-8")

    with pytest.raises(ConflictError, match="completes another intent"):
        store.admit(job().id, MAIN, freezing(job()))


def test_another_revision_under_the_intended_name_is_a_conflict(store: ProjectStore, layout: ProjectLayout) -> None:
    cut_off(layout, f"link {job().id}.complete")
    (revision,) = layout.revisions(MAIN).iterdir()
    revision.write_bytes(b"{}")

    with pytest.raises(ConflictError):
        store.roll_pending()
    assert revision.read_bytes() == b"{}"


@pytest.mark.parametrize("damage", ["gap", "twice", "wrong name", "damaged"])
def test_a_history_with_a_flaw_is_named_before_anything_is_added_to_it(
    store: ProjectStore, layout: ProjectLayout, damage: str
) -> None:
    admit(store)
    admit(store, job("entry-10"))
    first, second = sorted(layout.revisions(MAIN).iterdir())
    if damage == "gap":
        first.unlink()
    elif damage == "twice":
        first.with_name(first.name.replace("1.json", "9.json")).write_bytes(first.read_bytes())
    elif damage == "wrong name":
        second.rename(second.with_name(second.name.replace("2.json", "9.json")))
    else:
        second.write_bytes(b"{")

    with pytest.raises(InvalidRecordError):
        store.revisions(MAIN)
    with pytest.raises(InvalidRecordError):
        store.admit(job("entry-11").id, MAIN, freezing(job("entry-11")))
    assert stands(layout, job("entry-11").id) == []


def test_strange_names_in_the_history_and_the_admissions_are_passed_over(
    store: ProjectStore, layout: ProjectLayout
) -> None:
    admit(store)
    for folder in (layout.revisions(MAIN), layout.admissions):
        (folder / ".DS_Store").write_bytes(b"x")
        (folder / "000000000009-note.txt").write_bytes(b"x")

    assert len(store.revisions(MAIN)) == 1
    assert store.pending() == ()
