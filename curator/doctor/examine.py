"""The whole examination: every part by itself, so that one that cannot be looked at hides no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from curator.doctor.finding import Finding
from curator.doctor.fleet import look_at_fleet, look_at_workers
from curator.doctor.ground import look_at_clock, look_at_disk, look_at_folder, look_at_modes
from curator.doctor.locks import look_at_locks
from curator.doctor.records import (
    look_at_admissions,
    look_at_handed_over,
    look_at_journal,
    look_at_projects,
    look_at_queue,
)
from curator.errors import ConfigError, CuratorError
from curator.model.settings import CuratorSettings
from curator.workflow.settings_files import check_config, read_curator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from curator.doctor.live import Pi
    from curator.durable.layout import Layout

Part: TypeAlias = "Callable[[], Iterable[Finding]]"


def examine(
    layout: Layout, environ: Mapping[str, str], now: int, *, pis: Sequence[Pi] = (), unit: Part = tuple
) -> tuple[Finding, ...]:
    """Look at everything once; changes nothing but for files that the probe makes and removes.

    `unit` tells how the service stands with the service manager, `pis` which Pi processes run.
    """
    parts: tuple[tuple[str, Part], ...] = (
        ("agent folder", lambda: look_at_folder(layout)),
        ("modes", lambda: look_at_modes(layout, now)),
        ("filesystem", lambda: look_at_disk(layout)),
        ("clock", lambda: look_at_clock(layout, now)),
        ("configuration", lambda: _look_at_settings(layout, environ)),
        ("service", unit),
        ("worker", lambda: look_at_workers(layout, now)),
        ("runtimes", lambda: look_at_fleet(layout, now, _release(layout), pis)),
        ("locks", lambda: look_at_locks(layout, now)),
        ("queue", lambda: look_at_queue(layout, now)),
        ("trajectory", lambda: look_at_handed_over(layout)),
        ("journal", lambda: look_at_journal(layout, now)),
        ("admission", lambda: look_at_admissions(layout)),
        ("project", lambda: look_at_projects(layout)),
    )
    if not layout.root.is_dir():
        parts = (parts[0], *parts[4:6])
    return tuple(finding for subject, part in parts for finding in _apart(subject, part))


def _apart(subject: str, part: Part) -> list[Finding]:
    found: list[Finding] = []
    try:
        found.extend(part())
    except CuratorError as error:
        found.append(Finding("error", subject, error.fact, error.remedy))
    return found


def _look_at_settings(layout: Layout, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Say what a review needs before its first call; a key is looked for, and never shown."""
    for told in check_config(layout, environ):
        if told.subject == "agent folder":
            continue
        yield Finding(told.level, "review mode" if told.subject == "mode" else told.subject, told.fact, told.remedy)


def _release(layout: Layout) -> str:
    try:
        return read_curator(layout).release
    except ConfigError:
        return CuratorSettings().release
