"""Certificates are read once an hour, and anew where the operator names others."""

import ssl
from pathlib import Path

import pytest

from curator.reviewer.providers.trust import trust_of
from tests.made_up import StillClock

HOUR_MS = 3_600_000


def test_the_certificates_are_read_once_an_hour() -> None:
    clock = StillClock(HOUR_MS)
    first = trust_of(clock)
    clock.ms += HOUR_MS - 1

    assert trust_of(clock) is first
    clock.ms += 1
    assert trust_of(clock) is not first


def test_they_are_believed_by_what_the_client_believes() -> None:
    trust = trust_of(StillClock(HOUR_MS))

    assert trust.verify_mode is ssl.CERT_REQUIRED
    assert trust.check_hostname


def test_others_that_the_operator_names_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = StillClock(HOUR_MS)
    first = trust_of(clock)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))

    assert trust_of(clock) is not first
