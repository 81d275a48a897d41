"""A project's memory, and what one job did to it."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.errors import NotFoundError
from curator.model.attempt import Reserved, dispatched_from, settled_from
from curator.model.budget import Amount
from curator.model.digest import digest_of
from curator.model.ids import BranchName, Day, JobId, LeaseToken, ProjectKey, attempt_id
from curator.model.outcome import Cost, Provenance, Usage
from curator.workflow.inspect.memory import branch_path_of, changes_of, estimate_of, log_of, memory_of, open_store
from curator.workflow.producer import enqueue_session
from curator.workflow.shop import Stores
from tests.golden_fixtures import real_pi
from tests.session_lines import header, user, write
from tests.workflow.shops import open_shop

MAIN = BranchName("main")
AT = "2026-01-03T00:00:00.000Z"


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


def test_an_attempt_whose_usage_was_not_told_is_known_by_what_it_was_charged(tmp_path: Path) -> None:
    stores = open_shop(tmp_path / "agent", AT).shop.stores
    told, untold = (JobId(f"review_{number:040x}") for number in range(2))
    charge(stores, told, is_estimated=False)
    charge(stores, untold, is_estimated=True)

    layout = Layout(tmp_path / "agent")

    assert estimate_of(layout, told, PROVENANCE) is None
    assert estimate_of(layout, untold, PROVENANCE) == Amount(1, 7_000, 9)
    assert estimate_of(layout, JobId("review_" + "f" * 40), PROVENANCE) is None


def charge(stores: Stores, job_id: JobId, *, is_estimated: bool) -> None:
    token = LeaseToken("0" * 32)
    reserved = Reserved(
        id=attempt_id(digest_of(job_id), 1, token),
        day=Day(AT[:10]),
        provider="local",
        job_id=job_id,
        job_digest=digest_of(job_id),
        claim_attempt=1,
        lease_token=token,
        reserved_at=AT,
        hold_tokens=7_000,
        hold_cost_nanousd=9,
        origin="curator",
    )
    stores.attempts.reserve(reserved, None)
    sent = dispatched_from(reserved, AT, (digest_of("made up"), "m", "openai-completions"))
    stores.attempts.advance(sent)
    stores.attempts.advance(settled_from(sent, AT, PROVENANCE, is_estimated=is_estimated))


NOTHING = Usage(
    input=0,
    output=0,
    cache_read=0,
    cache_write=0,
    total_tokens=0,
    cost=Cost(input=0, output=0, cache_read=0, cache_write=0, total=0),
)
PROVENANCE = Provenance(
    provider="local",
    model="m",
    api="openai-completions",
    started_at=AT,
    completed_at=AT,
    duration_ms=0,
    usage=NOTHING,
)
