"""Made-up records: the smallest ones that are whole, and each of them changeable at one place."""

import dataclasses
import itertools

from curator.model.attempt import Reserved
from curator.model.budget import Limits
from curator.model.decision import ProviderResult
from curator.model.digest import Digest
from curator.model.ids import (
    AttemptId,
    BranchName,
    Day,
    EntryId,
    LeaseToken,
    ProjectKey,
    SessionKey,
    attempt_id,
)
from curator.model.job import Job, make_job
from curator.model.memory import Branch, Entry, branch_digest
from curator.model.outcome import Completed, Cost, Failed, Failure, Provenance, Usage, proposal_digest
from curator.model.proposal import Add, Operation

AT = "2026-01-03T00:00:00.000Z"
LATER = "2026-01-03T00:00:01.000Z"
AT_MS = 1_767_398_400_000
DAY = Day("2026-01-03")
MAIN = BranchName("main")
TOKEN = LeaseToken("0123456789abcdef0123456789abcdef")
ROOMY = Limits(calls=100, tokens=1_000_000, cost_nanousd=10_000_000_000)


@dataclasses.dataclass
class StillClock:
    """A clock that stands until a test moves it."""

    ms: int = AT_MS

    def now(self) -> int:
        return self.ms

    def monotonic(self) -> int:
        return self.ms


class Counted:
    """Ids that a test can foresee."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def uuid(self) -> str:
        return f"00000000-0000-4000-8000-{next(self._numbers):012x}"

    def token(self) -> str:
        return f"{next(self._numbers):032x}"


def entry(entry_id: str = "entry-one", text: str = "Package commands use pnpm.") -> Entry:
    return Entry(id=EntryId(entry_id), text=text, created_at=AT, updated_at=AT, importance="normal")


def branch(*entries: Entry, name: str = "main") -> Branch:
    return Branch(name=BranchName(name), created_at=AT, updated_at=AT, entries=entries)


def job(frontier: str = "entry-9", transcript: str = "USER: Use pnpm.", on: Branch | None = None) -> Job:
    base = branch(entry()) if on is None else on
    return make_job(
        project_key=ProjectKey("826cdcf0ee7b9e3ad811eb46"),
        session_key=SessionKey("abe633f3a47a2758174eabe9160daf36"),
        through_entry_id=frontier,
        transcript=transcript,
        branch=base,
        base_branch_digest=branch_digest(base),
        max_chars=6_000,
    )


def provenance(total_tokens: int = 160, usd: float = 0.0031) -> Provenance:
    cost = Cost(input=0, output=0, cache_read=0, cache_write=0, total=usd)
    usage = Usage(input=0, output=0, cache_read=0, cache_write=0, total_tokens=total_tokens, cost=cost)
    return Provenance(
        provider="provider", model="m", api="a", started_at=AT, completed_at=LATER, duration_ms=1000, usage=usage
    )


def completed(of: Job, *operations: Operation) -> Completed:
    return Completed(
        job_id=of.id,
        job_digest=of.digest,
        completed_at=LATER,
        operations=operations or (Add(content="Run the checks.", importance="high"),),
        provenance=provenance(),
    )


def failed(of: Job, code: str = "provider_error") -> Failed:
    error = Failure(code=code, message="The provider is overloaded.", retryable=True)
    return Failed(job_id=of.id, job_digest=of.digest, completed_at=LATER, error=error)


def attempt_of(of: Job, claim: int = 1, token: LeaseToken = TOKEN) -> AttemptId:
    return attempt_id(of.digest, claim, token)


def result(of: Job, outcome: Completed | Failed | None = None, claim: int = 1) -> ProviderResult:
    said = completed(of) if outcome is None else outcome
    return ProviderResult(attempt_id=attempt_of(of, claim), proposal_digest=proposal_digest(said), job=of, outcome=said)


def reserved(
    of: Job, claim: int = 1, *, tokens: int = 400, nanousd: int = 50_000_000, day: Day = DAY, provider: str = "provider"
) -> Reserved:
    return Reserved(
        id=attempt_of(of, claim),
        day=day,
        provider=provider,
        job_id=of.id,
        job_digest=of.digest,
        claim_attempt=claim,
        lease_token=TOKEN,
        reserved_at=AT,
        hold_tokens=tokens,
        hold_cost_nanousd=nanousd,
        origin="curator",
    )


def other_digest(letter: str = "f") -> Digest:
    return Digest(letter * 64)
