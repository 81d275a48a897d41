"""Who listens to a review: a program that reads JSON lines, a person at a terminal, or a plain text file.

INVARIANT  Telling never raises into the work that is told: a reader who went away costs the telling, not the review.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

from curator.cli.changes import show_changes
from curator.cli.job_page import exposed, used
from curator.cli.page import counted, document, is_terminal, moment, say, short, warn
from curator.cli.reasons import RAISE, group_lines, limit_said
from curator.errors import CuratorError
from curator.model import event

if TYPE_CHECKING:
    from rich.status import Status

    from curator.durable.layout import Layout
    from curator.model.admission import Receipt
    from curator.model.budget import Amount
    from curator.model.digest import Json
    from curator.model.event import Event
    from curator.model.ids import JobId
    from curator.workflow.inspect.waiting import Cause, Reason

    _OfJob: TypeAlias = (
        event.Claimed
        | event.Asking
        | event.Rebased
        | event.Completed
        | event.Retrying
        | event.Failed
        | event.BudgetExhausted
    )


class JsonLines:
    """One JSON object a line, as the protocol's own worker prints them, and some more types (interop.md 13)."""

    def __init__(self) -> None:
        """Write to stdout."""
        self._is_read = True

    def tell(self, told: Event) -> None:
        """Write an event; once nobody reads any more, keep quiet."""
        if not self._is_read:
            return
        try:
            document(document_of(told))
            sys.stdout.flush()
        except OSError:
            self._is_read = False

    def close(self) -> None:
        """Nothing is open."""


def document_of(told: Event) -> dict[str, Json]:  # noqa: C901, PLR0911, PLR0912 - one case a kind of event
    """Return an event as the protocol's worker spells it."""
    match told:
        case event.Claimed():
            return _of_job("claimed", told) | {"projectKey": told.project_key, "branchName": told.branch_name}
        case event.Asking():
            return _of_job("asking", told) | {"provider": told.provider, "model": told.model}
        case event.Rebased():
            return _of_job("rebased", told) | {"superseded": told.superseded}
        case event.Completed():
            admission: dict[str, Json] = {} if told.receipt is None else {"admission": told.receipt.encode()}
            return _of_job("completed", told) | {"provenance": told.provenance.encode()} | admission
        case event.Retrying():
            at: dict[str, Json] = {} if told.available_at is None else {"availableAt": told.available_at}
            return _of_job("retry", told) | {"failure": {"code": told.code, "retryable": True}} | at
        case event.Failed():
            return _of_job("failed", told) | {"failure": {"code": told.code, "retryable": False}}
        case event.BudgetExhausted():
            usage: Json = {
                "charged": _amount(told.exposure.actual),
                "held": _amount(told.exposure.held),
                "unknown": _amount(told.exposure.unknown),
                "effective": _amount(told.exposure.total),
            }
            spent = _of_job("attempt_budget_exhausted", told)
            return spent | {"provider": told.provider, "limit": told.limit, "usage": usage}
        case event.Recovered():
            return {"type": "recovered", "what": told.what, "count": told.count}
        case event.SetAside():
            return {"type": "set_aside", "name": told.name, "reason": told.reason}
        case event.Stopped():
            fact: dict[str, Json] = {"code": told.code, "fact": told.fact, "remedy": told.remedy}
            return {"type": "stopped", "subject": told.subject, **fact}
        case event.Degraded():
            return {"type": "degraded", "fact": told.fact, "remedy": told.remedy}
        case event.Serving():
            return {
                "type": "serving",
                "workerId": told.worker_id,
                "mode": told.mode,
                "concurrency": told.concurrency,
            }
        case event.Leaving():
            return {"type": "leaving", "busy": told.busy}
        case event.Idle():
            return {"type": "idle"}
        case event.Drained():
            blocked: dict[str, Json] = {} if told.blocked_by is None else {"blockedBy": told.blocked_by}
            counts: dict[str, Json] = {
                "completed": told.completed,
                "failed": told.failed,
                "retried": told.retried,
                "budgetExhausted": told.budget_exhausted,
                "interrupted": told.interrupted,
                "left": told.left,
            }
            return {"type": "drained", **counts, **blocked}
        case _:
            assert_never(told)


class Sentences:
    """Plain sentences, without control codes: for a file, a pipe, or a terminal."""

    def __init__(self, layout: Layout) -> None:
        """Write to stdout; `layout` is where to look up what a job changed."""
        self._layout = layout
        self._is_read = True
        self._heard: dict[JobId, event.Retrying | event.BudgetExhausted] = {}
        """Why jobs were put back in this run: what stopped them before a call stands in no file."""

    def tell(self, told: Event) -> None:
        """Write an event; once nobody reads any more, keep quiet."""
        if not self._is_read:
            return
        try:
            self._tell(told)
            sys.stdout.flush()
        except OSError:
            self._is_read = False

    def close(self) -> None:
        """Nothing is open."""

    def _tell(self, told: Event) -> None:  # noqa: C901, PLR0912 - one case a kind of event
        match told:
            case event.Claimed():
                say(f"{short(told.job_id)}: reviewing, attempt {told.attempt}.")
            case event.Asking():
                say(f"{short(told.job_id)}: asking {told.provider}/{told.model}.")
            case event.Rebased():
                say(f"{short(told.job_id)}: memory has changed meanwhile, so it is judged anew.")
            case event.Completed():
                self._tell_completed(told)
            case event.Retrying():
                self._heard[told.job_id] = told
                say(_put_back(told))
            case event.Failed():
                say(f"{short(told.job_id)}: failed ({told.code}). See `curator jobs show {short(told.job_id)}`.")
            case event.BudgetExhausted():
                self._heard[told.job_id] = told
                spent, limit = exposed(told.provider, told.exposure.total), limit_said(told.limit, told.limits)
                say(
                    f"{short(told.job_id)}: waits for the next UTC day. {told.provider} has used {spent}, as it counts today, "
                    f"and may use {limit}. {RAISE}."
                )
            case event.Recovered():
                what = told.what.removesuffix("s") if told.count == 1 else told.what
                say(f"Put right what an earlier run left: {told.count:,} {what}.")
            case event.SetAside():
                again = f"`curator jobs release {self._head_of(told.name)}`"
                warn(f"{told.name} was set aside: {told.reason}. Mend it, then run {again}")
            case event.Stopped():
                warn(f"{_subject(told.subject)}{told.fact}. {told.remedy}")
            case event.Degraded():
                warn(f"{told.fact}. {told.remedy}")
            case event.Drained():
                self._tell_drained(told)
            case event.Serving() | event.Leaving() | event.Idle():
                pass
            case _:
                assert_never(told)

    def _tell_completed(self, told: event.Completed) -> None:
        receipt, job = told.receipt, short(told.job_id)
        if receipt is None:
            say(f"{job}: was over already.")
            return
        cost = self._cost_of(told)
        if receipt.status == "applied":
            is_shadow = self._is_shadow(receipt)
            has = "would have changed (shadow)" if is_shadow else "has changed"
            say(f"{job}: memory {has} ({cost}).")
            self._show_changes(receipt)
        elif receipt.status == "noop":
            say(f"{job}: nothing new to remember ({cost}).")
        else:
            reasons = "; ".join(receipt.messages) or f"see `curator jobs show {job}`"
            say(f"{job}: {receipt.status}, memory is as it was ({cost}): {reasons}.")

    def _cost_of(self, told: event.Completed) -> str:
        """Return what the elected attempt cost; the journal knows whether that is an estimate."""
        from curator.workflow.inspect.memory import estimate_of

        usage, provider = told.provenance.usage, told.provenance.provider
        try:
            estimate = estimate_of(self._layout, told.job_id, told.provenance)
        except CuratorError:
            estimate = None
        if estimate is not None:
            return used(provider, estimate.tokens, estimate.cost_nanousd, is_estimated=True)
        return used(provider, usage.total_tokens, round(usage.cost.total * 1_000_000_000))

    def _is_shadow(self, receipt: Receipt) -> bool:
        from curator.workflow.inspect.memory import authority_of

        try:
            return authority_of(self._layout, receipt.proposal_id) == "shadow"
        except CuratorError:
            return False

    def _head_of(self, path: str) -> str:
        from curator.workflow.inspect.letters import head_of

        name = Path(path).name
        try:
            return head_of(self._layout, name)
        except CuratorError:
            return name

    def _tell_drained(self, told: event.Drained) -> None:
        """Say what was done, and what is left and why."""
        done = _sum_of(told)
        try:
            reasons = self._reasons(told)
        except CuratorError as error:
            warn(str(error))
            reasons = {}
        if reasons:
            say(f"{done} {counted(len(reasons), 'job')} left:")
            for line in group_lines(reasons):
                say(line)
        else:
            say(done + (f" {counted(told.left, 'job')} left; see `curator status`." if told.left else ""))

    def _reasons(self, told: event.Drained) -> dict[JobId, Reason]:
        """Return what each job that is left waits for; this run knows some of it better than the files."""
        from curator.durable.clock import SystemClock
        from curator.workflow.inspect.books import open_books
        from curator.workflow.inspect.waiting import find_reasons

        reasons = dict(find_reasons(open_books(self._layout), SystemClock().now()))
        reasons = {job_id: _known(reason, self._heard.get(job_id), told) for job_id, reason in reasons.items()}
        budget = next((reason for reason in reasons.values() if reason.cause == "budget"), None)
        if told.budget_exhausted and budget is not None:
            # They would be asked under the same limits.
            return {job_id: budget if each.cause == "turn" else each for job_id, each in reasons.items()}
        return reasons

    def _show_changes(self, receipt: Receipt) -> None:
        from curator.workflow.inspect.memory import branch_path_of, changes_of

        try:
            show_changes(changes_of(self._layout, receipt))
            say(f"  in {branch_path_of(self._layout, receipt)}")
        except CuratorError as error:
            # Memory has changed all the same; only the picture of it is missing.
            warn(str(error))


class Terminal(Sentences):
    """Sentences, and a moving line while the model works."""

    def __init__(self, layout: Layout) -> None:
        """Write to the terminal on stdout."""
        super().__init__(layout)
        self._spinner: Status | None = None

    def close(self) -> None:
        """Leave a still line behind, however the work ended."""
        self._stop()

    def _tell(self, told: Event) -> None:
        self._stop()
        if isinstance(told, event.Asking):
            from rich.console import Console

            line = f"{short(told.job_id)}: {told.provider}/{told.model} is reading …"
            self._spinner = Console().status(line, spinner="line")
            self._spinner.start()
        else:
            super()._tell(told)

    def _stop(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None


def sentences_for(layout: Layout) -> Sentences:
    """Return the listener for whatever stdout is."""
    return Terminal(layout) if is_terminal(sys.stdout) else Sentences(layout)


def _of_job(kind: str, told: _OfJob) -> dict[str, Json]:
    return {"type": kind, "jobId": told.job_id, "attempt": told.attempt}


def _amount(amount: Amount) -> Json:
    return {"calls": amount.calls, "tokens": amount.tokens, "costNanodollars": amount.cost_nanousd}


def _known(reason: Reason, heard: event.Retrying | event.BudgetExhausted | None, told: event.Drained) -> Reason:
    """Return a reason with what this run knows better than the files."""
    if reason.cause == "turn" and told.blocked_by is not None:
        return dataclasses.replace(reason, cause="configuration", code=told.blocked_by)
    if reason.cause == "budget" and isinstance(heard, event.BudgetExhausted):
        return dataclasses.replace(reason, word=heard.limit)
    if reason.cause == "unasked" and isinstance(heard, event.Retrying):
        cause: Cause = "configuration" if heard.code == told.blocked_by else "retry"
        return dataclasses.replace(reason, cause=cause, code=heard.code)
    return reason


def _subject(subject: str) -> str:
    """Return whom a complaint is about, where the fact does not say it by itself."""
    kind, _, name = subject.partition(" ")
    if not name:
        return ""
    return f"{short(name)}: " if kind == "job" else f"{subject}: "


def _put_back(told: event.Retrying) -> str:
    job = short(told.job_id)
    match told.code:
        case "interrupted":
            return f"{job}: given back unfinished, because the run was stopped; the next one takes it up."
        case "lease_lost":
            return f"{job}: its lease ran out; it runs again by itself."
        case "cancelled_before_dispatch":
            return f"{job}: not sent, because another run closed its attempt; the next one takes it up."
        case _:
            when = "" if told.available_at is None else f" until {moment(told.available_at)}"
            return f"{job}: waits{when} ({told.code}). See `curator jobs show {job}`."


def _sum_of(told: event.Drained) -> str:
    parts = (
        (told.completed, "completed"),
        (told.failed, "failed"),
        (told.retried, "put back"),
        (told.budget_exhausted, "over budget"),
        (told.interrupted, "interrupted"),
    )
    named = ", ".join(f"{number:,} {word}" for number, word in parts if number)
    return f"Done: {named}." if named else "Nothing to review now."
