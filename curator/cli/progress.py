"""A bar on stderr for what takes long, where a person's terminal is; nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from curator.cli.page import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(*, is_shown: bool) -> Iterator[Callable[[int, int, str], None]]:
    """Give what shows how many of how many steps are done, what is to be said beside it, and when it may be over."""
    if not (is_shown and is_terminal(sys.stderr)):
        yield lambda _done, _of, _told: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of, told: bar.update(task, completed=done, total=of, description=told)
