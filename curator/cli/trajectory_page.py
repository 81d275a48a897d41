"""How a trajectory is shown: figures and ends as tables, nodes with what was said in them, and all of it as documents."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from curator.cli.audit_page import table_lines
from curator.cli.page import clean, counted, has_colour, moment, recite, say
from curator.model.ledger import CoverageState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator.model.digest import Json
    from curator.model.ledger import Covered
    from curator.model.trajectory import Node
    from curator.tracks.trajectory.inbox import Received, Turned
    from curator.tracks.trajectory.overview import Overview

_SHORT: Final = 12
_LINE_CHARS: Final = 100
_LEAVES_SHOWN: Final = 20
_DIGEST: Final = "cyan"
_STYLES: Final = {
    CoverageState.PENDING: "yellow",
    CoverageState.LEASED: "cyan",
    CoverageState.PROCESSED: "green",
    CoverageState.EXCLUDED: "bright_black",
    CoverageState.DAMAGED: "red",
}


def _tinted(*parts: tuple[str, str]) -> None:
    """Print one line, each part in its style, where colour is wanted."""
    if not has_colour(sys.stdout):
        recite("".join(text for text, _ in parts))
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text.assemble(*((clean(text), style) for text, style in parts)))


def show_overview(seen: Overview) -> None:
    """Show a ledger in figures, and where it ends."""
    counts = seen.counts
    if not any(counts.values()):
        say("Nothing is indexed yet.")
        return
    rows: list[tuple[str, str]] = [
        (
            "nodes",
            f"{counts['nodes']:,}, from {counted(counts['roots'], 'root')} to {counted(seen.leaf_count, 'leaf', 'leaves')}",
        ),
        ("settled", counted(counts["settled"], "checkpoint")),
        ("sources", f"{counted(len(seen.sources), 'session file')} read"),
        ("waiting", f"{counted(counts['waiting'], 'piece')} without a beginning"),
        ("forgotten", counted(counts["forgotten"], "node")),
        ("search", f"{counts['untold']:,} nodes to be indexed by the next search"),
        ("disk", f"{seen.bytes:,} bytes, and {seen.index_bytes:,} for the index"),
        ("reviews", _told(seen.coverage)),
    ]
    for name, fact in rows:
        say(f"{name:<10} {fact}")
    say()
    shown = seen.leaves[:_LEAVES_SHOWN]
    cells = [
        (leaf.digest[:_SHORT], "settled" if leaf.is_settled else "inferred", ", ".join(sorted(leaf.sessions)) or "-")
        for leaf in shown
    ]
    for line in table_lines(("leaf", "known by", "session"), cells):
        say(line)
    if seen.leaf_count > len(shown):
        say(f"and {seen.leaf_count - len(shown):,} more; --json shows them")


def _told(coverage: Mapping[tuple[CoverageState, str], int]) -> str:
    totals: dict[CoverageState, int] = {}
    for (state, _), count in coverage.items():
        totals[state] = totals.get(state, 0) + count
    if not totals:
        return "none yet: indexing implies no review"
    return ", ".join(f"{count:,} {state}" for state, count in sorted(totals.items()))


def overview_document(seen: Overview) -> dict[str, Json]:
    """Return a ledger in figures for a program."""
    leaves: list[Json] = [
        {"digest": leaf.digest, "isSettled": leaf.is_settled, "sessions": [str(each) for each in sorted(leaf.sessions)]}
        for leaf in seen.leaves
    ]
    sources: list[Json] = [source.encode() for source in seen.sources]
    coverage: list[Json] = [{"state": state.value, "by": by, "digests": n} for (state, by), n in seen.coverage.items()]
    return {
        "counts": dict(seen.counts),
        "bytes": seen.bytes,
        "indexBytes": seen.index_bytes,
        "leafCount": seen.leaf_count,
        "leaves": leaves,
        "sources": sources,
        "coverage": coverage,
    }


def show_coverage(counts: Mapping[tuple[CoverageState, str], int]) -> None:
    """Show what became of turns and nodes, by whose word."""
    if not counts:
        say("Nothing is covered yet: indexing implies no review.")
        return
    width = max(len(state) for state, _ in counts)
    for (state, by), count in counts.items():
        _tinted((state.ljust(width), _STYLES[state]), (f"  {count:>9,}  {by}", ""))


def show_found(found: Sequence[Node], asked: str) -> None:
    """Show nodes, one a line, with the part of each that was looked for."""
    if not found:
        say("Nothing is found.")
    for node in found:
        at = "" if node.at is None else f", {moment(node.at)}"
        _tinted((node.digest[:_SHORT], _DIGEST), (f"  {node.role}{at}", ""))
        recite(f"    {excerpt(node.text, asked)}")


def excerpt(text: str, asked: str) -> str:
    """Return one line of a text, around the first of the words."""
    flat = " ".join(text.split())
    words = [word.strip('"*').lower() for word in asked.split()]
    places = [place for word in words if word and (place := flat.lower().find(word)) >= 0]
    begin = max(0, min(places, default=0) - _LINE_CHARS // 3)
    end = begin + _LINE_CHARS
    return f"{'…' if begin else ''}{flat[begin:end]}{'…' if end < len(flat) else ''}"


def show_node(node: Node, covered: Covered | None) -> None:
    """Show a node, and what was said."""
    at = "" if node.at is None else f", {moment(node.at)}"
    _tinted((node.digest, _DIGEST), (f"  {node.role}, entry {node.entry_id}{at}", ""))
    if covered is not None:
        _tinted(("  ", ""), (covered.state, _STYLES[covered.state]), (f", by {covered.by}", ""))
    if node.text:
        recite("  " + node.text.replace("\n", "\n  "))


def node_document(node: Node, covered: Covered | None) -> dict[str, Json]:
    """Return a node for a program."""
    told: dict[str, Json] = dict(node.encode())
    if covered is not None:
        told["coverage"] = {"state": covered.state.value, "by": covered.by}
    return told


def received_line(outcome: Received | Turned) -> str:
    """Say what became of a delta."""
    from curator.tracks.trajectory.inbox import Turned

    if isinstance(outcome, Turned):
        word = "Left for later" if outcome.is_kept else "Refused"
        return f"{word}: {outcome.path.name}: {outcome.error}"
    dropped = f"; {counted(outcome.dropped, 'entry', 'entries')} left out" if outcome.dropped else ""
    if outcome.taken is None:
        return f"It waits for its beginning, which is asked for now{dropped}."
    known = len(outcome.taken.known)
    return f"{counted(len(outcome.taken.new), 'new node')}, {known:,} known before{dropped}."


def received_document(outcome: Received | Turned) -> dict[str, Json]:
    """Return what became of a delta for a program."""
    from curator.tracks.trajectory.inbox import Turned

    if isinstance(outcome, Turned):
        status = "later" if outcome.is_kept else "refused"
        error = outcome.error
        why: Json = {"code": error.code, "fact": error.fact, "remedy": error.remedy}
        turned: dict[str, Json] = {"status": status, "path": str(outcome.path), "error": why}
        return turned
    told: dict[str, Json] = {"status": "waiting", "projectKey": outcome.key, "dropped": outcome.dropped}
    if outcome.taken is not None:
        told |= {"status": "taken", "new": len(outcome.taken.new), "known": len(outcome.taken.known)}
    return told
