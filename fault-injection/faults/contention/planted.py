"""Bugs planted in a copy of curator, each of which a run of the crowd must find: what stands in one file, and what instead."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Final

import curator

_SOURCE: Final = Path(curator.__file__).parent


@dataclasses.dataclass(frozen=True, slots=True)
class Planted:
    """What stands in a file and what instead, file by file, and which oracle is to miss something."""

    name: str
    oracle: str
    changes: tuple[tuple[str, str, str], ...]

    def plant(self, folder: Path) -> Path:
        """Copy curator into `folder` with these changes, and return what goes before all else on the path."""
        shutil.copytree(_SOURCE, folder / "curator", ignore=shutil.ignore_patterns("__pycache__"))
        for file, old, new in self.changes:
            path = folder / "curator" / file
            source = path.read_text("utf-8")
            assert source.count(old) == 1, f"{file} has changed: this stands there no more, or twice: {old}"
            path.write_text(source.replace(old, new), "utf-8")
        return folder


_STORE: Final = "store/memory/store.py"
_ATTEMPT: Final = "workflow/attempt.py"
PLANTED: Final = (
    Planted(
        "the branch is compared before the lock, and swapped in it, without a second look",
        "memory_is_what_was_accepted",
        (
            (_STORE, "        is_ours = False\n", "        is_ours, early = False, self._early(name)\n"),
            (
                _STORE,
                """                branch = self.branch(name)
                if branch is None:
                    raise InvalidRecordError(self.layout.branch(name), "is not there, and its job needs it")
                intent =""",
                """                branch = early
                intent =""",
            ),
            (
                _STORE,
                "    def finish(self, receipt",
                """    def _early(self, name):
        import threading
        found = self.branch(name)
        threading.Event().wait(0.05)
        return found

    def finish(self, receipt""",
            ),
            (
                "store/memory/archive.py",
                "intent=True, branch=self._place(intent)",
                "intent=True, branch=Place.BASE if intent.revision else Place.ELSEWHERE",
            ),
        ),
    ),
    Planted(
        "what is held counts for nothing",
        "no_limit_was_passed",
        (("model/budget.py", "return self.actual + self.held + self.unknown", "return self.actual + self.unknown"),),
    ),
    Planted(
        "the provider is asked before the dispatch is durable",
        "every_request_was_dispatched",
        (
            (
                _ATTEMPT,
                "    sent = shop.stores.attempts.advance(_dispatch",
                "    early = shop.reviewer.ask(ready, shop.stop)\n    sent = shop.stores.attempts.advance(_dispatch",
            ),
            (
                _ATTEMPT,
                "        answer = shop.reviewer.ask(ready, shop.abort or shop.stop)\n",
                "        answer = early\n",
            ),
        ),
    ),
    Planted(
        "an event carries evidence",
        "what_was_said_stays_private",
        (
            (
                "workflow/turn.py",
                "event.Claimed(job.id, claim.attempt, job.project_key, job.branch.name)",
                'event.Stopped(job.id, "claimed", job.transcript, "")',
            ),
        ),
    ),
    Planted(
        "a lease that has ended is never taken over",
        "it_came_to_an_end",
        (
            (
                "workflow/line.py",
                "is_later = waiting.glimpse.due_ms > now",
                "is_later = waiting.is_claimed or waiting.glimpse.due_ms > now",
            ),
        ),
    ),
)
