"""How it is told what jobs wait for: one job in half a sentence, many in groups, and a document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.cli.page import counted, dollars, moment, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curator.model.budget import Limits
    from curator.model.digest import Json
    from curator.model.ids import JobId
    from curator.workflow.inspect.waiting import Cause, Reason

LIMIT_KEYS: Final = {"calls": "maxCallsPerDay", "tokens": "maxTokensPerDay", "cost": "maxCostPerDayUsd"}
"""Which key of the reviewer in service.json raises a limit."""
RAISE: Final = "Raise it there, and they go on; or see `curator budget`"

_TEXTS: Final[dict[Cause, str]] = {
    "turn": "the next review",
    "retry": "{its} retry{at}{code}",
    "budget": "the next UTC day{at}{limit}",
    "configuration": "configuration{code}{again}",
    "unasked": "{its} next try{at}, because the reviewer was not asked",
    "policy": "a curator that may keep more memory{code}",
    "branch": "an older job of {its} branch{behind}",
    "mode": "{mode}",
    "project": "{its} project, which is {standing}",
    "held": "{its} release",
    "lease": "{worker}, which has {it}{until}",
}
_HINTS: Final[dict[Cause, str]] = {
    "retry": "; see `curator jobs show {first}`",
    "configuration": ": run `curator config check`, and once that is mended `curator jobs retry --all`",
    "unasked": ": run `curator config check`, then `curator jobs retry --all`",
    "policy": "; see `curator jobs show {first}`",
    "project": "; see `curator project list`",
    "held": "; see `curator jobs release --help`",
}
_MODES: Final = {
    "embedded": "another mode: it is embedded, so Pi reviews by itself and curator claims nothing",
    "shadow": "external mode, in which it was begun",
}
_STANDINGS: Final = {"link": "being linked", "purge": "being purged", "unreadable": "set to what cannot be read"}


def reason_text(reason: Reason) -> str:
    """Return what one job waits for, to be read after `waits for`."""
    return _text([reason])


def reason_document(reason: Reason) -> dict[str, Json]:
    """Return what one job waits for, for a program."""
    parts: dict[str, Json] = {
        "code": reason.code,
        "until": reason.until,
        "word": reason.word,
        "behind": reason.behind,
        "workerId": reason.worker_id,
    }
    told: dict[str, Json] = {"cause": reason.cause, "text": reason_text(reason).replace("`", "")}
    told |= {key: value for key, value in parts.items() if value is not None}
    return told | ({"isGone": reason.is_gone} if reason.cause == "lease" else {})


def group_lines(reasons: Mapping[JobId, Reason]) -> Iterator[str]:
    """Yield a line for each thing that jobs wait for: how many, for what, until when, and what helps."""
    groups: dict[tuple[str | bool | None, ...], list[JobId]] = {}
    for job_id, reason in reasons.items():
        key = (reason.cause, reason.code, reason.word, reason.worker_id, reason.is_gone)
        groups.setdefault(key, []).append(job_id)
    for ids in groups.values():
        members = [reasons[job_id] for job_id in ids]
        hint = _HINTS.get(members[0].cause, "").format(first=short(ids[0]))
        yield f"  {len(ids):,} {'waits' if len(ids) == 1 else 'wait'} for {_text(members)}{hint}."


def limit_said(limit: str, limits: Limits) -> str:
    """Return a limit of the day by its figure and the key that raises it."""
    figures = {
        "calls": counted(limits.calls, "call"),
        "tokens": counted(limits.tokens, "token"),
        "cost": dollars(limits.cost_nanousd),
    }
    return f"{figures.get(limit, limit)} a day ({LIMIT_KEYS.get(limit, limit)} in service.json)"


def _text(alike: Sequence[Reason]) -> str:
    first, is_one = alike[0], len(alike) == 1
    moments = sorted({reason.until for reason in alike if reason.until is not None})
    when = "" if not moments else moment(moments[0]) + ("" if len(moments) == 1 else " and later")
    limit = LIMIT_KEYS.get(first.word or "")
    used_up = (
        "" if limit is None else f", because the day's {first.word} are used up ({limit} in service.json). {RAISE}"
    )
    return (
        _TEXTS[first.cause]
        .format(
            its="its" if is_one else "their",
            it="it" if is_one else "them",
            at=when and f" at {when}",
            until=when and f" until {when}",
            again=when and f", tried again at {when}",
            code="" if first.code is None else f" ({first.code})",
            limit=used_up.replace("cost are", "cost is"),
            behind=f", {short(first.behind)}" if is_one and first.behind is not None else "",
            mode=_MODES.get(first.word or "", "another mode"),
            standing=_STANDINGS.get(first.word or "", first.word),
            worker=f"{first.worker_id}{', whose process is gone' if first.is_gone else ''}",
        )
        .replace(",, which", ", which")
    )
