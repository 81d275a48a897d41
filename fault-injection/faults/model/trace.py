"""Read a recording as the model's events, and let the model judge each of them.

What happened is derived from what was published and where, not from who says so; of the recorded callers only three facts
are used, which no file tells: whether Pi wrote the branch, whether a review was taken back, whether recovery cancelled.
What leaves no file (a branch read, a lease proved, time gone by) is put in where it must have been at the latest.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.model.times import iso
from faults.model.beginning import Names, RefusedError, beginning, parse
from faults.model.invariants import (
    a_foreground_write_survives,
    a_proposal_takes_effect_once,
    no_call_is_uncounted,
    nothing_accepted_is_lost,
)
from faults.model.readers import OWN, READERS, SILENT, SPOOL
from faults.model.rules import take
from faults.model.state import Branch, Event, Held, Job, Kind, State
from faults.recording import Verb
from faults.tree import is_lock, is_staged
from faults.view import fields_of, look, text_of

if TYPE_CHECKING:
    from faults.model.state import Attempt, Frozen, Value, Worker
    from faults.recording import Asked, Mark, Recording
    from faults.tree import Tree

Claim: TypeAlias = tuple[int, int]
"""A job and the number of its claim."""

_NOTHING: Final[frozenset[str]] = frozenset()
_ROLLED: Final = frozenset({"base.rolled"})
_PROVED: Final = frozenset({"prove.lease"})
_PROMISES: Final = (
    nothing_accepted_is_lost,
    no_call_is_uncounted,
    a_proposal_takes_effect_once,
    a_foreground_write_survives,
)
"""The invariants that are about any state, not about the texts of an exploration."""


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """A step that the model does not allow."""

    at: int
    """Its place in the recording."""
    step: str
    why: str

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return f"step {self.at}, {self.step}: {self.why}"


@dataclasses.dataclass(frozen=True, slots=True)
class Replayed:
    """A recording as the model saw it."""

    events: tuple[Event, ...]
    refusal: Refusal | None


def replay(recording: Recording, crash_at: int | None = None) -> Replayed:
    """Run a recording through the model; before step `crash_at` every process dies."""
    trace = Trace(recording.start)
    for at, asked in enumerate(recording.asked):
        if at == crash_at:
            trace.crash()
        try:
            trace.read(asked)
        except RefusedError as refused:
            return Replayed(tuple(trace.events), Refusal(at, f"{asked.site} {asked.path}", str(refused)))
    why, end = trace.differs(), len(recording.asked)
    return Replayed(tuple(trace.events), Refusal(end, "the end", why) if why else None)


class Trace:
    """One recording on its way through the model."""

    def __init__(self, start: Tree) -> None:
        """Begin where the files stand."""
        view = look(start)
        self.names = Names()
        self.state = beginning(view, self.names)
        self.events: list[Event] = []
        self.files: dict[str, bytes] = {path: node.content for path, node in start.items() if node.content is not None}
        self.leases = {job: text_of(each, "leaseUntil") for job, each in view.running.items()}
        self.tokens: dict[tuple[str, int], str] = {}
        self.requests: dict[tuple[int, str], str] = {}
        """By process and digest, the attempt that says that it sent it: two processes may ask the same."""
        self._seen: dict[Claim, tuple[Value, ...]] = {}
        """By claim: every state of its branch, at rest, that it may have read since it began or was answered."""
        self._own_bases: dict[str, str] = {}
        self._pid = 0
        """Whose step is taken."""
        self._pids: dict[Claim, int] = {}
        """Which process holds a claim."""
        self._provable: dict[Claim, frozenset[int]] = {}
        """By claim whose lease ran out: the proposals for which it may have proved it before."""

    # What happens.

    def tried(self, asked: Asked | None, pid: int) -> str:
        """Take a step of a process, None being its death; or say why not, and be as before."""
        kept = (self.state, len(self.events), self.names.copy(), self.leases, self.tokens, self.requests)
        kept_more = (self._seen, self._pids, self._provable)
        self.leases, self.tokens, self.requests = dict(self.leases), dict(self.tokens), dict(self.requests)
        self._seen, self._pids, self._provable = dict(self._seen), dict(self._pids), dict(self._provable)
        paths = () if asked is None else (asked.path, asked.source)
        files = {path: self.files.get(path) for path in paths}
        try:
            if asked is None:
                self.crash(pid)
            else:
                self.read(asked, pid)
        except RefusedError as refused:
            self.state, count, self.names, self.leases, self.tokens, self.requests = kept
            self._seen, self._pids, self._provable = kept_more
            del self.events[count:]
            for path, content in files.items():
                self._put_back(path, content)
            return str(refused)
        return ""

    def _put_back(self, path: str, content: bytes | None) -> None:
        if content is None:
            self.files.pop(path, None)
        else:
            self.files[path] = content

    def read(self, asked: Asked, pid: int = 0) -> None:
        """Take one step of a recording, by a process. Raises `RefusedError`."""
        if asked.mark is not None:
            self._hear(asked.mark, asked.path, pid)
            return
        self._let_lapse(asked.now)
        self._pid = pid
        self._believe(asked.now)
        content = self._move(asked)
        if not asked.is_done or asked.verb not in _CHANGES or is_staged(asked.path) or is_lock(asked.path):
            return
        verb = "unlink" if asked.verb is Verb.UNLINK else "publish"
        for pattern, kind, reader in READERS:
            found = pattern.fullmatch(asked.path)
            if found and kind == verb:
                reader(self, asked, found.groups(), parse(content))
                return
        if not SILENT.fullmatch(asked.path):
            raise RefusedError("the model knows no such name")

    def crash(self, pid: int | None = None) -> None:
        """Let every process die, or one."""
        for worker in self.state.workers:
            if pid is None or self._pids.get((worker.job, worker.number)) == pid:
                self.happen(Event(Kind.CRASH, worker.job, worker.number))

    def happen(self, event: Event, off: frozenset[str] = _NOTHING) -> None:
        """Let an event happen, if the model allows it; `off` are guards that held earlier. Raises `RefusedError`."""
        after = take(self.state, event, off)
        if isinstance(after, str):
            raise RefusedError(f"{event}: {after}")
        broken = next((each.__name__ for each in _PROMISES if not each(_changed(self.state, after))), "")
        if broken:
            raise RefusedError(f"{event}: {broken}")
        self.state = after
        self.events.append(event)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        """Keep what a claim may have read and proved by now, and whose it is."""
        if event.kind in _BEGINNINGS:
            self._pids[event.job, event.next] = self._pid
        elif event.kind is Kind.RESULT:
            self._seen.pop((event.job, event.number), None)
        elif event.kind is Kind.LAPSE:
            job = self.state.jobs[event.job]
            done = frozenset(each.number for each in job.attempts if each.result == "completed")
            self._provable[event.job, job.running] = done
        if event.kind in _MOVING:
            for worker in self.state.workers:
                self._may_read(worker)

    def _may_read(self, worker: Worker) -> None:
        if self.state.is_at_rest(self.state.jobs[worker.job].branch):
            claim, stands = (worker.job, worker.number), self.state.value(worker.job)
            seen = self._seen.get(claim, ())
            if stands not in seen:
                self._seen[claim] = (*seen, stands)

    def differs(self) -> str:
        """Say how the end of the trace differs from what its files say, or nothing."""
        tree = {path: _Bytes(content) for path, content in self.files.items()}
        names = dataclasses.replace(self.names)
        end = beginning(look(tree), names)  # type: ignore[arg-type]  # the bytes are all that is looked at
        for job, index in names.jobs.items():
            if index >= len(self.state.jobs):
                return f"{job} was never seen"
            ours, theirs = self.state.jobs[index], end.jobs[index]
            if _compared(ours) != _compared(theirs):
                return f"{job} is {_compared(ours)} in the model, and {_compared(theirs)} on disk"
            if not ours.is_closed and len(ours.attempts) != len(theirs.attempts):
                return f"{job} has {len(ours.attempts)} attempts in the model, and {len(theirs.attempts)} on disk"
            for attempt in theirs.attempts:
                known = ours.attempt(attempt.number)
                # What is over may lose its result by age, and its journal to what stands for its day.
                if known is None or known.state != attempt.state or attempt.result not in ("", known.result):
                    return f"attempt {attempt.number} of {job} is {known} in the model, and {attempt} on disk"
        for path, index in names.branches.items():
            if index < len(self.state.branches) and self.state.branches[index].value != end.branches[index].value:
                return f"{path} is {self.state.branches[index].value} in the model"
        return ""

    # What the readers need.

    def job(self, name: str) -> int:
        """Return the number of a job, known from now on."""
        index = self.names.jobs.get(name)
        if index is None:
            index = self.names.jobs[name] = len(self.state.jobs)
            self.state = self.state._replace(jobs=(*self.state.jobs, Job()))
        return index

    def at(self, name: str) -> Job:
        """Return a job as the model has it."""
        return self.state.jobs[self.job(name)]

    def branch(self, path: str) -> int:
        """Return the number of a branch, known from now on."""
        index = self.names.branches.setdefault(path, len(self.names.branches))
        missing = index + 1 - len(self.state.branches)
        self.state = self.state._replace(branches=(*self.state.branches, *(Branch(()) for _ in range(missing))))
        return index

    def belong(self, name: str, *, is_shadow: bool) -> None:
        """Say which memory a job changes."""
        index, branch = self.job(name), self.branch(self.names.branch_path(name, is_shadow=is_shadow))
        self._put(index, self.state.jobs[index]._replace(branch=branch))

    def freeze(self, index: int, frozen: Frozen) -> None:
        """Keep of a begun change by which name its revision will be known."""
        self._put(index, self.state.jobs[index]._replace(intent=frozen))

    def learn(self, name: str, attempt: Attempt) -> None:
        """Take note of what another worker's attempt left."""
        index = self.job(name)
        job = self.state.jobs[index]
        others = (each for each in job.attempts if each.number != attempt.number)
        self._put(index, job._replace(attempts=tuple(sorted((*others, attempt), key=lambda each: each.number))))

    def look_at(self, name: str, number: int, base: str) -> None:
        """Let the holder of a claim have read the branch whose digest its attempt names, when it was so."""
        index, value = self.job(name), self.names.value(base)
        is_own = self.own_base(name) == base
        is_durable = is_own or f"{OWN}/bases/{name}/{base}.json" in self.files
        if is_durable and value in self._seen.get((index, number), ()):
            self.happen(Event(Kind.BASE, index, number, value=value), _ROLLED)

    def elect(self, name: str, chosen: int) -> None:
        """Let a claim's holder have read the branch and proved its lease when that was so, and elect a proposal."""
        index, owner = self.job(name), self.elector(name)
        attempt, seen = self.at(name).attempt(chosen), self._seen.get((index, owner), ())
        if attempt is not None and attempt.base in seen:
            self.happen(Event(Kind.BASE, index, owner, value=attempt.base), _ROLLED)
        else:
            self.happen(Event(Kind.BASE, index, owner))
        was_proved = chosen in self._provable.get((index, owner), ())
        self.happen(Event(Kind.PROVE, index, owner, next=chosen), _PROVED if was_proved else _NOTHING)
        self.happen(Event(Kind.ELECT, index, owner, next=chosen))

    def elector(self, name: str) -> int:
        """Return the claim by which a decision is made: that of the process that makes it."""
        index = self.job(name)
        own = [worker.number for worker in self.state.workers if worker.job == index and self._is_here(worker)]
        return max(own, default=self.at(name).running)

    def _is_here(self, worker: Worker) -> bool:
        return self._pids.get((worker.job, worker.number)) == self._pid

    def own_base(self, name: str) -> str:
        """Return the branch from which a job was captured; it stays known when no record says it any more."""
        for folder in (f"{SPOOL}/running", f"{SPOOL}/queued", f"{OWN}/held"):
            record = parse(self.files.get(f"{folder}/{name}.json", b""))
            if "job" in record:
                return self._own_bases.setdefault(name, text_of(fields_of(record["job"]), "baseBranchDigest"))
        return self._own_bases.get(name, "")

    def _put(self, index: int, job: Job) -> None:
        jobs = self.state.jobs
        self.state = self.state._replace(jobs=(*jobs[:index], job, *jobs[index + 1 :]))

    def sends(self, digest: str, attempt: str) -> None:
        """Let the process whose step is taken be about to send a request."""
        self.requests[self._pid, digest] = attempt

    def _hear(self, mark: Mark, path: str, pid: int) -> None:
        if mark.kind == "lease":
            # The lease of a dead process was made to have run out.
            self.leases[path.rpartition("/")[2].removesuffix(".json")] = mark.subject
        elif mark.kind == "request":
            if (pid, mark.subject) not in self.requests:
                raise RefusedError("a request left, and no attempt says that it sent it")
            name, number = self.names.attempts[self.requests[pid, mark.subject]]
            self.happen(Event(Kind.CALL, self.job(name), number))

    def _let_lapse(self, now: int) -> None:
        for name, until in self.leases.items():
            job = self.at(name)
            if job.running and job.is_live and until <= iso(now):
                self.happen(Event(Kind.LAPSE, self.job(name)))

    def _believe(self, now: int) -> None:
        """Let a lease live that ran out by another's clock alone: by its holder's own it runs, and nobody took it over."""
        for name, until in self.leases.items():
            index, job = self.job(name), self.at(name)
            is_own = job.running and not job.is_live and self._pids.get((index, job.running)) == self._pid
            if is_own and iso(now) < until:
                self._put(index, job._replace(is_live=True))

    def _move(self, asked: Asked) -> bytes:
        """Follow a verb, and return what now stands, or stood, under its name."""
        stood = self.files.get(asked.path, b"")
        if not asked.is_done:
            return stood
        if asked.verb is Verb.STAGE:
            self.files[asked.path] = asked.content
        elif asked.verb is Verb.LINK:
            self.files[asked.path] = self.files.get(asked.source, b"")
        elif asked.verb is Verb.RENAME:
            self.files[asked.path] = self.files.pop(asked.source, b"")
        elif asked.verb is Verb.UNLINK:
            self.files.pop(asked.path, None)
            return stood
        return self.files.get(asked.path, b"")


@dataclasses.dataclass(frozen=True, slots=True)
class _Bytes:
    """A file as `look` reads it."""

    content: bytes


_CHANGES: Final = frozenset({Verb.LINK, Verb.RENAME, Verb.UNLINK})
_BEGINNINGS: Final = frozenset({Kind.CLAIM, Kind.TAKE_OVER, Kind.REBASE})
"""With these somebody holds a claim."""
_MOVING: Final = _BEGINNINGS | {
    Kind.RESULT,
    Kind.COMPLETE,
    Kind.TOMBSTONE,
    Kind.DROP_INTENT,
    Kind.FOREGROUND,
    Kind.UNDO,
    Kind.SEED,
}
"""After these a branch may be read that could not be before, or stands otherwise."""


def _changed(before: State, after: State) -> State:
    """Return what an event changed: what it left alone was asked about before."""
    old = before.jobs
    jobs = tuple(job for at, job in enumerate(after.jobs) if at >= len(old) or job is not old[at])
    return State(jobs, after.branches if after.branches is not before.branches else ())


def _compared(job: Job) -> tuple[object, ...]:
    spool = (job.queued, job.running, job.held == Held.HELD, job.outcome, job.is_closed)
    change = (job.intent is not None, job.is_complete, job.has_receipt, job.has_tombstone)
    return (*spool, bool(job.decision), *change)
