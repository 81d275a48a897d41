"""What can be wrong with a plan, each with an exit status of its own. Nothing was spent, and nothing was changed."""

from __future__ import annotations

from curator.errors import CuratorError, NotFoundError


class NoPlanError(NotFoundError):
    """No plan is named so, or several are."""

    code = "no_plan"
    remedy = "See `curator backfill list`"


class PlanVersionError(CuratorError):
    """The plan was made by another release, which would read its files otherwise."""

    code = "plan_version"
    exit_status = 76
    remedy = "Make a new one with `curator backfill plan`"


class InputsMovedError(CuratorError):
    """The session files are not any more what the plan was made of."""

    code = "inputs_moved"
    exit_status = 77
    remedy = "Nothing was spent; make a new plan with `curator backfill plan`"


class PlanOverError(CuratorError):
    """The plan was cancelled, or its proposals are not kept any more."""

    code = "plan_over"
    exit_status = 65
    remedy = "Make a new one with `curator backfill plan`"
