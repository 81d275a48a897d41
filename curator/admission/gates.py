"""The gates between a proposal and memory: once when an answer comes, and again under the project's lock.

Both ask the same questions: schema, secret, Unicode, fence, duplicate, capacity, evidence reference, target
precondition, base. A reason names an operation by its number and never quotes it.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from typing import TYPE_CHECKING

from curator.admission.apply import InapplicableError, apply, capacity_fault
from curator.model.decision import Evidence, Span
from curator.model.digest import digest_of_text
from curator.model.ids import ENTRY_ID_PATTERN, SAFE_ID_PATTERN
from curator.model.limits import ENTRY_CHARS_MAX, MERGE_IDS_MAX
from curator.model.proposal import Add, Assess, Merge, Operation, Proposed, Remove, Replace
from curator.model.record import u16_len
from curator.model.redaction import contains_secret
from curator.model.text import TextFault, is_sanitized, memory_text_fault, normalize_memory_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.admission import Status
    from curator.model.job import Job
    from curator.model.memory import Branch
    from curator.model.ports import Brief

_PROJECTED = "1970-01-01T00:00:00.000Z"
"""A projection's time: it is looked at and thrown away."""


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer is no proposal at all; the attempt failed and may be tried again."""

    message: str


@dataclasses.dataclass(frozen=True, slots=True)
class Screened:
    """What is left of a proposal, where its evidence stands, and what was dropped and why."""

    operations: tuple[Operation, ...]
    spans: tuple[Span, ...]
    messages: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Resolved:
    """What becomes of an elected proposal: frozen into the intent."""

    status: Status
    messages: tuple[str, ...]
    after: Branch


def screen(proposed: Sequence[Proposed], brief: Brief, *, require_evidence: bool) -> Screened | Refusal:
    """Hold a parsed answer to the rules, against the branch that the attempt judges (interop.md 7.3).

    Unsafe or inapplicable content refuses the whole, to be tried again; a secret, a quote that the transcript does not
    have, or a shape that the store does not hold drops that one operation. On the final attempt what is only too long
    or too much becomes an empty proposal instead.
    """
    empty = Screened((), (), ())
    kept: list[tuple[Operation, Span | None]] = []
    messages: list[str] = []
    for number, each in enumerate(proposed, start=1):
        operation = _normalized(each.operation)
        fault = None if (text := _content(operation)) is None else memory_text_fault(text, ENTRY_CHARS_MAX)
        if fault is TextFault.TOO_LONG and brief.is_final:
            return empty
        if fault is not None:
            return Refusal(f"operation {number}: {fault.value}")
        span = _span(each.quote, brief.job.transcript, len(kept))
        dropped = _drop_reason(operation, each.quote, span, require_evidence=require_evidence)
        if dropped is None:
            kept.append((operation, span))
        else:
            messages.append(f"operation {number}: {dropped}")
    operations = tuple(operation for operation, _ in kept)
    try:
        after = apply(brief.base, operations, _PROJECTED, [f"new-{index}" for index in range(len(operations))]).branch
    except InapplicableError as error:
        return Refusal(str(error))
    violated = capacity_fault(brief.base, after, brief.job.max_chars)
    if violated is not None:
        return empty if brief.is_final else Refusal(violated)
    return Screened(operations, tuple(span for _, span in kept if span is not None), tuple(messages))


def recheck(  # noqa: PLR0913 - each is one of the nine questions' grounds
    *,
    job: Job,
    operations: Sequence[Operation],
    branch: Branch,
    is_at_base: bool,
    evidence: Evidence | None,
    require_evidence: bool,
    now: str,
    new_ids: Sequence[str],
) -> Resolved:
    """Decide what an elected proposal does to the branch as it stands; call it under the project's lock."""
    if not is_at_base:
        return Resolved("stale", ("Memory changed while this was reviewed; nothing was changed.",), branch)
    refused = _refusals(job, operations, evidence, require_evidence=require_evidence)
    if refused:
        return Resolved("rejected", refused, branch)
    try:
        applied = apply(branch, operations, now, new_ids)
    except InapplicableError as error:
        return Resolved("rejected", (f"Refused: {error}.",), branch)
    violated = capacity_fault(branch, applied.branch, job.max_chars) if applied.is_changed else None
    if violated is not None:
        return Resolved("noop", (f"Nothing was changed: {violated}.",), branch)
    if not applied.is_changed:
        return Resolved("noop", applied.messages or ("There was nothing to remember.",), branch)
    return Resolved("applied", applied.messages, applied.branch)


def _refusals(
    job: Job, operations: Sequence[Operation], evidence: Evidence | None, *, require_evidence: bool
) -> tuple[str, ...]:
    spans = {} if evidence is None else {span.operation: span for span in evidence.spans}
    found: list[str] = []
    for index, operation in enumerate(operations):
        text = _content(operation)
        fault = None if text is None else memory_text_fault(text, ENTRY_CHARS_MAX)
        if fault is not None:
            found.append(f"Refused: operation {index + 1}: {fault.value}.")
            continue
        span = spans.get(index)
        if span is not None and not _stands(span, job.transcript):
            found.append(f"Refused: operation {index + 1}: its evidence is not in the transcript.")
        elif span is None and require_evidence:
            found.append(f"Refused: operation {index + 1}: it names no evidence.")
        elif (reason := _shape_fault(operation)) is not None:
            found.append(f"Refused: operation {index + 1}: {reason}.")
    return tuple(found)


def _drop_reason(operation: Operation, quote: str | None, span: Span | None, *, require_evidence: bool) -> str | None:
    if quote and span is None:
        return "its quote is not in the transcript"
    if span is None and require_evidence:
        return "it names no evidence"
    return _shape_fault(operation)


def _shape_fault(operation: Operation) -> str | None:
    """Return why the store may not take an operation that the wire allows (W18), or that holds a secret (W29)."""
    text = _content(operation)
    if text is not None and contains_secret(text):
        return "it holds what looks like a secret"
    if text is not None and not is_sanitized(text):
        return "it holds characters that memory does not keep"
    if isinstance(operation, Merge) and len(operation.entry_ids) > MERGE_IDS_MAX:
        return f"it merges more than {MERGE_IDS_MAX} entries"
    if not all(ENTRY_ID_PATTERN.fullmatch(each) and SAFE_ID_PATTERN.fullmatch(each) for each in _targets(operation)):
        return "it names an entry by an id that cannot be stored"
    return None


def _normalized(operation: Operation) -> Operation:
    if isinstance(operation, Add | Replace | Merge):
        return dataclasses.replace(operation, content=normalize_memory_text(operation.content))
    return operation


def _content(operation: Operation) -> str | None:
    return operation.content if isinstance(operation, Add | Replace | Merge) else None


def _targets(operation: Operation) -> tuple[str, ...]:
    match operation:
        case Replace(entry_id=entry_id) | Remove(entry_id=entry_id) | Assess(entry_id=entry_id):
            return (entry_id,)
        case Merge(entry_ids=entry_ids):
            return entry_ids
        case Add():
            return ()


def _span(quote: str | None, transcript: str, operation: int) -> Span | None:
    """Return where a quote stands in the transcript, exactly; None where it does not, or where there is none."""
    if not quote:
        return None
    exact = unicodedata.normalize("NFC", quote)
    at = transcript.find(exact)
    if at < 0:
        return None
    start = u16_len(transcript[:at])
    return Span(operation=operation, start=start, end=start + u16_len(exact), digest=digest_of_text(exact))


def _stands(span: Span, transcript: str) -> bool:
    units = transcript.encode("utf-16-le", "surrogatepass")
    quoted = units[span.start * 2 : span.end * 2].decode("utf-16-le", "surrogatepass")
    return digest_of_text(quoted) == span.digest
