"""The templates of units: shipped beside this module, and in a checkout at its top.

A template's blanks are names between at signs. Filling is done once over the whole text, so that what is filled in is
never taken for a blank itself.
"""

from __future__ import annotations

import importlib.resources
import plistlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from curator.model.digest import Json

_BLANK: Final = re.compile(r"@([A-Z_]+)@")


def load(folder: str, name: str) -> bytes:
    """Return a template: `systemd` or `launchd`, and the name of its file."""
    shipped = importlib.resources.files("curator.units") / "templates" / folder / name
    if shipped.is_file():
        return shipped.read_bytes()
    return (Path(__file__).resolve().parents[2] / folder / name).read_bytes()


def fill(template: bytes, words: Mapping[str, str]) -> str:
    """Return a text template with its blanks filled."""
    return _BLANK.sub(lambda found: words[found[1]], template.decode())


def fill_plist(template: bytes, words: Mapping[str, str]) -> Json:
    """Return what a property list says, with its blanks filled; the list's own writer quotes them."""
    value: Json = plistlib.loads(template)
    return _filled(value, words)


def _filled(value: Json, words: Mapping[str, str]) -> Json:
    match value:
        case str():
            return _BLANK.sub(lambda found: words[found[1]], value)
        case list():
            return [_filled(item, words) for item in value]
        case dict():
            return {key: _filled(item, words) for key, item in value.items()}
        case _:
            return value
