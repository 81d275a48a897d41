"""What has to be so before memory changes hands: each gate with its evidence, open or closed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, assert_never

from curator.workflow.authority import compare
from curator.workflow.beats import foreign_live_worker
from curator.workflow.stuck import begun_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curator.doctor.finding import Finding
    from curator.durable.probe import Probe
    from curator.model.settings import Mode
    from curator.workflow.shop import Shop

_PERCENT: Final = 100
_AGREEMENT: Final = 50
"""Two reviewers word one fact differently; below half they remember different things."""
_MONEY: Final = frozenset({"reviewer", "key", "price"})


@dataclasses.dataclass(frozen=True, slots=True)
class Gate:
    """One condition, and what shows that it holds or does not."""

    name: str
    is_open: bool
    evidence: str


def gates(shop: Shop, probe: Probe | None, findings: Sequence[Finding], target: Mode) -> tuple[Gate, ...]:
    """Return the gates before a mode, all of them, whatever the first says. Changes nothing."""
    match target:
        case "external":
            return _storage(probe), _doctor(findings), _agreement(shop), _budget(shop, findings), _foreign(shop)
        case "shadow":
            return _doctor(findings), _budget(shop, findings), _foreign(shop)
        case "embedded":
            return _begun(shop), _queue(shop)
        case _:
            assert_never(target)


def closed(found: Iterable[Gate]) -> tuple[str, ...]:
    """Return the names of the gates that are closed."""
    return tuple(gate.name for gate in found if not gate.is_open)


def _storage(probe: Probe | None) -> Gate:
    if probe is not None and probe.is_power_safe:
        return Gate("storage", is_open=True, evidence="what is accepted survives power loss")
    told = "nothing was tried yet" if probe is None or not probe.warnings else probe.warnings[-1].fact
    return Gate("storage", is_open=False, evidence=told)


def _doctor(findings: Sequence[Finding]) -> Gate:
    errors = [f"{each.subject}: {each.fact}" for each in findings if each.level == "error"]
    if not errors:
        warnings = sum(each.level == "warning" for each in findings)
        return Gate("doctor", is_open=True, evidence=f"no errors, {warnings} warnings")
    return Gate("doctor", is_open=False, evidence=f"{len(errors)} errors, the first of them {errors[0]}")


def _agreement(shop: Shop) -> Gate:
    branches = compare(shop)
    shared = sum(each.shared for each in branches)
    differing = sum(len(each.only_real) + len(each.only_shadow) for each in branches)
    if not shared + differing:
        return Gate("shadow", is_open=False, evidence="no shadow has reviewed anything yet: `curator authority shadow`")
    percent = _PERCENT * shared // (shared + differing)
    told = f"{shared} entries in both and {differing} in one alone, over {len(branches)} branches: {percent} % agree"
    return Gate("shadow", is_open=percent >= _AGREEMENT, evidence=told)


def _budget(shop: Shop, findings: Sequence[Finding]) -> Gate:
    reviewer = shop.service.reviewer
    if reviewer is None:
        return Gate("budget", is_open=False, evidence="service.json names no reviewer, so nothing limits its cost")
    wrong = [each.fact for each in findings if each.subject in _MONEY and each.level in ("warning", "error")]
    if wrong:
        return Gate("budget", is_open=False, evidence=wrong[0])
    spend = f"{reviewer.max_calls_per_day:,} calls, {reviewer.max_tokens_per_day:,} tokens"
    told = f"{reviewer.provider}/{reviewer.model} may take {spend} and ${reviewer.max_cost_per_day_usd:g} a UTC day"
    return Gate("budget", is_open=True, evidence=told)


def _foreign(shop: Shop) -> Gate:
    foreign = foreign_live_worker(shop)
    if foreign is None:
        return Gate("worker", is_open=True, evidence="no worker of another kind is alive")
    worker_id, pid = foreign
    return Gate("worker", is_open=False, evidence=f"{worker_id} is alive, process {pid}: stop it first")


def _begun(shop: Shop) -> Gate:
    begun = begun_changes(shop.layout)
    if not begun:
        return Gate("admissions", is_open=True, evidence="no change of memory has begun and is not over")
    told = f"{len(begun)} changes have begun and are not over, the first of them {begun[0].path}: `curator release`"
    return Gate("admissions", is_open=False, evidence=told)


def _queue(shop: Shop) -> Gate:
    queued, running = shop.stores.spool.counts()
    if not queued + running:
        return Gate("queue", is_open=True, evidence="no job waits or runs")
    told = f"{queued} jobs wait and {running} run: nobody reviews them in embedded mode"
    return Gate("queue", is_open=False, evidence=told)
