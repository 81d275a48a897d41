"""The producer: which window becomes which job, and what happens to whoever waits when it does not."""

import dataclasses
import errno
from pathlib import Path

import pytest

from curator.durable.volume import Volume
from curator.errors import RefusedError, StorageError, UsageError
from curator.model.digest import Json, compact
from curator.model.ids import project_key
from curator.model.job import Job, Queued, make_job
from curator.model.limits import EVIDENCE_TURNS_MAX
from curator.model.settings import ServiceSettings
from curator.store.spool import Enqueued
from curator.workflow.producer import WINDOWS_MAX, enqueue_session
from tests.session_lines import assistant, custom, header, user, write
from tests.workflow.shops import Scene, open_shop

NOW = "2026-01-03T00:00:00.000Z"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return open_shop(tmp_path / "agent", NOW)


def session_of(project: Path, turns: int, *more: dict[str, Json]) -> Path:
    entries: list[dict[str, Json]] = [header(cwd=str(project))]
    for number in range(turns):
        parent = f"a{number - 1}" if number else None
        entries += [user(f"u{number}", parent, f"wish {number}"), assistant(f"a{number}", f"u{number}", "Done.")]
    return write(project.parent / "session.jsonl", *entries, *more)


def waiting(scene: Scene) -> list[Job]:
    return sorted((each.job for each in scene.shop.stores.spool.queued()), key=lambda job: job.through_entry_id)


def pending(scene: Scene, project: Path) -> int:
    return len(scene.shop.mailbox(project_key(str(project))).pending_ids())


def test_a_job_carries_the_branch_and_the_window_up_to_its_frontier(scene: Scene, project: Path) -> None:
    production = enqueue_session(scene.shop, session_of(project, 2))

    (job,) = waiting(scene)
    assert [each.ending for each in production.jobs] == [Enqueued.ENQUEUED]
    assert (job.id, job.through_entry_id) == (production.jobs[0].job_id, "a1")
    assert (job.branch.name, job.max_chars, job.generation) == ("main", 6_000, None)
    assert job.transcript.startswith("USER: wish 0\n\nASSISTANT: Done.")
    assert production.jobs[0].turns == 2
    assert pending(scene, project) == 1


def test_the_project_is_the_nearest_repository_above(scene: Scene, project: Path) -> None:
    deep = project / "a" / "b"
    deep.mkdir(parents=True)

    assert enqueue_session(scene.shop, session_of(deep, 1)).project.root == str(project)


def test_each_window_takes_twelve_turns_until_all_are_taken(scene: Scene, project: Path) -> None:
    production = enqueue_session(scene.shop, session_of(project, 2 * EVIDENCE_TURNS_MAX + 1))

    assert [each.turns for each in production.jobs] == [12, 12, 1]
    assert [each.through_entry_id for each in production.jobs] == ["a11", "a23", "a24"]
    assert not production.is_more


def test_so_many_windows_at_once_are_the_most(scene: Scene, project: Path) -> None:
    session = session_of(project, EVIDENCE_TURNS_MAX * WINDOWS_MAX + 1)

    first, second = enqueue_session(scene.shop, session), enqueue_session(scene.shop, session)

    assert (len(first.jobs), first.is_more) == (WINDOWS_MAX, True)
    assert (len(second.jobs), second.is_more) == (1, False)
    assert second.covered_by == first.jobs[-1].job_id


def test_what_stands_is_not_enqueued_again_though_the_branch_moved(scene: Scene, project: Path) -> None:
    session = session_of(project, 1)
    first = enqueue_session(scene.shop, session)
    branch = scene.shop.layout.project(first.project.key).branches / "main.json"
    branch.write_text(branch.read_text("utf-8").replace("[]", '[{"id": "a", "text": "moved"}]'), "utf-8")

    second = enqueue_session(scene.shop, session)

    assert second.jobs == ()
    assert second.covered_by == first.jobs[0].job_id
    assert len(waiting(scene)) == 1


def test_a_held_job_covers_its_window_too(scene: Scene, project: Path) -> None:
    session = session_of(project, 1)
    first = enqueue_session(scene.shop, session)
    scene.shop.stores.spool.hold(first.jobs[0].job_id)

    assert enqueue_session(scene.shop, session).jobs == ()


def test_a_cursor_written_later_for_an_earlier_entry_changes_nothing(scene: Scene, project: Path) -> None:
    enqueue_session(scene.shop, session_of(project, 2))
    place: Json = {"projectKey": project_key(str(project)), "name": "main", "throughEntryId": "a0"}
    many: list[dict[str, Json]] = [custom("c0", "a1", "no-forgetti-review", place)]
    many += [user(f"w{number}", "c0" if number == 0 else f"w{number - 1}", f"later {number}") for number in range(20)]

    production = enqueue_session(scene.shop, session_of(project, 2, *many))

    assert [each.turns for each in production.jobs] == [12, 8]
    assert "USER: later 0" in waiting(scene)[-2].transcript + waiting(scene)[-1].transcript


def test_a_cursor_further_on_than_our_own_work_wins(scene: Scene, project: Path) -> None:
    enqueue_session(scene.shop, session_of(project, 1))
    place: Json = {"projectKey": project_key(str(project)), "name": "main", "throughEntryId": "a3"}
    more = (custom("c0", "a3", "no-forgetti-review", place), user("w", "c0", "later"))

    enqueue_session(scene.shop, session_of(project, 4, *more))

    assert [job.transcript for job in waiting(scene) if job.through_entry_id == "w"] == ["USER: later"]


def test_only_external_mode_registers_somebody_who_waits(scene: Scene, project: Path) -> None:
    shop = dataclasses.replace(scene.shop, service=ServiceSettings(mode="shadow", reviewer=scene.shop.service.reviewer))

    enqueue_session(shop, session_of(project, 1))

    assert pending(scene, project) == 0


class FailingVolume(Volume):
    """A disk that is full when the job is to be staged."""

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        if path.parent.name == "queued":
            raise StorageError(path, OSError(errno.ENOSPC, "No space left on device"))
        return super().stage(path, data, hidden=hidden, flush=flush)


def test_nobody_waits_for_a_job_that_could_not_be_written(tmp_path: Path, project: Path) -> None:
    scene = open_shop(tmp_path / "agent", NOW, volume=FailingVolume())

    with pytest.raises(StorageError):
        enqueue_session(scene.shop, session_of(project, 1))

    assert pending(scene, project) == 0


class RacingVolume(Volume):
    """A disk on which another producer is quicker, with other evidence for the same frontier."""

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        if path.parent.name == "queued" and not path.exists():
            job = Queued.decode(_parsed(data)).job
            other = make_job(
                project_key=job.project_key,
                session_key=job.session_key,
                through_entry_id=job.through_entry_id,
                transcript="USER: something else",
                branch=job.branch,
                base_branch_digest=job.base_branch_digest,
                max_chars=job.max_chars,
            )
            path.write_text(compact(Queued(job=other, next_attempt=1).encode()), "utf-8")
        return super().stage(path, data, hidden=hidden, flush=flush)


def _parsed(data: bytes) -> Json:
    from curator.model.digest import parse

    return parse(data)


def test_a_conflict_is_set_aside_and_nobody_waits_for_it(tmp_path: Path, project: Path) -> None:
    scene = open_shop(tmp_path / "agent", NOW, volume=RacingVolume())

    production = enqueue_session(scene.shop, session_of(project, 1))

    assert [each.ending for each in production.jobs] == [Enqueued.QUARANTINED]
    assert [job.transcript for job in waiting(scene)] == ["USER: something else"]
    assert len(list(scene.shop.layout.dead_letter.iterdir())) == 1
    assert pending(scene, project) == 0


def test_a_session_that_names_no_folder_needs_one(scene: Scene, project: Path) -> None:
    session = write(project.parent / "nowhere.jsonl", header(cwd=None), user("u", None, "wish"))

    with pytest.raises(UsageError, match="--project"):
        enqueue_session(scene.shop, session)

    assert enqueue_session(scene.shop, session, project).project.root == str(project)


def test_a_branch_that_no_job_can_carry_is_refused_before_anybody_waits(scene: Scene, project: Path) -> None:
    enqueue_session(scene.shop, session_of(project, 1))
    branch = scene.shop.layout.project(project_key(str(project))).branches / "main.json"
    branch.write_text(branch.read_text("utf-8").replace("[]", '[{"id": "_a", "text": "odd"}]'), "utf-8")

    with pytest.raises(RefusedError, match="entries"):
        enqueue_session(scene.shop, session_of(project, 2))

    assert pending(scene, project) == 1
