"""How plans and their standing are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.cli.page import clean, counted, dollars, moment, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.model.digest import Json
    from curator.tracks.backfill.records import Input, Plan
    from curator.tracks.backfill.standing import Standing

_SHOWN: Final = 20
_KIB: Final = 1_024
_REVISION: Final = 32
_GOOD: Final = "good"
_MISSING: Final = "missing"


def plan_lines(plan: Plan) -> Iterator[str]:
    """Yield a plan as a table and what there is to be said of it."""
    found = plan.forecast
    inputs = plan.inputs
    damaged = [each for each in inputs if each.damaged]
    dates = sorted(each[:10] for one in inputs for each in (one.since, one.until) if each is not None)
    qualities = [
        f"{sum(each.quality == word for each in inputs)} {word}" for word in ("settled", "inferred", "uncertain")
    ]
    yield f"{plan.id}  {plan.project_root}, branch {plan.branch_name}"
    rows = [
        ("sessions", f"{len(inputs):,}, {size(sum(each.size for each in inputs))}"),
        ("ends", ", ".join(qualities)),
        ("dates", f"{dates[0]} to {dates[-1]}" if dates else "none told"),
        ("turns", f"{found.turns:,}, each counted once however many sessions hold it, {found.chars:,} characters"),
        (
            "reviews",
            f"{found.windows:,}, the oldest first, of which the caps let {found.calls:,} be asked, by {plan.provider}/{plan.model}",
        ),
        ("tokens", f"at most about {found.tokens:,}"),
        ("cost", f"at most about {dollars(found.cost_nanousd)}"),
        ("time", f"about {span(found.running_ms)}, over {counted(found.days, 'day')} of the day's limits"),
        ("disk", f"about {size(found.disk)}"),
        ("memory", f"{found.room_chars:,} characters are free; {counted(found.changes_max, 'change')} at most"),
    ]
    for name, fact in rows:
        yield f"  {name:<9} {fact}"
    yield from _notes(plan, len(damaged), sum(each.damaged for each in damaged))
    for one in plan.left_out[:_SHOWN]:
        yield f"  left out: {clean(one.path)}, {size(one.size)}: {one.reason}"
    if len(plan.left_out) > _SHOWN:
        yield f"  and {len(plan.left_out) - _SHOWN:,} more; --json names them"
    yield f"Nothing was sent or spent. Run it with `curator backfill run {plan.id}`."


def _notes(plan: Plan, files: int, lines: int) -> Iterator[str]:
    found = plan.forecast
    if found.uncertain_turns:
        yield f"  {counted(found.uncertain_turns, 'turn')} may have been reviewed by Pi before, or passed over: they are asked about."
    if found.own_reviews or found.injected:
        yield (
            f"  {counted(found.own_reviews, 'session')} of reviewers and "
            f"{counted(found.injected, 'entry', 'entries')} of injected memory are passed over."
        )
    if files:
        yield f"  {counted(lines, 'line')} of {counted(files, 'session')} cannot be read; the rest of them is."
        for one in [each for each in plan.inputs if each.damaged][:_SHOWN]:
            yield f"  damaged: {clean(one.path)}, {size(one.size)}: {counted(one.damaged, 'line')}"
    for one in [each for each in plan.inputs if _doubts(each)][:_SHOWN]:
        yield f"  {clean(one.path)}: {'; '.join(_doubts(one))}"
    if found.quarantined_elsewhere:
        yield f"  {counted(found.quarantined_elsewhere, 'session')} elsewhere cannot be told to be of any project."
    if found.changes_max > _REVISION:
        parts = -(-found.changes_max // _REVISION)
        yield f"  A revision holds {_REVISION} changes, so promoting may take up to {parts} parts."
    if found.changes_max and not found.room_chars:
        yield "  Memory is full: what is promoted can only replace and tighten."


def _doubts(one: Input) -> list[str]:
    """Return what of a session is not known, or not to be believed."""
    odd = [f"{counted(count, 'time')} {kind}" for kind, count in one.dates.items() if kind not in (_GOOD, _MISSING)]
    unknown = [f"usage unknown in {counted(one.usage_unknown, 'answer')}"] if one.usage_unknown else []
    return [*(["parent unavailable"] if one.origin == "parent unavailable" else []), *odd, *unknown]


def plan_document(plan: Plan) -> dict[str, Json]:
    """Return a plan for a program."""
    return plan.encode()


def standing_line(standing: Standing) -> str:
    """Return one plan on one line."""
    plan = standing.plan
    done = "not indexed" if standing.windows is None else f"{standing.staged} of {standing.windows} reviewed"
    return (
        f"{plan.id}  {standing.word:<9} {moment(plan.created_at)}  {clean(plan.project_root)}: {done}, "
        f"{dollars(standing.spent.cost_nanousd)}"
    )


def standing_lines(standing: Standing) -> Iterator[str]:
    """Yield how a plan stands."""
    plan, spent = standing.plan, standing.spent
    running = "" if standing.runner is None else f", in process {standing.runner}"
    yield f"{plan.id}  {clean(plan.project_root)}, branch {plan.branch_name}: {standing.word}{running}"
    if standing.windows is None:
        yield "  Its sessions are not indexed yet."
    else:
        nothing = standing.staged - standing.proposals - standing.failed
        yield (
            f"  {standing.staged:,} of {counted(standing.windows, 'window')} reviewed: {standing.proposals:,} with a proposal, "
            f"{nothing:,} without, {standing.failed:,} failed"
        )
    yield f"  {counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}, {dollars(spent.cost_nanousd)}"
    if standing.promoted or standing.rolled_back:
        yield f"  {counted(standing.promoted, 'part')} in memory, {standing.rolled_back:,} taken back"
    if standing.expires_at is not None:
        yield f"  What is staged is kept until {moment(standing.expires_at)}."
    if standing.proposals and standing.word in ("done", "begun", "paused"):
        yield f"  See what it would change with `curator backfill promote {plan.id}`."


def standing_document(standing: Standing) -> dict[str, Json]:
    """Return a plan's standing for a program."""
    plan, spent = standing.plan, standing.spent
    told: dict[str, Json] = {
        "planId": plan.id,
        "projectRoot": plan.project_root,
        "projectKey": plan.project_key,
        "createdAt": plan.created_at,
        "state": standing.word,
        "windows": standing.windows,
        "staged": standing.staged,
        "proposals": standing.proposals,
        "failed": standing.failed,
        "calls": spent.calls,
        "tokens": spent.tokens,
        "costNanousd": spent.cost_nanousd,
        "promoted": standing.promoted,
        "rolledBack": standing.rolled_back,
        "expiresAt": standing.expires_at,
    }
    return told if standing.runner is None else told | {"process": standing.runner}


def size(count: int) -> str:
    """Return a size for a person."""
    amount, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while amount >= _KIB and len(units) > 1:
        amount, units = amount / _KIB, units[1:]
    return f"{count:,} B" if units[0] == "B" else f"{amount:,.1f} {units[0]}"
