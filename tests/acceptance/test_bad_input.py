"""Bad input costs the one job or project that it stands for: it is kept, named with its remedy, and the rest goes on."""

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from curator.model.digest import Json
from curator.model.event import Stopped
from curator.model.ids import Day, WorkerId, project_key
from curator.model.job import Job
from curator.store.attempts import Seen
from tests.acceptance.processes import TEXT, Place
from tests.cli.commands import Ran
from tests.kit import ScriptedReviewer, World, adding

Harm: TypeAlias = Callable[[Place, Job], Path]
NOBODYS: Final = "review_" + "0" * 40
ATTEMPT: Final = "review_attempt_" + "0" * 40
OTHER_WISH: Final = "USER: We decided that dates are stored in UTC."
TORN: Final = b'{"version": 1, "name": "main", "createdAt": "2026-01-0'


@dataclasses.dataclass(frozen=True, slots=True)
class Wrecked:
    """A folder in which every harm stands beside one healthy job, and what two runs made of it."""

    place: Place
    jobs: dict[str, Job]
    paths: dict[str, Path]
    before: dict[str, str]
    healthy: Job
    first: Ran
    second: Ran
    attempts: list[int]


def wreck(place: Place, harms: dict[str, Harm]) -> Wrecked:
    """Do each harm to a job of its own project, then run twice."""
    place.configure()
    jobs = {name: place.enqueue(place.project(name.replace(" ", "-"))) for name in harms}
    healthy = place.enqueue(place.project("healthy"))
    paths = {name: harm(place, jobs[name]) for name, harm in harms.items()}
    before = {name: content(path) for name, path in paths.items()}
    first = place.review()
    attempts = [len(place.attempts())]
    second = place.review()
    return Wrecked(place, jobs, paths, before, healthy, first, second, [*attempts, len(place.attempts())])


def content(path: Path) -> str:
    """Return what stands under a name, whatever it is."""
    if path.is_symlink():
        return f"a link to {path.readlink()}"
    if path.is_dir():
        return f"a folder of {len(list(path.iterdir()))}"
    return path.read_bytes().hex() if path.is_file() else "something else" if path.exists() else "nothing"


# --- records of the spool ------------------------------------------------------------------------------------------


def changed(**keys: Json) -> Callable[[bytes], bytes]:
    return lambda raw: json.dumps({**json.loads(raw), **keys}).encode()


STRANGE: Final = "has a key that this record does not have"
WOUNDS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "is larger than": changed(pad="x" * 140_000),
    "not JSON": lambda raw: raw[: len(raw) // 2],
    "is empty": lambda _: b"",
    "not UTF-8": lambda raw: raw.replace(b"always", b"alw\xffays"),
    STRANGE: changed(extra=1),
    "is not 1": changed(version=2),
    "nested too deep": lambda _: b"[" * 10_000,
}


def in_folder(name: str, harm: Callable[[Path], object]) -> Harm:
    """Return a harm to a job's record in a folder of the spool."""

    def do(place: Place, job: Job) -> Path:
        path = getattr(place.layout, name) / f"{job.id}.json"
        assert isinstance(path, Path)
        if name == "running":
            spool = place.shop().stores.spool
            (waiting,) = [each for each in spool.waiting() if each.job_id == job.id]
            spool.claim(waiting, WorkerId("curator:dead:1"))
        path.parent.mkdir(exist_ok=True, mode=0o700)
        renamed = harm(path)
        return renamed if isinstance(renamed, Path) else path

    return do


def rewritten(wound: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    def do(path: Path) -> None:
        path.write_bytes(wound(path.read_bytes() if path.exists() else b'{"version":1,"outcome":"always"}'))

    return do


def linked(path: Path) -> None:
    elsewhere = path.with_suffix(".elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def made_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def made_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


SET_ASIDE: Final[dict[str, Harm]] = {
    f"{folder} {reason}": in_folder(folder, rewritten(wound))
    for folder in ("queued", "running", "outcomes")
    for reason, wound in WOUNDS.items()
    if (folder, reason) != ("outcomes", STRANGE)
} | {
    "queued is a symlink where a file belongs": in_folder("queued", linked),
    "queued is not a regular file": in_folder("queued", made_folder),
    "running is not a regular file": in_folder("running", made_pipe),
    "queued holds another job than its name says": in_folder(
        "queued", lambda path: path.rename(path.with_stem(NOBODYS))
    ),
}


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Wrecked:
    return wreck(Place(tmp_path_factory.mktemp("spool")), SET_ASIDE)


@pytest.mark.parametrize("name", SET_ASIDE)
def test_a_bad_record_is_set_aside_whole_and_named(name: str, spool: Wrecked) -> None:
    path, (_, _, reason) = spool.paths[name], name.partition(" ")

    (letter,) = spool.place.layout.dead_letter.glob(f"{path.name}.*.bad")

    assert content(letter) == spool.before[name]
    (line,) = [line for line in spool.first.err.splitlines() if str(letter) in line]
    assert reason in line
    assert "curator jobs release" in line
    assert letter.name not in spool.second.err


@pytest.mark.parametrize("name", SET_ASIDE)
def test_a_job_whose_outcome_was_bad_goes_on_and_one_without_a_record_does_not(name: str, spool: Wrecked) -> None:
    assert spool.place.ending(spool.jobs[name]) == ("applied" if name.startswith("outcomes") else "")


def test_beside_bad_records_every_good_one_is_reviewed_once(spool: Wrecked) -> None:
    good = 1 + sum(name.startswith("outcomes") for name in SET_ASIDE)

    assert (spool.first.status, spool.second.status) == (0, 0)
    assert spool.place.ending(spool.healthy) == "applied"
    assert spool.attempts == [good, good]
    assert (spool.second.out, spool.second.err) == ("Nothing to review now.\n", "")


# --- records of a job, and its project -------------------------------------------------------------------------------


def of_job(where: Callable[[Place, Job], Path], raw: bytes = TORN, mode: int = 0o600) -> Harm:
    """Return the harm of such a file at a job's path."""

    def do(place: Place, job: Job) -> Path:
        path = where(place, job)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(raw)
        path.chmod(mode)
        return path

    return do


def decision(place: Place, job: Job) -> Path:
    return place.layout.decision(job.id)


def result(place: Place, job: Job) -> Path:
    return place.layout.results / job.id / f"{ATTEMPT}.json"


def branch(place: Place, job: Job) -> Path:
    return place.layout.project(job.project_key).branches / "main.json"


def root(place: Place, job: Job) -> Path:
    (found,) = [path for path in place.home.iterdir() if project_key(str(path)) == job.project_key]
    return found


def moved(place: Place, job: Job) -> Path:
    folder = root(place, job)
    folder.rename(folder.with_name("moved-elsewhere"))
    return folder


def became_a_link(place: Place, job: Job) -> Path:
    folder = root(place, job)
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))
    return folder


def linked_results(place: Place, job: Job) -> Path:
    folder = place.layout.results / job.id
    folder.parent.mkdir(exist_ok=True, mode=0o700)
    (place.home / "somewhere").mkdir()
    folder.symlink_to(place.home / "somewhere")
    return folder


def linked_branch(place: Place, job: Job) -> Path:
    path = branch(place, job)
    path.rename(place.home / "a-branch.json")
    path.symlink_to(place.home / "nowhere.json")
    return path


TWICE: Final = json.dumps(
    {"version": 1, "name": "main", "entries": [{"id": "a-1", "text": "Once."}, {"id": "a-1", "text": "Twice."}]}
).encode()
WAITING: Final[dict[str, tuple[Harm, str, str]]] = {
    "decision torn": (of_job(decision), "not JSON", "mend it"),
    "decision shown to others": (of_job(decision, mode=0o644), "has mode 0644", "chmod 600"),
    "result torn": (of_job(result), "not JSON", "mend it"),
    "result shown to others": (of_job(result, mode=0o644), "has mode 0644", "chmod 600"),
    "results linked away": (linked_results, "is a symlink", "mend it"),
    "branch torn": (of_job(branch), "not JSON", "No review has changed it yet"),
    "branch empty": (of_job(branch, b""), "is empty", "put a copy of it back"),
    "branch a list": (of_job(branch, b"[]"), "is not an object", "put a copy of it back"),
    "branch with one id twice": (of_job(branch, TWICE), "two entries of one id", "put a copy of it back"),
    "branch a link": (linked_branch, "is a symlink", "put a copy of it back"),
    "project moved": (moved, "the project's folder is gone", "Put the folder back"),
    "project a link": (became_a_link, "which is another project", "Put the folder back"),
    "project.json torn": (
        of_job(lambda place, job: place.layout.project(job.project_key).project_json),
        "not JSON",
        "mend it",
    ),
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Wrecked:
    return wreck(Place(tmp_path_factory.mktemp("work")), {name: harm for name, (harm, _, _) in WAITING.items()})


@pytest.mark.parametrize("name", WAITING)
def test_what_stops_one_job_is_kept_and_named_and_the_job_waits(name: str, work: Wrecked) -> None:
    path, (_, fact, remedy) = work.paths[name], WAITING[name]

    (line,) = [line for line in work.first.err.splitlines() if work.jobs[name].id[:15] in line]

    assert str(path) in line
    assert fact in line
    assert remedy in line
    assert content(path) == work.before[name]
    assert work.place.ending(work.jobs[name]) == "queued"


def test_beside_stopped_jobs_the_healthy_one_is_reviewed_and_nothing_is_spent_on_them(work: Wrecked) -> None:
    assert (work.first.status, work.second.status) == (0, 0)
    assert work.place.ending(work.healthy) == "applied"
    assert work.attempts == [1, 1]
    assert f"{len(WAITING)} jobs left" in work.second.out


@pytest.mark.parametrize("name", ["decision torn", "result shown to others", "results linked away"])
def test_what_stands_under_one_jobs_name_stops_no_other_of_its_branch(name: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    first = place.enqueue(key)
    WAITING[name][0](place, first)
    later = place.enqueue(key, "entry-2", OTHER_WISH)

    ran = place.review()

    assert ran.status == 0
    assert (place.ending(first), place.ending(later)) == ("queued", "applied")


def test_what_was_mended_is_reviewed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    path = branch(place, job)
    good = path.read_bytes()
    path.write_bytes(TORN)
    place.review()
    path.write_bytes(good)
    place.let_go_on(job)

    assert place.review().status == 0

    assert place.texts(key) == [TEXT]


def test_what_stands_where_spans_belong_stops_a_job_before_it_is_paid_for(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    path = of_job(lambda place, job: place.layout.evidence_shard(job.id))(place, job)

    ran = place.review()

    (line,) = [line for line in ran.err.splitlines() if job.id[:15] in line]
    assert str(path) in line
    assert "is not a folder" in line
    assert (ran.status, place.ending(job), place.attempts(), path.read_bytes()) == (0, "queued", [], TORN)
    path.unlink()
    place.let_go_on(job)
    assert (place.review().status, place.texts(key)) == (0, [TEXT])


@pytest.mark.parametrize("folder", ["pending", "ready"])
@pytest.mark.parametrize(("raw", "mode"), [(TORN, 0o600), (None, 0o644)])
def test_a_bad_mailbox_record_costs_its_card_and_not_the_memory(
    folder: str, raw: bytes | None, mode: int, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(key := place.project())
    mailbox = place.layout.project(key).pending.parent
    waits = mailbox / "pending" / f"{job.id}.json"
    path = mailbox / folder / f"{job.id}.json"
    of_job(lambda *_: path, raw or waits.read_bytes(), mode)(place, job)
    before = content(path)

    ran = place.review()

    assert ran.status == 0
    assert place.texts(key) == [TEXT]
    assert place.ending(job) == "applied"
    assert str(path) in ran.err
    assert content(path) == before
    shutil.rmtree(path.parent)
    again = place.enqueue(key, "entry-2", OTHER_WISH)
    assert (place.review().status, place.ending(again)) == (0, "applied")


class KilledError(BaseException):
    """The process dies here."""


def test_a_journal_record_that_cannot_be_read_leaves_the_other_orphans_no_worse_off(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()

    def die(_: int) -> str:
        raise KilledError

    app = world.open(ScriptedReviewer(die, clock=world.clock))
    for name in ("code", "other"):
        app.shop.stores.spool.enqueue(world.job(app, world.project(app, tmp_path / name), "entry-1"))
        with pytest.raises(KilledError):
            app.review_once()
    torn, _ = sorted(app.layout.attempts.glob("*/*/*.1.json"))
    path = torn.with_name(torn.name.replace(".1.json", ".2.json"))
    path.write_bytes(TORN)
    path.chmod(0o600)
    world.clock.ms += 600_000

    world.open(ScriptedReviewer(adding("Later."), clock=world.clock)).review_once()

    place = Place(tmp_path)
    states = sorted(seen.state.value for day in place.shop().stores.attempts.days() for seen in of_day(place, day))
    assert states == ["dispatched", "settled", "settled", "unknown"]
    assert path.read_bytes() == TORN
    assert [event for event in world.heard.events if isinstance(event, Stopped) and str(path) in event.fact]


def of_day(place: Place, day: Day) -> tuple[Seen, ...]:
    return place.shop().stores.attempts.of_day(day)
