"""One record in one file: bounded bytes, strict JSON, a closed record; or an error that names the file.

What bytes mean is remembered, also of those that are written here: a record is read again at almost each later step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple

from curator.durable.memo import Memo
from curator.durable.publish import publish
from curator.durable.read import read_bounded
from curator.errors import ConflictError, InvalidRecordError
from curator.model.digest import MalformedJsonError, canonical, compact, parse
from curator.model.record import Record, Violation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.durable.publish import Published
    from curator.durable.volume import Volume
    from curator.model.digest import Json

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MEANINGS: Final = Memo[Record]()


def read_record(path: Path, cls: type[R], limit: int, *, private: bool = False) -> R | None:
    """Return the record in `path`, or None where nothing stands. Raises `InvalidRecordError` naming path and rule."""
    raw = read_bounded(path, limit, private=private)
    return None if raw is None else _meant(path, cls, cls, cls.decode, raw)


def read_stored(path: Path, cls: type[R], decode: Callable[[Json, *Ts], R], limit: int, *given: *Ts) -> R | None:
    """Return the record that `decode` makes of the JSON in `path` and what is `given`, or None where nothing stands."""
    raw = read_bounded(path, limit)
    return None if raw is None else _meant(path, cls, (decode, *given), lambda value: decode(value, *given), raw)


def _meant(path: Path, cls: type[R], kind: object, decode: Callable[[Json], R], raw: bytes) -> R:
    known = MEANINGS.find(kind, raw)
    if isinstance(known, cls):
        return known
    record = _decoded(path, decode, raw)
    MEANINGS.keep(kind, raw, record)
    return record


def bytes_of(record: Record, write: Callable[[Json], str], *, ending: str = "", kind: object = None) -> bytes:
    """Return a record as it is written, remembered: what these bytes mean needs no decoding when they are read here.

    `kind` is what a reader other than `read_record` looks for: the function and what is given to it.
    """
    data = (write(record.encode()) + ending).encode()
    MEANINGS.keep(type(record) if kind is None else kind, data, record)
    return data


def read_as(path: Path, decode: Callable[[Json], T], limit: int, *, private: bool = False) -> T | None:
    """Return what `decode` makes of the JSON in `path`, or None where nothing stands."""
    raw = read_bounded(path, limit, private=private)
    return None if raw is None else _decoded(path, decode, raw)


def _decoded(path: Path, decode: Callable[[Json], T], raw: bytes) -> T:
    try:
        return decode(parse(raw))
    except (Violation, MalformedJsonError) as error:
        raise InvalidRecordError(path, str(error)) from error


def publish_canonical(volume: Volume, path: Path, record: Record, *, hidden: bool = True) -> Published:
    """Publish a record as one canonical line; what stands is compared by its meaning (interop.md 1, CREATE-CANON)."""
    data = bytes_of(record, canonical, ending="\n")
    return publish(volume, path, data, hidden=hidden, is_same=lambda standing: _canonical_of(standing) == data)


def publish_first(volume: Volume, path: Path, record: R, find: Callable[[], R | None]) -> R:
    """Publish a record, or return the one that stands, durable too: who was first has said it."""
    standing = find()
    if standing is None:
        try:
            publish(volume, path, bytes_of(record, compact, ending="\n"))
        except ConflictError:
            standing = find()
        else:
            return record
    if standing is None:
        raise ConflictError(path, "was there a moment ago and is gone")
    # Its writer may have died between its link and its flush.
    volume.sync_directory(path.parent)
    return standing


def _canonical_of(raw: bytes) -> bytes | None:
    try:
        return f"{canonical(parse(raw))}\n".encode()
    except (ValueError, RecursionError):
        return None
