"""The protocol's accounting: day files and identities, which Pi's status panel adds up (interop.md 5).

Authority over spend is our attempt journal. What stands here is its projection, and whatever another worker wrote.

INVARIANT  Changed only under `accounting/.lock`; an identity before its attempt's day; foreign attempts are kept; what
           would say the same is not written. An identity goes long after its day, or at once if its flush failed.
CRASH      An identity without its attempt, or a day that lags behind the journal: the next projection brings it up.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never

from curator.durable.ages import ages_in
from curator.durable.baton import Mutex
from curator.durable.lock import protocol_domain
from curator.durable.publish import Published, ensure_directory, flush_new, link_or_compare, replace
from curator.durable.read import list_names, read_bounded, stamp_of
from curator.durable.records import read_record
from curator.errors import InvalidRecordError
from curator.model.accounting import (
    DayAttempt,
    DayCancelled,
    DayCarry,
    DayDispatched,
    DayFile,
    DayReserved,
    DaySettled,
    DayUnknown,
    Identity,
    LegacyBudget,
    LooseProvenance,
)
from curator.model.attempt import (
    Attempt,
    Cancelled,
    Dispatched,
    LegacyCarry,
    Reserved,
    Settled,
    Unknown,
    decode_attempt,
)
from curator.model.digest import MalformedJsonError, compact, parse
from curator.model.ids import ATTEMPT_ID_PATTERN, DAY_PATTERN, SAFE_ID_PATTERN, AttemptId, Day
from curator.model.limits import (
    DAY_BYTES_MAX,
    DIRECTORY_NAMES_MAX,
    IDENTITY_BYTES_MAX,
    LEGACY_BUDGET_BYTES_MAX,
)
from curator.model.outcome import Provenance, nanousd
from curator.model.record import Violation
from curator.model.times import day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.read import Stamp
    from curator.durable.volume import Volume
    from curator.model.digest import Json

_COMMON: Final = (
    "id",
    "jobId",
    "jobDigest",
    "claimAttempt",
    "leaseToken",
    "provider",
    "state",
    "reservedAt",
    "holdTokens",
)
_SENT: Final = ("dispatchedAt", "requestDigest", "model", "api")
_API_CHARS_MAX: Final = 128
_OPEN: Final = (b'"reserved"', b'"dispatched"')
_UNCLOSED: Final = (*_OPEN, b'"unknown"')
_BATCH: Final = 64
"""Identities that go under one lock."""
_DAYS_KEPT: Final = 2
"""Days held in memory: today, and the one that attempts in flight over midnight belong to."""


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """A day file as it stood at one moment."""

    file: DayFile
    """Without attempts where no file stands."""
    stamp: Stamp | None


class Pace:
    """When the projection may run again, and what it has said: so that it costs little however busy a day is."""

    def __init__(self) -> None:
        """Begin without a pause and with nothing said."""
        self.mutex = Mutex()
        self.due_ms = 0
        self.said: dict[Day, dict[AttemptId, Attempt]] = {}
        self.open_days: set[Day] = set()


class AccountingStore:
    """The protocol's accounting of one agent folder."""

    def __init__(self, volume: Volume, layout: Layout) -> None:
        """Open the store; nothing is read yet."""
        self._volume = volume
        self._layout = layout
        self._domain = protocol_domain("accounting", layout.accounting_lock)
        self._looks: dict[Day, Look] = {}
        self._acknowledged: dict[Day, Stamp | None] = {}
        self.pace = Pace()

    def days(self) -> tuple[Day, ...]:
        """Return the UTC days that have a file. A name that is none is passed over."""
        names = list_names(self._layout.days, DIRECTORY_NAMES_MAX)
        return tuple(Day(name) for name in names if DAY_PATTERN.fullmatch(name))

    def has_open(self, day: Day) -> bool:
        """Tell cheaply whether a day may hold attempts that are reserved or dispatched; old days seldom do."""
        return self._may_hold(day, _OPEN)

    def look(self, day: Day) -> Look:
        """Return a day as it stands. Raises `InvalidRecordError` for a file that is not a day's."""
        path = self._layout.days / day
        stamp = stamp_of(path)
        known = self._looks.get(day)
        if known is not None and known.stamp == stamp:
            return known
        file = read_record(path, DayFile, DAY_BYTES_MAX, private=True)
        if file is not None and file.day != day:
            raise InvalidRecordError(path, "holds another day than its name says")
        # The stamp is older than what was read, if anything: then the next look reads again.
        return self._remember(day, Look(file or DayFile(day=day, providers={}), stamp))

    def has_news(self, day: Day) -> bool:
        """Tell whether a day changed since it was acknowledged, other than by our own hand."""
        return stamp_of(self._layout.days / day) != self._acknowledged.get(day)

    def acknowledge(self, day: Day, look: Look) -> None:
        """Take note that everything in this look is in the journal."""
        self._acknowledged[day] = look.stamp

    def amend(self, day: Day, change: Callable[[DayFile], DayFile], identities: Iterable[Identity] = ()) -> DayFile:
        """Read a day, change it and replace it under the lock; return what stands then.

        `identities` are published first, each only if its attempt is not in the day yet. Nothing is written where the
        change changes nothing. Raises `InvalidRecordError` for a file that is not a day's: it is kept as it is.
        """
        seen = self.look(day).file
        if change(seen) == seen:
            return seen
        path = self._layout.days / day
        for folder in (self._layout.days, self._layout.identities):
            ensure_directory(self._volume, folder)
        with self._domain.hold():
            before = self.look(day)
            after = change(before.file)
            if after == before.file:
                return after
            data = after.line()
            if len(data) > DAY_BYTES_MAX:
                raise InvalidRecordError(path, f"would grow larger than {DAY_BYTES_MAX} bytes")
            present = {attempt.id for attempts in before.file.providers.values() for attempt in attempts}
            self._create([identity for identity in identities if identity.id not in present])
            replace(self._volume, path, data)
            written = self._remember(day, Look(after, stamp_of(path)))
        if self._acknowledged.get(day) == before.stamp:
            self._acknowledged[day] = written.stamp
        return after

    def identity(self, attempt_id: AttemptId) -> Identity | None:
        """Return a reservation's identity."""
        path = self._layout.identities / attempt_id
        identity = read_record(path, Identity, IDENTITY_BYTES_MAX, private=True)
        if identity is not None and identity.id != attempt_id:
            raise InvalidRecordError(path, "holds another attempt than its name says")
        return identity

    def identities(self) -> tuple[AttemptId, ...]:
        """Return the attempts that have an identity. A name that is none is passed over."""
        names = list_names(self._layout.identities, DIRECTORY_NAMES_MAX)
        return tuple(AttemptId(name) for name in names if ATTEMPT_ID_PATTERN.fullmatch(name))

    def retire_day(self, day: Day, before_ms: int) -> None:
        """Remove a day that was last written before a moment, if every attempt in it is settled or was never sent."""
        path = self._layout.days / day
        stamp = stamp_of(path)
        if stamp is None or stamp.mtime_ns // 1_000_000 >= before_ms or self._may_hold(day, _UNCLOSED):
            return
        look = self.look(day)
        if not _is_closed(look.file):
            return
        with self._domain.hold():
            if stamp_of(path) == look.stamp:
                self._volume.unlink(path)
        self._volume.sync_directory(path.parent)
        for known in (self._looks, self._acknowledged, self.pace.said):
            known.pop(day, None)

    def retire_identities(self, today: Day, most: int) -> int:
        """Remove identities of days before today whose file is gone, at most so many; return how many (interop.md 16.10).

        One whose time says that it is of a day that still stands is not read.
        """
        standing = {*self.days(), today}
        aged = [each for each in ages_in(self._layout.identities) if ATTEMPT_ID_PATTERN.fullmatch(each.name)]
        loose = (
            AttemptId(each.name) for each in aged if (day := day_of(each.mtime_ms)) < today and day not in standing
        )
        over: list[Identity] = []
        for attempt_id in loose:
            identity = self.identity(attempt_id)
            if identity is not None and identity.day < today and identity.day not in standing:
                over.append(identity)
            if len(over) >= most:
                break
        for first in range(0, len(over), _BATCH):
            with self._domain.hold():
                for identity in over[first : first + _BATCH]:
                    if stamp_of(self._layout.days / identity.day) is None:
                        self._volume.unlink(self._layout.identities / identity.id)
            self._volume.sync_directory(self._layout.identities)
        return len(over)

    def legacy_budget(self) -> LegacyBudget | None:
        """Return the aggregate of a release older than the accounting."""
        return read_record(self._layout.legacy_budget, LegacyBudget, LEGACY_BUDGET_BYTES_MAX)

    def path_of(self, day: Day) -> Path:
        """Return where a day stands, for messages."""
        return self._layout.days / day

    @property
    def legacy_path(self) -> Path:
        """Where that aggregate stands, for messages."""
        return self._layout.legacy_budget

    def _may_hold(self, day: Day, states: tuple[bytes, ...]) -> bool:
        raw = read_bounded(self._layout.days / day, DAY_BYTES_MAX, private=True)
        return raw is not None and any(state in raw for state in states)

    def _create(self, identities: Sequence[Identity]) -> None:
        """Publish identities, all with one flush of their folder."""
        created: list[Path] = []
        for identity in identities:
            path, data = self._layout.identities / identity.id, (compact(identity.encode()) + "\n").encode()
            staged = self._volume.stage(path, data)
            try:
                ending = link_or_compare(self._volume, staged, path, data, is_same=partial(_is_identity, identity))
            finally:
                self._volume.unlink(staged)
            created += [path] if ending is Published.CREATED else []
        if identities:
            flush_new(self._volume, self._layout.identities, created)

    def _remember(self, day: Day, look: Look) -> Look:
        self._looks[day] = look
        for oldest in sorted(self._looks)[:-_DAYS_KEPT]:
            self._looks.pop(oldest, None)
        return look


def _is_identity(identity: Identity, standing: bytes) -> bool:
    try:
        return Identity.decode(parse(standing)) == identity
    except (Violation, MalformedJsonError):
        return False


def _attempts_in(file: DayFile) -> Iterator[DayAttempt]:
    return (attempt for attempts in file.providers.values() for attempt in attempts)


def _is_closed(file: DayFile) -> bool:
    return all(isinstance(attempt, DaySettled | DayCancelled) for attempt in _attempts_in(file))


def carried(carry: LegacyCarry) -> DayCarry:
    """Return a legacy budget as a day file holds it."""
    return DayCarry(
        source_digest=carry.source_digest,
        imported_at=carry.imported_at,
        calls=carry.calls,
        tokens=carry.tokens,
        cost_nanodollars=carry.cost_nanousd,
    )


def adopted_carry(day: Day, provider: str, carry: DayCarry) -> LegacyCarry:
    """Return a day file's legacy budget as our journal holds it."""
    return LegacyCarry(
        day=day,
        provider=provider,
        source_digest=carry.source_digest,
        imported_at=carry.imported_at,
        calls=carry.calls,
        tokens=carry.tokens,
        cost_nanousd=carry.cost_nanodollars,
    )


def identity_of(attempt: Attempt) -> Identity:
    """Return the identity that an attempt has in the protocol's accounting."""
    return Identity(
        id=attempt.id,
        day=attempt.day,
        provider=attempt.provider,
        job_id=attempt.job_id,
        job_digest=attempt.job_digest,
        claim_attempt=attempt.claim_attempt,
        lease_token=attempt.lease_token,
        reserved_at=attempt.reserved_at,
        hold_tokens=attempt.hold_tokens,
        hold_cost_nanodollars=attempt.hold_cost_nanousd,
    )


def projected(attempt: Attempt) -> DayAttempt:
    """Return an attempt as a day file holds it.

    A settled one charges exactly its provenance's usage, and that names what was dispatched, for the other worker
    stops on any difference; that it was estimated, or corrected later, the journal alone knows.
    """
    encoded = attempt.encode()
    common: dict[str, Json] = {key: encoded[key] for key in _COMMON if key in encoded}
    common["holdCostNanodollars"] = attempt.hold_cost_nanousd
    match attempt:
        case Reserved():
            return DayReserved.decode(common)
        case Cancelled():
            return DayCancelled.decode(common | {"state": "canceled", "canceledAt": attempt.cancelled_at})
        case Dispatched():
            return DayDispatched.decode(common | _only(encoded, _SENT))
        case Unknown():
            return DayUnknown.decode(common | _only(encoded, (*_SENT, "unknownAt")))
        case Settled():
            usage = attempt.provenance.usage
            charged: dict[str, Json] = {
                "chargedTokens": usage.total_tokens,
                "chargedCostNanodollars": nanousd(usage.cost.total),
                "provenance": attempt.provenance.encode() | _only(encoded, ("provider", "model", "api")),
            }
            return DaySettled.decode(common | _only(encoded, (*_SENT, "settledAt")) | charged)
        case _:
            assert_never(attempt)


def adopted(day: Day, attempt: DayAttempt) -> Attempt:
    """Return a day file's attempt as our journal holds it."""
    encoded = attempt.encode()
    facts: dict[str, Json] = {key: encoded[key] for key in _COMMON if key in encoded}
    own: dict[str, Json] = {"version": 1, "kind": "curator-attempt", "day": day, "origin": "adopted"}
    facts |= own | {"holdCostNanousd": attempt.hold_cost_nanodollars} | _only(encoded, _SENT)
    match attempt:
        case DayReserved() | DayDispatched():
            pass
        case DayCancelled():
            facts |= {"state": "cancelled", "cancelledAt": attempt.canceled_at}
        case DayUnknown():
            facts["unknownAt"] = attempt.unknown_at
        case DaySettled():
            facts |= {
                "settledAt": attempt.settled_at,
                "chargedTokens": attempt.charged_tokens,
                "chargedCostNanousd": attempt.charged_cost_nanodollars,
                "isEstimated": False,
                "provenance": _strict(attempt.provenance).encode(),
            }
        case _:
            assert_never(attempt)
    record = decode_attempt(facts)
    assert isinstance(record, Attempt)
    return record


def _only(encoded: dict[str, Json], keys: Iterable[str]) -> dict[str, Json]:
    return {key: encoded[key] for key in keys if key in encoded}


def _strict(loose: LooseProvenance) -> Provenance:
    """Drop or mend what only the protocol's accounting accepts (W1)."""
    response_id = loose.response_id
    return Provenance(
        provider=loose.provider,
        model=loose.model,
        api=loose.api[:_API_CHARS_MAX],
        started_at=loose.started_at,
        completed_at=max(loose.started_at, loose.completed_at),
        duration_ms=loose.duration_ms,
        usage=loose.usage,
        response_model=loose.response_model,
        response_id=response_id if response_id is not None and SAFE_ID_PATTERN.fullmatch(response_id) else None,
    )
