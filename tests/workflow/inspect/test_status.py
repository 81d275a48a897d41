"""Looking at every state that the protocol's own worker left: all is told, nothing is changed, no evidence is shown."""

import tarfile
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.errors import NotFoundError, UsageError
from curator.model.ids import JobId
from curator.model.times import ms_of
from curator.workflow.inspect.books import open_books
from curator.workflow.inspect.jobs import find_job_id, list_jobs, show_job
from curator.workflow.inspect.status import look
from tests.golden_fixtures import GOLDEN, golden, real_pi

NOW = ms_of("2026-01-03T12:00:00.000Z")

with tarfile.open(GOLDEN / "fixtures.tar.gz") as _packed:
    SCENARIOS = sorted({member.name.split("/")[0] for member in _packed.getmembers()} - {""})


def tree(layout: Layout) -> dict[str, tuple[int, bytes]]:
    paths = (path for path in layout.agent.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def job_ids(layout: Layout) -> set[JobId]:
    paths = [path for path in layout.root.rglob("review_*") if path.parent != layout.dead_letter]
    stems = {path.name.split(".")[0] for path in paths}
    return {JobId(stem) for stem in stems if len(stem) == len("review_") + 40}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_golden_state_can_be_looked_at_and_stays_as_it_was(tmp_path: Path, scenario: str) -> None:
    agent = golden(scenario, tmp_path)
    layout = Layout(agent)
    before = tree(layout)

    found = look(layout, NOW)
    views = [show_job(layout, job_id, NOW) for job_id in job_ids(layout)]

    assert tree(layout) == before
    assert {view.id for view in views} >= {line.id for line in found.jobs}
    assert [fault.fact for fault in found.faults if "service.json" in fault.fact] == []


def test_what_real_pi_queued_is_seen(tmp_path: Path) -> None:
    layout = Layout(real_pi("queued", tmp_path))

    (line,) = list_jobs(open_books(layout), NOW)
    view = show_job(layout, line.id, NOW)

    assert line.state == view.state == "queued"
    assert view.pending is not None
    assert not view.has_card
    assert view.attempts == ()


def test_what_the_other_worker_finished_is_seen(tmp_path: Path) -> None:
    layout = Layout(real_pi("consumed", tmp_path))

    (line,) = list_jobs(open_books(layout), NOW)
    view = show_job(layout, line.id, NOW)

    assert (line.state, line.result) == ("over", "completed")
    assert view.receipt is not None
    assert view.receipt.status == "applied"
    assert view.decision is not None


def test_a_job_that_was_set_aside_is_said_to_be_so(tmp_path: Path) -> None:
    layout = Layout(golden("i3", tmp_path))
    letter = next(path for path in layout.dead_letter.iterdir() if path.name.startswith("review_0000"))

    with pytest.raises(NotFoundError, match="jobs release review_0000"):
        show_job(layout, JobId(letter.name.split(".")[0]), NOW)


def test_a_job_is_found_by_the_head_of_its_id(tmp_path: Path) -> None:
    layout = Layout(real_pi("consumed", tmp_path))
    (line,) = list_jobs(open_books(layout), NOW)

    assert find_job_id(layout, line.id[:9]) == line.id
    assert find_job_id(layout, line.id.removeprefix("review_")[:1]) == line.id
    with pytest.raises(NotFoundError):
        find_job_id(layout, "")
    with pytest.raises(NotFoundError):
        find_job_id(layout, "../../etc")


def test_a_head_of_several_ids_is_refused(tmp_path: Path) -> None:
    layout = Layout(real_pi("queued", tmp_path))
    for number in range(2):
        (layout.queued / f"review_ffff{number:036x}.json").touch()

    with pytest.raises(UsageError, match="2 jobs"):
        find_job_id(layout, "ffff")


def test_an_agent_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    found = look(Layout(tmp_path / "nowhere"), NOW)

    assert (found.service, found.workers, found.jobs, found.storage) == (None, (), (), None)
    assert list(tmp_path.iterdir()) == []
