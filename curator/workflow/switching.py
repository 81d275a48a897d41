"""Changing who changes memory: recorded first, then written for the extension and a running service to read.

INVARIANT  No mode is in force that no record speaks of, but for what a person wrote into service.json by hand.
CRASH      The record stands before the change: after a crash it may speak of one that did not come about.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from curator.durable.publish import ensure_directory, publish
from curator.errors import ConfigError, UsageError
from curator.model.digest import canonical
from curator.model.record import Violation
from curator.model.redaction import contains_secret
from curator.model.switch import Switch
from curator.model.times import iso
from curator.workflow.settings_files import INIT, write_service

if TYPE_CHECKING:
    from curator.model.settings import Mode
    from curator.workflow.shop import Shop


def switch(shop: Shop, mode: Mode, closed_gates: tuple[str, ...], reason: str | None) -> Switch:
    """Put a mode in force, whatever speaks against it; `reason` says why.

    Raises `UsageError` for a reason that may not be kept, and `ConfigError` for external mode without a reviewer.
    """
    if mode == "external" and shop.service.reviewer is None:
        fact = f"{shop.layout.service_json}: names no reviewer"
        raise ConfigError(fact, remedy=f"{INIT} --reviewer PROVIDER/MODEL --force")
    record = _record(shop, mode, closed_gates, reason)
    ensure_directory(shop.volume, shop.layout.switches)
    path = shop.layout.switches / f"{record.switched_at.replace(':', '-')}.{shop.chance.uuid()}.json"
    publish(shop.volume, path, (canonical(record.encode()) + "\n").encode())
    write_service(shop.volume, shop.layout, dataclasses.replace(shop.service, mode=mode), force=True)
    return record


def _record(shop: Shop, mode: Mode, closed_gates: tuple[str, ...], reason: str | None) -> Switch:
    now = iso(shop.clock.now())
    made = Switch(before=shop.service.mode, after=mode, switched_at=now, closed_gates=closed_gates, reason=reason)
    try:
        # What is kept is held to its rules once more; a reason is a person's own words.
        record = Switch.decode(made.encode())
    except Violation as violation:
        raise UsageError(f"the reason {violation.rule}", remedy="Say it in a sentence") from violation
    if reason is not None and contains_secret(reason):
        raise UsageError("the reason looks as if it held a secret", remedy="Say it without")
    return record
