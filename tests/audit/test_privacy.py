"""No word of evidence, prompt, answer, error or key reaches the database, what lies beside it, a page, or a metric."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Final

from curator.audit.database import ask, fold_in
from curator.audit.metrics import limits_of, metrics_of
from curator.audit.questions import Scope
from curator.audit.report.make import report_of
from curator.audit.report.page import page
from curator.durable.clock import SystemClock
from curator.durable.volume import Volume
from tests.acceptance.processes import KEY
from tests.audit.taint import CANARIES, EVIDENCE, MEMORY, tainted
from tests.cli.commands import Home, make_home

CANARY: Final = "quetzal-harbour"
WISH: Final = f"Please remember that we always call the staging host {CANARY} in our scripts."


def haystack(home: Home) -> bytes:
    found = sorted(home.layout.own.glob("shadow.sqlite*"))
    assert found
    return b"".join(path.read_bytes() for path in found).lower()


def test_no_canary_of_evidence_memory_or_key_is_found(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (home.layout.agent / "auth.json").write_text(json.dumps({"offline": {"type": "api_key", "key": CANARY}}), "utf-8")
    home.enqueue(WISH, name="a.jsonl")
    fold_in(home.layout, Volume(), print)
    home.review()
    home.enqueue(f"From now on, never deploy {CANARY} on a Friday, we agreed on that.", name="b.jsonl")
    fold_in(home.layout, Volume(), print)

    held = sqlite3.connect(home.layout.audit, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    held.execute("DELETE FROM jobs")
    with_journal = haystack(home)
    held.execute("ROLLBACK")
    held.close()

    everything = b"".join(path.read_bytes() for path in home.layout.root.rglob("*.json"))
    assert CANARY.encode() in everything
    for words in (CANARY, "staging host", str(home.project), "Please remember"):
        assert words.lower().encode() not in with_journal
    assert (home.layout.own / "shadow.sqlite-journal").exists() is False


def test_no_canary_of_evidence_prompt_key_answer_or_error_is_found_in_what_tells_of_them(tmp_path: Path) -> None:
    said: list[str] = []
    with tainted(tmp_path) as place:
        layout = place.layout
        fold_in(layout, Volume(), said.append)
        shown = page(report_of(layout, Volume(), said.append, Scope(), SystemClock().now()), is_live=True)
        figures = ask(layout, Volume(), said.append, lambda it: metrics_of(it, limits_of(layout), SystemClock().now()))
        journal = [path.read_text("utf-8") for path in layout.attempts.rglob("*") if path.is_file()]
        database = layout.audit.read_bytes().decode("latin-1")
        everything = b"".join(place.tree().values()).decode("latin-1")

    told = {"database": database, "journal": "".join(journal), "page": shown, "metrics": figures.decode()}
    assert {canary for canary in CANARIES if canary in everything} == {EVIDENCE, KEY}
    assert [
        (name, canary) for name, text in told.items() for canary in CANARIES if canary.lower() in text.lower()
    ] == []
    assert [name for name, text in told.items() if MEMORY in text] == ["page"]
    assert [name for name, text in told.items() if str(tmp_path) in text] == ["page"]
    assert said == []
    assert len(journal) >= 12
    for name in ("applied", "noop", "failed"):
        assert f'curator_jobs_ended_total{{status="{name}"}} 1.0' in told["metrics"]
    assert "curator_records_set_aside 1.0" in told["metrics"]


def test_a_secret_that_somebody_else_wrote_into_memory_is_not_shown(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    home.enqueue(WISH)
    home.review()
    (path,) = home.layout.root.glob("*/branches/main.json")
    branch = json.loads(path.read_text("utf-8"))
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    before, branch["entries"][0]["text"] = branch["entries"][0]["text"], f"Push with {secret} from now on."
    path.write_text(json.dumps(branch), "utf-8")
    (name,) = home.layout.root.glob("*/revisions/main/*.json")
    revision = json.loads(name.read_text("utf-8"))
    revision["changes"][0] |= {"kind": "update", "before": {**branch["entries"][0], "text": f"Push with {secret}."}}
    name.write_text(json.dumps(revision), "utf-8")

    shown = page(report_of(home.layout, Volume(), print, Scope(), SystemClock().now()))

    assert before
    assert "Push with " in shown
    assert secret not in shown


def test_what_is_let_go_is_overwritten(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    job_id = home.enqueue(WISH)
    fold_in(home.layout, Volume(), print)
    before = haystack(home)
    for path in home.layout.root.rglob(f"{job_id}.json"):
        path.unlink()

    fold_in(home.layout, Volume(), print)

    assert job_id.encode() in before
    assert job_id.encode() not in haystack(home)
