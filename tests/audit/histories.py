"""An agent folder whose history a test makes up: jobs, failures, crashes, foreign writes, undo, time that passes."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final

from curator.audit.database import ask, fold_in
from curator.durable.volume import Volume
from curator.errors import CuratorError
from curator.model.attempt import LegacyCarry
from curator.model.digest import digest_of_text
from curator.model.feedback import Pending
from curator.model.ids import Day, JobId
from curator.model.ports import CallFailure, Class
from curator.model.times import iso
from curator.workflow.undo import undo
from tests.audit.oracle import rows_in, rows_of
from tests.durable.volumes import Stamped
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, provenance_at
from tests.verify.test_crashes import Crash, CrashingVolume

if TYPE_CHECKING:
    from pathlib import Path

    from curator.app import App
    from curator.model.ids import BranchName
    from tests.audit.oracle import Tables

MAIN: Final[BranchName] = "main"  # type: ignore[assignment]  # a literal is not a NewType
HOUR_MS: Final = 3_600_000


class Quick(Stamped):
    """A disk whose power never fails: thousands of flushes would be all that a history waits for."""

    def _flush_file(self, descriptor: int) -> None:
        del descriptor

    def _flush_directory(self, descriptor: int) -> None:
        del descriptor


class QuickToCrash(CrashingVolume):
    """The same, on which a process ends."""

    def _flush_file(self, descriptor: int) -> None:
        del descriptor

    def _flush_directory(self, descriptor: int) -> None:
        del descriptor


class History:
    """One project and its jobs, in a folder that is folded again and again."""

    def __init__(self, root: Path) -> None:
        self.world = World(root / "agent")
        self.world.configure()
        self.answers: list[str] = []
        self.asked = 0
        self.enqueued: list[str] = []
        self.warned: list[str] = []
        self.app = self._open(Quick(self.world.clock))
        self.layout = self.app.layout
        self.root = self.layout.root
        self.key = self.world.project(self.app, root / "code")

    def _open(self, volume: Volume) -> App:
        reviewer = ScriptedReviewer(lambda _: self._said(), clock=self.world.clock)
        return self.world.open(reviewer, volume=volume)

    def _said(self) -> str | CallFailure:
        self.asked += 1
        kind = self.answers.pop(0) if self.answers else "add"
        now = self.world.clock.now()
        failures = {
            "fail": CallFailure("provider_error", Class.TERMINAL, "Refused.", provenance_at(now, now)),
            "retry": CallFailure("provider_error", Class.RETRY, "Busy.", provenance_at(now, now)),
            "lose": CallFailure("aborted", Class.RETRY, "Broke off."),
        }
        if kind in failures:
            return failures[kind]
        if kind == "foreign":
            foreground_add(self.root / self.key, f"Written by hand {self.asked}.")
        add = {"action": "add", "content": f"Fact number {self.asked}.", "importance": "normal", "quote": "fact"}
        return json.dumps({"operations": [add]})

    # What may happen.

    def enqueue(self) -> str:
        self.asked += 1
        job = self.world.job(self.app, self.key, f"entry-{self.asked}", f"USER: fact {self.asked}")
        shop = self.app.shop
        shop.mailbox(self.key).register(Pending(job_id=job.id, job_digest=job.digest, branch_name=MAIN))
        shop.stores.spool.enqueue(job)
        self.enqueued.append(job.id)
        return job.id

    def carry(self) -> None:
        """Let an older budget carry its spend into the day."""
        now = iso(self.world.clock.now())
        carry = LegacyCarry(
            day=Day(now[:10]),
            provider="fixture-provider",
            source_digest=digest_of_text("budget"),
            imported_at=now,
            calls=2,
            tokens=30,
            cost_nanousd=4,
        )
        self.app.shop.stores.attempts.publish_legacy(carry)

    def review(self, answer: str = "add") -> None:
        # Whoever crashed has lost its lease by then.
        self.world.clock.ms += 400_000
        self.answers.append(answer)
        self.app.review_once()

    def crash(self, survive: int, answer: str = "add") -> None:
        self.answers.append(answer)
        with contextlib.suppress(Crash):
            self._open(QuickToCrash(survive)).review_once()

    def crash_in_maintenance(self, survive: int) -> None:
        with contextlib.suppress(Crash):
            self._open(QuickToCrash(survive)).maintain()

    def hold(self) -> None:
        spool = self.app.shop.stores.spool
        with contextlib.suppress(CuratorError):
            for waiting in self._newest():
                spool.hold(JobId(waiting.stem))

    def undo(self) -> None:
        with contextlib.suppress(CuratorError):
            undo(self.app.shop, self.key, MAIN)

    def tear(self) -> None:
        """Damage a record that waits: it is set aside at the next review."""
        for path in self._newest():
            # By a rename, as every writer does: what somebody edits in place shows at a rebuild alone.
            torn = path.with_suffix(".torn")
            torn.write_bytes(b"{")
            torn.replace(path)

    def _newest(self) -> list[Path]:
        """The record of the job that was enqueued last, of those that wait, if any does.

        Not the first by name: the ids, and so their order, hang on the path that the test was given.
        """
        waiting = [path for each in self.enqueued if (path := self.layout.queued / f"{each}.json").exists()]
        return waiting[-1:]

    def pass_by(self, hours: int) -> None:
        self.world.clock.ms += hours * HOUR_MS
        self.app.maintain()

    # What the shadow makes of it.

    def fold(self) -> None:
        fold_in(self.layout, Volume(), self.warned.append)

    def folded(self) -> Tables:
        return ask(self.layout, Volume(), self.warned.append, rows_in)

    def rebuilt(self) -> Tables:
        fold_in(self.layout, Volume(), self.warned.append, anew=True)
        return ask(self.layout, Volume(), self.warned.append, rows_in)

    def files(self) -> Tables:
        return rows_of(self.root)
