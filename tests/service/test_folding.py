"""The service folds at its quiet moments, in a process of its own, and its jobs do not depend on what comes of it."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

from curator.audit.database import ask
from curator.durable.volume import Volume
from tests.acceptance.processes import Place, ended, wait_until
from tests.audit.oracle import rows_in, rows_of
from tests.service.test_service import is_up, lines, serving


def test_what_the_service_has_done_is_folded_without_anybody_asking(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    with serving(place) as service:
        job = place.enqueue(key)
        wait_until(lambda: place.ending(job) == "applied")
        assert not place.layout.audit.exists()
        wait_until(lambda: place.layout.audit.exists() and folded_jobs(place.layout.audit) == 1)
        service.send_signal(signal.SIGTERM)
        ran = ended(service)

    assert ran.status == 0
    assert [line for line in lines(ran) if line.get("subject") == "audit"] == []
    assert ask(place.layout, Volume(), print, rows_in) == rows_of(place.layout.root)
    assert not is_up(place)


def test_a_service_whose_database_nobody_can_use_reviews_all_the_same(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure()
    key = place.project()
    place.layout.own.mkdir(parents=True, exist_ok=True, mode=0o700)
    place.layout.audit.mkdir()
    with serving(place) as service:
        first = place.enqueue(key, "entry-1")
        wait_until(lambda: place.ending(first) == "applied")
        wait_until((place.layout.own / "shadow.guard").exists)
        second = place.enqueue(key, "entry-2")
        wait_until(lambda: place.ending(second) in {"applied", "noop"})
        service.send_signal(signal.SIGTERM)
        ran = ended(service)

    assert ran.status == 0
    assert place.layout.audit.is_dir()
    assert len([line for line in lines(ran) if line.get("subject") == "audit"]) <= 1


def folded_jobs(path: Path) -> int:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        (count,) = connection.execute("SELECT COUNT(*) FROM jobs").fetchone()
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()
    return int(count)
