"""The configuration files: what is accepted, what is refused, and in which words."""

import json
import stat
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConfigError
from curator.model.digest import Json
from curator.model.settings import CuratorSettings, ServiceSettings
from curator.workflow.settings_files import (
    Finding,
    check_config,
    find_service,
    profile_of,
    read_curator,
    read_service,
    service_of,
    write_service,
)

SECRET = "made-up-key-0123456789"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "agent")
    layout.own.mkdir(parents=True, mode=0o700)
    layout.root.chmod(0o700)
    return layout


def service(layout: Layout, value: Json) -> Path:
    layout.service_json.write_text(json.dumps(value), "utf-8")
    layout.service_json.chmod(0o600)
    return layout.service_json


def external(**reviewer: Json) -> dict[str, Json]:
    return {"version": 1, "mode": "external", "reviewer": {"provider": "offline", "model": "rules-1", **reviewer}}


def refusal(layout: Layout) -> str:
    with pytest.raises(ConfigError) as caught:
        read_service(layout)
    assert str(layout.service_json) in caught.value.fact
    return str(caught.value)


def test_a_missing_configuration_names_the_command_that_makes_one(layout: Layout) -> None:
    assert "curator config init" in refusal(layout)
    assert find_service(layout) is None


def test_a_complete_configuration_is_read_with_its_defaults(layout: Layout) -> None:
    service(layout, external())

    found = read_service(layout)

    assert found.mode == "external"
    assert found.evidence_ttl_hours == 24
    assert found.reviewer is not None
    assert found.reviewer.reasoning_effort == "medium"
    assert found.reviewer.limits.calls == 100


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({**external(), "concurrency": SECRET}, "unknown key concurrency"),
        (external(apiKey=SECRET), "unknown key reviewer.apiKey"),
        (external(maxCallsPerDay=0), "reviewer.maxCallsPerDay is not within"),
        (external(maxCostPerDayUsd=-1), "maxCostPerDayUsd"),
        (external(reasoningEffort=SECRET), "reviewer.reasoningEffort is none of"),
        ({"version": 1, "mode": "external"}, "external without a reviewer"),
        ({"version": 2, "mode": "embedded"}, "version is not 1"),
        ({"version": 1, "mode": SECRET}, "mode is none of embedded, shadow, external"),
        ({"version": 1, "mode": "embedded", "reviewer": []}, "reviewer is not an object"),
        ([], "is not an object"),
    ],
)
def test_a_wrong_value_is_named_by_its_key_and_never_shown(layout: Layout, value: Json, words: str) -> None:
    service(layout, value)

    said = refusal(layout)

    assert words in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"version":1', "not JSON at line 1"),
        (b'\xef\xbb\xbf{"version":1}', "byte order mark"),
        (b'{"version":1,"mode":"\xff"}', "not UTF-8"),
        (b'{"version":1,"mode":"embedded"}' + b" " * 65_536, "larger than 65536 bytes"),
    ],
)
def test_bytes_that_are_no_configuration_are_refused(layout: Layout, raw: bytes, words: str) -> None:
    layout.service_json.write_bytes(raw)

    assert words in refusal(layout)


def test_a_key_cannot_write_to_the_terminal(layout: Layout) -> None:
    service(layout, {"version": 1, "mode": "embedded", "\x1b[31mred\n": 1})

    said = refusal(layout)

    assert "\x1b" not in said
    assert "\n" not in said


def test_a_symlink_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(json.dumps(external()), "utf-8")
    layout.service_json.symlink_to(elsewhere)

    assert "is a symlink" in refusal(layout)


def test_an_empty_file_and_a_folder_are_refused(layout: Layout) -> None:
    layout.service_json.touch()
    assert "is empty" in refusal(layout)

    layout.service_json.unlink()
    layout.service_json.mkdir()
    assert "is not a regular file" in refusal(layout)


def test_without_a_file_of_its_own_curator_takes_the_defaults(layout: Layout) -> None:
    assert read_curator(layout) == CuratorSettings()


def test_its_own_file_is_read(layout: Layout) -> None:
    layout.curator_toml.write_text('evidence = "require"\non_stale = "report"\nrequire_power_safe = true\n', "utf-8")

    found = read_curator(layout)

    assert (found.evidence, found.on_stale, found.require_power_safe) == ("require", "report", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('onStale = "report"\n', "unknown key onStale"),
        ("parallel = 4\n", "unknown key parallel"),
        ('evidence = "made-up-value"\n', "evidence is none of accept, require"),
        ("evidence = 2026-01-01\n", "evidence is none of accept, require"),
        ("require_power_safe = 1\n", "require_power_safe is not true or false"),
        ('release = "made up value"\n', "release is not a release"),
        ('evidence = "made-up-value\n', "is not TOML at line 1, column 26"),
        ("[made-up-value", "is not TOML"),
        ('[budget]\nunresolved = "made-up-value"\n', "budget.unresolved is not `charge` or `expire-after = N days`"),
        ('[audit]\nurl = "mysql://secret@host/x"\n', "audit.url is not an address like postgresql://host/database"),
        ("[audit]\nuri = 7\n", "unknown key audit.uri; known are url"),
        (
            '[metrics]\ntextfile = "made-up-value.prom"\n',
            "metrics.textfile is not an absolute path that ends with .prom",
        ),
        ('[metrics]\ntextfile = "/made-up-value"\n', "metrics.textfile is not an absolute path that ends with .prom"),
        ("[metrics]\nport = 7\n", "unknown key metrics.port; known are textfile"),
        ("[budget]\nexpire_after = 7\n", "unknown key budget.expire_after; known are unresolved"),
        ("budget = 7\n", "budget is not an object"),
    ],
)
def test_a_slip_in_its_own_file_is_named(layout: Layout, text: str, words: str) -> None:
    layout.curator_toml.write_text(text, "utf-8")

    with pytest.raises(ConfigError) as caught:
        read_curator(layout)

    assert words in str(caught.value)
    assert str(layout.curator_toml) in str(caught.value)
    assert "made-up-value" not in str(caught.value)
    assert "made up value" not in str(caught.value)


def test_writing_makes_a_private_file_that_reads_back(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "new" / "agent")
    wanted = service_of("external", profile_of("offline"), None)

    write_service(Volume(), layout, wanted)

    assert read_service(layout) == wanted
    assert stat.S_IMODE(layout.service_json.stat().st_mode) == 0o600
    assert stat.S_IMODE(layout.root.stat().st_mode) == 0o700


def test_an_agent_folder_that_is_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "kept elsewhere").mkdir()
    (tmp_path / "agent").symlink_to(tmp_path / "kept elsewhere")
    layout = Layout(tmp_path / "agent")

    write_service(Volume(), layout, service_of("external", profile_of("offline"), None))

    assert (tmp_path / "kept elsewhere" / "no-forgetti" / "service.json").is_file()


def test_what_stands_is_overwritten_only_when_asked(layout: Layout) -> None:
    path = service(layout, {"version": 1, "mode": "embedded"})
    before = path.read_bytes()
    wanted = service_of("external", profile_of("offline"), None)

    with pytest.raises(ConfigError, match="--force"):
        write_service(Volume(), layout, wanted)
    assert path.read_bytes() == before

    write_service(Volume(), layout, wanted, force=True)
    assert read_service(layout) == wanted


def test_a_new_reviewer_keeps_the_limits_that_stand() -> None:
    standing = ServiceSettings.decode(external(maxCallsPerDay=7) | {"evidenceTtlHours": 48})

    changed = service_of("shadow", profile_of("local/some-model"), standing)

    assert changed.mode == "shadow"
    assert changed.evidence_ttl_hours == 48
    assert changed.reviewer is not None
    assert (changed.reviewer.provider, changed.reviewer.model) == ("local", "some-model")
    assert changed.reviewer.max_calls_per_day == 7


def test_a_model_may_have_a_slash_in_its_name() -> None:
    assert profile_of("router/vendor/model-1").model == "vendor/model-1"


@pytest.mark.parametrize("reviewer", ["somebody", "local/", "/model", " /model", ""])
def test_a_reviewer_without_provider_and_model_is_refused(reviewer: str) -> None:
    with pytest.raises(ConfigError, match="PROVIDER/MODEL"):
        profile_of(reviewer)


# --- the check ---------------------------------------------------------------------------------------------------------


def models(layout: Layout, **more: Json) -> None:
    model: dict[str, Json] = {"id": "some-model", "api": "openai-completions", **more}
    block: Json = {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": "$MADE_UP_KEY", "models": [model]}
    (layout.agent / "models.json").write_text(json.dumps({"providers": {"local": block}}), "utf-8")


def subjects(findings: tuple[Finding, ...], level: str) -> dict[str, str]:
    return {each.subject: f"{each.fact}. {each.remedy}" for each in findings if each.level == level}


def test_the_check_of_a_fresh_machine_says_what_to_run(layout: Layout) -> None:
    errors = subjects(check_config(layout, {}), "error")

    assert list(errors) == ["service.json"]
    assert "curator config init" in errors["service.json"]


def test_the_check_needs_the_agent_folder(tmp_path: Path) -> None:
    errors = subjects(check_config(Layout(tmp_path / "nowhere"), {}), "error")

    assert "--agent-dir" in errors["agent folder"]


def test_the_offline_reviewer_needs_nothing_more(layout: Layout) -> None:
    service(layout, external())

    findings = check_config(layout, {})

    assert {each.level for each in findings} == {"ok"}
    assert "100 calls" in subjects(findings, "ok")["limits"]


def test_model_key_and_price_are_looked_up_and_the_key_is_not_shown(layout: Layout) -> None:
    service(layout, external(provider="local", model="some-model"))
    models(layout, cost={"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0})

    findings = check_config(layout, {"MADE_UP_KEY": SECRET})

    assert {each.level for each in findings} == {"ok"}
    assert {"reviewer", "key", "price", "limits"} <= set(subjects(findings, "ok"))
    assert SECRET not in str(findings)


@pytest.mark.parametrize(
    ("limits", "level", "fact"),
    [
        ({"maxTokensPerDay": 6_000}, "error", "more than the day's limit of tokens: it would never be asked"),
        ({"maxCostPerDayUsd": 0.005}, "error", "more than the day's limit of cost: it would never be asked"),
        ({"maxTokensPerDay": 60_000}, "warning", "one call with as much evidence as there may be holds up to"),
    ],
)
def test_limits_that_one_call_alone_exceeds_are_told_before_the_first_job(
    layout: Layout, limits: dict[str, Json], level: str, fact: str
) -> None:
    service(layout, external(provider="local", model="some-model", **limits))
    models(layout, cost={"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0})

    found = subjects(check_config(layout, {"MADE_UP_KEY": SECRET}), level)

    assert fact in found["limits"]
    assert "in service.json" in found["limits"]


@pytest.mark.parametrize(
    ("reviewer", "environ", "level", "subject"),
    [
        ({"provider": "local", "model": "another"}, {"MADE_UP_KEY": SECRET}, "error", "reviewer"),
        ({"provider": "local", "model": "some-model"}, {}, "error", "key"),
        ({"provider": "local", "model": "some-model"}, {"MADE_UP_KEY": SECRET}, "warning", "price"),
        ({"provider": "offline", "model": "rules-9"}, {}, "error", "reviewer"),
    ],
)
def test_what_is_missing_is_found(
    layout: Layout, reviewer: dict[str, Json], environ: dict[str, str], level: str, subject: str
) -> None:
    service(layout, external(**reviewer))
    models(layout)

    assert subject in subjects(check_config(layout, environ), level)


def test_a_file_that_others_may_change_is_warned_about(layout: Layout) -> None:
    path = service(layout, external())
    path.chmod(0o622)

    assert "chmod 600" in subjects(check_config(layout, {}), "warning")["mode"]


def test_embedded_mode_is_said_to_claim_nothing(layout: Layout) -> None:
    service(layout, {"version": 1, "mode": "embedded"})

    warnings = subjects(check_config(layout, {}), "warning")

    assert "curator config init" in warnings["mode"]
    assert "reviewer" in warnings
