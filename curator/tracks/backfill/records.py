"""What a backfill keeps: the plan, its windows, what was answered, what is staged, what was promoted and taken back.

All but the wish are immutable, one fact a file. A plan's id is its content's, so a plan that was changed is no plan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Final, Literal, NewType, TypeAlias

from curator.model.decision import Span
from curator.model.digest import Digest, digest_of
from curator.model.ids import (
    ABranchName,
    ADay,
    ADigest,
    AnAttemptId,
    AnEntryId,
    AnIso,
    AProjectKey,
    ARevisionId,
    ASafeId,
    ASessionKey,
    EntryId,
)
from curator.model.limits import (
    ENTRY_CHARS_READ_MAX,
    OPERATIONS_MAX,
    PLAN_INPUTS_MAX,
    PLAN_WINDOWS_MAX,
    SESSION_FILES_MAX,
)
from curator.model.memory import Branch
from curator.model.outcome import Provenance
from curator.model.proposal import Operation
from curator.model.record import Integer, Items, Pattern, Record, Text, Violation

_MS_MAX: Final = 2**53 - 1
_ID_CHARS: Final = 16
_PATH_CHARS_MAX: Final = 4_096
_TARGETS_MAX: Final = 64
_LEFT_OUT_MAX: Final = 64

PlanId = NewType("PlanId", str)
APlanId = Annotated[PlanId, Pattern(r"plan_[0-9a-f]{16}", "a plan's id")]

Quality: TypeAlias = Literal["settled", "inferred", "uncertain"]
"""What is known of where a conversation ended: by a settled checkpoint of it, or by nothing but that no entry follows; and
uncertain where an older review may have covered it, or may have passed it over."""

_Count = Annotated[int, Integer()]
_Path = Annotated[str, Text(1, _PATH_CHARS_MAX)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Input(Record):
    """One session file as the plan found it: whoever runs the plan reads exactly these bytes, or nothing."""

    path: _Path
    size: _Count
    """As far as it was read."""
    modified_ms: _Count
    digest: ADigest
    """SHA-256 of those bytes."""
    quality: Quality
    entries: _Count
    turns: _Count
    damaged: _Count
    """Lines that are not taken, whole or in part."""
    origin: Literal["none", "parent available", "parent unavailable"] = "none"
    """What is known of the session that it was forked from; nothing of it is lost without that one."""
    dates: Mapping[str, _Count] = dataclasses.field(default_factory=dict)
    """How many entries have a time that can be believed, and how many have which other kind."""
    usage_unknown: _Count = 0
    """Answers of a model that do not say how many tokens they took: unknown is not nothing."""
    usage_tokens: _Count = 0
    """What the others say."""
    since: AnIso | None = None
    until: AnIso | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Record):
    """One file that the plan does not read."""

    path: _Path
    size: _Count
    reason: Annotated[str, Text(1, 200)]
    """Why, in words."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Caps(Record):
    """What a person lets the plan be and cost; what is absent has no cap but the day's limits."""

    since: ADay | None = None
    until: ADay | None = None
    files: Annotated[int, Integer(1)] | None = None
    size: Annotated[int, Integer(1)] | None = None
    """Bytes of session files."""
    calls: Annotated[int, Integer(1)] | None = None
    tokens: Annotated[int, Integer(1)] | None = None
    cost_nanousd: _Count | None = None
    running_ms: Annotated[int, Integer(1)] | None = None
    disk: Annotated[int, Integer(1)] | None = None
    """Bytes that the folder of curator may grow by."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Record):
    """What the plan comes to, by what was read of it. Nothing of it is a promise."""

    turns: _Count
    """Not covered yet, each once however many files hold it."""
    chars: _Count
    windows: _Count
    calls: _Count
    """One a window, within the caps."""
    tokens: _Count
    cost_nanousd: _Count
    """Both at what is held for a call: the most that is expected."""
    running_ms: _Count
    disk: _Count
    days: _Count
    """Of the day's limits, if nothing else is asked meanwhile."""
    uncertain_turns: _Count = 0
    """Behind the frontier of an older review, which may have passed them over."""
    own_reviews: _Count = 0
    """Sessions in which a reviewer was asked: no person's word, so they are not read."""
    injected: _Count = 0
    """Entries that hold memory which Pi put in: they are passed over."""
    quarantined_elsewhere: _Count = 0
    changes_max: _Count = 0
    """Of memory, if each call proposes as much as it may."""
    room_chars: _Count = 0
    """What the branch takes before it is at its working size."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Record):
    """What is to be read and asked, frozen. Its id is the digest of all else."""

    version: Literal[1] = 1
    kind: Literal["backfill-plan"] = "backfill-plan"
    id: APlanId
    created_at: AnIso
    project_key: AProjectKey
    project_root: _Path
    branch_name: ABranchName
    provider: Annotated[str, Text(1, 128)]
    model: Annotated[str, Text(1, 256)]
    parser: Annotated[int, Integer(1)]
    sanitizer: Annotated[int, Integer(1)]
    keep_ms: Annotated[int, Integer(1, _MS_MAX)]
    """How long a proposal is kept after it was staged."""
    caps: Caps
    forecast: Forecast
    inputs: Annotated[tuple[Input, ...], Items(0, PLAN_INPUTS_MAX)]
    left_out: Annotated[tuple[LeftOut, ...], Items(0, SESSION_FILES_MAX)]

    def check(self, where: str = "") -> None:
        """The id is the content's."""
        if plan_id(self) != self.id:
            raise Violation(where, "has an id that is not its content's")

    @property
    def mark(self) -> str:
        """The first half of the lease token of each of its calls: by it they are known in the journal."""
        return self.id.removeprefix("plan_")


def plan_id(plan: Plan) -> PlanId:
    """Return the id that a plan's content has."""
    content = {key: value for key, value in plan.encode().items() if key != "id"}
    return PlanId(f"plan_{digest_of(content)[:_ID_CHARS]}")


def seal(draft: Plan) -> Plan:
    """Return a plan under its own id."""
    return dataclasses.replace(draft, id=plan_id(draft))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Window(Record):
    """What one call is to look at: the nodes of one path from the first to the last, turn by turn."""

    number: Annotated[int, Integer(1, PLAN_WINDOWS_MAX)]
    first: ADigest
    last: ADigest
    turns: _Count
    chars: _Count
    session_key: ASessionKey
    through_entry_id: ASafeId
    transcript_digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Windows(Record):
    """All windows of a plan, in the order in which they are reviewed."""

    version: Literal[1] = 1
    kind: Literal["backfill-windows"] = "backfill-windows"
    plan_id: APlanId
    windows: Annotated[tuple[Window, ...], Items(0, PLAN_WINDOWS_MAX)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Record):
    """What one call brought, durable before it is settled: a call that has its answer is never made again."""

    version: Literal[1] = 1
    kind: Literal["backfill-answer"] = "backfill-answer"
    plan_id: APlanId
    window: Annotated[int, Integer(1, PLAN_WINDOWS_MAX)]
    attempt: Annotated[int, Integer(1)]
    attempt_id: AnAttemptId
    day: ADay
    job_digest: ADigest
    code: Annotated[str, Text(1, 64)] | None = None
    """Why it holds no proposal."""
    is_final: bool
    """Whether asking once more would bring nothing else."""
    operations: Annotated[tuple[Operation, ...], Items(0, OPERATIONS_MAX)] = ()
    spans: Annotated[tuple[Span, ...], Items(0, OPERATIONS_MAX)] = ()
    provenance: Provenance | None = None
    is_estimated: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target(Record):
    """An entry that a proposal names, as its reviewer saw it."""

    entry_id: AnEntryId
    text_digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Staged(Record):
    """What a window came to. It says nothing of when and by which attempt, so that another run of it says the same."""

    version: Literal[1] = 1
    kind: Literal["backfill-proposal"] = "backfill-proposal"
    plan_id: APlanId
    window: Annotated[int, Integer(1, PLAN_WINDOWS_MAX)]
    code: Annotated[str, Text(1, 64)] | None = None
    """Why there is no proposal."""
    operations: Annotated[tuple[Operation, ...], Items(0, OPERATIONS_MAX)] = ()
    spans: Annotated[tuple[Span, ...], Items(0, OPERATIONS_MAX)] = ()
    targets: Annotated[tuple[Target, ...], Items(0, _TARGETS_MAX)] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Promotion(Record):
    """One change of memory, made of staged proposals: durable before it begins, so that it is made once and the same."""

    version: Literal[1] = 1
    kind: Literal["backfill-promotion"] = "backfill-promotion"
    plan_id: APlanId
    number: Annotated[int, Integer(1)]
    windows: Annotated[tuple[int, ...], Items(1, PLAN_WINDOWS_MAX)]
    committed_at: AnIso
    base_digest: ADigest
    after: Branch
    revision_id: ARevisionId
    left_out: Annotated[tuple[Annotated[str, Text(1, ENTRY_CHARS_READ_MAX)], ...], Items(0, _LEFT_OUT_MAX)] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Record):
    """That a promotion was taken back."""

    version: Literal[1] = 1
    kind: Literal["backfill-rollback"] = "backfill-rollback"
    plan_id: APlanId
    number: Annotated[int, Integer(1)]
    undo_id: ARevisionId
    is_exact: bool
    rolled_back_at: AnIso


Will: TypeAlias = Literal["run", "pause", "cancel", "expire"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wish(Record):
    """What is to become of a plan. The latest word alone counts, so its file is replaced; `cancel` and `expire` are final."""

    version: Literal[1] = 1
    kind: Literal["backfill-wish"] = "backfill-wish"
    plan_id: APlanId
    will: Will
    changed_at: AnIso


def new_entry_id(plan: PlanId, window: int, index: int) -> EntryId:
    """Return the id of an entry that a proposal adds: the same in every run, so that later windows may name it."""
    found: Digest = digest_of({"planId": plan, "window": window, "operation": index})
    return EntryId(found[:12])
