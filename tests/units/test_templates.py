"""The templates: all of them are shipped, and what is filled in is never taken for a blank."""

import tomllib
from pathlib import Path

import pytest

from curator.units.templates import fill, fill_plist, load

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_takes_every_template_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    templates = {name: place for name, place in shipped.items() if place.startswith("curator/units/")}
    lying = [path.relative_to(ROOT) for folder in ("systemd", "launchd") for path in (ROOT / folder).iterdir()]

    assert templates == {str(path): f"curator/units/templates/{path}" for path in lying if path.name != "README.md"}


@pytest.mark.parametrize(("folder", "name"), [("systemd", "curator.service"), ("launchd", "curator.plist")])
def test_a_checkout_finds_them_at_its_top(folder: str, name: str) -> None:
    assert load(folder, name) == (ROOT / folder / name).read_bytes()


def test_what_is_filled_in_is_no_blank_itself() -> None:
    assert fill(b"a=@A@ b=@B@ @system-service", {"A": "@B@", "B": "@A@"}) == "a=@B@ b=@A@ @system-service"


def test_a_blank_that_nobody_fills_is_a_defect() -> None:
    with pytest.raises(KeyError):
        fill(b"@A@", {})


def test_a_property_list_is_filled_as_a_value_so_that_nothing_needs_quoting() -> None:
    template = (
        b'<?xml version="1.0"?><plist version="1.0"><dict><key>a</key><array><string>@A@</string><true/>'
        b"<integer>1</integer></array></dict></plist>"
    )

    assert fill_plist(template, {"A": "<&'\">"}) == {"a": ["<&'\">", True, 1]}
