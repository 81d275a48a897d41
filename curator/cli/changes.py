"""How a change of memory is shown: a diff, in colour where colour is wanted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from curator.cli.page import clean, has_colour, recite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curator.model.digest import Json
    from curator.model.memory import Entry
    from curator.workflow.inspect.history import Line

_GONE: Final = "(text not kept)"
_STYLES: Final = {"+": "green", "-": "red", "~": "yellow"}


def show_changes(lines: Iterable[Line]) -> None:
    """Print a diff to stdout."""
    marked = [part for line in lines for part in _marked(line)]
    if not has_colour(sys.stdout):
        for mark, text in marked:
            recite(_indented(mark, text))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for mark, text in marked:
        console.print(Text(clean(_indented(mark, text)), style=_STYLES[mark]))


def changes_document(lines: Iterable[Line]) -> list[Json]:
    """Return a diff for a program; a text that nothing proves any more is left out."""
    return [_document(line) for line in lines]


def _document(line: Line) -> dict[str, Json]:
    told: dict[str, Json] = {"kind": line.kind, "entryId": line.entry_id}
    if line.before is not None:
        told["before"] = line.before.text
    if line.after is not None:
        told |= {"after": line.after.text, "importance": line.after.importance}
    return told


def _marked(line: Line) -> Iterator[tuple[str, str]]:
    if line.kind == "assess":
        importance = "" if line.after is None else f"[{line.after.importance}] "
        yield "~", importance + _text(line.after)
        return
    if line.kind in ("remove", "replace"):
        yield "-", _text(line.before)
    if line.kind in ("add", "replace"):
        yield "+", _text(line.after)


def _text(entry: Entry | None) -> str:
    return _GONE if entry is None else entry.text


def _indented(mark: str, text: str) -> str:
    return f"  {mark} " + text.replace("\n", "\n    ")
