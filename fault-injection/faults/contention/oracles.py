"""What must hold when the crowd has gone, whoever died on the way; and what must have happened for it to mean something."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from faults.contention import money
from faults.contention.run import ANSWER, ERROR, EVIDENCE, FACT
from tests.acceptance.processes import KEY

if TYPE_CHECKING:
    from faults.contention.run import Run

Oracle: TypeAlias = "Callable[[Run], Iterator[str]]"

_FACT: Final = re.compile(re.escape(FACT).replace(r"\{n\}", "([0-9]+)"))
_LEFT: Final = re.compile(
    r".*\.(?:tmp|lock|breaker|bad)|.*\.stale\..*|\.lock|lock-probe\..*|.*\.(?:intent|complete)\.json"
)
"""Names that stand for something begun."""
_CLEARED: Final = ("queued", "running", "dead-letter")
_CANARIES: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    (KEY, frozenset({"models.json"})),
    (ANSWER, frozenset()),
    (ERROR, frozenset()),
    (EVIDENCE, frozenset({"provider-results", "proposal-decisions"})),
    ("Fact number", frozenset({"project", "provider-results", "proposal-decisions", "bases", "outcomes"})),
    ("By hand", frozenset({"project", "provider-results", "proposal-decisions", "bases"})),
)
"""What was said, and in which private folders it may stand; `project` is the folder of one."""
_PROJECT: Final = re.compile(r"[0-9a-f]{24}")


def it_came_to_an_end(run: Run) -> Iterator[str]:
    """All jobs are over within the time, the commands that look at it find nothing wrong, and nobody ended strangely."""
    if not run.is_over:
        layout = run.place.layout
        yield f"jobs still stand: {[path.name for folder in (layout.queued, layout.running) for path in folder.iterdir()]}"
    for command, said in run.ends.items():
        yield f"curator {command}: {said[-600:]}"
    for name, status in run.crowd.strange_ends():
        yield f"{name} ended with {status}: {run.crowd.said()[f'{name}.out'][-400:].decode('utf-8', 'replace')}"
    for name, said_ in run.crowd.said().items():
        if b"Traceback" in said_:
            yield f"{name} broke: {said_[-600:].decode('utf-8', 'replace')}"


def what_happened_is_allowed(run: Run) -> Iterator[str]:
    """What all of them did, read as one trace, is one that the model allows."""
    yield from run.watch.refusals()


def every_job_ends_once(run: Run) -> Iterator[str]:
    """One closing record and one outcome, told at most once; one receipt and one card where they are due."""
    layout = run.place.layout
    closed = Counter(path.stem for path in layout.finished.glob("*/*.json"))
    over = {path.stem: json.loads(path.read_bytes())["outcome"] for path in layout.outcomes.glob("*.json")}
    proved = Counter(path.stem for path in layout.root.glob("*/service/commit-receipts/*.json"))
    told = Counter(
        str(each.get("jobId") or each.get("job_id"))
        for each in run.crowd.told()
        if each["type"] in ("completed", "failed")
    )
    for job in run.jobs:
        if closed[job.id] != 1 or job.id not in over:
            yield f"{job.id} has {closed[job.id]} closing records, outcome: {job.id in over}"
            continue
        is_decided = over[job.id]["status"] == "completed"
        if proved[job.id] != is_decided:
            yield f"{job.id} ended as {over[job.id]['status']} and has {proved[job.id]} receipts"
        if told[job.id] > 1:
            yield f"{job.id} was told to be over {told[job.id]} times"
        if not layout.project(job.project_key).ready.joinpath(f"{job.id}.json").exists():
            yield f"{job.id} is over, and who waits for it has no card"
    for name in {*closed, *over, *proved} - {job.id for job in run.jobs}:
        yield f"{name} is nobody's job"


def memory_is_what_was_accepted(run: Run) -> Iterator[str]:
    """A branch holds each accepted foreground write once, and the fact of each applied review once, and nothing else."""
    branches = _texts(run)
    due: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for written in run.by_hand:
        due[written.project, written.branch][written.text] += 1
    for key, changes in _changes(run).items():
        due[key] += changes
    for key in {*branches, *due}:
        for text in due[key] - branches[key]:
            yield f"{'/'.join(key)} has lost: {text}"
        for text in branches[key] - due[key]:
            yield f"{'/'.join(key)} remembers what nobody wrote, or twice: {text}"


def a_receipt_is_one_revision(run: Run) -> Iterator[str]:
    """Each applied job has one revision of its branch, each revision one job, and its card says the same."""
    for project in _projects(run):
        receipts = [json.loads(path.read_bytes()) for path in project.glob("service/commit-receipts/*.json")]
        named = Counter(each["revisionId"] for each in receipts if each["status"] == "applied")
        stand = Counter(path.stem[13:] for path in project.glob("revisions/*/*.json"))
        for revision in {*(named - stand), *(stand - named)}:
            yield f"{project.name}: revision {revision} stands {stand[revision]} times, for {named[revision]} receipts"
        for each in receipts:
            card = project / "service/review-feedback/ready" / f"{each['proposalId']}.json"
            said = json.loads(card.read_bytes())["status"] if card.exists() else "nothing"
            if said != each["status"]:
                yield f"{each['proposalId']}: its card says {said}, its receipt {each['status']}"


def nothing_is_left(run: Run) -> Iterator[str]:
    """No lock, no staged file, no begun change, no job in the queue, nothing set aside."""
    layout = run.place.layout
    for path in layout.root.rglob("*"):
        is_begun = path.is_file() and _LEFT.fullmatch(path.name)
        if is_begun or (path.is_file() and path.parent.parent == layout.spool and path.parent.name in _CLEARED):
            yield f"left over: {path.relative_to(layout.root)}"


def what_was_said_stays_private(run: Run) -> Iterator[str]:
    """No key, evidence, answer or word of the provider stands anywhere but in the private folders that are for it."""
    agent = run.place.layout.agent
    for path in agent.rglob("*"):
        if not path.is_file():
            continue
        parts = set(path.relative_to(agent).parts)
        parts |= {"project"} if any(_PROJECT.fullmatch(part) for part in parts) else set()
        raw = path.read_bytes()
        for canary, homes in _CANARIES:
            if canary.encode() in raw and not parts & homes:
                yield f"{canary!r} stands in {path.relative_to(agent)}"
    for name, said in run.crowd.said().items():
        for canary, _ in _CANARIES:
            if canary.encode() in said:
                yield f"{canary!r} was said in {name}"


ORACLES: Final[tuple[Oracle, ...]] = (
    it_came_to_an_end,
    what_happened_is_allowed,
    every_job_ends_once,
    memory_is_what_was_accepted,
    a_receipt_is_one_revision,
    nothing_is_left,
    what_was_said_stays_private,
    money.every_request_was_dispatched,
    money.every_dispatch_is_a_request,
    money.every_attempt_is_over,
    money.no_limit_was_passed,
)


def judge(run: Run) -> list[str]:
    """Return every breach, each with the oracle that found it."""
    return [f"{oracle.__name__}: {breach}" for oracle in ORACLES for breach in oracle(run)]


def sometimes(run: Run) -> dict[str, int]:
    """Count what makes a run worth judging: each of these must have happened."""
    told = Counter(str(each["type"]) for each in run.crowd.told())
    taken = [each for each in run.crowd.told() if (each["type"], each.get("what")) == ("recovered", "expired leases")]
    return {
        "kills": run.crowd.kills,
        "leases that the killed left": run.crowd.leases_left,
        "leases taken over": len(taken),
        "foreground writes": len(run.by_hand),
        "compare-and-swaps lost to the stranger": sum(1 for _ in _overtaken(run)),
        "calls refused by a limit": told["attempt_budget_exhausted"] + told["budget_exhausted"],
        "calls that failed": sum(each["mode"] in ("http500", "malformed", "reset") for each in run.requests),
    }


def figures(run: Run) -> dict[str, int]:
    """Count what may have happened besides."""
    states = Counter(each.steps[-1] for each in money.attempts_in(run.place.layout))
    endings = Counter(
        json.loads(path.read_bytes())["status"]
        for path in run.place.layout.root.glob("*/service/commit-receipts/*.json")
    )
    more = {"locks that the killed left": run.crowd.locks_left, "rolled forward by the stranger": _rolled(run)}
    return {"jobs": len(run.jobs), "requests": len(run.requests), **more, **states, **endings}


def _rolled(run: Run) -> int:
    return sum(each.rolled for each in run.by_hand)


def _overtaken(run: Run) -> Iterator[str]:
    """Yield the jobs whose result was superseded because the stranger had written meanwhile."""
    by_hand = {each.text for each in run.by_hand}
    jobs = {str(job.id): job for job in run.jobs}
    attempts: defaultdict[str, list[money.Attempt]] = defaultdict(list)
    for attempt in money.attempts_in(run.place.layout):
        attempts[attempt.job].append(attempt)
    for job_id, made in attempts.items():
        own = {entry.text for entry in jobs[job_id].branch.entries}
        folder = run.place.layout.bases / job_id
        bases = {path.stem: _texts_of(json.loads(path.read_bytes())["branch"]) for path in folder.glob("*.json")}
        made.sort(key=lambda each: each.claim)
        for one, other in itertools.pairwise(made):
            result = run.place.layout.results / job_id / f"{one.id}.json"
            if one.base == other.base or not result.exists():
                continue
            is_whole = json.loads(result.read_bytes())["outcome"]["status"] == "completed"
            if is_whole and by_hand & (bases.get(other.base, own) - bases.get(one.base, own)):
                yield job_id


def _projects(run: Run) -> list[Path]:
    return [path for path in run.place.layout.root.iterdir() if _PROJECT.fullmatch(path.name)]


def _texts(run: Run) -> defaultdict[tuple[str, str], Counter[str]]:
    found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for project in _projects(run):
        for path in project.glob("branches/*.json"):
            branch = json.loads(path.read_bytes())
            found[project.name, path.stem] = Counter(entry["text"] for entry in branch["entries"])
    return found


def _texts_of(branch: dict[str, list[dict[str, str]]]) -> set[str]:
    return {entry["text"] for entry in branch["entries"]}


def _changes(run: Run) -> dict[tuple[str, str], Counter[str]]:
    """Return what applied reviews decided to add, by branch."""
    layout = run.place.layout
    found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for project in _projects(run):
        for path in project.glob("service/commit-receipts/*.json"):
            receipt = json.loads(path.read_bytes())
            if receipt["status"] == "applied":
                decision = json.loads((layout.decisions / path.name).read_bytes())
                added = [each["content"] for each in decision["outcome"]["operations"]]
                assert all(_FACT.fullmatch(text) for text in added)
                found[project.name, receipt["branchName"]] += Counter(added)
    return found
