"""Which quote each entry of an applied review rests on: by the operation that made it, told by its digest."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from curator.admission.apply import InapplicableError, apply
from curator.model.memory import Added, empty_branch, entry_digest
from curator.model.proposal import Add, Assess, Merge, Remove, Replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator.model.decision import Evidence, Span
    from curator.model.ids import EntryId
    from curator.model.memory import Review
    from curator.model.proposal import Operation


@dataclasses.dataclass(frozen=True, slots=True)
class Supported:
    """One entry of a review, and where in the transcript its quote stands."""

    entry_id: EntryId
    span: Span


def supported_by(review: Review, operations: Sequence[Operation], evidence: Evidence) -> tuple[Supported, ...]:
    """Return what the quotes of a decision's operations support, in the order of the review's changes.

    An addition is told by the digest that the review keeps of it; everything else names its entry.
    """
    by_operation = {span.operation: span for span in evidence.spans}
    return tuple(
        Supported(change.entry_id, by_operation[number])
        for change in review.changes
        for number, operation in enumerate(operations)
        if number in by_operation
        and (
            _makes(operation, review, change) if isinstance(change, Added) else change.entry_id in _named_by(operation)
        )
    )


def _makes(operation: Operation, review: Review, change: Added) -> bool:
    if not isinstance(operation, Add):
        return False
    empty, at = empty_branch(review.branch_name, review.committed_at), review.committed_at
    with contextlib.suppress(InapplicableError):
        made = apply(empty, [operation], at, [change.entry_id]).branch.entries
        return [entry_digest(entry) for entry in made] == [change.after_digest]
    return False


def _named_by(operation: Operation) -> Iterator[EntryId]:
    match operation:
        case Replace(entry_id=entry_id) | Remove(entry_id=entry_id) | Assess(entry_id=entry_id):
            yield entry_id
        case Merge(entry_ids=entry_ids):
            yield from entry_ids
        case Add():
            return
