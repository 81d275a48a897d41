"""Memory that goes on in another place: received whole, and never over what is there."""

import dataclasses
from pathlib import Path
from typing import Final

import pytest

from curator.durable.layout import Layout, ProjectLayout
from curator.durable.volume import Volume
from curator.errors import RefusedError
from curator.model.digest import pretty
from curator.model.ids import BranchName, EntryId, ProjectKey
from curator.model.memory import Branch, branch_digest
from curator.model.project import Project
from curator.store.inheritance import HeirStore
from curator.store.memory import ProjectStore
from tests.durable.volumes import Crash, Mortal, Recorded
from tests.made_up import AT, MAIN, StillClock, entry

PROJECT: Final = Project("/home/ann/project", ProjectKey("826cdcf0ee7b9e3ad811eb46"))
BRANCH: Final = Branch(name=MAIN, created_at=AT, updated_at=AT, entries=(entry(),))
FILES: Final = {f"{number:012}-00000000-0000-4000-8000-{number:012x}.json": b"{}\n" for number in (1, 2)}
HISTORY: Final = {MAIN: FILES}


@pytest.fixture
def layout(tmp_path: Path) -> ProjectLayout:
    """Return an heir that Pi has opened: its memory is there, and empty."""
    made = Layout(tmp_path).project(PROJECT.key)
    ProjectStore(Volume(), made, StillClock()).initialise(PROJECT)
    return made


def heir(layout: ProjectLayout, volume: Volume | None = None) -> HeirStore:
    return HeirStore(volume or Volume(), layout)


def main_of(layout: ProjectLayout) -> Branch | None:
    return ProjectStore(Volume(), layout, StillClock()).branch(MAIN)


def write(layout: ProjectLayout, branch: Branch) -> None:
    layout.branch(branch.name).write_text(pretty(branch.encode()), "utf-8")


def test_branches_and_histories_come_over_whole(layout: ProjectLayout) -> None:
    heir(layout).receive((BRANCH,), HISTORY)

    received = main_of(layout)
    assert received is not None
    assert branch_digest(received) == branch_digest(BRANCH)
    assert {path.name: path.read_bytes() for path in layout.revisions(MAIN).iterdir()} == FILES


def test_receiving_again_changes_nothing_of_what_somebody_went_on_with(layout: ProjectLayout) -> None:
    heir(layout).receive((BRANCH,), HISTORY)
    more = dataclasses.replace(BRANCH, entries=(*BRANCH.entries, dataclasses.replace(entry(), id=EntryId("more"))))
    write(layout, more)

    heir(layout).receive((BRANCH,), HISTORY)

    assert main_of(layout) == more


@pytest.mark.parametrize("what", ["entries", "history", "intent", "receipt", "tombstone", "another branch"])
def test_memory_of_its_own_is_named_and_nothing_is_written(layout: ProjectLayout, what: str) -> None:
    other = dataclasses.replace(BRANCH, entries=(dataclasses.replace(entry(), id=EntryId("other")),))
    job = f"review_{'0' * 40}"
    own = {
        "entries": layout.branch(MAIN),
        "history": layout.revisions(MAIN) / f"{1:012}-11111111-0000-4000-8000-000000000000.json",
        "intent": layout.admissions / f"{job}.intent.json",
        "receipt": layout.receipts / f"{job}.json",
        "tombstone": layout.retired / f"{job}.json",
        "another branch": layout.branch(BranchName("exp")),
    }[what]
    own.parent.mkdir(parents=True, exist_ok=True)
    is_branch = own.parent == layout.branches
    named = dataclasses.replace(other, name=BranchName(own.stem)) if is_branch else other
    own.write_text(pretty(named.encode()), "utf-8")
    before = {path: path.read_bytes() for path in layout.root.rglob("*") if path.is_file()}

    with pytest.raises(RefusedError, match="of its own"):
        heir(layout).receive((BRANCH,), HISTORY)

    assert heir(layout).own_memory((BRANCH,), HISTORY) is not None
    assert {path: path.read_bytes() for path in layout.root.rglob("*") if path.is_file()} == before


def test_branches_are_flushed_before_their_history_is_named(layout: ProjectLayout) -> None:
    volume = Recorded()

    heir(layout, volume).receive((BRANCH,), HISTORY)

    names = [each for each in volume.asked if each.split()[0] in ("rename", "link", "flush")]
    assert names[-5:] == ["rename main.json", "flush branches", *(f"link {name}" for name in FILES), "flush main"]


def test_a_crash_at_any_verb_is_finished_by_receiving_again(tmp_path: Path) -> None:
    for survive in range(100):
        layout = Layout(tmp_path / str(survive)).project(PROJECT.key)
        ProjectStore(Volume(), layout, StillClock()).initialise(PROJECT)
        try:
            heir(layout, Mortal(survive)).receive((BRANCH,), HISTORY)
        except Crash:
            heir(layout).receive((BRANCH,), HISTORY)
        else:
            break
        received = main_of(layout)
        assert received is not None
        assert branch_digest(received) == branch_digest(BRANCH)
        names = {path.name for path in layout.revisions(MAIN).iterdir() if path.suffix == ".json"}
        assert names == set(FILES)
    assert 10 < survive < 99
