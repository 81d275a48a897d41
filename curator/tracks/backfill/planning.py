"""Make a plan: look through the sessions, estimate what reviewing them costs, and freeze it. Nothing is sent or spent.

INVARIANT  All that is written is the plan's own record. Neither memory, nor the ledger, nor the journal changes.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Final

from curator.admission.apply import TARGET_CHARS
from curator.durable.read import read_bounded
from curator.errors import InvalidRecordError, RefusedError, ReviewerSetupError
from curator.model.digest import MalformedJsonError, parse
from curator.model.ids import BranchName, session_key
from curator.model.job import make_job
from curator.model.limits import (
    EVIDENCE_CHARS_MAX,
    MEMORY_CHARS_MAX,
    OPERATIONS_MAX,
    PLAN_WINDOWS_MAX,
    SERVICE_JSON_BYTES_MAX,
)
from curator.model.memory import EPOCH, branch_digest, empty_branch
from curator.model.ports import Brief
from curator.model.record import Violation
from curator.model.times import iso
from curator.model.trajectory import PARSER, SANITIZER
from curator.pi.sessions import find_sessions, find_sessions_root
from curator.tracks.backfill.records import Forecast, Plan, PlanId, seal
from curator.tracks.backfill.survey import Surveyor
from curator.tracks.trajectory.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curator.durable.layout import Layout
    from curator.model.digest import Digest, Json
    from curator.model.ids import ProjectKey, SessionKey
    from curator.model.job import Job
    from curator.model.memory import Branch
    from curator.model.ports import Hold
    from curator.model.settings import ReviewerProfile
    from curator.pi.project import Project
    from curator.tracks.backfill.records import Caps
    from curator.tracks.backfill.survey import Survey
    from curator.workflow.shop import Shop

KEEP_MS: Final = 14 * 86_400_000
"""How long what is staged waits for a person, unless they say otherwise."""
_CALL_MS: Final = 15_000
"""A review by a large model, and the flushes around it."""
_INDEX_BYTES_MS: Final = 5_000
"""Bytes of sessions that are read and indexed in a millisecond, on one core."""
_DISK_FACTOR: Final = 2
"""What a line takes in the ledger: packed, and once more for the search."""
_WINDOW_DISK: Final = 24_576
"""An answer, a proposal and a call's records in the journal, each in blocks of the disk."""
_MAIN: Final = BranchName("main")


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked to be planned."""

    project: Project
    caps: Caps
    keep_ms: int = KEEP_MS


def make_plan(
    asked: Asked, shop: Shop, environ: Mapping[str, str], tell: Callable[[int, int], None] = lambda _done, _of: None
) -> Plan:
    """Return a plan over the project's sessions, not kept yet.

    Raises `ReviewerSetupError` where no reviewer could be asked, and what listing the sessions raises.
    """
    layout, project = shop.layout, asked.project
    profile = shop.service.reviewer
    if profile is None:
        fact = "service.json names no reviewer, so that nothing can be estimated"
        raise ReviewerSetupError("model_not_found", fact, remedy="Run `curator config init`")
    branch = seen_branch(project.key, _MAIN, shop)
    root = find_sessions_root(environ, layout.agent, _session_dir(layout))
    found = find_sessions(root, project, _moved_from(project, shop))
    now = shop.clock.now()
    surveyor = Surveyor(project.key, asked.caps, _settled(project, shop), now)
    result = surveyor.survey(found, tell)
    forecast = dataclasses.replace(
        _forecast(result, branch, profile, asked, shop),
        own_reviews=found.own_reviews,
        quarantined_elsewhere=found.quarantined_elsewhere,
    )
    draft = Plan(
        id=PlanId("plan_" + "0" * 16),
        created_at=iso(now),
        project_key=project.key,
        project_root=str(project.root),
        branch_name=_MAIN,
        provider=profile.provider,
        model=profile.model,
        parser=PARSER,
        sanitizer=SANITIZER,
        keep_ms=asked.keep_ms,
        caps=asked.caps,
        forecast=forecast,
        inputs=tuple(result.inputs),
        left_out=tuple(result.left_out),
    )
    return seal(draft)


def _forecast(result: Survey, branch: Branch, profile: ReviewerProfile, asked: Asked, shop: Shop) -> Forecast:
    caps = asked.caps
    least, most = (_hold(chars, branch, asked, shop) for chars in (1, EVIDENCE_CHARS_MAX))
    reading_ms = sum(each.size for each in result.inputs) // _INDEX_BYTES_MS
    indexed = result.line_bytes * _DISK_FACTOR
    calls = tokens = cost = 0
    for chars in result.windows[:PLAN_WINDOWS_MAX]:
        more_tokens = _between(least.tokens, most.tokens, chars)
        more_cost = _between(least.cost_nanousd, most.cost_nanousd, chars)
        ends = (
            (caps.calls, calls + 1),
            (caps.tokens, tokens + more_tokens),
            (caps.cost_nanousd, cost + more_cost),
            (caps.running_ms, reading_ms + (calls + 1) * _CALL_MS),
            (caps.disk, indexed + (calls + 1) * _WINDOW_DISK),
        )
        if any(cap is not None and figure > cap for cap, figure in ends):
            break
        calls, tokens, cost = calls + 1, tokens + more_tokens, cost + more_cost
    limits = profile.limits
    return Forecast(
        turns=result.turns,
        chars=result.chars,
        windows=len(result.windows),
        calls=calls,
        tokens=tokens,
        cost_nanousd=cost,
        running_ms=reading_ms + calls * _CALL_MS,
        disk=indexed + calls * _WINDOW_DISK,
        days=max(-(-calls // limits.calls), -(-tokens // limits.tokens), -(-cost // limits.cost_nanousd)),
        uncertain_turns=result.uncertain,
        injected=result.injected,
        changes_max=calls * OPERATIONS_MAX,
        room_chars=max(0, TARGET_CHARS - branch.chars),
    )


def _between(least: int, most: int, chars: int) -> int:
    return least + (most - least) * chars // EVIDENCE_CHARS_MAX


def _hold(chars: int, branch: Branch, asked: Asked, shop: Shop) -> Hold:
    """Return what a call with so much evidence holds."""
    job = job_about("x" * chars, (session_key("a session"), "entry"), asked.project.key, branch, shop)
    return shop.reviewer.prepare(Brief(job=job, base=job.branch, attempt=1, is_final=False)).hold


def job_about(transcript: str, frontier: tuple[SessionKey, str], key: ProjectKey, branch: Branch, shop: Shop) -> Job:
    """Return what a reviewer is asked, as a job would put it; it stands in no queue.

    Raises `RefusedError` where memory has an entry that no job can carry (W18).
    """
    session, through = frontier
    try:
        return make_job(
            project_key=key,
            session_key=session,
            through_entry_id=through,
            transcript=transcript,
            branch=branch.sanitized(),
            base_branch_digest=branch_digest(branch),
            max_chars=MEMORY_CHARS_MAX,
        )
    except Violation as error:
        path = shop.layout.project(key).branch(branch.name)
        remedy = "Mend that entry, with `/memory` in Pi, and run again"
        raise RefusedError(f"{path}: no review can carry it: {error}", remedy=remedy) from error


def seen_branch(key: ProjectKey, name: BranchName, shop: Shop) -> Branch:
    """Return a branch as it stands, or an empty one; nothing is made, and nothing that others began is carried on."""
    return shop.memory(key, "external").branch(name) or empty_branch(name, EPOCH)


def open_ledger(key: ProjectKey, shop: Shop) -> Ledger:
    """Return a project's trajectory."""
    return Ledger(shop.layout.trajectory(key), shop.volume, shop.clock)


def _settled(project: Project, shop: Shop) -> frozenset[Digest]:
    """Return the nodes at which the ledger knows that a session had come to rest; nothing where there is no ledger."""
    with contextlib.closing(open_ledger(project.key, shop)) as ledger:
        return frozenset(leaf.digest for leaf in ledger.leaves() if leaf.is_settled)


def _session_dir(layout: Layout) -> Json:
    """Return where Pi's settings say that sessions are; nothing where they say it not, or cannot be read."""
    try:
        raw = read_bounded(layout.agent / "settings.json", SERVICE_JSON_BYTES_MAX, follow=True)
        value = None if raw is None else parse(raw)
    except (InvalidRecordError, MalformedJsonError):
        return None
    return value.get("sessionDir") if isinstance(value, dict) else None


def _moved_from(project: Project, shop: Shop) -> tuple[str, ...]:
    """Return the folders that the project's memory moved from, the latest first."""
    roots: list[str] = []
    seen = {project.key}
    standing = shop.stores.standings.find(project.key)
    while standing is not None and standing.linked_from is not None and standing.linked_from not in seen:
        seen.add(standing.linked_from)
        standing = shop.stores.standings.find(standing.linked_from)
        if standing is not None and standing.project_root is not None:
            roots.append(standing.project_root)
    return tuple(roots)
