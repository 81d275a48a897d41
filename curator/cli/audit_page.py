"""How the audit's answers are shown: rows as a table or as CSV, and the life of an entry as sentences."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final, TextIO

from curator.cli.page import dollars, moment, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator.audit.life import Change, Life, Origin
    from curator.audit.questions import Answer
    from curator.model.digest import Json

_WIDE: Final = 60
_COST: Final = "cost_nanousd"
_SHORTENED: Final = frozenset({"job_id", "attempt_id"})
_VERBS: Final = {"add": "added", "update": "changed", "remove": "removed"}
_DIGEST_CHARS: Final = 12


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str | int | float | None]]) -> Iterator[str]:
    """Align rows under their names; a column of which nothing is known is left out, and costs are told in dollars."""
    kept = [at for at, _ in enumerate(columns) if any(row[at] is not None for row in rows)]
    heads = [columns[at].replace(_COST, "cost").replace("_", " ") for at in kept]
    cells = [[_cell(columns[at], row[at]) for at in kept] for row in rows]
    if not cells:
        return
    widths = [max(len(line[at]) for line in (heads, *cells)) for at, _ in enumerate(kept)]
    numeric = [all(isinstance(row[at], int | float | None) for row in rows) for at in kept]
    for line in (heads, *cells):
        padded = [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, numeric, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def _cell(column: str, value: str | float | None) -> str:
    if value is None:
        return ""
    if column.endswith(_COST) and isinstance(value, int):
        return dollars(value)
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value).replace("\n", " ")
    if column in _SHORTENED:
        return short(text) if column == "job_id" else text.removeprefix("review_attempt_")[:_DIGEST_CHARS]
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def write_csv(answer: Answer, out: TextIO) -> None:
    """Write an answer as CSV, figures as they are kept."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows(["" if value is None else value for value in row] for row in answer.rows)


def life_lines(life: Life) -> Iterator[tuple[str, bool]]:
    """Tell an entry's life; with each line, whether it is in our own words."""
    yield f"Entry {life.entry_id}, project {life.project_key}, branch {life.branch_name}:", True
    if life.entry is None:
        yield "  memory holds it no more", True
    else:
        yield f"  {life.entry.text}".replace("\n", "\n  "), False
    for change in life.changes:
        yield from _change_lines(change)
    if life.is_changed_since:
        yield "Written anew since, not by a review.", True


def _change_lines(change: Change) -> Iterator[tuple[str, bool]]:
    yield (
        f"{moment(change.committed_at)}: {_VERBS[change.change]} by revision {change.sequence}, {change.revision_id}",
        True,
    )
    if change.origin is None:
        yield "  the review behind it is not known any more", True
    else:
        yield from _origin_lines(change.origin)
    if change.undone_at is not None:
        yield f"  taken back at {moment(change.undone_at)}", True


def _origin_lines(origin: Origin) -> Iterator[tuple[str, bool]]:
    if origin.quote is not None:
        yield f'  rests on: "{origin.quote}"'.replace("\n", " "), False
    elif origin.span_digest is not None:
        yield f"  rests on words whose digest is {origin.span_digest}; they are not kept any more", True
    else:
        yield "  no quote is known for it", True
    if origin.session_key is not None:
        turn = "" if origin.through_entry_id is None else f", up to entry {origin.through_entry_id}"
        yield f"  said in session {origin.session_key}{turn}", True
    asked = "" if origin.model is None else f" of {origin.provider}/{origin.model}"
    attempt = "attempt not known" if origin.attempt_id is None else f"attempt {origin.attempt_id}"
    yield f"  job {origin.job_id}, {attempt}{asked}", True
    if origin.proposal_digest is not None:
        yield f"  decision {origin.proposal_digest}", True


def life_document(life: Life) -> dict[str, Json]:
    """Return an entry's life as a document."""
    changes: list[Json] = [
        {
            "change": change.change,
            "revisionId": change.revision_id,
            "sequence": change.sequence,
            "committedAt": change.committed_at,
            "undoneAt": change.undone_at,
            "origin": None if change.origin is None else _origin_document(change.origin),
        }
        for change in life.changes
    ]
    return {
        "entryId": life.entry_id,
        "authority": life.authority,
        "projectKey": life.project_key,
        "branchName": life.branch_name,
        "text": None if life.entry is None else life.entry.text,
        "isChangedSince": life.is_changed_since,
        "changes": changes,
    }


def _origin_document(origin: Origin) -> dict[str, Json]:
    return {
        "jobId": origin.job_id,
        "sessionKey": origin.session_key,
        "throughEntryId": origin.through_entry_id,
        "attemptId": origin.attempt_id,
        "provider": origin.provider,
        "model": origin.model,
        "proposalDigest": origin.proposal_digest,
        "spanDigest": origin.span_digest,
        "quote": origin.quote,
    }
