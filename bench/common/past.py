"""What a long past leaves in an agent folder, made cheaply: nothing of it is flushed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.common.place import MAIN, Place
from bench.common.reviewer import Scripted, provenance
from bench.common.volumes import Unflushed
from curator.model.attempt import Reserved, dispatched_from, settled_from
from curator.model.closing import Closing
from curator.model.digest import Digest, compact, digest_of_text
from curator.model.ids import AttemptId, Day, JobId, LeaseToken, ProjectKey, SessionKey, attempt_id
from curator.model.times import day_of, iso

_LINKS_MAX: Final = 60_000
"""Of one file: ext4 allows 65,000."""


def job_ids(count: int) -> Iterator[JobId]:
    """Return made-up ids, the same each time."""
    for number in range(count):
        yield JobId(f"review_{hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()}")


def add_closing_names(place: Place, count: int) -> None:
    """Give so many finished jobs their names: links of one record, for nobody reads them."""
    folder = place.layout.finished
    _make_shards(folder)
    record = compact(_closing(JobId(f"review_{'0' * 40}"), iso(_now())).encode())
    first = folder
    for number, job_id in enumerate(job_ids(count)):
        path = folder / job_id[7:9] / f"{job_id}.json"
        if number % _LINKS_MAX:
            os.link(first, path)
        else:
            first = path
            place.write_text(first, record)


def add_closing_records(place: Place, count: int) -> None:
    """Write so many closing records, each its own."""
    folder = place.layout.finished
    _make_shards(folder)
    model = JobId(f"review_{'0' * 40}")
    record = compact(_closing(model, iso(_now())).encode())
    for job_id in job_ids(count):
        descriptor = os.open(folder / job_id[7:9] / f"{job_id}.json", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, record.replace(model, job_id).encode())
        os.close(descriptor)


def add_attempts(place: Place, count: int) -> None:
    """Journal so many settled attempts of today, by the store itself; of another provider, for a day has its limits."""
    shop = place.open(Scripted(), Unflushed()).shop
    store, now = shop.stores.attempts, _now()
    at = iso(now)
    for number, job_id in enumerate(job_ids(count)):
        digest, token = digest_of_text(job_id), LeaseToken(f"{number:032x}")
        draft = Reserved(
            id=AttemptId(attempt_id(digest, 1, token)),
            day=Day(day_of(now)),
            provider="other",
            job_id=job_id,
            job_digest=digest,
            claim_attempt=1,
            lease_token=token,
            reserved_at=at,
            hold_tokens=400,
            hold_cost_nanousd=50_000,
            origin="curator",
        )
        store.reserve(draft, None)
        sent = dispatched_from(draft, at, (digest, "fake-1", "script"))
        store.advance(sent)
        store.advance(settled_from(sent, at, provenance(now, now)))


def _make_shards(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    for shard in range(256):
        (folder / f"{shard:02x}").mkdir(mode=0o700, exist_ok=True)


def _closing(job_id: JobId, at: str) -> Closing:
    return Closing(
        job_id=job_id,
        job_digest=Digest("0" * 64),
        project_key=ProjectKey("0" * 24),
        session_key=SessionKey("0" * 32),
        branch_name=MAIN,
        authority="external",
        status="noop",
        finished_at=at,
        attempts=(),
        provider="scripted",
        model="fake-1",
        entry_ids=(),
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
