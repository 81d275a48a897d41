"""No project waits for a sick neighbour: told by what was done before what, and never by the time that it took."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from faults.contention.planted import Planted
from faults.neighbours import FACTS, FEATURE, REVIEW, queue, serving, start

from curator.model.digest import Json
from curator.model.ids import BranchName, ProjectKey
from curator.model.job import Job
from tests.acceptance.processes import MAIN, Place, ended, provided, wait_until
from tests.cli.commands import Ran
from tests.fakes.provider import Connection, Settings

IS_LONG: Final = os.environ.get("CURATOR_FAULTS") == "long"


@dataclasses.dataclass
class Sickness(Settings):
    """How a provider fails whoever speaks of a sick project."""

    sick: str = ""
    how: str = "http500"


class Sick(Connection):
    """A provider that answers everybody else."""

    def _respond(self, number: int, kind: str, mode: str, body: dict[str, Json]) -> None:
        settings = self.state.settings
        assert isinstance(settings, Sickness)
        is_sick = settings.sick != "" and f"about {settings.sick}" in json.dumps(body)
        super()._respond(number, kind, settings.how if is_sick else mode, body)


Mend: TypeAlias = Callable[[], None]
Poison: TypeAlias = Callable[[Place, ProjectKey, Sickness], Mend]


def damage(path: Path) -> Mend:
    """Damage a file, and return what mends it."""
    before = path.read_bytes()
    path.write_bytes(b'{"version": 1, "entr')

    def mend() -> None:
        path.write_bytes(before)

    return mend


def damage_memory(place: Place, key: ProjectKey, _: Sickness) -> Mend:
    return damage(place.layout.project(key).branch(MAIN))


def damage_project_record(place: Place, key: ProjectKey, _: Sickness) -> Mend:
    return damage(place.layout.project(key).project_json)


def lock_folder(place: Place, key: ProjectKey, _: Sickness) -> Mend:
    root = place.layout.project(key).root
    root.chmod(0)
    return lambda: root.chmod(0o700)


def fail_reviews(_: Place, key: ProjectKey, settings: Sickness) -> Mend:
    settings.sick = key

    def mend() -> None:
        settings.sick = ""

    return mend


POISONS: Final[tuple[Poison, ...]] = (damage_memory, damage_project_record, lock_folder, fail_reviews)


def without_powers() -> tuple[str, ...]:
    """Return what runs a command that the modes of files hold for, root's too."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        print("skipped: setpriv is not installed, and root reads every folder")
        pytest.skip("setpriv is not installed, and root reads every folder")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")


def told(ran: Ran) -> list[tuple[str, str]]:
    """Return what happened to which job, or to what else, in order, whichever way it was told."""
    lines = [json.loads(line) for line in (ran.out or ran.err).splitlines()]
    return [
        (str(each.get("type") or each["event"]), str(each.get("jobId") or each.get("job_id") or each.get("subject")))
        for each in lines
    ]


@pytest.mark.parametrize("poison", POISONS, ids=lambda poison: poison.__name__)
def test_a_sick_project_delays_no_other_in_a_review(poison: Poison, tmp_path: Path) -> None:
    review_beside(poison, tmp_path)


def review_beside(poison: Poison, folder: Path, source: Path | None = None) -> None:
    """Review the jobs of four projects, the first of which is sick; then mend it, and review the rest."""
    settings = Sickness(proposal=FACTS)
    with provided(folder, settings) as (place, server):
        server.RequestHandlerClass = Sick
        keys = [place.project(f"code-{number}") for number in range(4)]
        # The sick one comes first in every round.
        jobs = queue(place, keys, each=2)
        sick = [job for job in jobs if job.project_key == keys[0]]
        mend = poison(place, keys[0], settings)

        ran = ended(start(place, without_powers(), REVIEW, source))

        mend()
        assert ran.status == 0, ran.err
        assert "Traceback" not in ran.err
        assert_only_the_sick_wait(place, told(ran), jobs, sick)
        assert place.run("jobs", "retry", "--all").status == 0
        assert place.review().status == 0
        assert Counter(place.ending(job) for job in jobs) == {"applied": len(jobs)}


def assert_only_the_sick_wait(
    place: Place, events: Sequence[tuple[str, str]], jobs: Sequence[Job], sick: Sequence[Job]
) -> None:
    """All others were done in this run, in their order, and each sick job was tried once at most; none is lost."""
    healthy = [str(job.id) for job in jobs if job not in sick]
    assert [job for kind, job in events if kind == "completed"] == healthy, "others were kept waiting"
    tried = Counter(job for kind, job in events if kind == "claimed")
    assert all(tried[job] == 1 for job in healthy)
    assert tried[str(sick[0].id)] == 1, "it did not even come first"
    assert all(tried[str(job.id)] <= 1 for job in sick)
    assert events.index(("claimed", str(sick[0].id))) < events.index(("claimed", healthy[0]))
    assert [place.ending(job) for job in sick] == ["queued"] * len(sick)


def test_a_project_whose_branch_is_damaged_goes_on_with_its_others(tmp_path: Path) -> None:
    with provided(tmp_path, Settings(proposal=FACTS)) as (place, _):
        key = place.project("code-0")
        jobs = queue(place, [key], (FEATURE, MAIN), each=2)
        mend = damage(place.layout.project(key).branch(FEATURE))

        ran = place.review()

        assert ran.status == 0, ran.err
        assert [place.ending(job) for job in jobs] == ["queued", "applied", "queued", "applied"]
        mend()


def test_no_project_waits_in_the_service_for_all_that_is_sick_at_once(tmp_path: Path) -> None:
    serve_beside_all(tmp_path)


def serve_beside_all(folder: Path, source: Path | None = None) -> None:
    """Serve while the calls of one project never end, and three are sick in the other ways; the rest is done meanwhile."""
    settings = Sickness(proposal=FACTS, hang_s=60, how="hang")
    with provided(folder, settings) as (place, server):
        server.RequestHandlerClass = Sick
        keys = [place.project(f"code-{number}") for number in range(6)]
        # It has a job for each of the four slots, and all of them come first.
        jobs = queue(place, [failed_one(keys)], (MAIN, FEATURE, BranchName("third"), BranchName("fourth")))
        jobs += queue(place, [key for key in keys if key != failed_one(keys)], (MAIN, FEATURE), each=2)
        mends = [poison(place, key, settings) for poison, key in zip(POISONS, keys, strict=False)]
        healthy = [job for job in jobs if job.project_key in keys[len(POISONS) :]]
        with serving(place, *without_powers(), source=source) as service:
            wait_until(lambda: all(place.ending(job) == "applied" for job in healthy))
            assert server.state.live > 0, "the calls that never end are still under way"
            server.state.is_over.set()
        events = told(ended(service))
        for mend in mends:
            mend()

    assert not any(event in events for event in (("stopped", "worker"), ("stopped", "service"))), "it paused for all"
    hung = {str(job.id) for job in jobs if job.project_key == failed_one(keys)}
    done = max(events.index(("completed", str(job.id))) for job in healthy)
    assert any(kind == "asking" and job in hung for kind, job in events[:done]), "it never stood in the way"
    assert not any(kind in ("completed", "failed", "retrying") and job in hung for kind, job in events[:done])


def failed_one(keys: Sequence[ProjectKey]) -> ProjectKey:
    """Return the project whose reviews the provider fails."""
    return keys[POISONS.index(fail_reviews)]


EACH_CONCERNS_ALL: Final = (
    "    if error.errno not in (errno.EACCES, errno.EPERM):\n        return False\n",
    "    return False\n",
)
NEGLECTS: Final[tuple[tuple[Planted, Callable[[Path, Path], None], str], ...]] = (
    (
        Planted(
            "one project may have every slot",
            "",
            (("workflow/pool.py", "return of_project < max(1, self._concurrency // 2)", "return True"),),
        ),
        serve_beside_all,
        "it never came to that",
    ),
    (
        Planted(
            "a folder that may not be read makes the service pause", "", (("workflow/base.py", *EACH_CONCERNS_ALL),)
        ),
        serve_beside_all,
        "it paused for all",
    ),
    (
        Planted("a folder that may not be read ends a review", "", (("workflow/base.py", *EACH_CONCERNS_ALL),)),
        lambda folder, source: review_beside(lock_folder, folder, source),
        "Permission denied",
    ),
    (
        Planted(
            "one job that waits lets all wait",
            "",
            (
                (
                    "workflow/turn.py",
                    "isinstance(ending, OverBudget) or (isinstance(ending, Waits) and ",
                    "isinstance(ending, OverBudget | Waits) or (isinstance(ending, Waits) and ",
                ),
            ),
        ),
        lambda folder, source: review_beside(fail_reviews, folder, source),
        "others were kept waiting",
    ),
)


@pytest.mark.skipif(not IS_LONG, reason="bugs of which most take long to show: in the whole campaign")
@pytest.mark.parametrize(("bug", "lived", "said"), NEGLECTS, ids=[bug.name for bug, _, _ in NEGLECTS])
def test_a_bug_that_lets_others_wait_is_found(
    bug: Planted, lived: Callable[[Path, Path], None], said: str, tmp_path: Path, stage_folder: Path
) -> None:
    with pytest.raises(AssertionError, match=said):
        lived(tmp_path, bug.plant(stage_folder))
