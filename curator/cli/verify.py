"""`curator verify`: whether what lies on disk can be true, by a checker of its own; and nothing is changed."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import clean, counted, document, is_terminal, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.verify.finding import Finding

_FOUND: Final = 65
_KEPT_MAX: Final = 1_000
"""As many findings one JSON document holds; the counts tell how many there are."""
_EVERY: Final = 256


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)


def verify(agent_dir: AgentDir = None, as_json: AsJson = False) -> int:
    """Check every record, digest, binding and history, and change nothing.

    Works on a live agent folder, and on a copy of one. An `error` is what no order of steps and no crash leads to; a
    `pending` state ends with the next run; a `stray` name belongs to nobody. Ends with 65 where there is an error.
    """
    from curator.verify.whole import verify as verify_whole

    layout = layout_of(agent_dir)
    counts: Counter[str] = Counter()
    kept: list[Json] = []
    with _progress() as looked:
        for finding in verify_whole(layout, looked):
            counts[finding.severity.value] += 1
            if not as_json:
                _show(finding, layout)
            elif len(kept) < _KEPT_MAX:
                kept.append({"severity": finding.severity, "path": _place(finding, layout), "fact": finding.fact})
    status = _FOUND if counts["error"] else 0
    if as_json:
        shown: dict[str, Json] = {name: counts[name] for name in ("error", "pending", "stray")}
        told: dict[str, Json] = {"agentDir": str(layout.agent), "records": looked.count, "counts": shown}
        document(told | {"findings": kept})
        return status
    say(f"{counted(looked.count, 'record')} checked: {_sum(counts)}.")
    return status


class _Looked:
    """Counts records, and tells a person's terminal now and then."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self.count = 0
        self._tell = tell

    def __call__(self, path: Path) -> None:
        self.count += 1
        if self._tell is not None and self.count % _EVERY == 0:
            self._tell(f"{counted(self.count, 'record')} checked, now {clean(path.parent.name)}")


@contextlib.contextmanager
def _progress() -> Iterator[_Looked]:
    if not is_terminal(sys.stderr):
        yield _Looked(None)
        return
    from rich.console import Console

    with Console(stderr=True).status("checking", spinner="dots") as status:
        yield _Looked(lambda text: status.update(text.replace("[", r"\[")))


def _show(finding: Finding, layout: Layout) -> None:
    say(f"{finding.severity.value:<7}  {_place(finding, layout)} {finding.fact}".replace("\n", " "))


def _place(finding: Finding, layout: Layout) -> str:
    """Return where a finding is, below the agent folder; a name that is not Unicode by its escapes."""
    return str(finding.path.relative_to(layout.agent)).encode("utf-8", "backslashreplace").decode("utf-8")


def _sum(counts: Counter[str]) -> str:
    if not counts:
        return "nothing wrong"
    told = [counted(counts["error"], "error")]
    told += [f"{counts['pending']} on the way"] if counts["pending"] else []
    told += [counted(counts["stray"], "stray name")] if counts["stray"] else []
    return ", ".join(told)
