"""Who listens to a review: a program that reads JSON lines, a person at a terminal, or a plain text file.

INVARIANT  Telling never raises into the work that is told: a reader who went away costs the telling, not the review.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

from curator.cli.changes import show_changes
from curator.cli.page import counted, document, dollars, is_terminal, moment, say, short, warn
from curator.errors import CuratorError
from curator.model import event

if TYPE_CHECKING:
    from rich.status import Status

    from curator.durable.layout import Layout
    from curator.model.admission import Receipt
    from curator.model.budget import Amount
    from curator.model.digest import Json
    from curator.model.event import Event

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
        case event.Idle():
            return {"type": "idle"}
        case event.Drained():
            return {
                "type": "drained",
                "completed": told.completed,
                "failed": told.failed,
                "retried": told.retried,
                "budgetExhausted": told.budget_exhausted,
                "interrupted": told.interrupted,
                "left": told.left,
            }
        case _:
            assert_never(told)


class Sentences:
    """Plain sentences, without control codes: for a file, a pipe, or a terminal."""

    def __init__(self, layout: Layout) -> None:
        """Write to stdout; `layout` is where to look up what a job changed."""
        self._layout = layout
        self._is_read = True

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
                when = "" if told.available_at is None else f" until {moment(told.available_at)}"
                say(f"{short(told.job_id)}: waits{when} ({told.code}).")
            case event.Failed():
                say(f"{short(told.job_id)}: failed ({told.code}). See `curator jobs show {short(told.job_id)}`.")
            case event.BudgetExhausted():
                spent = _spent(told.exposure.total)
                say(f"{short(told.job_id)}: waits for the next UTC day. {told.provider} has used {spent} today.")
            case event.Recovered():
                say(f"Recovered {counted(told.count, 'time')}: {told.what}.")
            case event.SetAside():
                again = f"curator jobs release {Path(told.name).name}"
                warn(f"{told.name} was set aside: {told.reason}. Mend it, then run `{again}`")
            case event.Stopped():
                warn(f"{told.subject}: {told.fact}. {told.remedy}")
            case event.Degraded():
                warn(f"{told.fact}. {told.remedy}")
            case event.Drained():
                say(_sum_of(told))
            case event.Idle():
                pass
            case _:
                assert_never(told)

    def _tell_completed(self, told: event.Completed) -> None:
        receipt, usage = told.receipt, told.provenance.usage
        cost = f"{counted(usage.total_tokens, 'token')}, {dollars(round(usage.cost.total * 1_000_000_000))}"
        if receipt is None:
            say(f"{short(told.job_id)}: was over already.")
        elif receipt.status == "applied":
            say(f"{short(told.job_id)}: memory has changed ({cost}).")
            self._show_changes(receipt)
        elif receipt.status == "noop":
            say(f"{short(told.job_id)}: nothing new to remember ({cost}).")
        else:
            reasons = "; ".join(receipt.messages) or "see `curator jobs show`"
            say(f"{short(told.job_id)}: {receipt.status}, memory is as it was ({cost}): {reasons}.")

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


def _spent(amount: Amount) -> str:
    return f"{counted(amount.calls, 'call')}, {counted(amount.tokens, 'token')} and {dollars(amount.cost_nanousd)}"


def _sum_of(told: event.Drained) -> str:
    parts = (
        (told.completed, "completed"),
        (told.failed, "failed"),
        (told.retried, "put back"),
        (told.budget_exhausted, "over budget"),
        (told.interrupted, "interrupted"),
    )
    named = ", ".join(f"{number} {word}" for number, word in parts if number)
    left = f" {counted(told.left, 'job')} left in the queue; see `curator status`." if told.left else ""
    return f"Done: {named}.{left}" if named else f"Nothing to review now.{left}"
