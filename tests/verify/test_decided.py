"""What a person decided, as the commands write it, is checked too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.verify.finding import Finding, Severity
from curator.verify.whole import verify
from tests.cli.commands import Home, make_home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A project that is paused, and two changes of mode."""
    home = make_home(tmp_path)
    home.run("project", "pause")
    home.run("authority", "embedded")
    home.run("authority", "external", "--force", "--reason", "made up")
    return home


def found_in(layout: Layout) -> tuple[set[Path], list[Finding]]:
    looked: set[Path] = set()
    return looked, list(verify(layout, looked.add))


def half(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


def changed(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda raw: raw.replace(old, new)


def test_what_the_commands_write_is_whole_and_looked_at(home: Home) -> None:
    looked, found = found_in(home.layout)

    records = {*home.layout.standings.glob("*.json"), *home.layout.switches.glob("*.json")}
    assert len(records) == 3
    assert records <= looked
    assert found == []


@pytest.mark.parametrize(
    ("folder", "damage", "fact"),
    [
        ("projects", half, "not JSON"),
        ("projects", changed(b'"paused"', b'"pausing"'), "wish: is none of its values"),
        ("projects", changed(b'"projectKey":"', b'"linkedTo":"x","projectKey":"'), "linkedTo: is not a project key"),
        ("authority", half, "not JSON"),
        ("authority", changed(b'"after":"', b'"after":"ex'), "after: is none of its values"),
        ("authority", changed(b'"version":1', b'"more":1,"version":1'), "has a key that it may not have"),
    ],
)
def test_one_that_is_damaged_is_an_error(home: Home, folder: str, damage: Callable[[bytes], bytes], fact: str) -> None:
    path = min((home.layout.own / folder).glob("*.json"))
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert path.read_bytes() != whole

    _, found = found_in(home.layout)

    assert [(each.severity, fact in each.fact) for each in found] == [(Severity.ERROR, True)]


def test_one_under_another_project_s_name_is_an_error(home: Home) -> None:
    path = next(home.layout.standings.glob("*.json"))
    path.rename(path.with_name(f"{'0' * 24}.json"))

    _, (found,) = found_in(home.layout)

    assert "another project than its name says" in found.fact
