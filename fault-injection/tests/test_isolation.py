"""Projects that share a spool share nothing else: no job touches another project's files, and none waits for a sick one."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from faults.contention.planted import Planted
from faults.isolation import STRACE, Owners, Span, spans, trespasses
from faults.model.seam import why_not

from curator.model.digest import Json, pretty
from curator.model.ids import BranchName, ProjectKey, session_key
from curator.model.job import Job, make_job
from curator.model.memory import branch_digest, empty_branch
from tests.acceptance.processes import MAIN, Place, ended, provided, wait_until
from tests.cli.commands import CURATOR, Ran, environ_of
from tests.fakes.provider import Connection, Settings

Running: TypeAlias = "subprocess.Popen[bytes]"
Mend: TypeAlias = Callable[[], None]
ROOT: Final = Path(__file__).resolve().parents[2]
SERVICE: Final = (sys.executable, "-m", "curator_service")
FEATURE: Final = BranchName("feature")
FACTS: Final = '{"operations": [{"action": "add", "content": "Fact number {n}.", "importance": "normal"}]}'
SLOW: Final = Settings(review="slow", slow_s=0.03, chunk=10_000, proposal=FACTS)


@pytest.fixture
def _kernel_can_be_heard() -> None:
    if why := why_not():
        print(f"skipped: {why}")
        pytest.skip(why)


def start(place: Place, before: Sequence[str], command: Sequence[str], source: Path | None = None) -> Running:
    """Start a command on a place, `before` being what runs it, and `source` where a changed copy of curator lies."""
    paths = [*([] if source is None else [source]), ROOT / "service", ROOT]
    more = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(place.layout.agent), **more)
    pipe = subprocess.PIPE
    return subprocess.Popen([*before, *command], env=environ, cwd=place.home, stdout=pipe, stderr=pipe)


REVIEW: Final = (*CURATOR, "review", "--once", "--json")


@contextlib.contextmanager
def serving(place: Place, *before: str) -> Iterator[Running]:
    """Run the service while the block does, and end it by its own process."""
    service = start(place, before, SERVICE)
    try:
        wait_until(lambda: place.layout.instance_pid.exists() or service.poll() is not None)
        yield service
    finally:
        if service.poll() is None:
            os.kill(int(place.layout.instance_pid.read_text("ascii").split()[0]), signal.SIGTERM)


def queue(place: Place, keys: Sequence[ProjectKey], names: Sequence[BranchName] = (MAIN,), each: int = 1) -> list[Job]:
    """Queue jobs round by round, one a branch of each project, the first ones the oldest."""
    return [enqueue(place, key, name, f"entry-{turn}") for turn in range(each) for name in names for key in keys]


def enqueue(place: Place, key: ProjectKey, name: BranchName = MAIN, frontier: str = "entry-0") -> Job:
    """Queue a job of a branch, which is made if it is not there, a second older than the next."""
    shop = place.shop()
    path = shop.layout.project(key).branch(name)
    if not path.exists():
        path.write_text(pretty(empty_branch(name, "2026-01-03T00:00:00.000Z").encode()), "utf-8")
    branch = shop.memory(key, "external").branch(name)
    assert branch is not None
    job = make_job(
        project_key=key,
        session_key=session_key(f"session-{name}"),
        through_entry_id=frontier,
        transcript=f"USER: about {key}",
        branch=branch.sanitized(),
        base_branch_digest=branch_digest(branch),
        max_chars=6000,
    )
    shop.stores.spool.enqueue(job)
    stands = place.layout.queued / f"{job.id}.json"
    age_s = 3_600 - len(list(place.layout.queued.iterdir()))
    os.utime(stands, (stands.stat().st_mtime - age_s,) * 2)
    return job


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


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_kernel_can_be_heard")
def test_no_job_of_a_review_touches_a_file_of_another_project(tmp_path: Path) -> None:
    with provided(tmp_path, SLOW) as (place, _):
        keys = [place.project(f"code-{number}") for number in range(3)]
        jobs = queue(place, keys, (MAIN, FEATURE), each=2)

        ran = ended(start(place, (*STRACE, str(tmp_path / "calls")), REVIEW))

    assert ran.status == 0, ran.err
    found = spans(tmp_path / "calls")
    print(f"{len(found)} jobs, {sum(len(span.paths) for span in found)} paths")
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


# --- a sick neighbour -------------------------------------------------------------------------------------------------


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


POISONS: Final = (damage_memory, damage_project_record, lock_folder, fail_reviews)


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
def test_a_sick_project_delays_no_other_in_a_review(
    poison: Callable[[Place, ProjectKey, Sickness], Mend], tmp_path: Path
) -> None:
    settings = Sickness(proposal=FACTS)
    with provided(tmp_path, settings) as (place, server):
        server.RequestHandlerClass = Sick
        keys = [place.project(f"code-{number}") for number in range(4)]
        # The sick one comes first in every round.
        jobs = queue(place, keys, each=2)
        sick = [job for job in jobs if job.project_key == keys[0]]
        mend = poison(place, keys[0], settings)

        ran = ended(start(place, without_powers(), REVIEW))

        mend()
        assert ran.status == 0, ran.err
        assert "Traceback" not in ran.err
        events = told(ran)
        assert_only_the_sick_wait(place, events, jobs, sick)
        assert place.run("jobs", "retry", "--all").status == 0
        assert place.review().status == 0
        assert Counter(place.ending(job) for job in jobs) == {"applied": len(jobs)}


def assert_only_the_sick_wait(
    place: Place, events: Sequence[tuple[str, str]], jobs: Sequence[Job], sick: Sequence[Job]
) -> None:
    """All others were done in this run, in their order, and each sick job was tried once at most; none is lost."""
    healthy = [str(job.id) for job in jobs if job not in sick]
    assert [job for kind, job in events if kind == "completed"] == healthy
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
    """The calls of one project never end, and three are sick in the other ways; the rest is done meanwhile."""
    settings = Sickness(proposal=FACTS, hang_s=60, how="hang")
    with provided(tmp_path, settings) as (place, server):
        server.RequestHandlerClass = Sick
        keys = [place.project(f"code-{number}") for number in range(6)]
        # It has a job for each of the four slots, and all of them come first.
        jobs = queue(place, [failed_one(keys)], (MAIN, FEATURE, BranchName("third"), BranchName("fourth")))
        jobs += queue(place, [key for key in keys if key != failed_one(keys)], (MAIN, FEATURE), each=2)
        mends = [poison(place, key, settings) for poison, key in zip(POISONS, keys, strict=False)]
        healthy = [job for job in jobs if job.project_key in keys[len(POISONS) :]]
        with serving(place, *without_powers()) as service:
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
