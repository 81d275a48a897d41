"""The protocol's accounting: identities and days, and whether our attempts stand there as the journal has them.

The projection may lag behind the journal, and another worker may have moved an orphan on; what is compared is what no
order of steps can bring about (interop.md 5).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from curator.model.ids import ATTEMPT_ID_PATTERN, DAY_PATTERN
from curator.model.limits import DAY_BYTES_MAX, IDENTITY_BYTES_MAX, JOURNAL_BYTES_MAX, LEGACY_BUDGET_BYTES_MAX
from curator.verify.finding import Finding, error, pending
from curator.verify.journal import Journal, Steps, latest
from curator.verify.shape import Fields, differing, fields_of, number_of, objects_of, text_of
from curator.verify.shapes.attempts import CARRY, DAY_FACTS, DAY_FILE, IDENTITY, LEGACY_BUDGET, nano, ours
from curator.verify.tree import alone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.verify.tree import Tree

_IMPOSSIBLE: Final = frozenset(
    {
        ("reserved", "dispatched"),
        ("reserved", "settled"),
        ("reserved", "unknown"),
        ("cancelled", "dispatched"),
        ("cancelled", "settled"),
        ("cancelled", "unknown"),
        ("settled", "cancelled"),
        ("settled", "unknown"),
    }
)
"""The journal's state of an attempt of ours, and the day's: nobody but us dispatches it, and a result settles it."""
_AHEAD: Final = frozenset({("dispatched", "settled"), ("dispatched", "unknown"), ("dispatched", "cancelled")})
"""Another worker closed what it took for an orphan; the next projection brings the day back to the journal."""


def check_accounting(tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with days, identities and the legacy budget."""
    layout, journal = tree.layout, Journal(tree)
    for name in tree.names(layout.days):
        if DAY_PATTERN.fullmatch(name):
            path = layout.days / name
            yield from tree.judge(path, DAY_FILE, DAY_BYTES_MAX, partial(_day, tree, journal))
    for name in tree.names(layout.identities):
        if ATTEMPT_ID_PATTERN.fullmatch(name):
            path = layout.identities / name
            yield from tree.judge(path, IDENTITY, IDENTITY_BYTES_MAX, partial(_identity, tree, journal))
    yield from tree.judge(layout.legacy_budget, LEGACY_BUDGET, LEGACY_BUDGET_BYTES_MAX, alone)


def _day(tree: Tree, journal: Journal, path: Path, day: Fields) -> Iterator[Finding]:
    if day["day"] != path.name:
        yield error(path, "holds another day than its name says")
        return
    seen: set[str] = set()
    providers = fields_of(day, "providers")
    for provider in providers:
        for attempt in objects_of(providers, provider):
            attempt_id = text_of(attempt, "id")
            if attempt_id in seen:
                yield error(path, f"holds {attempt_id} twice")
            seen.add(attempt_id)
            if attempt["provider"] != provider:
                yield error(path, f"holds {attempt_id} under another provider")
            yield from _attempt(tree, journal, path, attempt)
    yield from _carries(tree, path, fields_of(day, "legacyCarry"))


def _attempt(tree: Tree, journal: Journal, path: Path, attempt: Fields) -> Iterator[Finding]:
    attempt_id = text_of(attempt, "id")
    identity = tree.find(tree.layout.identities / attempt_id, IDENTITY, IDENTITY_BYTES_MAX)
    if identity is None and not tree.stands(tree.layout.identities / attempt_id):
        yield error(path, f"holds {attempt_id}, whose identity is not there")
    elif identity is not None:
        key = differing(attempt, identity, (*DAY_FACTS, "holdCostNanodollars"))
        if key is not None or identity["day"] != path.name:
            yield error(path, f"holds {attempt_id} with another {key or 'day'} than its identity")
    if attempt["state"] == "settled":
        yield from _charge(path, attempt)
    steps = journal.steps(path.name, attempt_id)
    if steps and latest(steps)["origin"] != "adopted":
        yield from _projected(path, attempt, steps)
    elif steps:
        yield from _facts(path, attempt, latest(steps))


def _charge(path: Path, attempt: Fields) -> Iterator[Finding]:
    provenance = fields_of(attempt, "provenance")
    usage = fields_of(provenance, "usage")
    charged = (attempt["chargedTokens"], attempt["chargedCostNanodollars"])
    if charged != (usage["totalTokens"], nano(fields_of(usage, "cost"))):
        yield error(path, f"charges {attempt['id']} something else than its usage")
    if provenance["provider"] != attempt["provider"]:
        yield error(path, f"holds {attempt['id']} as answered by another provider")
    if "model" in attempt and (attempt["model"], attempt["api"]) != (provenance["model"], provenance["api"]):
        yield error(path, f"holds {attempt['id']} as answered by another model than was asked")


def _facts(path: Path, attempt: Fields, step: Fields) -> Iterator[Finding]:
    key = differing(attempt, step, DAY_FACTS)
    if key is not None or attempt["holdCostNanodollars"] != step["holdCostNanousd"]:
        yield error(path, f"holds {attempt['id']} with another {key or 'hold'} than the journal")


def _projected(path: Path, attempt: Fields, steps: Steps) -> Iterator[Finding]:
    """Compare an attempt of ours with the journal; a correction stands there alone."""
    yield from _facts(path, attempt, latest(steps))
    known = steps[max((n for n in steps if n < 3), default=max(steps))]  # noqa: PLR2004 - the step of a correction
    pair = (text_of(known, "state"), ours(text_of(attempt, "state")))
    if pair in _IMPOSSIBLE:
        yield error(path, f"holds {attempt['id']} as {pair[1]}, and the journal as {pair[0]}")
    elif pair in _AHEAD:
        yield pending(path, f"holds {attempt['id']} as {pair[1]}, and the journal as {pair[0]}")
    elif pair == ("settled", "settled"):
        usage = fields_of(fields_of(known, "provenance"), "usage")
        if number_of(attempt, "chargedTokens") != number_of(usage, "totalTokens"):
            yield error(path, f"charges {attempt['id']} something else than the journal")


def _carries(tree: Tree, path: Path, carries: Fields) -> Iterator[Finding]:
    folder = tree.layout.attempts / path.name
    for name in tree.names(folder):
        carry = tree.find(folder / name, CARRY, JOURNAL_BYTES_MAX) if name.startswith("legacy.") else None
        if carry is None:
            continue
        stands = fields_of(carries, text_of(carry, "provider"))
        if stands and stands["sourceDigest"] != carry["sourceDigest"]:
            yield error(path, "carries another legacy budget than the journal")


def _identity(tree: Tree, journal: Journal, path: Path, identity: Fields) -> Iterator[Finding]:
    if path.name != identity["id"]:
        yield error(path, "holds another attempt than its name says")
        return
    steps = journal.steps(text_of(identity, "day"), path.name)
    if steps:
        step = latest(steps)
        key = differing(identity, step, ("day", *DAY_FACTS))
        if key is not None or identity["holdCostNanodollars"] != step["holdCostNanousd"]:
            yield error(path, f"has another {key or 'hold'} than the journal")
    elif not tree.stands(tree.layout.days / text_of(identity, "day")):
        yield pending(path, "is of a day that is gone")
