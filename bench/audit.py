"""What the audit costs: made anew from a long past, asked, and folded while a service drains its queue, and after.

The past is what retention leaves of so many finished jobs: a closing record each, a revision for every second one, past
days of the journal in one file each, and the newest outcomes. All of it is real, and nothing of it is flushed. The bare
figure reads the same files and parses their JSON, no more. A drain is the real service's loop and pool, in this process
so that its CPU and that of its children are known to the microsecond; half of the drains have a service that never folds.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.common.disks import flush_figures, plain
from bench.common.figures import Figure, Report, median, options
from bench.common.past import add_attempts, job_ids
from bench.common.place import MAIN, Place, hand_over
from bench.common.pool import drain
from bench.common.reviewer import Scripted
from bench.common.served import keys_of, served_once
from bench.common.service import environ_of
from bench.common.volumes import Unflushed
from curator.audit.database import fold_in
from curator.model.budget import Amount, Exposure
from curator.model.closed_day import ClosedDay, PastAttempt, Total
from curator.model.closing import ClosedAttempt, ClosedSpan, Closing
from curator.model.digest import Digest, compact, digest_of_text, pretty
from curator.model.ids import AttemptId, Day, EntryId, JobId, ProjectKey, RevisionId, SessionKey
from curator.model.memory import Added, Entry, Review, Updated, revision_filename

REBUILD_S_MAX: Final = 60.0
MEGABYTES_MAX: Final = 300.0
SUMMARY_S_MAX: Final = 0.5
DRAIN_RATIO_MAX: Final = 1.02
TURNS: Final = 3
DAYS: Final = 100
PROJECTS: Final = 1_000
TODAY: Final = 200
_AT: Final = "2026-01-03T00:00:00.000Z"
_NAMED: Final = 100_000


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--finished", type=int, default=None, help="finished jobs (default 100000)")
    asked = parser.parse_args()
    count = asked.finished or (10_000 if asked.quick else _NAMED)
    jobs, pairs = (32, 3) if asked.quick else (64, 7)
    report = Report(f"audit: {count} finished jobs, and {pairs} pairs of drains of {jobs} jobs by the service")
    with plain(asked.on) as disk:
        report.add(*flush_figures(disk))
        place = Place(disk.folder / "past")
        place.configure("scripted")
        past = _lay_out(place, count)
        report.add(Figure("files of the past", past))
        _rebuild(place, count, report)
        _summary(place, report)
        on, off = (Place(disk.folder / name) for name in ("folding", "unfolded"))
        for each in (on, off):
            each.configure("scripted", concurrency=8)
        _drains(on, off, jobs, pairs, report)
    return report.show(as_json=asked.json)


def _rebuild(place: Place, count: int, report: Report) -> None:
    wall, cpu, peak = _run(place, "audit", "rebuild")
    bare = _read_bare(place.layout.root)
    size = place.layout.audit.stat().st_size / 1e6
    share = count / _NAMED
    report.add(
        Figure("bare: reading and parsing the same files", bare, "s"),
        Figure("rebuild", wall, "s", at_most=REBUILD_S_MAX * max(share, 0.2)),
        Figure("rebuild, CPU", cpu, "s"),
        Figure("rebuild / bare", wall / bare),
        Figure("rebuild, peak memory", peak, "MB", at_most=MEGABYTES_MAX),
        Figure("database", size, "MB", at_most=MEGABYTES_MAX),
    )


def _summary(place: Place, report: Report) -> None:
    walls = [_run(place, "audit", "summary")[0] for _ in range(5)]
    starts = [_run(place, "--version")[0] for _ in range(5)]
    asked = []
    for _ in range(5):
        began = time.monotonic()
        fold_in(place.layout, Unflushed(), print)
        asked.append(time.monotonic() - began)
    report.add(
        Figure("summary, the whole command", median(walls), "s"),
        Figure("of it: starting any command", median(starts), "s"),
        Figure("of it: looking for what is new", median(asked), "s"),
        Figure("summary, with what it looks for first", _warm_summary(place), "s", at_most=SUMMARY_S_MAX),
    )


def _warm_summary(place: Place) -> float:
    from curator.audit.database import ask
    from curator.audit.questions import Scope, summary

    walls = []
    for _ in range(5):
        began = time.monotonic()
        ask(place.layout, Unflushed(), print, lambda connection: summary(connection, Scope()))
        walls.append(time.monotonic() - began)
    return median(walls)


def _drains(on: Place, off: Place, jobs: int, pairs: int, report: Report) -> None:
    """Let the service drain the same jobs with and without its folds, in turns, and then look at the fold by itself.

    Of each side of a pair the least of three counts: a busy machine adds CPU to a drain, and takes none away.
    """
    for place in (on, off):
        served_once(place, place.projects(place.open(Scripted(), Unflushed()).shop, jobs), "warm", is_folding=False)
    fold_in(on.layout, Unflushed(), print)
    spent: dict[Place, list[list[float]]] = {on: [], off: []}
    children: list[float] = []
    plain: list[float] = []
    in_process: list[float] = []
    for number in range(pairs):
        spent[on].append([])
        spent[off].append([])
        for turn in range(TURNS):
            # Who comes first changes, so that neither always finds the warmer machine.
            for place in (on, off) if (number + turn) % 2 else (off, on):
                name, is_waited = f"entry-{number}-{turn}", place is on and turn == TURNS - 1
                served = served_once(place, keys_of(place), name, is_folding=place is on, is_waited=is_waited)
                spent[place][-1].append(served.drain_cpu_s)
                if is_waited:
                    children.append(served.fold_cpu_s)
        plain.append(_drained(off, f"entry-{number}"))
        in_process.append(_fold_again(off))
    with_folds, without = ([min(turns) for turns in spent[place]] for place in (on, off))
    ratios = [one / other for one, other in zip(with_folds, without, strict=True)]
    noise = [sorted(turns)[1] / min(turns) for turns in spent[off]]
    job_s, folded_s = median(plain) / jobs, median(in_process) / jobs / (TURNS + 1)
    report.add(
        Figure("CPU of a drain and its service's start, folding off", median(without), "s"),
        Figure("CPU of a drain and its service's start, folding on", median(with_folds), "s"),
        Figure("on / off, median of the pairs, until the last job is over", median(ratios), at_most=DRAIN_RATIO_MAX),
        Figure("on / off, the widest pair", max(ratios)),
        Figure("off / off, second of three to the least: the noise here", median(noise)),
        Figure("apart: CPU of the child that folds after three drains", median(children), "s"),
        Figure("of it: starting, and loading the library", _start_of_a_child(on), "s"),
        Figure("apart: CPU of a drained job, no start", job_s * 1_000, "ms"),
        Figure("apart: CPU of folding it, no start", folded_s * 1_000, "ms"),
        Figure("apart: folding a job / draining it", folded_s / job_s),
    )
    report.note("a fold begins five seconds after the last job, at most once a minute, in a child that is nice")


def _drained(place: Place, frontier: str) -> float:
    app = place.open(Scripted(), Unflushed())
    for key in keys_of(place):
        hand_over(app.shop, key, frontier)
    return drain(app).cpu_s


def _fold_again(place: Place) -> float:
    began = time.process_time()
    fold_in(place.layout, Unflushed(), print)
    return time.process_time() - began


def _start_of_a_child(place: Place) -> float:
    """Return what a fold costs that finds nothing new: its process, and the look."""
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    subprocess.run(
        [sys.executable, "-P", "-m", "curator.audit", str(place.layout.agent)], env=environ_of(place), check=True
    )
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before


def _run(place: Place, *arguments: str) -> tuple[float, float, float]:
    """Run a command and return its seconds, those of its CPU, and its peak memory in megabytes."""
    environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(place.home)}
    environ["PI_CODING_AGENT_DIR"] = str(place.layout.agent)
    began = time.monotonic()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "curator", *arguments],
        environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, arguments
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def _read_bare(root: Path) -> float:
    began = time.monotonic()
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".json"):
                json.loads(Path(folder, name).read_bytes())
    return time.monotonic() - began


# --- the past --------------------------------------------------------------------------------------------------------


def _lay_out(place: Place, count: int) -> int:
    ids = list(job_ids(count))
    for shard in range(256):
        (place.layout.finished / f"{shard:02x}").mkdir(mode=0o700, parents=True, exist_ok=True)
    files = sum(_write(path, text) for path, text in _past(place, ids))
    add_attempts(place, TODAY)
    return files + 3 * TODAY


def _past(place: Place, ids: list[JobId]) -> Iterator[tuple[Path, str]]:
    model = _closing()
    record = compact(model.encode())
    for number, job_id in enumerate(ids):
        key, revision = f"{number % PROJECTS:024x}", f"{number:08x}-0000-4000-8000-{0:012x}"
        closing = record.replace(model.job_id, job_id).replace(model.project_key, key)
        text = closing.replace(str(model.revision_id), revision).replace(str(model.elected), _attempt(job_id))
        yield place.layout.finished / job_id[7:9] / f"{job_id}.json", text.replace("entry-0", f"entry-{number}")
        if number % 2 == 0:
            sequence = number // PROJECTS + 1
            folder = place.layout.project(ProjectKey(key)).revisions(MAIN)
            review = pretty(_review(sequence, revision, number).encode())
            yield folder / revision_filename(sequence, revision), review
    for number in range(DAYS):
        yield _day(place, number, ids[number::DAYS])


def _day(place: Place, number: int, ids: list[JobId]) -> tuple[Path, str]:
    day = Day(f"2025-{number // 28 + 1:02}-{number % 28 + 1:02}")
    charged = Amount(1, 160, 3_100_000)
    rows = sorted(PastAttempt(AttemptId(_attempt(each)), "settled", charged, "scripted", each).row for each in ids)
    total = Amount(len(ids), 160 * len(ids), 3_100_000 * len(ids))
    totals = {"scripted": Total.of(Exposure(actual=total))}
    closed = ClosedDay(day=day, totals=totals, legacy=(), unresolved=(), attempts=tuple(rows))
    return place.layout.attempts / f"{day}.closed.json", compact(closed.encode())


def _attempt(job_id: JobId) -> str:
    return job_id.replace("review_", "review_attempt_")


def _closing() -> Closing:
    job_id, entry = JobId(f"review_{'0' * 40}"), EntryId("entry-0")
    closed = ClosedAttempt(id=AttemptId(_attempt(job_id)), state="settled", tokens=160, cost_nanousd=3_100_000)
    return Closing(
        job_id=job_id,
        job_digest=Digest("1" * 64),
        project_key=ProjectKey("f" * 24),
        session_key=SessionKey("2" * 32),
        branch_name=MAIN,
        authority="external",
        status="applied",
        finished_at=_AT,
        attempts=(closed,),
        provider="scripted",
        model="fake-1",
        entry_ids=(entry,),
        through_entry_id="turn-1",
        elected=closed.id,
        revision_id=RevisionId("e" * 36),
        spans=(ClosedSpan(entry_id=entry, digest=Digest("3" * 64)),),
    )


def _review(sequence: int, revision: str, number: int) -> Review:
    before = Entry(
        id=EntryId(f"entry-{number - 2}"), text="x" * 200, created_at=_AT, updated_at=_AT, importance="normal"
    )
    digest = digest_of_text(revision)
    return Review(
        sequence=sequence,
        id=RevisionId(revision),
        branch_name=MAIN,
        committed_at=_AT,
        before_digest=digest,
        after_digest=digest,
        changes=(
            Added(entry_id=EntryId(f"entry-{number}"), after_digest=digest),
            Updated(entry_id=before.id, before=before, after_digest=digest),
        ),
    )


def _write(path: Path, text: str) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, text.encode())
    os.close(descriptor)
    return 1


if __name__ == "__main__":
    sys.exit(main())
