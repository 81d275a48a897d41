"""A project's store is removed, but for what is the extension's alone."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout, ProjectLayout
from curator.durable.volume import Volume
from curator.model.ids import BranchName, JobId, ProjectKey
from curator.store.erasure import Erasure
from tests.durable.volumes import Crash, Mortal, Recorded

KEY = ProjectKey("a" * 24)
JOB = JobId("review_" + "b" * 40)
MAIN = BranchName("main")


def lay_out(root: Path) -> ProjectLayout:
    """Lay out a file in every folder of a project."""
    layout = Layout(root).project(KEY)
    paths = (
        layout.project_json,
        layout.branch(MAIN),
        layout.reviews / "main.json",
        layout.revisions(MAIN) / "000000000001-00000000-0000-4000-8000-000000000000.json",
        layout.revisions(BranchName("exp")) / "000000000001-00000000-0000-4000-8000-000000000000.json",
        layout.intent(JOB),
        layout.completion(JOB),
        layout.tombstone(JOB),
        layout.receipt(JOB),
        layout.pending / f"{JOB}.json",
        layout.ready / f"{JOB}.json",
    )
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    return layout


@pytest.fixture
def layout(tmp_path: Path) -> ProjectLayout:
    return lay_out(tmp_path)


def test_everything_of_ours_goes_with_the_folder(layout: ProjectLayout) -> None:
    assert Erasure(Volume(), layout).kept() == ()

    Erasure(Volume(), layout).erase()

    assert not layout.root.exists()
    assert layout.root.parent.exists()


def test_what_is_the_extension_s_alone_stays(layout: ProjectLayout) -> None:
    skills = layout.root / "skills"
    skills.mkdir()
    (skills / "one.md").write_bytes(b"x")
    (layout.root / "skill-review.json").write_bytes(b"{}")

    Erasure(Volume(), layout).erase()

    assert Erasure(Volume(), layout).kept() == (layout.root / "skill-review.json", skills)
    assert sorted(path.name for path in layout.root.iterdir()) == ["skill-review.json", "skills"]


def test_one_that_is_not_there_is_erased_already(tmp_path: Path) -> None:
    Erasure(Volume(), Layout(tmp_path).project(KEY)).erase()

    assert list(tmp_path.iterdir()) == []


def test_the_going_of_an_intent_is_durable_before_its_completion_goes(layout: ProjectLayout) -> None:
    """To Pi an intent without its completion is a change to be made."""
    volume = Recorded()

    Erasure(volume, layout).erase()

    first = volume.asked.index(f"unlink {JOB}.intent.json")
    assert volume.asked[first + 1 : first + 3] == ["flush review-admissions", f"unlink {JOB}.complete.json"]


def test_a_crash_at_any_verb_is_finished_by_erasing_again(tmp_path: Path) -> None:
    for survive in range(100):
        layout = lay_out(tmp_path / str(survive))
        try:
            Erasure(Mortal(survive), layout).erase()
        except Crash:
            Erasure(Volume(), layout).erase()
        else:
            break
        assert not layout.root.exists()
    assert 20 < survive < 99
