"""From a record of the spool, the journal or the evidence to rows: its ids, digests, sizes, states and figures, no more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from curator.audit import schema
from curator.durable.read import stamp_of
from curator.durable.records import read_record
from curator.errors import InvalidRecordError
from curator.model.attempt import Cancelled, Correction, LegacyCarry, Reserved, Settled, Unknown, step_of
from curator.model.budget import Exposure, exposure_of_legacy
from curator.model.closing import Closing
from curator.model.decision import Decision, Evidence
from curator.model.heartbeat import WorkerBeat
from curator.model.ids import file_key
from curator.model.job import Acceptance, Base, DeadLetter
from curator.model.limits import (
    CHECKPOINT_BYTES_MAX,
    CLOSING_BYTES_MAX,
    DEAD_LETTER_BYTES_MAX,
    IDENTITY_BYTES_MAX,
    JOURNAL_BYTES_MAX,
    PROJECT_FILE_BYTES_MAX,
    WORKER_BYTES_MAX,
)
from curator.model.outcome import Failed
from curator.model.record import u16_len
from curator.store.attempts.fold import Seen, read_step
from curator.store.spool.records import read_finished, read_queued, read_running

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from curator.model.attempt import Attempt
    from curator.model.closed_day import PastAttempt
    from curator.model.ids import Day
    from curator.model.job import Job

Value: TypeAlias = str | int | None
_OfJob = TypeVar("_OfJob", Acceptance, Closing)


class Row(NamedTuple):
    """One row, and the table that it goes to."""

    table: schema.Relation
    values: Mapping[str, Value]


_SET_ASIDE: Final = re.compile(r"(?:(review_[0-9a-f]{40})\b)?.*?\.(\d{1,18})(?:\.[0-9a-f-]{36})?\.bad")

# The spool.


def queued(place: str, path: Path) -> Iterator[Row]:
    """Read a job that waits, or is held."""
    record = read_queued(path)
    if record is not None:
        yield _spool(place, record.job, {"claims": record.next_attempt - 1, "at": record.available_at})


def running(path: Path) -> Iterator[Row]:
    """Read a job under a lease."""
    record = read_running(path)
    if record is not None:
        lease: dict[str, Value] = {"claims": record.attempt, "worker_id": record.worker_id}
        yield _spool("running", record.job, lease | {"at": record.claimed_at, "until": record.lease_until})


def outcome(path: Path) -> Iterator[Row]:
    """Read a job that is over."""
    record = read_finished(path)
    if record is None:
        return
    ended = record.outcome
    values: dict[str, Value] = {
        "place": "outcomes",
        "job_id": ended.job_id,
        "job_digest": ended.job_digest,
        "claims": record.attempt,
        "worker_id": record.worker_id,
        "at": ended.completed_at,
        "status": ended.status,
        "failure_code": ended.error.code if isinstance(ended, Failed) else None,
        "provider": None if ended.provenance is None else ended.provenance.provider,
        "model": None if ended.provenance is None else ended.provenance.model,
    }
    yield Row(schema.SPOOL, values)


def letter(path: Path) -> Iterator[Row]:
    """Read a job that came under another's id."""
    record = read_record(path, DeadLetter, DEAD_LETTER_BYTES_MAX)
    if record is not None:
        yield _spool("dead-letter", record.job, {"at": record.quarantined_at})
        yield _aside(path, "dead-letter", record.job.id, None)


def set_aside(place: str, path: Path) -> Iterator[Row]:
    """Name a record that was set aside."""
    match = _SET_ASIDE.fullmatch(path.name)
    job_id, at = (None, None) if match is None else match.groups()
    yield from () if stamp_of(path) is None else (_aside(path, place, job_id, None if at is None else int(at)),)


def _aside(path: Path, place: str, job_id: str | None, moved_ms: int | None) -> Row:
    stamp = stamp_of(path)
    size = 0 if stamp is None else stamp.size
    return Row(schema.QUARANTINE, {"place": place, "job_id": job_id, "moved_ms": moved_ms, "bytes": size})


def _spool(place: str, job: Job, more: Mapping[str, Value]) -> Row:
    values = {"place": place, **_frontier(job), "transcript_chars": u16_len(job.transcript)}
    return Row(schema.SPOOL, {**values, **more})


def _frontier(job: Job) -> dict[str, Value]:
    return {
        "job_id": job.id,
        "job_digest": job.digest,
        "project_key": job.project_key,
        "session_key": job.session_key,
        "branch_name": job.branch.name,
        "through_entry_id": job.through_entry_id,
        "generation": job.generation,
    }


def acceptance(path: Path) -> Iterator[Row]:
    """Read under whose authority a job runs."""
    record = _named(path, read_record(path, Acceptance, IDENTITY_BYTES_MAX, private=True))
    if record is not None:
        values = {"job_id": record.job_id, "job_digest": record.job_digest, "authority": record.authority}
        yield Row(schema.ACCEPTANCES, values | {"accepted_at": record.accepted_at})


def closing(path: Path) -> Iterator[Row]:
    """Read that a job is over, and what it came to."""
    record = _named(path, read_record(path, Closing, CLOSING_BYTES_MAX, private=True))
    if record is None:
        return
    if path.parent.name != record.job_id.removeprefix("review_")[:2]:
        raise InvalidRecordError(path, "stands in another job's folder")
    values: dict[str, Value] = {
        "job_id": record.job_id,
        "job_digest": record.job_digest,
        "project_key": record.project_key,
        "session_key": record.session_key,
        "branch_name": record.branch_name,
        "through_entry_id": record.through_entry_id,
        "generation": record.generation,
        "authority": record.authority,
        "status": record.status,
        "failure_code": record.failure_code,
        "finished_at": record.finished_at,
        "provider": record.provider,
        "model": record.model,
        "elected": record.elected,
        "revision_id": record.revision_id,
        "attempts": len(record.attempts),
        "tokens": sum(each.tokens for each in record.attempts),
        "cost_nanousd": sum(each.cost_nanousd for each in record.attempts),
        "entries": len(record.entry_ids),
    }
    yield Row(schema.CLOSINGS, values)
    quotes = {span.entry_id: span.digest for span in reversed(record.spans)}
    for entry_id in dict.fromkeys(record.entry_ids):
        entry: dict[str, Value] = {"job_id": record.job_id, "entry_id": entry_id, "span_digest": quotes.get(entry_id)}
        yield Row(schema.CLOSED_ENTRIES, entry)


# The journal.


def seen_of(paths: Iterable[Path]) -> tuple[Seen | None, str | None]:
    """Return what the steps of one attempt come to, as far as they can be read, and what is wrong with the rest."""
    latest: Attempt | None = None
    correction: Correction | None = None
    fault: str | None = None
    for path in paths:
        if stamp_of(path) is None:
            continue
        try:
            record = read_step(path)
        except InvalidRecordError as error:
            fault = error.why
            continue
        if isinstance(record, Correction):
            correction = record
        elif latest is None or step_of(record) > step_of(latest):
            latest = record
    if latest is None:
        return None, fault or "corrects an attempt of which nothing else can be read"
    return Seen(latest, correction), fault


def attempt_row(seen: Seen) -> Row:
    """Return an attempt as it stands."""
    last, correction = seen.latest, seen.correction
    sent = None if isinstance(last, Reserved | Cancelled) else last
    settled = last if isinstance(last, Settled) else None
    values: dict[str, Value] = {
        "attempt_id": last.id,
        "day": last.day,
        "provider": last.provider,
        "job_id": last.job_id,
        "job_digest": last.job_digest,
        "claim": last.claim_attempt,
        "origin": last.origin,
        "base_branch_digest": last.base_branch_digest,
        "state": seen.state.value,
        "is_corrected": int(correction is not None),
        "corrected_by": None if correction is None else correction.source,
        "is_estimated": int(settled is not None and settled.is_estimated),
        "model": None if sent is None else sent.model,
        "api": None if sent is None else sent.api,
        "reserved_at": last.reserved_at,
        "dispatched_at": None if sent is None else sent.dispatched_at,
        "ended_at": _ended_at(last),
        "duration_ms": None if settled is None else settled.provenance.duration_ms,
        "hold_tokens": last.hold_tokens,
        "hold_cost_nanousd": last.hold_cost_nanousd,
    }
    return Row(schema.ATTEMPTS, values | _columns(seen.exposure))


def _ended_at(last: Attempt) -> str | None:
    match last:
        case Settled(settled_at=at) | Unknown(unknown_at=at) | Cancelled(cancelled_at=at):
            return at
        case _:
            return None


def past_row(day: Day, past: PastAttempt) -> Row:
    """Return an attempt of a closed day: what it cost, and for whom."""
    values: dict[str, Value] = {
        "attempt_id": past.id,
        "day": day,
        "provider": past.provider,
        "job_id": past.job_id,
        "state": "cancelled" if past.state == "cancelled" else "settled",
        "is_corrected": int(past.state == "corrected"),
        "is_estimated": 0,
    }
    return Row(schema.ATTEMPTS, values | _columns(Exposure(actual=past.charged)))


def carry(path: Path) -> Iterator[Row]:
    """Read what a legacy budget carried into a day."""
    record = read_record(path, LegacyCarry, JOURNAL_BYTES_MAX, private=True)
    if record is not None:
        yield carry_row(record)


def carry_row(record: LegacyCarry) -> Row:
    """Return what a legacy budget carried into a day."""
    whose: dict[str, Value] = {"day": record.day, "provider": record.provider}
    return Row(schema.CARRIES, whose | _columns(exposure_of_legacy(record)))


def _columns(exposure: Exposure) -> dict[str, Value]:
    amounts = {"actual": exposure.actual, "held": exposure.held, "unknown": exposure.unknown}
    return {
        f"{certainty}_{unit}": value
        for certainty, amount in amounts.items()
        for unit, value in (("calls", amount.calls), ("tokens", amount.tokens), ("cost_nanousd", amount.cost_nanousd))
    }


# The evidence, without a word of it.


def base(path: Path) -> Iterator[Row]:
    """Read which branch state an attempt judged."""
    record = read_record(path, Base, PROJECT_FILE_BYTES_MAX * 2, private=True)
    if record is not None:
        values: dict[str, Value] = {"job_id": record.job_id, "job_digest": record.job_digest}
        sizes: dict[str, Value] = {"entries": len(record.branch.entries), "chars": record.branch.chars}
        yield Row(schema.BASES, values | {"branch_digest": record.base_branch_digest} | sizes)


def decision(path: Path) -> Iterator[Row]:
    """Read which proposal counts."""
    record = read_record(path, Decision, CHECKPOINT_BYTES_MAX, private=True)
    if record is None:
        return
    if record.job.id != path.stem:
        raise InvalidRecordError(path, "holds another job than its name says")
    said = record.outcome
    values: dict[str, Value] = {
        "attempt_id": record.attempt_id,
        "proposal_digest": record.proposal_digest,
        "operations": len(said.operations),
        "completed_at": said.completed_at,
        "provider": said.provenance.provider,
        "model": said.provenance.model,
        "duration_ms": said.provenance.duration_ms,
    }
    yield Row(schema.DECISIONS, _frontier(record.job) | values)


def spans(path: Path) -> Iterator[Row]:
    """Read where the quotes of a result stand."""
    record = read_record(path, Evidence, JOURNAL_BYTES_MAX, private=True)
    if record is None:
        return
    if path.name != f"{record.job_id}.{record.attempt_id}.json":
        raise InvalidRecordError(path, "holds another attempt than its name says")
    whose: dict[str, Value] = {"job_id": record.job_id, "attempt_id": record.attempt_id}
    for span in {span.operation: span for span in record.spans}.values():
        place: dict[str, Value] = {"operation": span.operation, "start_at": span.start, "end_at": span.end}
        yield Row(schema.SPANS, whose | place | {"digest": span.digest})


def run(path: Path) -> Iterator[Row]:
    """Read a worker's last sign of life."""
    record = read_record(path, WorkerBeat, WORKER_BYTES_MAX)
    if record is None:
        return
    if file_key(record.worker_id) != path.stem:
        raise InvalidRecordError(path, "holds another worker than its name says")
    values: dict[str, Value] = {
        "worker_id": record.worker_id,
        "pid": record.pid,
        "started_at": record.started_at,
        "updated_at": record.updated_at,
        "state": record.state,
        "job_id": record.job_id,
    }
    yield Row(schema.RUNS, values)


def _named(path: Path, record: _OfJob | None) -> _OfJob | None:
    if record is not None and record.job_id != path.stem:
        raise InvalidRecordError(path, "holds another job than its name says")
    return record
