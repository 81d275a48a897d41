"""`curator budget`: what calls have cost, what they may cost still, and a person's word on the ones without an end."""

from __future__ import annotations

import csv
import os
import sys
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from curator.cli.options import AgentDir, AsJson, PlainCommand, layout_of
from curator.cli.page import counted, document, dollars, say
from curator.errors import UsageError

if TYPE_CHECKING:
    from curator.model.digest import Json
    from curator.model.ids import Day
    from curator.workflow.reconcile import Bill, Word, Words

app = typer.Typer(help="Show what calls have cost, export it, prove it, and settle those whose end nobody knows.")

_NANO: Final = 1_000_000_000
_TOKENS_MAX: Final = 1_000_000_000
_DOLLARS_MAX: Final = 1_000_000
_REASON_CHARS_MAX: Final = 500
_BILL_PARTS: Final = 2
_DIFFERS: Final = 67
"""The figures that are shown are not what the files come to."""

DayOption: TypeAlias = Annotated[
    str | None, typer.Option("--day", metavar="DAY", help="A UTC day, YYYY-MM-DD. [default: today]")
]


@app.command()
def show(day: DayOption = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show what a UTC day has cost each provider, of which limits, and what of earlier days counts too.

    spent is what is settled, held what is under way, unknown what may have been billed. `curator status` shows the same.
    """
    from curator.cli.budget_page import budget_document, budget_lines
    from curator.durable.clock import SystemClock
    from curator.model.ids import Day
    from curator.model.times import day_of
    from curator.workflow.inspect.budget import settings_of, shown_day

    layout, today = layout_of(agent_dir), Day(day_of(SystemClock().now()))
    asked = today if day is None else day_of_option(day, "--day")
    found, faults = shown_day(layout, asked, is_today=asked == today)
    if as_json:
        told: dict[str, Json] = {"day": asked, "unresolved": settings_of(layout).budget.unresolved}
        told["faults"] = [fault.fact for fault in faults]
        document(told | {"budgets": [budget_document(each) for each in found]})
        return
    for fault in faults:
        say(f"Attention: {fault.fact}. {fault.remedy}.")
    for budget in found:
        first, *more = budget_lines(budget, "today" if asked == today else f"on {asked}")
        say(first)
        for line in more:
            say(f"  {line}")
    if not found:
        say(f"Nobody was asked {'today' if asked == today else f'on {asked}'}.")


@app.command()
def attempts(
    day: DayOption = None,
    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="Those without an end, of any day: held, or unknown.")
    ] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """List the calls of a day, or those of any day whose end nobody knows."""
    from curator.cli.budget_page import call_document, call_line
    from curator.durable.clock import SystemClock
    from curator.model.ids import Day
    from curator.model.times import day_of
    from curator.workflow.inspect.books import open_books
    from curator.workflow.inspect.calls import calls_of, unresolved_calls

    if unresolved and day is not None:
        raise UsageError("--unresolved lists every day, so it takes no --day", remedy="Leave one of them out")
    store = open_books(layout_of(agent_dir)).attempts
    asked = Day(day_of(SystemClock().now())) if day is None else day_of_option(day, "--day")
    found = tuple(unresolved_calls(store)) if unresolved else calls_of(store, asked)
    if as_json:
        document({"attempts": [call_document(call) for call in found]})
        return
    for call in found:
        say(call_line(call))
    if unresolved and found:
        say("See the provider's bill, then run `curator budget reconcile ATTEMPT --help`.")
    if not found:
        say("Every call has its end." if unresolved else f"No call on {asked}.")


@app.command(cls=PlainCommand)
def reconcile(
    attempt: Annotated[
        str | None, typer.Argument(metavar="[ATTEMPT]", help="An attempt's id, or its first digits.")
    ] = None,
    actual: Annotated[
        str | None,
        typer.Option("--actual", metavar="TOKENS,COST", help="It was billed so many tokens, and so many dollars."),
    ] = None,
    not_billed: Annotated[bool, typer.Option("--not-billed", help="The provider did not bill it.")] = False,
    all_: Annotated[
        bool,
        typer.Option("--all", help="All of the days before DAY; without --not-billed each at what was held for it."),
    ] = False,
    before: Annotated[
        str | None, typer.Option("--before", metavar="DAY", help="With --all: the first UTC day to leave alone.")
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is kept, for good.")] = None,
    *,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Settle a call whose end nobody knows, by what the provider's bill says of it.

    Each word is a record that never changes: saying the same again does nothing, and saying something else is a conflict.
    A call that is under way is left to its owner. The service may run meanwhile; jobs that wait for the room go on.
    """
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.workflow.headroom import let_go_on
    from curator.workflow.reconcile import Words, reconcile_before
    from curator.workflow.reconcile import reconcile as settle

    bill, why = _bill(actual, not_billed=not_billed), _reason(reason)
    if (attempt is None) is not all_ or (before is None) is all_:
        raise UsageError("say which attempt, or --all --before DAY", remedy="See `curator budget reconcile --help`")
    if attempt is not None and actual is None and not not_billed:
        raise UsageError("say what it cost", remedy="With --actual TOKENS,COST, or --not-billed")
    if all_ and actual is not None:
        raise UsageError("--actual is the bill of one call", remedy="Name that call, or leave --actual out")
    until = None if before is None else day_of_option(before, "--before")
    shop = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir))).shop
    if until is None:
        assert attempt is not None
        words = Words((settle(attempt, bill, why, shop),), ())
    else:
        words = reconcile_before(until, bill, why, shop, at_hold=not not_billed)
    _tell_words(words, let_go_on(shop), as_json=as_json)


def _tell_words(words: Words, gone_on: int, *, as_json: bool) -> None:
    from curator.cli.budget_page import amount_document

    if as_json:
        said: list[Json] = [
            {
                "attemptId": each.attempt_id,
                "day": each.day,
                "provider": each.provider,
                "isNew": each.is_new,
                "charged": amount_document(each.charged),
            }
            for each in words.said
        ]
        document({"reconciled": said, "underWay": list(words.open), "jobsGoOn": gone_on})
        return
    for each in words.said:
        say(f"{each.attempt_id} of {each.day}: {_verdict(each)}.")
    if not words.said:
        say("No call before that day is without an end.")
    if words.open:
        say(f"{counted(len(words.open), 'call')} under way, left alone.")
    if gone_on:
        say(f"{counted(gone_on, 'job')} that waited for the budget may go on.")


def _verdict(word: Word) -> str:
    charged = word.charged
    what = f"{charged.tokens:,} tokens, {dollars(charged.cost_nanousd)}" if charged.calls else "not billed"
    return what if word.is_new else f"{what}, as was said before"


@app.command()
def export(
    since: Annotated[str | None, typer.Option("--since", metavar="DAY", help="The first UTC day.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DAY", help="The last UTC day.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Answer in CSV, as without any option.")] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Write every call, one a row: day, attempt, provider, state, calls, tokens and nano-dollars, and who said so."""
    from curator.cli.budget_page import CALL_COLUMNS, call_document
    from curator.model.settings import FIRST_DAY
    from curator.workflow.inspect.books import open_books
    from curator.workflow.inspect.calls import all_calls

    if as_csv and as_json:
        raise UsageError("an export is CSV or JSON, not both", remedy="Leave one of them out")
    first = FIRST_DAY if since is None else day_of_option(since, "--since")
    last = None if until is None else day_of_option(until, "--until")
    rows = map(call_document, all_calls(open_books(layout_of(agent_dir)).attempts, first, last))
    if as_json:
        document({"attempts": list(rows)})
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CALL_COLUMNS)
    for row in rows:
        writer.writerow([row.get(column, "") for column in CALL_COLUMNS])


@app.command()
def prove(agent_dir: AgentDir = None, as_json: AsJson = False) -> int:
    """Add up what is shown from the files, call by call and by code of its own, and say where any figure differs.

    Ends with 67 where one does, or where a file cannot be read, so that what it says cannot be proved.
    """
    from curator.cli.proof import prove_figures

    layout = layout_of(agent_dir)
    proof = prove_figures(layout)
    found = [(str(each.path.relative_to(layout.agent)), each.fact) for each in proof.findings]
    if as_json:
        differences: list[Json] = [{"path": path, "fact": fact} for path, fact in found]
        document({"calls": proof.calls, "days": proof.days, "differences": differences})
    else:
        for path, fact in found:
            say(f"{path} {fact}")
        summed = f"{counted(proof.calls, 'call')} of {counted(proof.days, 'day')}"
        say(f"{summed}: {counted(len(found), 'figure')} differ." if found else f"{summed} come to what is shown.")
    return _DIFFERS if found else 0


def day_of_option(text: str, option: str) -> Day:
    """Return the UTC day that an option names, or raise `UsageError`."""
    from curator.model.ids import DAY_PATTERN, Day

    try:
        date.fromisoformat(text)
    except ValueError:
        text = ""
    if not DAY_PATTERN.fullmatch(text):
        raise UsageError(f"{option} takes a UTC day, as 2026-01-31")
    return Day(text)


def _bill(actual: str | None, *, not_billed: bool) -> Bill:
    """Return the tokens and nano-dollars of a bill, `TOKENS,COST` with the cost in dollars."""
    if actual is None:
        return None
    if not_billed:
        raise UsageError("--actual and --not-billed say two things", remedy="Leave one of them out")
    parts = actual.split(",")
    remedy = "Write --actual TOKENS,COST with the cost in dollars, as --actual 1234,0.0567"
    try:
        cost = Decimal(parts[-1])
    except InvalidOperation:
        cost = Decimal(-1)
    tokens = parts[0] if len(parts) == _BILL_PARTS else ""
    if not (tokens.isascii() and tokens.isdigit() and cost.is_finite() and 0 <= cost <= _DOLLARS_MAX):
        raise UsageError("--actual is not tokens and dollars", remedy=remedy)
    if int(tokens) > _TOKENS_MAX:
        raise UsageError(f"--actual is more than {_TOKENS_MAX:,} tokens", remedy=remedy)
    return int(tokens), int((cost * _NANO).to_integral_value(ROUND_HALF_UP))


def _reason(reason: str | None) -> str:
    text = (reason or "").strip()
    if not text:
        raise UsageError("a word on a call needs a reason", remedy="Say why with --reason TEXT; it is kept")
    if len(text) > _REASON_CHARS_MAX:
        raise UsageError(f"the reason is longer than {_REASON_CHARS_MAX} characters", remedy="Say it in fewer")
    return text
