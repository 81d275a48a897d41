"""What `curator verify` says of plans that somebody damaged: each binding that it holds them to is broken once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.tracks.backfill.rollback import roll_back
from tests.kit import adding
from tests.tracks.backfill.places import Planned


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """A plan that was run, promoted and taken back."""
    planned = Planned(tmp_path_factory.mktemp("plans"), adding("Tests run with pytest."), adding("Use uv."))
    planned.session("one", "Please use pytest.")
    planned.session("two", "Please use uv.", at=10)
    planned.make()
    planned.run()
    planned.promote_all()
    roll_back(planned.plan, planned.shelf, planned.shop)
    return planned


def set_(name: str, value: object) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        return json.dumps(json.loads(content) | {name: value}).encode()

    return change


NOBODY = "0" * 64
OTHER = "plan_" + "0" * 16
DAMAGE = [
    ("plan.json", set_("createdAt", "2026-01-04T00:00:00.000Z"), "has an id that is not its content's"),
    ("windows.json", set_("planId", OTHER), "is of another plan than its folder"),
    ("windows.json", set_("windows", [{"number": 2}]), "numbered without a gap"),
    ("answers/000001.1.json", set_("attempt", 2), "holds another try than its name says"),
    ("answers/000001.1.json", set_("day", "2026-01-09"), "the journal does not know"),
    ("answers/000001.1.json", set_("jobDigest", NOBODY), "is of another call than its attempt"),
    ("answers/000001.1.json", set_("provenance", {}), "tells another usage"),
    ("staged/000001.json", set_("window", 2), "holds another window than its name says"),
    ("staged/000002.json", set_("planId", OTHER), "holds another window than its name says"),
    ("promotions/000001.json", set_("baseDigest", NOBODY), "has a snapshot of another branch state"),
    ("promotions/000001.json", set_("baseDigest", NOBODY), "made another change than it says"),
    ("promotions/000001.json", set_("number", 2), "holds another promotion than its name says"),
    ("rollbacks/000001.json", set_("undoId", "0" * 36), "names an undo that does not take its promotion back"),
]


def test_a_whole_plan_has_nothing_wrong(whole: Planned) -> None:
    assert whole.findings() == []


@pytest.mark.parametrize(("name", "change", "fact"), DAMAGE, ids=[f"{name}: {fact}" for name, _, fact in DAMAGE])
def test_each_binding_is_looked_at(whole: Planned, name: str, change: Callable[[bytes], bytes], fact: str) -> None:
    path = whole.shelf.layout.root / name
    content = path.read_bytes()
    path.write_bytes(change(content))
    try:
        found = whole.findings()
    finally:
        path.write_bytes(content)

    assert [each for each in found if fact in str(each) and str(path) in str(each)] != []


def test_a_lost_snapshot_and_a_window_too_many_are_named(whole: Planned) -> None:
    def findings_without(path: Path) -> str:
        moved = path.rename(whole.world.agent.parent / "aside")
        try:
            return str(whole.findings())
        finally:
            moved.rename(path)

    assert "has lost the branch as it was before it" in findings_without(whole.shelf.layout.snapshots / "000001.json")
    assert "takes back a promotion of which nothing stands" in findings_without(
        whole.shelf.layout.promotions / "000001.json"
    )
    assert "is of a window that the plan does not have" in findings_without(whole.shelf.layout.root / "windows.json")
