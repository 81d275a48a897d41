"""`curator eval`: how good a reviewer is, on conversations that are made up and frozen."""

from __future__ import annotations

import enum
import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, dollars, is_terminal, say, warn
from curator.cli.progress import progress
from curator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator.app import App
    from curator.model.digest import Json
    from curator.quality.corpus import Half
    from curator.quality.exam import Paper
    from curator.quality.trials import Sitting
    from curator.workflow.halting import Halted
    from curator.workflow.trial import Purse

_INTERRUPTED: Final = 130
_NANO: Final = 1_000_000_000
_COST_MAX: Final = 1_000_000


class Who(enum.StrEnum):
    """Which reviewer is examined."""

    OFFLINE = "offline"
    CONFIGURED = "configured"


class Part(enum.StrEnum):
    """Which half of the corpus."""

    SEEN = "seen"
    UNSEEN = "unseen"
    BOTH = "both"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("eval")(evaluate)


def evaluate(
    reviewer: Annotated[
        Who, typer.Option("--reviewer", help="The built-in one, or the one that service.json names.")
    ] = Who.OFFLINE,
    half: Annotated[Part, typer.Option("--half", help="The half that rules and prompts may be tuned on, or not.")] = (
        Part.BOTH
    ),
    calls_max: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", min=1, help="Ask about at most so many conversations.")
    ] = None,
    cost_max: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="DOLLARS", min=0, max=_COST_MAX, help="Spend at most so much."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask the configured reviewer without asking you first.")] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Score a reviewer on frozen, made-up conversations.

    The offline reviewer needs no agent folder and costs nothing. The configured one is paid for: every call is held,
    counted against the day's limits and capped by --max-calls and --max-cost; no project's memory is read or changed.
    Ends with 1 where it could not ask to the end, and with 130 where it was interrupted.
    """
    from curator.quality.corpus import HALVES
    from curator.quality.trials import sittings

    halves = {Part.SEEN: HALVES[:1], Part.UNSEEN: HALVES[1:], Part.BOTH: HALVES}[half]
    chosen = sittings(halves)[:calls_max]
    if reviewer is Who.OFFLINE:
        _tell("offline", halves, chosen, _offline(chosen), None, None, as_json=as_json)
        return 0
    return _configured(halves, chosen, calls_max, cost_max, agent_dir, yes=yes, as_json=as_json)


def _offline(chosen: Sequence[Sitting]) -> list[Paper]:
    from curator.durable.clock import SystemClock
    from curator.quality.exam import offline, sit

    ask = offline(SystemClock())
    papers: list[Paper] = []
    with progress(is_shown=True) as show:
        for each in chosen:
            papers.append(sit(each.conversation, each.half, ask))
            show(len(papers), len(chosen), "")
    return papers


def _configured(
    halves: tuple[Half, ...],
    chosen: Sequence[Sitting],
    calls_max: int | None,
    cost_max: float | None,
    agent_dir: Path | None,
    *,
    yes: bool,
    as_json: bool,
) -> int:
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.cli.review import SignalStop
    from curator.durable.clock import SystemClock
    from curator.quality.exam import Paper
    from curator.quality.trials import examine
    from curator.workflow.trial import Purse

    stop = SignalStop(SystemClock())
    purse = Purse(calls_max, None if cost_max is None else round(cost_max * _NANO))
    papers: list[Paper] = []
    halted: Halted | None = None
    with stop:
        opened = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)), stop=stop)
        opened.refuse_foreign_worker()
        name = _agree(opened, chosen, cost_max, yes=yes, as_json=as_json)
        with progress(is_shown=not as_json) as show:
            for each in examine(chosen, opened.shop, purse):
                if isinstance(each, Paper):
                    papers.append(each)
                    show(len(papers), len(chosen), dollars(purse.spent.cost_nanousd))
                else:
                    halted = each
        opened.project()
    _tell(name, halves, chosen, papers, purse, halted, as_json=as_json)
    if stop.is_set():
        return _INTERRUPTED
    return 0 if halted is None or halted.is_wanted else 1


def _agree(opened: App, chosen: Sequence[Sitting], cost_max: float | None, *, yes: bool, as_json: bool) -> str:
    """Say what it may cost, and let a person say yes. Returns the reviewer's name."""
    from curator.errors import ReviewerSetupError
    from curator.quality.trials import most

    profile = opened.service.reviewer
    if profile is None:
        raise ReviewerSetupError(
            "model_not_found", "service.json names no reviewer", remedy="Run `curator config init`"
        )
    name = f"{profile.provider}/{profile.model}"
    hold = most(chosen, opened.shop.reviewer)
    cap = "" if cost_max is None else f", and never more than {dollars(round(cost_max * _NANO))}"
    fact = f"{counted(len(chosen), 'call')} to {name}, held at {dollars(hold.cost_nanousd)} together{cap}"
    nothing = UsageError(f"nothing was asked: {fact}", remedy="Run it again with --yes")
    if not yes and (as_json or not is_terminal(sys.stdin)):
        raise nothing
    if not as_json:
        say(f"{fact}. The conversations are made up; they are sent to that provider.")
        _warn_of_limits(len(chosen), hold.tokens, hold.cost_nanousd, opened)
    if not yes and not typer.confirm("Ask it?", err=True):
        raise nothing
    return name


def _warn_of_limits(calls: int, tokens: int, cost_nanousd: int, opened: App) -> None:
    from curator.model.budget import Exposure
    from curator.model.ports import Hold

    profile = opened.service.reviewer
    assert profile is not None
    limits = profile.limits
    is_above = calls > limits.calls or limits.refusal(Exposure(), Hold(tokens, cost_nanousd)) is not None
    if is_above:
        say("That may be more than a day's limits in service.json: it ends where they do, and scores what was asked.")


def _tell(
    name: str,
    halves: tuple[Half, ...],
    chosen: Sequence[Sitting],
    papers: Sequence[Paper],
    purse: Purse | None,
    halted: Halted | None,
    *,
    as_json: bool,
) -> None:
    from curator.quality.corpus import FOLDER
    from curator.quality.exam import table_of
    from curator.quality.report import document_of, lines_of
    from curator.reviewer.prompt import PROMPT_VERSION

    tables = [table_of(half, papers) for half in halves]
    if as_json:
        told: list[Json] = [document_of(table) for table in tables]
        answer: dict[str, Json] = {"reviewer": name, "corpus": str(FOLDER), "wanted": len(chosen), "halves": told}
        if purse is not None:
            spent = purse.spent
            answer |= {"promptVersion": PROMPT_VERSION, "calls": spent.calls, "tokens": spent.tokens}
            answer |= {"costNanousd": spent.cost_nanousd}
        document(answer if halted is None else answer | {"halted": halted.fact})
        return
    for table in tables:
        for line in lines_of(table):
            say(line)
        say()
    say(f"{counted(len(papers), 'conversation')} of {FOLDER}, reviewed by {name}.")
    if purse is not None:
        spent = purse.spent
        say(f"{counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}, {dollars(spent.cost_nanousd)}.")
    if halted is not None:
        warn(f"{len(chosen) - len(papers)} were not asked: {halted.fact}. {halted.remedy}")
