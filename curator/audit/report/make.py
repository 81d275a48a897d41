"""A report, made of what the shadow answers and of the revisions on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curator.audit.database import ask
from curator.audit.report.figures import figures_of
from curator.audit.report.page import Report
from curator.audit.report.picture import can_draw
from curator.audit.report.stories import branches_of, root_of, story_of
from curator.model.limits import REPORT_REVISIONS_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from curator.audit.questions import Scope
    from curator.audit.report.figures import Figures
    from curator.audit.report.stories import Branch
    from curator.durable.layout import Layout
    from curator.durable.volume import Volume

_SHARE: Final = 10
"""Of several memories each gets so little of what one alone would have."""


def report_of(
    layout: Layout,
    volume: Volume,
    warn: Callable[[str], None],
    scope: Scope,
    now: int,
    tell: Callable[[int, int], None] | None = None,
) -> Report:
    """Return what there is to tell. Nothing is locked while words are read: a memory may be newer than the figures."""

    def question(connection: Connection) -> tuple[Figures, tuple[Branch, ...], int]:
        return figures_of(connection, scope), *branches_of(connection, scope)

    figures, branches, branches_count = ask(layout, volume, warn, question, tell)
    most = REPORT_REVISIONS_MAX if scope.project_key is not None else REPORT_REVISIONS_MAX // _SHARE
    keys = {*(each.project_key for each in branches), *(each.project_key for each in figures.memories)}
    if scope.project_key is not None:
        keys.add(scope.project_key)
    return Report(
        now=now,
        scope=scope,
        figures=figures,
        stories=tuple(story_of(layout, branch, scope.since, most) for branch in branches),
        stories_of=branches_count,
        roots={key: root_of(layout, key) for key in sorted(keys)},
        can_draw=can_draw(),
    )
