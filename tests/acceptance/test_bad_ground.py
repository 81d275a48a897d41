"""A bad configuration, a reviewer that cannot be asked and a disk that refuses: named with path, fact and remedy."""

import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from curator.durable.volume import Volume
from curator.errors import StorageError
from curator.model.budget import Exposure
from curator.model.digest import Json
from curator.model.event import Stopped
from curator.model.feedback import Pending
from tests.acceptance.processes import Place
from tests.cli.commands import CURATOR, Ran, assert_refused, environ_of
from tests.kit import HandClock, ScriptedReviewer, World, adding

OTHER_WISH: Final = "USER: We decided that dates are stored in UTC."
GOOD: Final = '{"version":1,"mode":"external","reviewer":{"provider":"offline","model":"rules-1"}}'


@pytest.mark.parametrize(
    ("file", "text", "fact"),
    [
        ("service.json", GOOD.replace('"mode"', '"extra":1,"mode"'), "extra"),
        ("service.json", GOOD.replace('"model"', '"extra":1,"model"'), "reviewer.extra"),
        ("service.json", GOOD[:40], "not JSON"),
        ("service.json", GOOD.replace("external", "elsewhere"), "mode"),
        ("service.json", GOOD + " " * 70_000, "larger than"),
        ("service.json", None, "symlink"),
        ("curator/curator.toml", "evidence = \n", "line 1"),
        ("curator/curator.toml", 'colour = "red"', "colour"),
        ("curator/curator.toml", 'evidence = "sometimes"', "evidence"),
        ("curator/curator.toml", None, "symlink"),
    ],
)
def test_a_bad_configuration_is_refused_and_no_job_is_touched(
    file: str, text: str | None, fact: str, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    place.configure()
    job = place.enqueue(place.project())
    path = place.layout.root / file
    good = path.read_text("utf-8") if path.exists() else ""
    path.parent.mkdir(exist_ok=True, mode=0o700)
    if text is None:
        (tmp_path / "elsewhere").write_text(good, "utf-8")
        path.unlink(missing_ok=True)
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.write_text(text, "utf-8")
    before = place.tree()

    ran = place.review()

    assert_refused(ran, 78, path, fact)
    assert place.tree() == before
    path.unlink()
    if good:
        path.write_text(good, "utf-8")
    assert (place.review().status, place.ending(job)) == (0, "applied")


@pytest.mark.parametrize(
    ("models", "code", "fact"),
    [
        ({"providers": {"fake": {"models": []}}}, "model_not_found", "models.json"),
        ({"providers": []}, "model_registry_invalid", "models.json"),
        ("no key", "auth_unavailable", "provider fake"),
    ],
)
def test_a_reviewer_that_cannot_be_asked_blocks_all_jobs_and_costs_none(
    models: Json, code: str, fact: str, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    place.configure(provider="fake")
    jobs = [place.enqueue(place.project(name)) for name in ("code", "other")]
    if models == "no key":
        model: Json = {"id": "fake-1", "api": "openai-completions"}
        models = {"providers": {"fake": {"baseUrl": "http://127.0.0.1:9/v1", "models": [model]}}}
    place.write(place.layout.agent / "models.json", models)

    ran = place.review()

    assert ran.status == 78
    assert f"2 wait for configuration ({code})" in ran.out
    assert fact in ran.err
    assert "jobs wait until then" in ran.err
    assert [place.ending(job) for job in jobs] == ["queued", "queued"]
    assert set(place.states()) <= {"cancelled"}
    assert [seen.exposure for seen in place.attempts() if seen.exposure != Exposure()] == []
    place.configure()
    place.let_go_on(jobs[0])
    place.let_go_on(jobs[1])
    assert place.review().status == 0
    assert [place.ending(job) for job in jobs] == ["applied", "applied"]


# --- the disk --------------------------------------------------------------------------------------------------------


def test_stray_files_everywhere_harm_nobody_and_stay(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    place.enqueue(key := place.project())
    place.review()
    folders = [path for path in (place.layout.root, *place.layout.root.rglob("*")) if path.is_dir()]
    strays = [folder / name for folder in folders for name in (".DS_Store", "Thumbs.db", "._branches")]
    for stray in strays:
        stray.write_bytes(b"\0stray")
    job = place.enqueue(key, "entry-2", OTHER_WISH)

    ran = place.review()

    assert (ran.status, ran.err) == (0, "")
    assert place.ending(job) == "applied"
    assert [stray for stray in strays if not stray.exists()] == []
    assert (place.review().err, len(place.attempts())) == ("", 2)


@pytest.fixture
def crowded(tmp_path: Path) -> Place:
    """A place whose agent folder can be put on a disk of its own."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a disk of its own takes root and unshare")
    place = Place(tmp_path)
    place.configure()
    place.enqueue(place.project())
    return place


def on_a_disk(place: Place, prepare: str, size: str = "2m") -> Ran:
    """Run a review with the agent folder on a small disk that `prepare` makes worse; then keep what is on it."""
    agent, kept = place.layout.agent, place.home / "kept"
    script = f"""
        mv {agent} {kept} && mkdir {agent} && mount -t tmpfs -o size={size},mode=700 none {agent} || exit 99
        cp -a {kept}/. {agent} && cd {agent} && {{ {prepare}; }} || exit 99
        {" ".join(CURATOR)} review --once; status=$?
        rm -f {agent}/ballast; mount -o remount,rw {agent}
        rm -r {kept} && cp -a {agent} {kept} && cd / && umount {agent} && rmdir {agent} && mv {kept} {agent}
        exit $status
    """
    environ = environ_of(place.home, PI_CODING_AGENT_DIR=str(agent))
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], env=environ, capture_output=True, text=True, check=False
    )
    if ran.returncode == 99:
        pytest.skip(f"no disk of its own can be mounted here: {ran.stderr}")
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("free_pages", [0, 3, 100])
def test_a_disk_that_is_all_but_full_ends_the_run_before_anything_is_paid_for(free_pages: int, crowded: Place) -> None:
    fill = "cat /dev/zero > ballast 2> /dev/null; " + (
        f"truncate -s -{free_pages * 4096} ballast" if free_pages else "true"
    )

    ran = on_a_disk(crowded, fill)

    assert ran.status == 74
    (line,) = ran.err.splitlines()[-1:]
    assert str(crowded.layout.agent) in line
    assert "No space left on device" in line
    assert "nothing accepted is lost" in line
    assert "Traceback" not in ran.err
    assert crowded.attempts() == []
    world = World(crowded.layout.agent, HandClock(4_000_000_000_000))
    reviewer = ScriptedReviewer(adding("Recovered."), clock=world.clock, provider="offline")
    drained = world.open(reviewer).review_once()
    assert (drained.completed, drained.left) == (1, 0)


def test_a_disk_that_may_only_be_read_is_named(crowded: Place) -> None:
    ran = on_a_disk(crowded, "mount -o remount,ro .")

    assert_refused(ran, 74, crowded.layout.agent, "Read-only file system")


class RefusingVolume(Volume):
    """A disk that refuses whatever is written below one folder."""

    def __init__(self, folder: str, number: int = errno.EIO) -> None:
        self._folder = folder
        self._number = number

    def stage(self, path: Path, data: bytes, *, hidden: bool = False, flush: bool = True) -> Path:
        if self._folder in path.parts:
            raise StorageError(path, OSError(self._number, os.strerror(self._number)))
        return super().stage(path, data, hidden=hidden, flush=flush)


@pytest.mark.parametrize(
    "folder",
    [
        "attempts",
        "provider-results",
        "proposal-decisions",
        "review-admissions",
        "branches",
        "revisions",
        "ready",
        "commit-receipts",
        "retired",
        "outcomes",
        "finished",
    ],
)
def test_wherever_the_disk_refuses_the_job_is_finished_later_and_whole(folder: str, tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()
    app = world.open(ScriptedReviewer(adding("Kept."), clock=world.clock))
    key = world.project(app, tmp_path / "code")
    job = world.job(app, key, "entry-1")
    app.shop.mailbox(key).register(Pending(job_id=job.id, job_digest=job.digest))
    app.shop.stores.spool.enqueue(job)
    with pytest.raises(StorageError):
        world.open(ScriptedReviewer(adding("Kept."), clock=world.clock), volume=RefusingVolume(folder)).review_once()
    world.clock.ms += 600_000

    world.open(ScriptedReviewer(adding("Kept."), clock=world.clock)).review_once()

    place = Place(tmp_path)
    assert place.ending(job) == "applied"
    assert place.texts(key) == ["Kept."]
    assert [(card.status, len(card.changes)) for card in place.cards(key).values()] == [("applied", 1)]


def test_a_project_whose_folder_is_denied_costs_that_project(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()
    app = world.open(ScriptedReviewer(adding("Kept."), clock=world.clock))
    denied, healthy = (world.project(app, tmp_path / name) for name in ("code", "other"))
    jobs = [world.job(app, key, "entry-1") for key in (denied, healthy)]
    for job in jobs:
        app.shop.stores.spool.enqueue(job)
    reviewer = ScriptedReviewer(adding("Kept."), clock=world.clock)

    for _ in range(2):
        world.open(reviewer, volume=RefusingVolume(denied, errno.EACCES)).review_once()
        world.clock.ms += 3_600_000

    place = Place(tmp_path)
    assert [place.ending(job) for job in jobs] == ["queued", "applied"]
    assert len(reviewer.asked) == 2, "its decision stands, so nobody is asked twice"
    facts = [event.fact for event in world.heard.events if isinstance(event, Stopped)]
    assert facts
    assert all(f"{denied}/review-admissions" in fact and "Permission denied" in fact for fact in facts)
    world.open(reviewer).review_once()
    assert place.ending(jobs[0]) == "applied"
