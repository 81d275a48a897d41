"""A review can be taken back by either side; unrelated later writes stay, changed entries refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.errors import RefusedError
from curator.model.ids import BranchName, ProjectKey
from curator.workflow.undo import undo
from tests.foreign import foreground_add
from tests.golden_fixtures import PROJECT_KEY, PROJECT_ROOT, golden
from tests.kit import ScriptedReviewer, World, adding

MAIN = BranchName("main")


def reviewed(tmp_path: Path) -> tuple[World, ProjectKey]:
    world = World(tmp_path / "agent")
    world.configure()
    app = world.open(ScriptedReviewer(adding("Reviewed."), clock=world.clock))
    key = world.project(app, tmp_path / "code")
    app.shop.stores.spool.enqueue(world.job(app, key, "entry-1"))
    app.review_once()
    assert world.texts(app, key) == ["Reviewed."]
    return world, key


def test_our_own_review_is_undone_and_a_later_write_stays(tmp_path: Path) -> None:
    world, key = reviewed(tmp_path)
    foreground_add(tmp_path / "agent" / "no-forgetti" / key, "Written later.")
    app = world.open(ScriptedReviewer(adding("x"), clock=world.clock))

    undo(app.shop, key, MAIN)

    assert world.texts(app, key) == ["Written later."]
    history = app.shop.memory(key, "external").revisions(MAIN)
    assert [revision.kind for revision in history] == ["review", "undo"]


def test_an_entry_that_was_changed_since_refuses_and_nothing_changes(tmp_path: Path) -> None:
    world, key = reviewed(tmp_path)
    path = tmp_path / "agent" / "no-forgetti" / key / "branches" / "main.json"
    branch = json.loads(path.read_text("utf-8"))
    branch["entries"][0]["text"] = "Changed by hand."
    path.write_text(json.dumps(branch, indent=2) + "\n", "utf-8")
    before = path.read_bytes()
    app = world.open(ScriptedReviewer(adding("x"), clock=world.clock))

    with pytest.raises(RefusedError, match=branch["entries"][0]["id"]):
        undo(app.shop, key, MAIN)

    assert path.read_bytes() == before


def test_a_review_by_the_extensions_own_worker_is_undone(tmp_path: Path) -> None:
    PROJECT_ROOT.mkdir(exist_ok=True)
    world = World(golden("h-completed", tmp_path))
    app = world.open(ScriptedReviewer(adding("x"), clock=world.clock))
    key = ProjectKey(PROJECT_KEY)
    before = world.texts(app, key)

    undo(app.shop, key, MAIN)

    after = world.texts(app, key)
    assert "Run pnpm check before finishing." in before
    assert "Run pnpm check before finishing." not in after
    assert after[0] == "Package commands use pnpm."


def test_there_is_nothing_to_undo_twice(tmp_path: Path) -> None:
    world, key = reviewed(tmp_path)
    app = world.open(ScriptedReviewer(adding("x"), clock=world.clock))
    undo(app.shop, key, MAIN)

    with pytest.raises(RefusedError, match="no review to undo"):
        undo(app.shop, key, MAIN)
