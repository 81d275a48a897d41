"""Reading one record from one file: bounded bytes, strict JSON, a closed record, or an error that names the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from curator.durable.read import read_bounded
from curator.errors import InvalidRecordError
from curator.model.digest import MalformedJsonError, parse
from curator.model.record import Record, Violation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curator.model.digest import Json

R = TypeVar("R", bound=Record)
T = TypeVar("T")


def read_record(path: Path, cls: type[R], limit: int, *, private: bool = False, follow: bool = False) -> R | None:
    """Return the record in `path`, or None where nothing stands. Raises `InvalidRecordError` naming path and rule."""
    return read_as(path, cls.decode, limit, private=private, follow=follow)


def read_as(
    path: Path, decode: Callable[[Json], T], limit: int, *, private: bool = False, follow: bool = False
) -> T | None:
    """Return what `decode` makes of the JSON in `path`, or None where nothing stands."""
    raw = read_bounded(path, limit, private=private, follow=follow)
    if raw is None:
        return None
    try:
        return decode(parse(raw))
    except (Violation, MalformedJsonError) as error:
        raise InvalidRecordError(path, str(error)) from error
