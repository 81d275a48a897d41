"""How spend is shown: a provider's day against its limits, an attempt in one line, and both as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.cli.job_page import OFFLINE, exposed, used
from curator.cli.page import counted, dollars, moment, short
from curator.model.budget import Amount, Exposure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curator.model.digest import Json
    from curator.workflow.inspect.budget import Budget
    from curator.workflow.inspect.calls import Call

_BAR_CHARS: Final = 30
_MARKS: Final = (("spent", "#"), ("held", "="), ("unknown", "?"))
_EARLIER: Final = ("of earlier days", "~")
_FREE: Final = "."
UNRESOLVED: Final = "curator budget attempts --unresolved"


def budget_lines(budget: Budget, day: str) -> Iterator[str]:
    """Tell a provider's day: its columns, what has no end of the days before, the limits, and where Pi differs."""
    exposure, limits = budget.exposure, budget.limits
    columns = (("spent", exposure.actual), ("held", exposure.held), ("unknown", exposure.unknown))
    told = [f"{exposed(budget.provider, amount)} {name}" for name, amount in columns if amount.calls or name == "spent"]
    bound = ""
    if limits is not None:
        bound = f", of {counted(limits.calls, 'call')}, {limits.tokens:,} tokens, {dollars(limits.cost_nanousd)}"
    yield f"{budget.provider} {day}: {'; '.join(told)}{bound}"
    yield from _bars(budget)
    earlier = budget.earlier.total
    if earlier != Amount():
        most = f"at most {earlier.tokens:,} tokens, {dollars(earlier.cost_nanousd)}"
        yield f"{counted(earlier.calls, 'call')} of earlier days without an end count too, {most}; see `{UNRESOLVED}`"
    if budget.panel is not None:
        shown = exposed(budget.provider, budget.panel.exposure.total)
        why = (
            "by the protocol, which takes no estimate and no correction"
            if budget.panel.is_current
            else "for its file lags behind; the next run brings it up"
        )
        yield f"Pi's panel shows {shown} in all, {why}"


def _bars(budget: Budget) -> Iterator[str]:
    """Draw each limit of the day: what is spent, held and unknown of it, each with a mark of its own."""
    if budget.limits is None:
        return
    limits = budget.limits
    rows: list[tuple[str, int, Callable[[Amount], int], Callable[[int], str]]] = [
        ("calls", limits.calls, lambda amount: amount.calls, lambda number: f"{number:,}"),
        ("tokens", limits.tokens, lambda amount: amount.tokens, lambda number: f"{number:,}"),
        ("cost", limits.cost_nanousd, lambda amount: amount.cost_nanousd, dollars),
    ]
    exposure, earlier = budget.exposure, budget.earlier.total
    parts, marks = [exposure.actual, exposure.held, exposure.unknown], list(_MARKS)
    if earlier != Amount():
        parts, marks = [*parts, earlier], [*marks, _EARLIER]
    for name, limit, take, said in rows[:1] if budget.provider == OFFLINE else rows:
        amounts = [take(part) for part in parts]
        told = ", ".join(f"{said(amount)} {word}" for (word, _), amount in zip(marks, amounts, strict=True))
        drawn = _bar(amounts, [mark for _, mark in marks], limit)
        yield f"{name:<7} [{drawn}] {told} of {said(limit)}"


def _bar(amounts: Sequence[int], marks: Sequence[str], limit: int) -> str:
    """Return a bar in which everything that is there shows, however little it is."""
    drawn = ""
    for mark, amount in zip(marks, amounts, strict=True):
        drawn += mark * (max(1, amount * _BAR_CHARS // limit) if amount else 0)
    return drawn[:_BAR_CHARS].ljust(_BAR_CHARS, _FREE)


def budget_document(budget: Budget) -> dict[str, Json]:
    """Return a provider's day for a program."""
    told: dict[str, Json] = {"provider": budget.provider, **columns_document(budget.exposure)}
    if budget.earlier != Exposure():
        told["earlier"] = columns_document(budget.earlier)
    if budget.limits is not None:
        limits = budget.limits
        told["limits"] = amount_document(Amount(limits.calls, limits.tokens, limits.cost_nanousd))
    if budget.panel is not None:
        told["piPanel"] = columns_document(budget.panel.exposure) | {"isCurrent": budget.panel.is_current}
    return told


CALL_COLUMNS: Final = (
    "day",
    "attemptId",
    "provider",
    "model",
    "jobId",
    "reservedAt",
    "state",
    "column",
    "calls",
    "tokens",
    "costNanodollars",
    "isEstimated",
    "source",
    "reason",
    "errand",
)
"""What an export says of a call, in this order."""


def call_line(call: Call) -> str:
    """Return a call in one line."""
    total, when = call.exposure.total, f"{call.day}  " if call.reserved_at is None else f"{moment(call.reserved_at)}  "
    if call.state == "cancelled":
        cost = "never sent"
    elif call.state in ("settled", "corrected"):
        cost = used(call.provider, total.tokens, total.cost_nanousd, is_estimated=call.is_estimated)
        cost = "not billed" if not total.calls else cost
    else:
        cost = f"at most {total.tokens:,} tokens, {dollars(total.cost_nanousd)}"
    said = "" if call.source is None else f", by {'a late result' if call.source == 'late-result' else 'an operator'}"
    why = "" if call.reason is None else f": {call.reason}"
    asker = call.errand if call.job_id is None else short(call.job_id)
    job = "" if asker is None else f", {asker}"
    return f"{call.id}  {when}{call.state}, {call.provider}{job}, {cost}{said}{why}"


def call_document(call: Call) -> dict[str, Json]:
    """Return a call for a program: its figures, and the column of the budget in which they stand."""
    exposure, total = call.exposure, call.exposure.total
    columns = (("actual", exposure.actual), ("held", exposure.held), ("unknown", exposure.unknown))
    told: dict[str, Json | None] = {
        "day": call.day,
        "attemptId": call.id,
        "provider": call.provider,
        "model": call.model,
        "jobId": call.job_id,
        "reservedAt": call.reserved_at,
        "state": call.state,
        "column": next((name for name, amount in columns if amount != Amount()), None),
        "calls": total.calls,
        "tokens": total.tokens,
        "costNanodollars": total.cost_nanousd,
        "isEstimated": call.is_estimated,
        "source": call.source,
        "reason": call.reason,
        "errand": call.errand,
    }
    return {name: value for name, value in told.items() if value is not None}


def columns_document(exposure: Exposure) -> dict[str, Json]:
    """Return the columns of an exposure for a program."""
    columns = (("actual", exposure.actual), ("held", exposure.held), ("unknown", exposure.unknown))
    return {name: amount_document(amount) for name, amount in columns}


def amount_document(amount: Amount) -> Json:
    """Return an amount for a program."""
    return {"calls": amount.calls, "tokens": amount.tokens, "costNanodollars": amount.cost_nanousd}
