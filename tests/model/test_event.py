"""No event has a field that could carry evidence or a credential."""

import dataclasses
from typing import get_args

import pytest

from curator.model import event

# Every field of every event, by name. A new one is added here by somebody who has asked whether it could hold evidence.
HARMLESS = frozenset(
    [
        "job_id",
        "worker_id",
        "mode",
        "concurrency",
        "busy",
        "attempt",
        "project_key",
        "branch_name",
        "provider",
        "model",
        "superseded",
        "provenance",
        "receipt",
        "code",
        "available_at",
        "limit",
        "exposure",
        "limits",
        "what",
        "count",
        "name",
        "reason",
        "subject",
        "fact",
        "remedy",
        "completed",
        "failed",
        "retried",
        "budget_exhausted",
        "interrupted",
        "left",
        "blocked_by",
    ]
)


@pytest.mark.parametrize("kind", get_args(event.Event))
def test_an_event_is_frozen_and_has_harmless_fields_only(kind: type) -> None:
    assert dataclasses.is_dataclass(kind)
    assert {field.name for field in dataclasses.fields(kind)} <= HARMLESS
