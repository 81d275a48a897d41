"""A decision is rolled forward into its own admission; one that stands for another decision of the job is left as it is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from curator.errors import ConflictError
from curator.model.decision import Decision
from curator.model.job import Job
from curator.model.outcome import Completed
from curator.workflow.admission import roll_forward
from tests.workflow.lives import Life


def another(life: Life, job: Job) -> Decision:
    """Return a decision of the same job that proposes nothing."""
    stands = life.app.shop.stores.decisions.find(job.id)
    assert stands is not None
    assert isinstance(stands.outcome, Completed)
    assert stands.outcome.operations != ()
    return dataclasses.replace(stands, outcome=dataclasses.replace(stands.outcome, operations=()))


def roll(life: Life, decision: Decision) -> None:
    shop = life.app.shop
    roll_forward(decision, shop.memory(decision.job.project_key, "external"), "external", shop, None)


def test_a_decision_that_was_admitted_is_rolled_forward_to_the_same_receipt(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.review()
    decision = life.app.shop.stores.decisions.find(job.id)
    assert decision is not None
    before = life.tree()

    roll(life, decision)

    assert life.tree() == before


def test_the_receipt_of_another_decision_is_a_conflict(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.review()
    before = life.tree()

    with pytest.raises(ConflictError, match="is the receipt of another admission"):
        roll(life, another(life, job))

    assert life.tree() == before


def test_the_admission_of_another_decision_is_a_conflict_and_is_not_finished(tmp_path: Path) -> None:
    life = Life(tmp_path)
    job = life.review()
    memory = life.app.shop.memory(job.project_key, "external")
    memory.layout.receipt(job.id).unlink()
    before = life.tree()

    with pytest.raises(ConflictError, match="belongs to another admission of this job"):
        roll(life, another(life, job))

    assert life.tree() == before
