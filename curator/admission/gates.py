"""The gates between a proposal and memory: once when an answer comes, and again under the project's lock.

Both ask the same questions: schema, secret, Unicode, fence, duplicate, capacity, evidence reference, target
precondition, base. A reason names an operation by its number and never quotes it.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from typing import TYPE_CHECKING

from curator.admission.apply import InapplicableError, apply, capacity_fault, unknown_entry
from curator.model.decision import Evidence, Span
from curator.model.digest import digest_of_text
from curator.model.ids import ENTRY_ID_PATTERN, SAFE_ID_PATTERN
from curator.model.limits import ENTRY_CHARS_MAX, MERGE_IDS_MAX, MERGE_IDS_MIN, OPERATIONS_MAX
from curator.model.proposal import Add, Assess, Merge, Operation, Proposed, Remove, Replace
from curator.model.record import u16_len
from curator.model.redaction import find_secrets
from curator.model.text import TextFault, is_sanitized, js_trim, memory_text_fault, normalize_memory_text
from curator.model.unseen import has_unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    is_full: bool = False
    """Whether it was memory's capacity that let nothing be changed."""


def screen(proposed: Sequence[Proposed], brief: Brief, *, require_evidence: bool) -> Screened | Refusal:
    """Hold a parsed answer to the rules, against the branch that the attempt judges (interop.md 7.3).

    Unsafe or inapplicable content refuses the whole, to be tried again; a secret, a quote that the transcript does not
    have, or a shape that the store does not hold drops that one operation: asking again would only cost another call.
    An id that no entry can have is the id of an unknown entry: what was meant by the rest of the answer is not known either.
    On the final attempt what is only too long or too much becomes an empty proposal instead.
    """
    kept: list[tuple[Operation, Span | None]] = []
    messages: list[str] = []
    for number, each in enumerate(proposed, start=1):
        operation = _normalized(each.operation)
        span = _span(each.quote, brief.job.transcript, len(kept))
        dropped = _drop_reason(operation, each.quote, span, require_evidence=require_evidence)
        if dropped is not None:
            messages.append(f"Dropped: operation {number}: {dropped}.")
            continue
        fault = _text_fault(operation)
        if fault is TextFault.TOO_LONG and brief.is_final:
            why = _in_words(fault, operation)
            return Screened((), (), (*messages, f"Nothing was proposed: operation {number}: {why}."))
        if fault is not None:
            return Refusal(f"operation {number}: {_in_words(fault, operation)}")
        if (stranger := _no_id(operation)) is not None:
            return Refusal(f"operation {number}: {unknown_entry(stranger)}")
        kept.append((operation, span))
    operations = tuple(operation for operation, _ in kept)
    try:
        after = apply(brief.base, operations, _PROJECTED, [f"new:{index}" for index in range(len(operations))]).branch
    except InapplicableError as error:
        return Refusal(str(error))
    violated = capacity_fault(brief.base, after, brief.job.max_chars)
    if violated is None:
        return Screened(operations, tuple(span for _, span in kept if span is not None), tuple(messages))
    if brief.is_final:
        return Screened((), (), (*messages, f"Nothing was proposed: {violated}."))
    return Refusal(violated)


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

    def evidence_fault(index: int) -> str | None:
        return _evidence_fault(index, evidence, job.transcript, require_evidence=require_evidence)

    return resolve(operations, branch, job.max_chars, now, new_ids, evidence_fault)


def resolve(
    operations: Sequence[Operation],
    branch: Branch,
    max_chars: int,
    now: str,
    new_ids: Sequence[str],
    evidence_fault: Callable[[int], str | None] = lambda _: None,
) -> Resolved:
    """Decide what operations do to a branch, by every question but those of base and evidence."""
    operations = [_normalized(operation) for operation in operations[:OPERATIONS_MAX]]
    refused = _refusals(operations, evidence_fault)
    if refused:
        return Resolved("rejected", refused, branch)
    try:
        applied = apply(branch, operations, now, new_ids)
    except InapplicableError as error:
        return Resolved("rejected", (f"Refused: {error}.",), branch)
    violated = capacity_fault(branch, applied.branch, max_chars) if applied.is_changed else None
    if violated is not None:
        return Resolved("noop", (f"Nothing was changed: {violated}.",), branch, is_full=True)
    if not applied.is_changed:
        return Resolved("noop", applied.messages or ("There was nothing to remember.",), branch)
    return Resolved("applied", applied.messages, applied.branch)


def _refusals(operations: Sequence[Operation], evidence_fault: Callable[[int], str | None]) -> tuple[str, ...]:
    found: list[str] = []
    for index, operation in enumerate(operations):
        fault = _text_fault(operation)
        reason = (
            _shape_fault(operation)
            or (None if _no_id(operation) is None else "it names an entry by an id that cannot be stored")
            or (None if fault is None else _in_words(fault, operation))
            or evidence_fault(index)
        )
        if reason is not None:
            found.append(f"Refused: operation {index + 1}: {reason}.")
    return tuple(found)


def _evidence_fault(index: int, evidence: Evidence | None, transcript: str, *, require_evidence: bool) -> str | None:
    """Return what is wrong with an operation's evidence.

    Each result of ours has its evidence beside it, published first. Where there is none, the proposal is another
    worker's, which could not be asked for any: the protocol would apply it, and so do we.
    """
    if evidence is None:
        return None
    span = next((span for span in evidence.spans if span.operation == index), None)
    if span is None:
        return "it names no evidence" if require_evidence else None
    return None if _stands(span, transcript) else "its evidence is not in the transcript"


def _drop_reason(operation: Operation, quote: str | None, span: Span | None, *, require_evidence: bool) -> str | None:
    """Return why this operation alone is dropped from an answer."""
    if _has_quote(quote) and span is None:
        return "its quote is not in the transcript"
    if span is None and require_evidence:
        return "it names no evidence"
    return _shape_fault(operation)


def _text_fault(operation: Operation) -> TextFault | None:
    text = _content(operation)
    return None if text is None else memory_text_fault(text, ENTRY_CHARS_MAX)


def _in_words(fault: TextFault, operation: Operation) -> str:
    """Return the protocol's word for a fault, and by how much where that is the question."""
    if fault is not TextFault.TOO_LONG:
        return fault.value
    chars = u16_len(normalize_memory_text(_content(operation) or ""))
    return f"{fault.value}: {chars} characters, and an entry has at most {ENTRY_CHARS_MAX}"


def _shape_fault(operation: Operation) -> str | None:
    """Return why the store may not take an operation that the wire allows (W18), or that holds a secret (W29)."""
    text = _content(operation)
    if text is not None and (secrets := find_secrets(text)):
        return f"it holds what looks like a secret ({secrets[0].kind.lower()})"
    if text is not None and _text_fault(operation) is TextFault.SECRET:
        return "it holds what looks like a secret"
    if text is not None and has_unseen(text) and _text_fault(operation) is None:
        return "it holds characters that nobody sees"
    if text is not None and not is_sanitized(text):
        return "it holds characters that memory does not keep"
    if isinstance(operation, Merge) and not MERGE_IDS_MIN <= len(operation.entry_ids) <= MERGE_IDS_MAX:
        return f"it merges fewer than {MERGE_IDS_MIN} or more than {MERGE_IDS_MAX} entries"
    if len(set(_targets(operation))) != len(_targets(operation)):
        return "it names an entry twice"
    return None


def _no_id(operation: Operation) -> str | None:
    """Return the first target of an operation that is no id: neither wire nor store holds such a one (W18)."""
    targets = _targets(operation)
    return next((t for t in targets if not (ENTRY_ID_PATTERN.fullmatch(t) and SAFE_ID_PATTERN.fullmatch(t))), None)


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
    if quote is None or not _has_quote(quote):
        return None
    exact = unicodedata.normalize("NFC", quote)
    at = transcript.find(exact)
    if at < 0:
        return None
    start = u16_len(transcript[:at])
    return Span(operation=operation, start=start, end=start + u16_len(exact), digest=digest_of_text(exact))


def _has_quote(quote: str | None) -> bool:
    """Say whether words were quoted: blanks stand in every transcript and prove nothing."""
    return quote is not None and js_trim(quote) != ""


def _stands(span: Span, transcript: str) -> bool:
    units = transcript.encode("utf-16-le", "surrogatepass")
    quoted = units[span.start * 2 : span.end * 2].decode("utf-16-le", "surrogatepass")
    return digest_of_text(quoted) == span.digest
