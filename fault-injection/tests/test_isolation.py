"""Projects that share a spool share nothing else: no job names another project's file to the kernel."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from faults.contention.planted import Planted
from faults.figures import note
from faults.isolation import STRACE, Owners, Span, spans, trespasses
from faults.model.seam import why_not
from faults.neighbours import FACTS, FEATURE, REVIEW, queue, serving, start

from curator.model.ids import ProjectKey
from curator.model.job import Job
from tests.acceptance.processes import MAIN, Place, ended, provided, wait_until
from tests.fakes.provider import Settings

SLOW: Final = Settings(review="slow", slow_s=0.03, chunk=10_000, proposal=FACTS)


@pytest.fixture
def _kernel_can_be_heard() -> None:
    if why := why_not():
        print(f"skipped: {why}")
        pytest.skip(why)


def owners(place: Place, keys: Sequence[ProjectKey], jobs: Sequence[Job]) -> Owners:
    """Say whose is what."""
    folders = {str(key): place.home / f"code-{number}" for number, key in enumerate(keys)}
    return Owners(place, folders, {str(job.id): job for job in jobs})


def assert_each_was_carried(found: Sequence[Span], place: Place, jobs: Sequence[Job]) -> None:
    """Prove that the kernel was heard: each job has one span, in which it wrote its own memory."""
    assert Counter(span.job for span in found) == Counter(str(job.id) for job in jobs)
    for span in found:
        (job,) = (job for job in jobs if job.id == span.job)
        assert str(place.layout.project(job.project_key).branch(job.branch.name)) in span.paths


@pytest.mark.usefixtures("_kernel_can_be_heard")
def test_no_job_of_a_review_touches_a_file_of_another_project(tmp_path: Path) -> None:
    with provided(tmp_path, SLOW) as (place, _):
        keys = [place.project(f"code-{number}") for number in range(3)]
        jobs = queue(place, keys, (MAIN, FEATURE), each=2)

        ran = ended(start(place, (*STRACE, str(tmp_path / "calls")), REVIEW))

    assert ran.status == 0, ran.err
    found = spans(tmp_path / "calls")
    print(f"{len(found)} jobs, {sum(len(span.paths) for span in found)} paths")
    note("contention", {"paths heard of by strace": sum(len(span.paths) for span in found)})
    assert_each_was_carried(found, place, jobs)
    assert trespasses(found, owners(place, keys, jobs)) == []


@pytest.mark.usefixtures("_kernel_can_be_heard")
def test_no_job_of_the_service_touches_a_file_of_another_project_that_is_under_way_beside_it(tmp_path: Path) -> None:
    with provided(tmp_path, SLOW) as (place, _):
        keys = [place.project(f"code-{number}") for number in range(3)]
        jobs = queue(place, keys, (MAIN, FEATURE), each=2)
        with serving(place, *STRACE, str(tmp_path / "calls")) as service:
            wait_until(lambda: all(place.ending(job) == "applied" for job in jobs))
            wait_until(lambda: not any(place.layout.running.iterdir()))
        ended(service)

    found = spans(tmp_path / "calls")
    of = owners(place, keys, jobs)
    assert_each_was_carried(found, place, jobs)
    beside = [
        (one, other)
        for one, other in itertools.combinations(found, 2)
        if one.overlaps(other) and of.jobs[one.job].project_key != of.jobs[other.job].project_key
    ]
    print(f"{len(found)} jobs, {sum(len(span.paths) for span in found)} paths, {len(beside)} pairs at one time")
    assert beside
    assert trespasses(found, of) == []


PEEKS_BEFORE: Final = "        decision = shop.stores.decisions.find(claim.job.id)\n        if decision"
PEEK: Final = "        _ = [path.read_bytes() for path in shop.layout.root.glob({kind!r})]\n"


@pytest.mark.usefixtures("_kernel_can_be_heard")
@pytest.mark.parametrize(
    "kind", ["*/branches/main.json", "review-spool/provider-results/*/*.json", "review-spool/queued/*.json"]
)
def test_a_job_that_looks_at_another_projects_file_is_found(kind: str, tmp_path: Path, stage_folder: Path) -> None:
    peeking = PEEK.format(kind=kind) + PEEKS_BEFORE
    bug = Planted("a look at everybody's", "", (("workflow/election.py", PEEKS_BEFORE, peeking),))
    source = bug.plant(stage_folder)
    with provided(tmp_path, SLOW) as (place, _):
        keys = [place.project(f"code-{number}") for number in range(2)]
        jobs = queue(place, keys)

        ran = ended(start(place, (*STRACE, str(tmp_path / "calls")), REVIEW, source))

    assert ran.status == 0, ran.err
    assert trespasses(spans(tmp_path / "calls"), owners(place, keys, jobs)) != []
