"""How a job is shown: in one line, in all its facts, and as a document. By ids, sizes, states and codes; never its text."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from curator.cli.page import counted, dollars, moment, short
from curator.cli.reasons import reason_document, reason_text
from curator.model.attempt import AttemptState, Settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator.model.budget import Amount
    from curator.model.digest import Json
    from curator.store.attempts import Seen
    from curator.workflow.inspect.jobs import JobLine, JobView

RESULTS: Final = {"noop": "nothing new"}
"""The protocol's words that need another one for a person."""
_KEY_CHARS: Final = 8
OFFLINE: Final = "offline"


def job_line(line: JobLine) -> str:
    """Return a job in one line: what it is, how it stands, what it waits for, and what can be done with it."""
    project = PurePath(line.root).name if line.root else (line.project_key or "")[:_KEY_CHARS]
    session = "" if line.session_key is None else f"session {line.session_key[:_KEY_CHARS]}"
    where = ", ".join(part for part in (project, session) if part)
    parts = [_standing(line), f"attempt {line.attempt}"]
    if line.waits_for is not None and line.state != "running":
        parts.append(f"waits for {reason_text(line.waits_for)}")
    words = f" [{', '.join(line.words)}]" if line.words else ""
    return f"{short(line.id)}  {line.state:<7}  {where}: {', '.join(part for part in parts if part)}{words}"


def _standing(line: JobLine) -> str:
    match line.state:
        case "over":
            result = line.result or ""
            return f"{RESULTS.get(result, result)}, {moment(line.since)}"
        case "running":
            reason = "" if line.waits_for is None else f", with {reason_text(line.waits_for)}"
            return f"since {moment(line.since)}{reason}"
        case "queued":
            return f"since {moment(line.since)}"
        case _:
            return ""


def line_document(line: JobLine) -> Json:
    """Return a job of the list for a program."""
    parts: dict[str, Json] = {
        "projectKey": line.project_key,
        "projectRoot": line.root,
        "sessionKey": line.session_key,
        "result": line.result,
        "since": line.since or None,
        "waitsFor": None if line.waits_for is None else reason_document(line.waits_for),
    }
    told: dict[str, Json] = {"jobId": line.id, "state": line.state, "attempt": line.attempt}
    told |= {key: value for key, value in parts.items() if value is not None}
    return told | {"canBe": list(line.words)}


def used(provider: str, tokens: int, nano: int, *, is_estimated: bool = False) -> str:
    """Return what a call cost as far as it is known: a provider may not tell its usage, a model may have no price."""
    if is_estimated:
        return f"usage not told, counted as {counted(tokens, 'token')}" + (f" and {dollars(nano)}" if nano else "")
    if provider == OFFLINE:
        return "no cost"
    if not tokens:
        return "no usage told"
    return f"{counted(tokens, 'token')}, {dollars(nano) if nano else 'price unknown'}"


def exposed(provider: str, amount: Amount) -> str:
    """Return what a provider's calls come to in a day."""
    calls = counted(amount.calls, "call")
    return calls if not amount.calls else f"{calls}, {used(provider, amount.tokens, amount.cost_nanousd)}"


def _attempt(seen: Seen, code: str | None) -> str:
    latest, total = seen.latest, seen.exposure.total
    is_certain = seen.state is AttemptState.SETTLED
    is_estimated = isinstance(latest, Settled) and latest.is_estimated
    if seen.state is AttemptState.CANCELLED:
        cost = "never sent"
    elif is_certain:
        cost = used(latest.provider, total.tokens, total.cost_nanousd, is_estimated=is_estimated)
    else:
        cost = f"at most {counted(total.tokens, 'token')}" + (
            f", {dollars(total.cost_nanousd)}" if total.cost_nanousd else ""
        )
    failed = "" if code is None else f", {code}"
    return (
        f"{latest.claim_attempt}, {seen.state.value}{failed}, {latest.provider}, {moment(latest.reserved_at)}, {cost}"
    )


def job_facts(view: JobView) -> Iterator[tuple[str, str]]:  # noqa: C901, PLR0912 - one fact after another
    """Name what is known of a job, in the order in which it came about."""
    from curator.model.record import u16_len
    from curator.workflow.inspect.codes import meaning_of

    yield "job", view.id
    yield "state", view.state or "not in the spool"
    if (job := view.job) is not None:
        yield "digest", job.digest
        yield "project", f"{view.root or job.project_key}, branch {job.branch.name}"
        yield "session", f"{job.session_key}, through {job.through_entry_id}"
        yield "evidence", counted(u16_len(job.transcript), "character")
        entries = counted(len(job.branch.entries), "entry", "entries")
        yield "base", f"{entries}, {job.branch.chars:,} of {job.max_chars:,} characters"
    if view.acceptance is not None:
        yield "accepted", f"{moment(view.acceptance.accepted_at)}, {view.acceptance.authority}"
    for seen in view.attempts:
        yield "attempt", _attempt(seen, view.codes.get(seen.id))
    if (failure := view.failure) is not None:
        yield "failure", f"{failure.code}: {failure.message}"
        if (meaning := meaning_of(failure.code)) is not None:
            yield "meaning", f"{meaning.fact}. {meaning.remedy}."
    if view.next_attempt is not None:
        yield "next", f"attempt {view.next_attempt}"
    if view.waits_for is not None and view.running is None:
        yield "waits for", reason_text(view.waits_for)
        if view.failure is None and (meaning := meaning_of(view.waits_for.code or "")) is not None:
            yield "meaning", f"{meaning.fact}. {meaning.remedy}."
    if (running := view.running) is not None:
        gone = ", whose process is gone" if view.waits_for is not None and view.waits_for.is_gone else ""
        lease = f"lease until {moment(running.lease_until)}"
        yield "running", f"attempt {running.attempt} by {running.worker_id}{gone}, {lease}"
    if view.decision is not None:
        yield "decision", f"{counted(len(view.decision.outcome.operations), 'operation')}, {view.decision.attempt_id}"
    if view.is_admitting:
        yield "admission", "begun, and not over; the next run rolls it forward"
    if view.receipt is not None:
        yield "receipt", f"{RESULTS.get(view.receipt.status, view.receipt.status)}, {moment(view.receipt.committed_at)}"
    if (closing := view.closing) is not None:
        code = f" ({closing.failure_code})" if closing.failure_code else ""
        yield "result", f"{RESULTS.get(closing.status, closing.status)}{code}, {moment(closing.finished_at)}"
    if view.pending is not None:
        yield "card", "ready for Pi" if view.has_card else "somebody waits in Pi"
    if view.words:
        yield "can be", ", ".join(f"`curator jobs {word} {short(view.id)}`" for word in view.words)


def job_document(view: JobView) -> dict[str, Json]:
    """Return all facts of a job for a program."""
    from curator.model.record import u16_len

    told: dict[str, Json] = {"jobId": view.id, "state": view.state, "results": view.results}
    if (job := view.job) is not None:
        told |= {
            "jobDigest": job.digest,
            "projectKey": job.project_key,
            "branchName": job.branch.name,
            "baseBranchDigest": job.base_branch_digest,
            "sessionKey": job.session_key,
            "throughEntryId": job.through_entry_id,
            "transcriptChars": u16_len(job.transcript),
            "branchEntries": len(job.branch.entries),
            "branchChars": job.branch.chars,
            "maxChars": job.max_chars,
        }
        told |= {} if job.generation is None else {"generation": job.generation}
    if (running := view.running) is not None:
        lease: dict[str, Json] = {"attempt": running.attempt, "workerId": running.worker_id}
        told["running"] = lease | {"claimedAt": running.claimed_at, "leaseUntil": running.lease_until}
    told |= _present("nextAttempt", view.next_attempt) | _present("availableAt", view.available_at)
    told |= _present("projectRoot", view.root)
    told["attempts"] = [_attempt_document(seen, view.codes.get(seen.id)) for seen in view.attempts]
    if view.failure is not None:
        told["failure"] = {"code": view.failure.code, "message": view.failure.message}
    if view.waits_for is not None:
        told["waitsFor"] = reason_document(view.waits_for)
    told["canBe"] = list(view.words)
    told["isAdmitting"] = view.is_admitting
    if view.acceptance is not None:
        told |= {"authority": view.acceptance.authority, "acceptedAt": view.acceptance.accepted_at}
    if view.decision is not None:
        told["decision"] = {
            "attemptId": view.decision.attempt_id,
            "proposalDigest": view.decision.proposal_digest,
            "operations": len(view.decision.outcome.operations),
        }
    if view.receipt is not None:
        told["receipt"] = {"status": view.receipt.status, "committedAt": view.receipt.committed_at}
    if view.closing is not None:
        told |= {"status": view.closing.status, "finishedAt": view.closing.finished_at}
        told |= _present("failureCode", view.closing.failure_code)
    return told | {"isWaitedFor": view.pending is not None, "hasCard": view.has_card}


def _present(key: str, value: str | int | None) -> dict[str, Json]:
    return {} if value is None else {key: value}


def _attempt_document(seen: Seen, code: str | None) -> Json:
    latest, total = seen.latest, seen.exposure.total
    is_estimated = isinstance(latest, Settled) and latest.is_estimated
    return _present("failureCode", code) | {
        "id": seen.id,
        "claimAttempt": latest.claim_attempt,
        "state": seen.state.value,
        "provider": latest.provider,
        "day": latest.day,
        "reservedAt": latest.reserved_at,
        "tokens": total.tokens,
        "costNanodollars": total.cost_nanousd,
        "isEstimated": is_estimated,
    }
