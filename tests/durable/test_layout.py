"""The tree is the API: every path, by hand."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.model.digest import Digest
from curator.model.ids import AttemptId, BranchName, JobId, ProjectKey
from tests.golden_fixtures import golden, vectors

AGENT = Path("/home/ann/.pi/agent")
LAYOUT = Layout(AGENT)
PROJECT = LAYOUT.project(ProjectKey("826cdcf0ee7b9e3ad811eb46"))
JOB, ATTEMPT = JobId("review_" + "0" * 40), AttemptId("review_attempt_" + "1" * 40)


@pytest.mark.parametrize(
    ("path", "below"),
    [
        (LAYOUT.service_json, "service.json"),
        (LAYOUT.legacy_budget, "review-budget.json"),
        (LAYOUT.spool_lock, "review-spool/.spool.lock"),
        (LAYOUT.queued, "review-spool/queued"),
        (LAYOUT.running, "review-spool/running"),
        (LAYOUT.outcomes, "review-spool/outcomes"),
        (LAYOUT.dead_letter, "review-spool/dead-letter"),
        (LAYOUT.accounting_lock, "review-spool/accounting/.lock"),
        (LAYOUT.days, "review-spool/accounting/days"),
        (LAYOUT.identities, "review-spool/accounting/identities"),
        (LAYOUT.result(JOB, ATTEMPT), f"review-spool/provider-results/{JOB}/{ATTEMPT}.json"),
        (LAYOUT.decision(JOB), f"review-spool/proposal-decisions/{JOB}.json"),
        (LAYOUT.decision_lock(JOB), f"review-spool/proposal-decisions/.locks/{JOB}.lock"),
        (LAYOUT.base(JOB, Digest("a" * 64)), f"curator/bases/{JOB}/{'a' * 64}.json"),
        (LAYOUT.attempts, "curator/attempts"),
        (LAYOUT.jobs, "curator/jobs"),
        (LAYOUT.held, "curator/held"),
        (LAYOUT.evidence, "curator/evidence"),
        (LAYOUT.evidence_of(JOB, ATTEMPT), f"curator/evidence/00/{JOB}.{ATTEMPT}.json"),
        (LAYOUT.finished, "curator/finished"),
        (LAYOUT.curator_toml, "curator/curator.toml"),
        (LAYOUT.shadow_project(ProjectKey("826cdcf0ee7b9e3ad811eb46")).root, "curator/shadow/826cdcf0ee7b9e3ad811eb46"),
        (PROJECT.lock, "826cdcf0ee7b9e3ad811eb46/.lock"),
        (PROJECT.project_json, "826cdcf0ee7b9e3ad811eb46/project.json"),
        (PROJECT.branch(BranchName("main")), "826cdcf0ee7b9e3ad811eb46/branches/main.json"),
        (PROJECT.reviews, "826cdcf0ee7b9e3ad811eb46/reviews"),
        (PROJECT.revisions(BranchName("main")), "826cdcf0ee7b9e3ad811eb46/revisions/main"),
        (PROJECT.intent(JOB), f"826cdcf0ee7b9e3ad811eb46/review-admissions/{JOB}.intent.json"),
        (PROJECT.completion(JOB), f"826cdcf0ee7b9e3ad811eb46/review-admissions/{JOB}.complete.json"),
        (PROJECT.tombstone(JOB), f"826cdcf0ee7b9e3ad811eb46/review-admissions/retired/{JOB}.json"),
        (PROJECT.receipt(JOB), f"826cdcf0ee7b9e3ad811eb46/service/commit-receipts/{JOB}.json"),
        (PROJECT.pending, "826cdcf0ee7b9e3ad811eb46/service/review-feedback/pending"),
        (PROJECT.ready, "826cdcf0ee7b9e3ad811eb46/service/review-feedback/ready"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_every_path_stands_where_the_protocol_has_it(path: Path, below: str) -> None:
    assert path == AGENT / "no-forgetti" / below


def test_heartbeats_stand_where_the_vectors_have_them() -> None:
    root = str(AGENT)

    assert str(LAYOUT.worker_beat("host:123")) == f"{root}{vectors()['workerPath']}"
    assert str(LAYOUT.runtime_beat("worker:host:123")) == f"{root}{vectors()['runtimePath']}"


def test_the_protocols_own_worker_puts_its_files_there(tmp_path: Path) -> None:
    layout = Layout(golden("g3", tmp_path))
    job_id = JobId(next(layout.running.iterdir()).stem)
    project = layout.project(ProjectKey("826cdcf0ee7b9e3ad811eb46"))

    assert layout.decision(job_id).exists()
    assert project.intent(job_id).exists()
    assert project.completion(job_id).exists()
    assert project.branch(BranchName("main")).exists()
