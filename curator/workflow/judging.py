"""From an answer to a proposal or to what is wrong with it: parsed, screened, and held to the protocol's own rules.

Every call goes through here, whether it was made for a job or only to see what would come of it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.admission.gates import Refusal, screen
from curator.model.outcome import Completed
from curator.model.ports import CallFailure, Class
from curator.model.record import Violation
from curator.reviewer.parse import Refusal as Unusable
from curator.reviewer.parse import parse_answer
from curator.workflow.retry import failure_code

if TYPE_CHECKING:
    from curator.admission.gates import Screened
    from curator.model.ports import Answer, Brief


@dataclasses.dataclass(frozen=True, slots=True)
class Missed:
    """An attempt that was made and brought no proposal, or one that was cancelled because it could not be made."""

    code: str
    kind: Class
    retry_after_ms: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """The proposal that an answer holds, and what the screening kept beside it."""

    outcome: Completed
    screened: Screened


@dataclasses.dataclass(frozen=True, slots=True)
class Lacking:
    """Why an answer holds no proposal. The message names a place, and quotes nothing."""

    missed: Missed
    message: str


def judge(answer: Answer | CallFailure, brief: Brief, *, require_evidence: bool) -> Found | Lacking:
    """Turn an answer into a proposal: parse it, hold it to the rules, or say why not."""
    if isinstance(answer, CallFailure):
        return Lacking(Missed(failure_code(answer.code), answer.kind, answer.retry_after_ms), answer.message)
    parsed = parse_answer(answer.text)
    if isinstance(parsed, Unusable):
        return Lacking(Missed(parsed.code, Class.RETRY), parsed.message)
    screened = screen(parsed, brief, require_evidence=require_evidence)
    if isinstance(screened, Refusal):
        return Lacking(Missed("invalid_proposal", Class.RETRY), screened.message)
    try:
        outcome = Completed(
            job_id=brief.job.id,
            job_digest=brief.job.digest,
            completed_at=answer.provenance.completed_at,
            operations=screened.operations,
            provenance=answer.provenance,
        )
        outcome.check("outcome")
    except Violation as violation:
        return Lacking(Missed("invalid_proposal", Class.RETRY), f"the proposal {violation.rule}")
    return Found(outcome, screened)
