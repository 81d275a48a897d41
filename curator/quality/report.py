"""What a reviewer came to on the corpus, as a table for a person and as a document for a program.

Of the unseen half nothing is told but sums: neither a conversation, nor which of them were missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from curator.model.digest import Json
from curator.quality.exam import Paper, Table
from curator.quality.score import HARMS, Marks

_NAME_CHARS: Final = 18
_HEAD: Final = f"{'':{_NAME_CHARS}} {'talks':>5} {'flawless':>8} {'written':>7} {'right':>5} {'precision':>9} {'recall':>16} {'replaced':>8} {'harms':>5} {'failed':>6}"


def lines_of(table: Table) -> Iterator[str]:
    """Yield the table of a half, line by line."""
    yield f"The {table.half} {'part' if table.half == 'practice' else 'half'}"
    yield _HEAD
    yield _row("all", table.all)
    kind = ""
    for group, name, marks in table.groups:
        if group != kind:
            yield f"by {group}"
            kind = group
        yield _row(f"  {name}", marks)
    if table.all.harmful:
        done = [
            f"{name.replace('_', ' ')} {count}" for name, count in zip(HARMS, table.all.harms, strict=True) if count
        ]
        yield f"harms: {', '.join(done)}"


def document_of(table: Table) -> dict[str, Json]:
    """Return the same for a program."""
    grouped: dict[str, dict[str, Json]] = {}
    for group, name, marks in table.groups:
        grouped.setdefault(group, {})[name] = _figures(marks)
    by: dict[str, Json] = {group: dict(rows) for group, rows in grouped.items()}
    return {"half": table.half, "all": _figures(table.all), "by": by}


def faults_of(papers: Iterable[Paper]) -> Iterator[str]:
    """Yield the conversations in which a rule does not hold, and how, but none of the unseen half."""
    for paper in papers:
        marks = paper.marks
        if paper.half == "unseen" or marks.flawless:
            continue
        told = [f"{marks.facts - marks.recalled} missed"] if marks.recalled < marks.facts else []
        told += [f"{marks.wrong} wrong"] if marks.wrong else []
        told += [f"{marks.stale - marks.replaced} left stale"] if marks.replaced < marks.stale else []
        told += [name.replace("_", " ") for name, count in zip(HARMS, marks.harms, strict=True) if count]
        told += [f"failed: {paper.code}"] if paper.code is not None else []
        yield f"{paper.conversation.id}: {', '.join(told)}"


def _row(name: str, marks: Marks) -> str:
    recall = f"{_share(marks.recall)} ({marks.recalled}/{marks.facts})"
    replaced = f"{marks.replaced}/{marks.stale}"
    written = marks.judged + marks.left_open
    return (
        f"{name:{_NAME_CHARS}} {marks.conversations:5} {marks.flawless:8} {written:7} {marks.right:5}"
        f" {_share(marks.precision):>9} {recall:>16} {replaced:>8} {marks.harmful:5} {marks.failed:6}"
    )


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _figures(marks: Marks) -> dict[str, Json]:
    harms: dict[str, Json] = dict(zip(HARMS, marks.harms, strict=True))
    return {
        "conversations": marks.conversations,
        "failed": marks.failed,
        "flawless": marks.flawless,
        "right": marks.right,
        "wrong": marks.wrong,
        "leftOpen": marks.left_open,
        "precision": marks.precision,
        "facts": marks.facts,
        "recalled": marks.recalled,
        "recall": marks.recall,
        "toReplace": marks.stale,
        "replaced": marks.replaced,
        "harms": harms,
        "harmful": marks.harmful,
    }
