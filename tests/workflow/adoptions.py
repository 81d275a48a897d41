"""Scenarios of the protocol's worker, to be taken over."""

import dataclasses
import json
from pathlib import Path
from typing import Final

from curator.durable.layout import Layout
from curator.model.accounting import DayFile
from curator.model.decision import ProviderResult
from curator.model.digest import Json, parse
from curator.model.ids import Day
from curator.model.job import Running
from tests.golden_fixtures import golden
from tests.workflow.shops import Scene, open_shop

DAY: Final = Day("2026-01-03")
NOW: Final = "2026-01-03T00:05:00.000Z"
ON_TIME: Final = "2026-01-03T00:00:01.000Z"
PROVIDER: Final = "fixture-provider"


def take(name: str, tmp_path: Path, now: str = NOW) -> Scene:
    """Open a shop over a scenario of the protocol's worker."""
    return open_shop(golden(name, tmp_path), now)


def take_without_owner(name: str, tmp_path: Path, now: str = NOW) -> Scene:
    """Open a shop over a scenario whose running job has been given up."""
    scene = take(name, tmp_path, now)
    for path in scene.shop.layout.running.iterdir():
        path.unlink()
    return scene


def in_journal(scene: Scene) -> list[str]:
    found = sorted(scene.shop.stores.attempts.of_day(DAY), key=lambda seen: seen.latest.claim_attempt)
    return [str(seen.state) for seen in found]


def on_disk(scene: Scene) -> list[str]:
    file = DayFile.decode(parse((scene.shop.layout.days / DAY).read_bytes()))
    return [attempt.state for attempts in file.providers.values() for attempt in attempts]


def rewrite(scene: Scene, change: dict[str, Json]) -> None:
    """Change the one attempt of the day file, as a foreign worker would."""
    path = scene.shop.layout.days / DAY
    value = json.loads(path.read_bytes())
    (attempt,) = value["providers"][PROVIDER]
    attempt |= change
    fresh = path.with_name("fresh")
    fresh.write_text(json.dumps(value))
    fresh.chmod(0o600)
    fresh.rename(path)


def checkpoint_of(tmp_path: Path, scene: Scene) -> ProviderResult:
    """Return what the provider would have said of the scenario's one attempt."""
    source = Layout(golden("d", tmp_path / "source"))
    (path,) = source.results.glob("*/*.json")
    theirs = ProviderResult.decode(parse(path.read_bytes()))
    (attempt,) = scene.shop.stores.attempts.of_day(DAY)
    job = running_job(scene, tmp_path).job
    outcome = dataclasses.replace(theirs.outcome, job_id=job.id, job_digest=job.digest)
    value = dataclasses.replace(theirs, attempt_id=attempt.id, job=job, outcome=outcome, proposal_digest=None)
    encoded = value.encode()
    outcome_value = encoded["outcome"]
    assert isinstance(outcome_value, dict)
    error: dict[str, Json] = {"code": "invalid_proposal", "message": "not usable", "retryable": True}
    kept = ("version", "jobId", "jobDigest", "completedAt", "provenance")
    failed = {key: outcome_value[key] for key in kept} | {"status": "failed", "error": error}
    return ProviderResult.decode(encoded | {"outcome": failed})


def running_job(scene: Scene, tmp_path: Path) -> Running:
    """Return the running record as the scenario had it before it was given up."""
    name = scene.shop.layout.agent.parent.name
    (path,) = Layout(golden(name, tmp_path / "again")).running.glob("*.json")
    return Running.decode(parse(path.read_bytes()))
