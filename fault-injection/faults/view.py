"""What lies on disk, read without curator: the oracles' own eyes.

Nothing here imports the stores, the records or the digests that are judged. Records are plain JSON, digests are computed
anew, and a file that should hold JSON and does not is itself a finding.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.tree import is_staged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faults.tree import Tree

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Fields: TypeAlias = "dict[str, Json]"

HOME: Final = "no-forgetti"
_JOURNAL: Final = re.compile(
    r"no-forgetti/curator/attempts/([0-9-]{10})/[0-9a-f]{2}/(review_attempt_[0-9a-f]{40})\.(\d)\.json"
)
_CLOSED: Final = re.compile(r"no-forgetti/curator/attempts/([0-9-]{10})\.closed\.json")
_RESULT: Final = re.compile(
    r"no-forgetti/review-spool/provider-results/(review_[0-9a-f]{40})/(review_attempt_[0-9a-f]{40})\.json"
)
_FINISHED: Final = re.compile(r"no-forgetti/curator/finished/[0-9a-f]{2}/(review_[0-9a-f]{40})\.json")
_PROJECT: Final = re.compile(r"no-forgetti/(curator/shadow/)?([0-9a-f]{24})/(.+)")
_LAZY: Final = re.compile(r"no-forgetti/(?:(review-workers|runtimes)/[^/]+|curator/backfill/[^/]+/run\.pid)")


def is_inert(path: str) -> bool:
    """Tell whether losing a path alone proves nothing: staged names, and heartbeats, which are never flushed."""
    return is_staged(path) or _LAZY.fullmatch(path) is not None


def digest(value: Json) -> str:
    """Return the protocol's digest of a plain value: no odd floats and no astral keys occur in a scenario."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(fields: Mapping[str, Json], name: str) -> str:
    """Return a text of a record, or nothing where it has none."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def number_of(fields: Mapping[str, Json], name: str) -> int:
    """Return a number of a record, or 0 where it has none."""
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def fields_of(value: Json) -> Fields:
    """Return an object's fields, or none where the value is no object."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """Return a list, or an empty one where the value is none."""
    return value if isinstance(value, list) else []


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectView:
    """One project's memory, the real one or the one of shadow mode."""

    key: str
    is_shadow: bool
    branches: dict[str, Fields]
    revisions: dict[str, list[Fields]]
    """By branch, in the order of their names."""
    intents: dict[str, Fields]
    completions: dict[str, Fields]
    tombstones: dict[str, Fields]
    receipts: dict[str, Fields]
    pending: dict[str, Fields]
    ready: dict[str, Fields]


@dataclasses.dataclass(frozen=True, slots=True)
class PastView:
    """One row of a closed day."""

    day: str
    state: str
    calls: int
    tokens: int
    nanousd: int
    provider: str
    job: str


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """Everything under one agent folder that an oracle asks about."""

    files: dict[str, bytes]
    torn: tuple[str, ...]
    """Records that are not whole JSON objects."""
    mode: str
    """Who owns review, by the shared configuration."""
    queued: dict[str, Fields]
    running: dict[str, Fields]
    held: dict[str, Fields]
    outcomes: dict[str, Fields]
    attempts: dict[str, dict[int, Fields]]
    closed: dict[str, Fields]
    """By day, what stands for its attempts once it is over."""
    past: dict[str, PastView]
    """The attempts of those days that had their end: no file of them counts any more."""
    results: dict[tuple[str, str], Fields]
    decisions: dict[str, Fields]
    finished: dict[str, Fields]
    accepted: dict[str, Fields]
    projection: dict[str, str]
    """By attempt, its state in the protocol's day files."""
    identities: frozenset[str]
    projects: tuple[ProjectView, ...]

    def stands(self, job_id: str) -> list[str]:
        """Name every place of the spool in which a job stands."""
        places = {"queued": self.queued, "running": self.running, "held": self.held, "outcomes": self.outcomes}
        return [name for name, jobs in places.items() if job_id in jobs]


def look(tree: Tree) -> View:
    """Read a tree."""
    files = {path: node.content for path, node in tree.items() if node.content is not None and not is_staged(path)}
    records = {path: _parse(content) for path, content in files.items() if _is_record(path)}
    torn = tuple(sorted(path for path, record in records.items() if record is None and not is_inert(path)))
    whole = {path: record for path, record in records.items() if record is not None}
    spool = f"{HOME}/review-spool"
    closed = {found[1]: record for path, record in whole.items() if (found := _CLOSED.fullmatch(path))}
    past = {attempt: row for day, record in closed.items() for attempt, row in _rows(day, record)}
    return View(
        files=files,
        torn=torn,
        mode=text_of(whole.get(f"{HOME}/service.json", {}), "mode"),
        queued=_inside(whole, f"{spool}/queued"),
        running=_inside(whole, f"{spool}/running"),
        held=_inside(whole, f"{HOME}/curator/held"),
        outcomes=_inside(whole, f"{spool}/outcomes"),
        attempts={each: steps for each, steps in _attempts(whole, closed).items() if each not in past},
        closed=closed,
        past=past,
        results={(found[1], found[2]): each for path, each in whole.items() if (found := _RESULT.fullmatch(path))},
        decisions=_inside(whole, f"{spool}/proposal-decisions"),
        finished={found[1]: each for path, each in whole.items() if (found := _FINISHED.fullmatch(path))},
        accepted=_inside(whole, f"{HOME}/curator/jobs"),
        projection=_projection(_inside(whole, f"{spool}/accounting/days", "")),
        identities=frozenset(_inside(whole, f"{spool}/accounting/identities", "")),
        projects=tuple(_projects(whole)),
    )


def _is_record(path: str) -> bool:
    """Tell whether a file holds JSON: all do, but the configuration of ours, what was set aside, and packed lines."""
    return not path.endswith((".toml", ".bad", ".sqlite", ".z"))


@functools.lru_cache(4_096)
def _parse(content: bytes) -> Fields | None:
    try:
        value: Json = json.loads(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _inside(records: Mapping[str, Fields], folder: str, ending: str = ".json") -> dict[str, Fields]:
    """Return a folder's records by stem."""
    return {
        path.rpartition("/")[2].removesuffix(ending): record
        for path, record in records.items()
        if path.rpartition("/")[0] == folder and path.endswith(ending)
    }


def _projection(days: Mapping[str, Fields]) -> dict[str, str]:
    attempts = [
        fields_of(attempt)
        for day in days.values()
        for provider in fields_of(day.get("providers")).values()
        for attempt in list_of(provider)
    ]
    return {text_of(attempt, "id"): text_of(attempt, "state").replace("canceled", "cancelled") for attempt in attempts}


def _attempts(records: Mapping[str, Fields], closed: Mapping[str, Fields]) -> dict[str, dict[int, Fields]]:
    attempts: dict[str, dict[int, Fields]] = {}
    for day in closed.values():
        for lost in map(fields_of, list_of(day.get("unresolved"))):
            # It stands whole, so it says what its three files said.
            attempts[text_of(lost, "id")] = {0: lost, 1: lost | {"state": "dispatched"}, 2: lost}
    for path, record in sorted(records.items()):
        found = _JOURNAL.fullmatch(path)
        if found:
            attempts.setdefault(found[2], {})[int(found[3])] = record
    return attempts


def _rows(day: str, record: Fields) -> Iterator[tuple[str, PastView]]:
    for row in list_of(record.get("attempts")):
        attempt, state, calls, tokens, nanousd, provider, job = str(row).split(" ")
        yield attempt, PastView(day, state, int(calls), int(tokens), int(nanousd), provider, job)


def _projects(records: Mapping[str, Fields]) -> Iterator[ProjectView]:
    roots = sorted({(found[1] or "", found[2]) for path in records if (found := _PROJECT.fullmatch(path))})
    for shadow, key in roots:
        root = f"{HOME}/{shadow}{key}"
        revisions: dict[str, list[Fields]] = {}
        for path, record in sorted(records.items()):
            if path.startswith(f"{root}/revisions/"):
                revisions.setdefault(path.split("/")[-2], []).append(record)
        begun = _inside(records, f"{root}/review-admissions")
        mailbox = f"{root}/service/review-feedback"
        yield ProjectView(
            key=key,
            is_shadow=bool(shadow),
            branches=_inside(records, f"{root}/branches"),
            revisions=revisions,
            intents={stem.removesuffix(".intent"): each for stem, each in begun.items() if stem.endswith(".intent")},
            completions={
                stem.removesuffix(".complete"): each for stem, each in begun.items() if stem.endswith(".complete")
            },
            tombstones=_inside(records, f"{root}/review-admissions/retired"),
            receipts=_inside(records, f"{root}/service/commit-receipts"),
            pending=_inside(records, f"{mailbox}/pending"),
            ready=_inside(records, f"{mailbox}/ready"),
        )
