"""`curator backfill promote` and `rollback`: what of a plan comes into memory, and out of it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curator.cli.backfill import PlanArgument, find_plan, open_agent
from curator.cli.options import AgentDir, AsJson, PlainCommand
from curator.cli.page import counted, document, say
from curator.errors import RefusedError

if TYPE_CHECKING:
    from curator.model.digest import Json
    from curator.tracks.backfill.promote import Done, Proposal
    from curator.tracks.backfill.records import Plan
    from curator.tracks.backfill.rollback import TakenBack


def register(app: typer.Typer) -> None:
    """Add the commands to their group."""
    app.command(cls=PlainCommand)(promote)
    app.command(cls=PlainCommand)(rollback)


def promote(
    plan_id: PlanArgument,
    part: Annotated[
        int | None, typer.Option("--part", metavar="K", min=1, help="Which part, where one revision cannot hold all.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Change memory as the diff says.")] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what a plan would change in memory as one diff; with --yes, change it.

    A revision holds 32 changes: where there are more, or memory could not take them at once, the diff comes in parts, and
    each is promoted by itself, in order. The branch is kept as it was, byte for byte, before anything is written.
    `/memory undo` in Pi and `curator memory undo` take the last part back.
    """
    from curator.tracks.backfill.promote import begin_memory, finish_begun, promote, propose

    opened = open_agent(agent_dir)
    made, shelf = find_plan(plan_id, opened)
    with shelf.alone():
        if yes:
            begin_memory(made, opened.shop)
            if finish_begun(made, shelf, opened.shop) and not as_json:
                say("A promotion that was cut off is finished.")
        proposal = propose(made, shelf, opened.shop)
        chosen = _chosen(made, proposal, part)
        done: Done | None = None
        if yes and proposal.parts:
            if chosen is None:
                _refuse_split(made, proposal)
            done = promote(made, shelf, opened.shop, proposal.parts[0])
    if as_json:
        document(_promotion_document(made, proposal, done))
    else:
        _tell_promotion(made, proposal, chosen, done)


def _chosen(made: Plan, proposal: Proposal, part: int | None) -> int | None:
    """Return the number of the part that comes next, if it is the one that is asked for, or the only one."""
    following = len(proposal.promoted) + 1
    if part is None:
        return following if len(proposal.parts) == 1 else None
    if part < following:
        raise RefusedError(f"{made.id}: part {part} is in memory already")
    if part > following or not proposal.parts:
        fact = (
            f"{made.id}: part {part} is not the next one"
            if proposal.parts
            else f"{made.id}: nothing is left to promote"
        )
        raise RefusedError(fact, remedy=f"Parts go in order; the next is {following}" if proposal.parts else None)
    return following


def _refuse_split(made: Plan, proposal: Proposal) -> None:
    following = len(proposal.promoted) + 1
    fact = f"{made.id}: one revision cannot hold all of this, so it comes in {len(proposal.parts)} parts"
    raise RefusedError(fact, remedy=f"Begin with `curator backfill promote {made.id} --part {following} --yes`")


def _promotion_document(made: Plan, proposal: Proposal, done: Done | None) -> dict[str, Json]:
    from curator.cli.changes import changes_document
    from curator.workflow.inspect.history import lines_between

    first = len(proposal.promoted) + 1
    parts: list[Json] = [
        {
            "part": number,
            "windows": list(each.windows),
            "changes": changes_document(lines_between(each.before, each.after)),
            "isPromoted": done is not None and number == first,
        }
        for number, each in enumerate(proposal.parts, start=first)
    ]
    told: dict[str, Json] = {
        "planId": made.id,
        "branchName": made.branch_name,
        "promotedBefore": len(proposal.promoted),
        "parts": parts,
        "leftOut": list(proposal.left_out),
        "isChanged": done is not None,
    }
    if done is not None:
        told |= {"revisionId": done.promotion.revision_id, "jobId": done.job_id, "number": done.promotion.number}
    return told


def _tell_promotion(made: Plan, proposal: Proposal, chosen: int | None, done: Done | None) -> None:
    from curator.cli.changes import show_changes
    from curator.workflow.inspect.history import lines_between

    first = len(proposal.promoted) + 1
    shown = proposal.parts[:1] if done is not None or chosen is not None else proposal.parts
    for number, each in enumerate(shown, start=first):
        if len(proposal.parts) > 1 or first > 1:
            say(f"Part {number}, {counted(each.changes, 'change')}:")
        show_changes(lines_between(each.before, each.after))
    for reason in proposal.left_out:
        say(f"Left out: {reason}")
    if not proposal.parts:
        say(f"{made.id}: nothing {'more ' if proposal.promoted else ''}is to be promoted.")
    elif done is not None:
        left = len(proposal.parts) - 1
        more = f" {counted(left, 'part is', 'parts are')} left." if left else ""
        say(f"Memory is changed, by {counted(proposal.parts[0].changes, 'change')} in one revision.{more}")
    elif len(proposal.parts) > 1 and chosen is None:
        say(f"Nothing was changed. It comes in {len(proposal.parts)} parts; begin with --part {first} --yes.")
    else:
        say("Nothing was changed. Say --yes to change memory so.")


def rollback(
    plan_id: PlanArgument,
    exact: Annotated[
        bool, typer.Option("--exact", help="Put the file back byte for byte; only if nothing was written since.")
    ] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Take back what a plan brought into memory, entry by entry.

    What was written since to other entries stays. If an entry that the plan brought or changed was changed since, nothing
    is taken back and the entries are named.
    """
    from curator.tracks.backfill.rollback import restore, roll_back

    opened = open_agent(agent_dir)
    made, shelf = find_plan(plan_id, opened)
    with shelf.alone():
        taken = (restore if exact else roll_back)(made, shelf, opened.shop)
    _tell_rollback(made, taken, exact=exact, as_json=as_json)


def _tell_rollback(made: Plan, taken: TakenBack, *, exact: bool, as_json: bool) -> None:
    from curator.cli.changes import changes_document, show_changes
    from curator.workflow.inspect.history import lines_between

    lines = lines_between(taken.before, taken.after)
    if as_json:
        numbers: list[Json] = list(taken.numbers)
        document({"planId": made.id, "rolledBack": numbers, "isExact": exact, "changes": changes_document(lines)})
        return
    if not taken.numbers:
        say(f"{made.id}: nothing of it is in memory.")
        return
    say(f"{made.id}: {counted(len(taken.numbers), 'promotion is', 'promotions are')} taken back.")
    show_changes(lines)
