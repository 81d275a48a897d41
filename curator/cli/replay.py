"""`curator replay`: what another model makes of a job's evidence, beside what was made of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.options import AgentDir, AsJson, JobArgument, PlainCommand, layout_of
from curator.cli.page import clean, document, dollars, recite, say, short
from curator.errors import BusyError, ConfigError, RefusedError, ReviewerSetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator.model.digest import Json
    from curator.model.proposal import Operation
    from curator.workflow.comparison import Difference, Kept
    from curator.workflow.trial import Trial, Tried

_INTERRUPTED = 130


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=PlainCommand)(replay)


def replay(
    job: JobArgument,
    model: Annotated[
        str, typer.Option("--model", metavar="PROVIDER/MODEL", help="Who reviews it: as in models.json, or `offline`.")
    ],
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Let another model review a job's evidence, and compare.

    Nothing is changed: neither memory, nor the job, nor its decision. The evidence, while it is kept, is sent to that
    model in one call, which is counted against the day's limits like any other.
    """
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.cli.review import SignalStop
    from curator.durable.clock import SystemClock
    from curator.workflow.comparison import compare, find_kept, review_again
    from curator.workflow.inspect.jobs import find_job_id
    from curator.workflow.judging import Lacking
    from curator.workflow.trial import Purse, Unsent

    with SignalStop(SystemClock()) as stop:
        opened = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)), stop=stop)
        opened.refuse_foreign_worker()
        kept = find_kept(find_job_id(opened.layout, job), opened.shop)
        asking = opened.asking(model)
        tried = review_again(kept, asking.shop, Purse())
        asking.project()
    if stop.is_set() or (isinstance(tried, Unsent) and tried.unready is None):
        return _INTERRUPTED
    tried = _made(tried)
    if isinstance(tried.judged, Lacking):
        fact = f"{model} gave no proposal: {tried.judged.message} ({dollars(tried.charged.cost_nanousd)} charged)"
        raise RefusedError(fact, remedy="Nothing was changed; the call is counted")
    after = tried.judged.outcome
    before = () if kept.outcome is None else kept.outcome.operations
    difference = compare(before, after.operations)
    if as_json:
        document(_document(kept, model, tried, after.operations, difference))
    else:
        _tell(kept, model, tried, difference)
    return 0


def _made(tried: Trial) -> Tried:
    """Return a call that was made, or raise why it was not."""
    from curator.workflow.attempt import Spent
    from curator.workflow.trial import Capped, Unsent

    match tried:
        case Spent(provider, limit):
            fact = f"the day's limit of {limit} for {provider} leaves no room for one more call"
            raise BusyError(fact, remedy="Try again after midnight UTC, or raise that limit in service.json")
        case Unsent(unready):
            assert unready is not None
            raise ReviewerSetupError(unready.code, unready.fact, remedy=unready.remedy)
        case Capped(cap):
            fact = f"the cap of {cap} was reached"
            raise ConfigError(fact)
        case _:
            return tried


def _tell(kept: Kept, model: str, tried: Tried, difference: Difference) -> None:
    name = short(kept.job.id)
    if kept.outcome is None:
        say(f"{name} was not reviewed yet.")
    else:
        first = kept.outcome.provenance
        cost = dollars(round(first.usage.cost.total * 1_000_000_000))
        say(f"{name} was reviewed by {first.provider}/{first.model}: {first.usage.total_tokens:,} tokens, {cost}.")
    known = "" if tried.is_certain else ", at most: nobody knows what it came to"
    say(f"Again by {model}: {tried.charged.tokens:,} tokens, {dollars(tried.charged.cost_nanousd)}{known}.")
    if not kept.is_own_base:
        say("The memory it was judged against is not kept any more; it was judged against what Pi captured.")
    rows = [("same", each) for each in difference.same]
    for before, after in difference.changed:
        rows += [("before", before), ("after", after)]
    rows += [("missing", each) for each in difference.missing] + [("added", each) for each in difference.added]
    for word, operation in rows:
        recite(f"  {word:<8} {_line(operation)}")
    if not rows:
        say("Neither proposed anything.")
    say("Nothing was changed.")


def _line(operation: Operation) -> str:
    from curator.workflow.comparison import targets

    encoded = operation.encode()
    where = ", ".join(sorted(targets(operation)))
    content = clean(str(encoded.get("content", ""))).replace("\n", " ")
    importance = encoded.get("importance")
    parts = [operation.action, where, f"({importance})" if importance is not None else "", content]
    return " ".join(part for part in parts if part)


def _document(
    kept: Kept, model: str, tried: Tried, operations: Sequence[Operation], difference: Difference
) -> dict[str, Json]:
    first = kept.outcome
    before: dict[str, Json] | None = None
    if first is not None:
        before = {
            "reviewer": f"{first.provenance.provider}/{first.provenance.model}",
            "tokens": first.provenance.usage.total_tokens,
            "costNanousd": round(first.provenance.usage.cost.total * 1_000_000_000),
            "operations": _encoded(first.operations),
        }
    after: dict[str, Json] = {
        "reviewer": model,
        "tokens": tried.charged.tokens,
        "costNanousd": tried.charged.cost_nanousd,
        "isCertain": tried.is_certain,
        "operations": _encoded(operations),
    }
    changed: list[Json] = [{"before": one.encode(), "after": other.encode()} for one, other in difference.changed]
    return {
        "jobId": kept.job.id,
        "isOwnBase": kept.is_own_base,
        "before": before,
        "after": after,
        "same": _encoded(difference.same),
        "changed": changed,
        "missing": _encoded(difference.missing),
        "added": _encoded(difference.added),
    }


def _encoded(operations: Sequence[Operation]) -> list[Json]:
    return [each.encode() for each in operations]
