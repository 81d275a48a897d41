"""The whole examination."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.doctor.examine import examine
from curator.doctor.finding import Finding, is_healthy
from curator.durable.layout import Layout
from curator.errors import BusyError
from tests.doctor.trees import NOW, bad, configure


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "agent")
    configure(made)
    return made


def test_a_configured_folder_is_healthy(layout: Layout) -> None:
    findings = examine(layout, {"HOME": str(layout.agent)}, NOW)

    assert is_healthy(findings)
    assert bad(findings) == []


def test_one_that_is_not_there_is_not_and_nothing_is_made(tmp_path: Path) -> None:
    findings = examine(Layout(tmp_path / "none"), {"HOME": str(tmp_path)}, NOW)

    assert not is_healthy(findings)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_cannot_be_looked_at_hides_no_other(layout: Layout) -> None:
    layout.spool.write_bytes(b"a file where a folder belongs")

    findings = examine(layout, {"HOME": str(layout.agent)}, NOW)

    assert not is_healthy(findings)
    assert {"modes", "journal"} <= {finding.subject for finding in findings}


def test_what_systemd_refuses_is_one_finding(layout: Layout) -> None:
    def unit() -> Iterator[Finding]:
        yield Finding("ok", "service", "curator.service: active")
        raise BusyError("the service manager does not answer")

    told = [each for each in examine(layout, {}, NOW, unit=unit) if each.subject == "service"]

    assert [each.level for each in told] == ["ok", "error"]


def test_a_key_is_looked_for_and_never_shown(layout: Layout) -> None:
    layout.service_json.write_text(
        '{"version":1,"mode":"external","reviewer":{"provider":"acme","model":"small"}}', "utf-8"
    )
    (layout.agent / "models.json").write_text(
        '{"providers":{"acme":{"baseUrl":"https://example.invalid/v1","apiKey":"ACME_KEY","api":"openai-completions",'
        '"models":[{"id":"small","cost":{"input":1,"output":2}}]}}}',
        "utf-8",
    )

    findings = examine(layout, {"HOME": str(layout.agent), "ACME_KEY": "very-secret-value"}, NOW)

    told = {finding.subject: finding.level for finding in findings}
    assert (told["key"], told["price"], told["reviewer"]) == ("ok", "ok", "ok")
    assert all("very-secret-value" not in f"{finding.fact} {finding.remedy}" for finding in findings)
