"""Providers that fall silent, or whom nobody can vouch for, through the real command: a hurried clock, a made-up certificate."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Final

import pytest

from curator.model.budget import Amount, Exposure
from curator.model.job import Queued, Running
from curator.model.limits import RETRY_BASE_MS
from curator.model.outcome import Failed
from curator.model.times import ms_of
from tests.acceptance.processes import Place, ended
from tests.fakes.provider import Settings, serving

HASTE: Final = 60
"""The command's clock runs so many times faster than the provider's: five minutes are five seconds."""
SLACK_MS: Final = 120_000
"""In the command's own time, between an answer and a look at the queue."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.skipif(shutil.which("faketime") is None, reason="faketime is not installed")
@pytest.mark.parametrize(
    ("settings", "least_s", "most_s"),
    [
        (Settings(review="hang"), 180, 600),
        (Settings(review="stall"), 180, 600),
        (Settings(review="slow", slow_s=1.0), 300, 900),
    ],
    ids=["never begins", "stands still", "goes on for ever"],
)
def test_a_provider_without_an_end_is_left_in_time_and_charged_at_its_hold(
    place: Place, settings: Settings, least_s: int, most_s: int
) -> None:
    with serving(settings, place.log) as server:
        place.know(server)
        job = place.enqueue(place.project())
        ran = ended(place.start("review", "--once", "--limit", "1", before=("faketime", "-f", f"+0 x{HASTE}")))
    assert (ran.status, ran.err, place.requests()) == (0, "", 1)
    (seen,) = place.attempts(job)
    hold = Amount(1, seen.latest.hold_tokens, seen.latest.hold_cost_nanousd)
    assert (seen.state.value, seen.exposure) == ("unknown", Exposure(unknown=hold))
    outcome = place.result(job).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.error.code, outcome.error.retryable) == ("model_timeout", True)
    waited_s = (ms_of(outcome.completed_at) - ms_of(seen.latest.reserved_at)) / 1_000
    assert least_s <= waited_s < most_s
    # The thread that renews a lease sleeps by the true clock, so past its end the job is for others to take over.
    spool = place.shop().stores.spool
    standing: list[Queued | Running] = [*spool.queued(), *spool.running()]
    (record,) = standing
    if isinstance(record, Running):
        assert ms_of(outcome.completed_at) + SLACK_MS > ms_of(record.lease_until)
    else:
        assert record.available_at is not None
        assert 0 <= ms_of(record.available_at) - ms_of(outcome.completed_at) - RETRY_BASE_MS < SLACK_MS


def make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*argv, *subject], check=True, capture_output=True)
    return certificate, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_certificate_that_nobody_vouches_for_is_seen_before_the_dispatch(place: Place) -> None:
    certificate, key = make_certificate(place.home)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(Settings(), place.log) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        place.know(server)
        models = place.layout.agent / "models.json"
        models.write_text(models.read_text("utf-8").replace("http://", "https://"), "utf-8")
        job = place.enqueue(place.project())
        ran = place.review()
        assert ran.status == 78
        assert "its certificate is not trusted" in ran.err
        assert "(provider_unreachable)" in ran.out
        assert (place.requests(), place.states(job), place.ending(job)) == (0, {"cancelled": 1}, "queued")
        assert [seen.exposure for seen in place.attempts(job)] == [Exposure()]

        # What the operator vouches for is as good as any.
        place.let_go_on(job)
        again = ended(place.start("review", "--once", SSL_CERT_FILE=str(certificate)))
    assert (again.status, place.ending(job), place.requests()) == (0, "applied", 1)
