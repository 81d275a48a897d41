"""A project's memory, and what one job did to it."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.errors import NotFoundError
from curator.model.ids import BranchName, JobId, ProjectKey
from curator.workflow.inspect.memory import branch_path_of, changes_of, log_of, memory_of, open_store
from curator.workflow.producer import enqueue_session
from tests.golden_fixtures import real_pi
from tests.session_lines import header, user, write
from tests.workflow.shops import open_shop

MAIN = BranchName("main")


def test_the_change_of_a_receipt_is_told_from_its_revision(tmp_path: Path) -> None:
    layout = Layout(real_pi("consumed", tmp_path))
    receipt_path = next(layout.root.glob("*/service/commit-receipts/*.json"))
    key = ProjectKey(receipt_path.parents[2].name)
    receipt = open_store(layout, key).receipt(JobId(receipt_path.stem))
    assert receipt is not None

    lines = changes_of(layout, receipt)

    branch = open_store(layout, key).branch(MAIN)
    assert branch is not None
    assert [(line.kind, line.after) for line in lines] == [("add", entry) for entry in branch.entries]
    assert branch_path_of(layout, receipt) == layout.project(key).branch(MAIN)


def test_memory_is_found_from_any_folder_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    scene = open_shop(tmp_path / "agent", "2026-01-03T00:00:00.000Z")
    session = write(tmp_path / "s.jsonl", header(cwd=str(project)), user("u", None, "wish"))

    enqueue_session(scene.shop, session)

    memory = memory_of(scene.shop.layout, project / "deep", MAIN)
    assert memory.root == str(project)
    assert memory.branch.entries == ()
    assert log_of(scene.shop.layout, memory) == ()
    with pytest.raises(NotFoundError, match="branch other"):
        memory_of(scene.shop.layout, project, BranchName("other"))
