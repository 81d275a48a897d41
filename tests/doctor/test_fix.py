"""What the doctor does itself."""

import os
from pathlib import Path

import pytest

from curator.app import App
from curator.doctor.examine import examine
from curator.doctor.finding import Finding
from curator.doctor.fix import fix
from curator.durable.clock import SystemClock
from curator.durable.layout import Layout
from curator.durable.volume import Volume
from tests.doctor.trees import DEAD, NOW, bad, configure, make_lock
from tests.durable.volumes import Crash
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, adding
from tests.workflow.test_stuck import Dying


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "agent")
    configure(made)
    return made


def looked(layout: Layout, now: int = NOW) -> tuple[Finding, ...]:
    return examine(layout, {"HOME": str(layout.agent)}, now)


def mended(layout: Layout, *, is_agreed: bool = False, app: App | None = None, now: int = NOW) -> list[str]:
    def open_shop() -> object:
        assert app is not None
        return app.shop

    return list(fix(looked(layout, now), Volume(), now, open_shop, is_agreed=is_agreed))  # type: ignore[arg-type]  # a shop, or a failed test


def test_modes_are_put_right_and_said(layout: Layout) -> None:
    path = layout.queued / "job.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    for each, mode in ((layout.spool, 0o755), (layout.queued, 0o755), (path, 0o644)):
        each.chmod(mode)

    done = mended(layout)

    assert f"Gave {path} the mode 0600" in done
    assert [each.stat().st_mode & 0o777 for each in (layout.spool, layout.queued, path)] == [0o700, 0o700, 0o600]
    assert [finding.subject for finding in bad(looked(layout)) if finding.subject == "modes"] == []


def test_the_lock_of_a_dead_owner_goes_and_that_of_a_living_one_stays(layout: Layout) -> None:
    now = SystemClock().now()
    dead = make_lock(layout.spool_lock, DEAD, 40_000, now)
    alive = make_lock(layout.accounting_lock, os.getpid(), 1_000, now)
    breakers = [
        make_lock(layout.spool / ".spool.lock.breaker", DEAD, 5_000, now),
        make_lock(layout.accounting / ".lock.breaker", os.getpid(), 500, now),
    ]

    done = mended(layout, now=now)

    assert (dead.exists(), alive.exists()) == (False, True)
    assert [breaker.exists() for breaker in breakers] == [False, True]
    assert f"Removed {dead}" in done


def test_what_dead_writers_left_goes(layout: Layout) -> None:
    left = layout.queued / "a.json.1.00000000-0000-4000-8000-000000000000.tmp"
    left.parent.mkdir(parents=True, mode=0o700)
    left.write_bytes(b"x")

    assert f"Removed {left}" in mended(layout)
    assert not left.exists()


def test_nothing_is_touched_where_nothing_is_wrong(layout: Layout) -> None:
    layout.own.mkdir(mode=0o700)
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in layout.root.rglob("*"))

    assert mended(layout) == []
    after = sorted((str(path), path.lstat().st_mtime_ns) for path in layout.root.rglob("*"))
    assert [name for name, _ in after] == [name for name, _ in before]


def test_a_begun_change_is_set_aside_only_on_a_person_s_word(tmp_path: Path) -> None:
    world = World(tmp_path / "agent")
    world.configure()
    reviewer = ScriptedReviewer(adding("The build runs on Linux."), clock=world.clock)
    app = world.open(reviewer)
    key = world.project(app, tmp_path / "project")
    app.shop.stores.spool.enqueue(world.job(app, key, "one"))
    with pytest.raises(Crash):
        world.open(reviewer, volume=Dying("rename main.json")).review_once()
    foreground_add(app.layout.project(key).root, "Pi wrote this.")
    (intent,) = app.layout.project(key).admissions.glob("*.intent.json")

    shown = [said for said in mended(app.layout) if str(intent) in said]
    assert (len(shown), intent.exists()) == (1, True)
    assert "--yes" in shown[0]

    done = mended(app.layout, is_agreed=True, app=app)

    assert not intent.exists()
    assert any(said.startswith("Set aside: ") for said in done)
    assert any("ends stale at the next run" in said for said in done)
