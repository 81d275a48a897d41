"""A report that a test makes up: every list filled, and as hostile as text can be."""

from __future__ import annotations

import dataclasses
from typing import Final

from curator.audit.questions import Scope
from curator.audit.report.figures import Amounts, Aside, Figures, MemorySize, ModelCalls, Spent, Waiting
from curator.audit.report.page import Report
from curator.audit.report.stories import Behind, Branch, Changed, Story, Told
from curator.model.ids import BranchName, ProjectKey
from curator.model.times import DAY_MS, iso
from tests.kit import START_MS

HOSTILE: Final = (
    "<script>alert('x')</script><img src=x onerror=alert(1)>&amp;\"'`</style></title>\u202eevil\x00\x1b]8;;"
)
KEY: Final = ProjectKey("a" * 24)
NOW: Final = START_MS + 12 * DAY_MS
_SPENT: Final = Spent(Amounts(5, 800, 15_500_000), Amounts(1, 200, 4_000_000), Amounts(1, 200, 4_000_000))


def told(text: str = HOSTILE, sequence: int = 2) -> Told:
    changes = (
        Changed("add", None, text, "core"),
        Changed("replace", f"Use npm for {text} always", f"Use pnpm for {text} always", "normal"),
        Changed("assess", text, text, "high"),
        Changed("remove", text, None, None),
        Changed("remove", None, None, None),
    )
    return Told(
        sequence,
        iso(NOW - DAY_MS),
        is_undo=False,
        behind=Behind(f"review_{'b' * 40}", f"local/{text}"),
        changes=changes,
    )


def story(*revisions: Told, key: ProjectKey = KEY, of: int | None = None, fault: str | None = None) -> Story:
    branch = Branch(key, BranchName("main"), len(revisions) if of is None else of, {})
    return Story(branch, revisions, fault)


def figures(text: str = HOSTILE) -> Figures:
    days = tuple((iso(NOW - back * DAY_MS)[:10], _SPENT) for back in range(9, -1, -1))
    model = ModelCalls(text, text, {"settled": 9, "unknown": 2, "cancelled": 1}, (120, 900, 1_500, 2_400, 9_000))
    return Figures(
        days=days,
        days_of=12,
        spent=_SPENT,
        models=(model, ModelCalls("local", "qwen", {"settled": 3}, (30,)), ModelCalls("local", "", {"settled": 1}, ())),
        outcomes={day: {"applied": 3, "noop": 1, "stale": 1, "rejected": 1, "failed": 1} for day, _ in days},
        failures=((text, 4), ("provider_error", 2)),
        waiting=(Waiting("queued", NOW - 2 * DAY_MS), Waiting("running", NOW - 90_000), Waiting("held", NOW - 1)),
        turns_ms=(900, 4_000, 61_000),
        memories=(MemorySize(KEY, "main", 31, 4_700, iso(NOW)), MemorySize("c" * 24, "side", 3, 300, iso(NOW))),
        memories_of=40,
        aside=(
            Aside("dead-letter", f"{text}.bad", None, f"review_{'d' * 40}", NOW, 17),
            Aside("quarantine", "x", None),
        ),
        aside_of=300,
        unreadable=(Aside(text, f"{text}.json", f"{text} is not a record"),),
        unreadable_of=1,
        worker=(text, iso(NOW)),
    )


def report(text: str = HOSTILE) -> Report:
    return Report(
        now=NOW,
        scope=Scope(),
        figures=figures(text),
        stories=(
            story(told(text), told(text, 1), of=9),
            story(key=ProjectKey("e" * 24), of=3, fault=f"{text} is damaged"),
        ),
        stories_of=20,
        roots={KEY: f"/home/somebody/{text}", "e" * 24: None},
        can_draw=True,
    )


def without_pictures(text: str = HOSTILE) -> Report:
    return dataclasses.replace(report(text), can_draw=False)
