"""The figures for Prometheus: what its own parser makes of them, and a textfile that is whole at any time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from curator.audit.child import FoldingChild
from curator.audit.database import ask
from curator.audit.metrics import limits_of, metrics_of, write_textfile
from curator.durable.volume import Volume
from curator.errors import StorageError
from curator.model.event import Stopped
from tests.acceptance.processes import wait_until
from tests.audit.histories import History
from tests.cli.commands import environ_of, make_home
from tests.kit import Listening

if TYPE_CHECKING:
    from collections.abc import Mapping

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parsed(text: str) -> Samples:
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    assert all(family.documentation for family in families)
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def told(history: History) -> Samples:
    now, limits = history.world.clock.now(), limits_of(history.layout)
    return parsed(ask(history.layout, Volume(), history.warned.append, lambda it: metrics_of(it, limits, now)).decode())


def one(samples: Mapping[tuple[str, tuple[tuple[str, str], ...]], float], name: str, **labels: str) -> float:
    return samples[name, tuple(sorted(labels.items()))]


def test_what_prometheus_reads_is_what_the_files_come_to(tmp_path: Path) -> None:
    history = History(tmp_path)
    for answer in ("add", "add", "fail", "lose"):
        history.enqueue()
        history.review(answer)
    history.enqueue()
    history.hold()
    history.enqueue()
    files = history.files()
    attempts, jobs = ([dict(row) for row in files[name]] for name in ("attempts", "jobs"))

    found = told(history)

    places = Counter(str(dict(row)["place"]) for row in files["spool"])
    assert places["held"] == 1
    assert places["queued"] >= 1
    for place in ("queued", "running", "held"):
        assert one(found, "curator_jobs", place=place) == places[place]
    ended = Counter(str(job["status"]) for job in jobs if job["state"] == "finished")
    assert ended["applied"] >= 2
    assert ended["failed"] == one(found, "curator_jobs_failed_total", code="provider_error") == 1
    for status, count in ended.items():
        assert one(found, "curator_jobs_ended_total", status=status) == count
    assert one(found, "curator_calls", provider="fixture-provider", model="fixture-reviewer", state="unknown") == 1
    for certainty in ("actual", "held", "unknown"):
        for unit in ("calls", "tokens"):
            due = sum(int(str(each[f"{certainty}_{unit}"])) for each in attempts)
            assert one(found, f"curator_spend_{unit}", certainty=certainty) == due
            assert one(found, f"curator_day_{unit}", certainty=certainty) == due
    assert one(found, "curator_day_limit_calls") == 100
    assert one(found, "curator_memories") == 1
    assert one(found, "curator_oldest_job_timestamp_seconds") * 1_000 <= history.world.clock.now()
    assert history.warned == []


def test_the_day_is_the_day_that_it_is_now(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.enqueue()
    history.review()
    history.pass_by(30)

    found = told(history)

    assert one(found, "curator_day_calls", certainty="actual") == 0
    assert one(found, "curator_spend_calls", certainty="actual") == 1


def test_a_name_may_be_anything(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    name = 'quote " slash \\ line\nend {} ü'
    home.service(reviewer={"provider": "offline", "model": "rules-1"})
    home.enqueue("Please remember that we always use pnpm for installing packages.")
    home.review()
    home.run("audit")

    with sqlite3.connect(home.layout.audit) as database:
        database.execute("UPDATE attempts SET provider = ?", (name,))
    database.close()

    found = parsed(ask(home.layout, Volume(), print, lambda it: metrics_of(it, None, 0)).decode())

    assert one(found, "curator_calls", provider=name, model="rules-1", state="settled") == 1


def test_a_textfile_is_replaced_whole_and_may_be_read_by_the_exporter(tmp_path: Path) -> None:
    path = tmp_path / "curator.prom"
    path.write_text("old", "utf-8")

    write_textfile(Volume(), path, b"new\n")

    assert path.read_bytes() == b"new\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(StorageError):
        write_textfile(Volume(), tmp_path / "nowhere" / "curator.prom", b"")


def test_while_it_is_written_no_name_is_collected(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    class Watched(Volume):
        def restrict(self, path: Path, mode: int) -> None:
            seen.append([each.name for each in tmp_path.glob("*.prom")])
            super().restrict(path, mode)

    write_textfile(Watched(), tmp_path / "curator.prom", b"new\n")

    assert seen == [[]]


def test_the_service_writes_it_after_its_fold_where_it_is_wanted(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.enqueue()
    history.review()
    path = tmp_path / "curator.prom"
    history.layout.curator_toml.write_text(f'[metrics]\ntextfile = "{path}"\n', "utf-8")
    child, heard = FoldingChild(dict(os.environ)), Listening()

    child.start(history.layout, heard)
    wait_until(lambda: child.collect(heard))

    assert heard.events == []
    assert one(parsed(path.read_text("utf-8")), "curator_jobs_ended_total", status="applied") == 1
    history.layout.curator_toml.write_text(f'[metrics]\ntextfile = "{tmp_path}/nowhere/curator.prom"\n', "utf-8")
    child.start(history.layout, heard)
    wait_until(lambda: child.collect(heard))
    (event,) = heard.events
    assert isinstance(event, Stopped)
    assert "nowhere/curator.prom" in event.fact
    assert history.folded() == history.files()


def test_the_command_tells_it_and_without_the_library_says_what_brings_it(tmp_path: Path) -> None:
    home = make_home(tmp_path)

    shown = home.run("audit", "metrics")
    written = home.run("audit", "metrics", "-o", "x.prom")

    assert (shown.status, shown.err, written.status, written.out) == (0, "", 0, "")
    assert set(parsed(shown.out)) == set(parsed((home.project / "x.prom").read_text("utf-8")))
    script = "import sys; sys.modules['prometheus_client'] = None\nfrom curator.cli.main import main\nsys.exit(main(['audit', 'metrics']))"
    environ = environ_of(home.path, PI_CODING_AGENT_DIR=str(home.layout.agent))
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=environ,
        cwd=home.project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 78
    assert "pip install 'pi-curator[metrics]'" in ran.stderr
    assert ran.stderr.count("\n") == 1
