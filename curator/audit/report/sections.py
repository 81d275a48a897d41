"""The page's figures: what each shows, says in a sentence and lists."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from curator.admission.apply import TARGET_CHARS
from curator.audit.report.charts import WHOLE, Bar, Kind, against, by_day, by_name, spans_by_name
from curator.audit.report.figure import Figure, Table
from curator.audit.report.figures import CERTAINTIES, STATUSES, quantile
from curator.audit.report.words import counted, dollars, listed, moment, span
from curator.model.limits import MEMORY_CHARS_MAX, REPORT_DAYS_MAX
from curator.model.times import DAY_MS, day_of, day_start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator.audit.report.figures import Amounts, Figures, ModelCalls

_NANO: Final = 1_000_000_000
_BARS_MAX: Final = 15
_DAYS_MIN: Final = 14
_WHOLE_DOLLARS: Final = 20
_SECOND_MS: Final = 1_000
_CERTAIN: Final = {
    "actual": Kind("actual", "actual", "actual: as the provider told"),
    "held": Kind("held", "held", "held: under way, at the most it may cost"),
    "unknown": Kind("unknown", "unknown", "unknown: nobody knows its end, at the most it may have cost"),
}
_STATES: Final = {
    "settled": Kind("settled", "actual", "settled"),
    "reserved": Kind("reserved", "held", "reserved"),
    "dispatched": Kind("dispatched", "held", "dispatched"),
    "unknown": Kind("unknown", "unknown", "unknown"),
    "cancelled": Kind("cancelled", "idle", "cancelled: never sent"),
}
_ENDED: Final = {
    "applied": Kind("applied", "good", "applied: memory changed"),
    "noop": Kind("noop", "idle", "noop: nothing worth remembering"),
    "stale": Kind("stale", "held", "stale: memory had moved on"),
    "rejected": Kind("rejected", "unknown", "rejected by a rule"),
    "failed": Kind("failed", "bad", "failed"),
    "completed": Kind("completed", "actual", "completed"),
}
_PLACES: Final = {
    "queued": Kind("queued", "actual", "queued"),
    "running": Kind("running", "good", "running"),
    "held": Kind("held", "held", "set aside by a person"),
}
_AGES: Final = (
    ("under a minute", 60_000),
    ("to 10 minutes", 600_000),
    ("to an hour", 3_600_000),
    ("to a day", DAY_MS),
    ("older", None),
)


def spend(figures: Figures, today: str) -> Figure:
    """Show what each day cost; in tokens or calls where nothing costs anything."""
    unit = _unit(figures)
    days = _days([day for day, _ in figures.days], today)
    bars = [
        Bar(day, name, _length(spent.of(name), unit), f"{day}: {_amount(spent.of(name), unit)} {name}")
        for day, spent in figures.days
        if day in days
        for name in CERTAINTIES
        if _length(spent.of(name), unit)
    ]
    sums = [f"{_amount(figures.spent.of(name), unit)} {name}" for name in CERTAINTIES]
    rows = [
        [day, *(cell for name in CERTAINTIES for cell in _cells(spent.of(name)))]
        for day, spent in reversed(figures.days)
    ]
    heads = ["UTC day ", *(f"{name} {what}" for name in CERTAINTIES for what in ("calls", "tokens", "cost"))]
    older = figures.days_of - len(figures.days)
    more = f"{counted(older, 'earlier day')} more: curator audit spend --csv" if older else None
    kinds = [_CERTAIN[name] for name in CERTAINTIES]
    return Figure(
        "spend",
        f"Spend by UTC day, in {'dollars' if unit == 'cost' else unit}",
        f"{listed(sums)}, over {counted(figures.days_of, 'day')}{_shown(days)}" if bars else "No call was made yet.",
        Table(heads, rows, more),
        kinds,
        partial(by_day, bars, days, kinds, _money(bars) if unit == "cost" else WHOLE),
    )


def calls(figures: Figures) -> Figure:
    """Show how many calls each model had, by how they stand."""
    models = figures.models[:_BARS_MAX]
    kinds = [kind for name, kind in _STATES.items() if any(name in each.states for each in models)]
    bars = [
        Bar(each.name, kind.name, count, f"{each.name}: {counted(count, 'call')} {kind.name}")
        for each in models
        for kind in kinds
        if (count := each.states.get(kind.name, 0))
    ]
    rows = [
        [each.name, f"{each.calls:,}", *(f"{each.states.get(kind.name, 0):,}" for kind in kinds)]
        for each in figures.models
    ]
    total = sum(each.calls for each in figures.models)
    told = (
        f"{counted(total, 'call')} of {counted(len(figures.models), 'model')}." if total else "No model was asked yet."
    )
    heads = ["model ", "calls", *(kind.name for kind in kinds)]
    names = [each.name for each in models]
    return Figure(
        "calls",
        "Calls by model",
        told,
        Table(heads, rows, _not_drawn(figures.models)),
        kinds,
        partial(by_name, bars, names, kinds, WHOLE),
    )


def latency(figures: Figures) -> Figure:
    """Show how long a model's calls take."""
    timed = [each for each in figures.models if each.durations_ms]
    in_ms = max((quantile(each.durations_ms, 0.95) for each in timed), default=0) < 2 * _SECOND_MS
    marks = [_mark(each, 1 if in_ms else _SECOND_MS) for each in timed[:_BARS_MAX]]
    rows = [
        [
            each.name,
            f"{len(each.durations_ms):,}",
            *(span(quantile(each.durations_ms, share)) for share in (0.5, 0.95)),
            span(each.durations_ms[-1]),
        ]
        for each in timed
    ]
    count = sum(len(each.durations_ms) for each in timed)
    told = f"Of the latest {counted(count, 'call')} whose length is kept: that of a day goes when the day is closed."
    return Figure(
        "latency",
        "Latency by model",
        told if timed else "Of no call it is kept how long it took.",
        Table(["model ", "calls", "median", "95 %", "longest"], rows, _not_drawn(timed)),
        [Kind("median", "actual", "median"), Kind("high", "unknown", "95 % are no longer")],
        partial(spans_by_name, marks, "milliseconds" if in_ms else "seconds", WHOLE if in_ms else ",~f"),
    )


def outcomes(figures: Figures, today: str) -> Figure:
    """Show how jobs ended, by day."""
    days = _days([*figures.outcomes], today)
    sums = {name: sum(counts.get(name, 0) for counts in figures.outcomes.values()) for name in STATUSES}
    kinds = [_ENDED[name] for name in STATUSES if sums[name]]
    bars = [
        Bar(day, kind.name, count, f"{day}: {counted(count, 'job')} {kind.name}")
        for day, counts in figures.outcomes.items()
        if day in days
        for kind in kinds
        if (count := counts.get(kind.name, 0))
    ]
    newest = sorted(figures.outcomes, reverse=True)
    rows = [
        [day, *(f"{figures.outcomes[day].get(kind.name, 0):,}" for kind in kinds)] for day in newest[:REPORT_DAYS_MAX]
    ]
    older = len(newest) - len(rows)
    more = f"{counted(older, 'earlier day')} more: curator audit jobs --csv" if older else None
    told = (
        listed([f"{count:,} {name}" for name, count in sums.items() if count]) + _shown(days)
        if kinds
        else "No job is over yet."
    )
    return Figure(
        "outcomes",
        "Jobs that ended, by UTC day",
        told,
        Table(["UTC day ", *(kind.name for kind in kinds)], rows, more),
        kinds,
        partial(by_day, bars, days, kinds, WHOLE),
    )


def failures(figures: Figures) -> Figure:
    """List why jobs failed."""
    rows = [[code, f"{count:,}"] for code, count in figures.failures]
    told = "By the code that curator jobs show explains." if rows else "No job failed."
    return Figure("failures", "Failures by code", told, Table(["code ", "jobs"], rows))


def queue(figures: Figures, now: int) -> Figure:
    """Show for how long jobs have waited that are not over."""
    counts: dict[tuple[str, str], int] = {}
    for each in figures.waiting:
        key = (_age(now - each.since_ms), each.place)
        counts[key] = counts.get(key, 0) + 1
    kinds = [kind for name, kind in _PLACES.items() if any(each.place == name for each in figures.waiting)]
    bars = [Bar(age, place, count, f"{age}: {counted(count, 'job')} {place}") for (age, place), count in counts.items()]
    names = [name for name, _ in _AGES]
    rows = (
        [[age, *(f"{counts.get((age, kind.name), 0):,}" for kind in kinds)] for age in names] if figures.waiting else []
    )
    return Figure(
        "queue",
        "Jobs that are not over, by how long ago they were accepted",
        _queue_told(figures, now),
        Table(["age ", *(kind.name for kind in kinds)], rows),
        kinds,
        partial(by_name, bars, names, kinds, WHOLE),
    )


def memory(figures: Figures, roots: Mapping[str, str | None]) -> Figure:
    """Show how full memories are."""
    named = [(memory_name(each.project_key, each.branch_name, roots), each) for each in figures.memories]
    drawn = named[:_BARS_MAX]
    kinds = [Kind("within", "actual", "characters"), Kind("over", "held", "characters, at the working size or above")]
    bars = [
        Bar(name, "over" if each.chars >= TARGET_CHARS else "within", each.chars, f"{name}: {each.chars:,} characters")
        for name, each in drawn
    ]
    rows = [
        [name, f"{each.entries:,}", f"{each.chars:,}", f"{each.chars * 100 // TARGET_CHARS} %", moment(each.updated_at)]
        for name, each in named
    ]
    left = figures.memories_of - len(named)
    note = (
        _not_drawn(named)
        if not left
        else f"{counted(left, 'smaller memory', 'smaller memories')} more: curator project list"
    )
    full = sum(each.chars >= TARGET_CHARS for _, each in named)
    told = (
        f"{counted(figures.memories_of, 'memory', 'memories')}, {full:,} at the working size of {TARGET_CHARS:,} characters "
        f"or above; none can hold more than {MEMORY_CHARS_MAX:,}."
    )
    lines = {"target": TARGET_CHARS, "limit": MEMORY_CHARS_MAX}
    key = [
        *(kind for kind in kinds if any(bar.kind == kind.name for bar in bars)),
        Kind("target", "target", f"working size, {TARGET_CHARS:,}"),
        Kind("limit", "limit", f"limit, {MEMORY_CHARS_MAX:,}"),
    ]
    return Figure(
        "memory-size",
        "Memory against its working size",
        told if named else "Nothing is remembered yet.",
        Table(["project and branch ", "entries", "characters", "of working size", "changed "], rows, note),
        key,
        partial(against, bars, [name for name, _ in drawn], kinds, lines),
    )


def memory_name(key: str, branch: str, roots: Mapping[str, str | None]) -> str:
    """Return what a memory is called on the page: its folder's name, and the head of its key."""
    root = roots.get(key)
    name = key[:12] if root is None else f"{PurePosixPath(root).name or root} · {key[:6]}"
    return name if branch == "main" else f"{name} · {branch}"


def _unit(figures: Figures) -> str:
    amounts = [figures.spent.of(name) for name in CERTAINTIES]
    if any(each.cost_nanousd for each in amounts):
        return "cost"
    return "tokens" if any(each.tokens for each in amounts) else "calls"


def _length(amounts: Amounts, unit: str) -> float:
    return {"cost": amounts.cost_nanousd / _NANO, "tokens": amounts.tokens, "calls": amounts.calls}[unit]


def _amount(amounts: Amounts, unit: str) -> str:
    return {
        "cost": dollars(amounts.cost_nanousd),
        "tokens": counted(amounts.tokens, "token"),
        "calls": counted(amounts.calls, "call"),
    }[unit]


def _cells(amounts: Amounts) -> list[str]:
    return [f"{amounts.calls:,}", f"{amounts.tokens:,}", dollars(amounts.cost_nanousd)]


def _days(known: Sequence[str], today: str) -> list[str]:
    """Return the days to draw, without a gap: to today, if what is known is not long past."""
    if not known:
        return [today]
    last = max(day_start(max(known)), min(day_start(today), day_start(max(known)) + REPORT_DAYS_MAX // 2 * DAY_MS))
    first = max(day_start(min(known)), last - (REPORT_DAYS_MAX - 1) * DAY_MS)
    first = min(first, last - (_DAYS_MIN - 1) * DAY_MS)
    return [day_of(ms) for ms in range(first, last + 1, DAY_MS)]


def _shown(days: Sequence[str]) -> str:
    return f"; the picture shows {days[0]} to {days[-1]}."


def _money(bars: Sequence[Bar]) -> str:
    """Return how d3 writes dollars on an axis, no more exactly than the highest bar asks for."""
    heights: dict[str, float] = {}
    for bar in bars:
        heights[bar.at] = heights.get(bar.at, 0) + bar.length
    highest = max(heights.values(), default=0)
    return "$,.0f" if highest >= _WHOLE_DOLLARS else "$,.2f" if highest >= 1 else "$.4~f"


def _mark(each: ModelCalls, unit_ms: int) -> tuple[str, float, float, str]:
    low, high = (quantile(each.durations_ms, share) for share in (0.5, 0.95))
    return each.name, low / unit_ms, high / unit_ms, f"{each.name}: median {span(low)}, 95 % within {span(high)}"


def _not_drawn(rows: Sequence[object]) -> str | None:
    left = len(rows) - _BARS_MAX
    return f"The picture shows the first {_BARS_MAX}." if left > 0 else None


def _age(ms: int) -> str:
    return next(name for name, limit in _AGES if limit is None or ms < limit)


def _queue_told(figures: Figures, now: int) -> str:
    turns = figures.turns_ms
    ended = (
        f" Of {counted(len(turns), 'job')} that ended lately, half took {span(quantile(turns, 0.5))} from acceptance to the"
        f" end, and 95 % no more than {span(quantile(turns, 0.95))}."
        if turns
        else ""
    )
    if not figures.waiting:
        return f"Nothing waits.{ended}"
    oldest = span(now - figures.waiting[0].since_ms)
    return f"{counted(len(figures.waiting), 'job')}, the oldest accepted {oldest} ago.{ended}"
