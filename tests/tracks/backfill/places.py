"""A plan over a project, with proposals that were staged by hand."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Final

from curator.durable.layout import Layout
from curator.model.digest import digest_of
from curator.model.ids import BranchName, EntryId, session_key
from curator.model.proposal import Add, Operation, Remove, Replace
from curator.pi.project import find_project
from curator.tracks.backfill.fold import Shown, targets_of
from curator.tracks.backfill.importing import import_inputs
from curator.tracks.backfill.planning import Asked, make_plan, open_ledger
from curator.tracks.backfill.promote import promote, propose, standing_branch
from curator.tracks.backfill.records import Caps, Forecast, Plan, PlanId, Staged, Window, Windows, seal
from curator.tracks.backfill.review import review
from curator.tracks.backfill.shelf import PlanShelf
from curator.verify.whole import verify
from tests.foreign import foreground_add
from tests.kit import ScriptedReviewer, World, adding
from tests.session_lines import assistant, header, user, write

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.digest import Json
    from curator.model.memory import Branch
    from curator.model.ports import CallFailure
    from curator.tracks.backfill.fold import Part
    from curator.tracks.backfill.promote import Done
    from curator.tracks.backfill.review import Step

MAIN: Final = BranchName("main")
NOTHING: Final = Forecast(turns=0, chars=0, windows=0, calls=0, tokens=0, cost_nanousd=0, running_ms=0, disk=0, days=0)


def made_up_window(number: int) -> Window:
    digest = digest_of(number)
    return Window(
        number=number,
        first=digest,
        last=digest,
        turns=1,
        chars=1,
        session_key=session_key("a session"),
        through_entry_id="entry",
        transcript_digest=digest,
    )


def add(text: str) -> Add:
    return Add(content=text, importance="normal")


def replace(entry_id: str, text: str) -> Replace:
    return Replace(entry_id=EntryId(entry_id), content=text, importance="high")


def remove(entry_id: str) -> Remove:
    return Remove(entry_id=EntryId(entry_id))


class Planned:
    """A world with a project that remembers something, and a plan for it."""

    def __init__(self, folder: Path, *script: str | CallFailure, **reviewer: object) -> None:
        self.world = World(folder / "agent")
        self.world.configure(**reviewer)  # type: ignore[arg-type]  # what service.json takes
        self.reviewer = ScriptedReviewer(*(script or (adding("Never asked."),)), clock=self.world.clock)
        self.app = self.world.open(self.reviewer)
        self.shop = self.app.shop
        self.layout = Layout(self.world.agent)
        self.key = self.world.project(self.app, folder / "shop")
        self.memory = self.layout.project(self.key)
        self.foreground("The build runs on Linux.")
        self.root = folder / "shop"
        draft = Plan(
            id=PlanId("plan_" + "0" * 16),
            created_at="2026-01-03T00:00:00.000Z",
            project_key=self.key,
            project_root=str(folder / "shop"),
            branch_name=MAIN,
            provider="fixture-provider",
            model="fixture-reviewer",
            parser=1,
            sanitizer=1,
            keep_ms=86_400_000,
            caps=Caps(),
            forecast=NOTHING,
            inputs=(),
            left_out=(),
        )
        self.plan = seal(draft)
        self.shelf = PlanShelf(self.shop.volume, self.layout, self.plan.id)
        self.shelf.keep(self.plan)
        self.shelf.keep_windows(Windows(plan_id=self.plan.id, windows=tuple(map(made_up_window, range(1, 21)))))

    # A plan over real session files.

    def session(self, name: str, *said: str, at: int = 0, parent: str | None = None) -> Path:
        """Lay a session of the project down: the user says each text, and is answered."""
        entries = [header(cwd=str(self.root), id=f"session-{name}")]
        last = parent
        for number, text in enumerate(said):
            entries.append(user(f"{name}-u{number}", last, text))
            entries.append(assistant(f"{name}-a{number}", f"{name}-u{number}", "All right."))
            last = f"{name}-a{number}"
        folder = self.world.agent / "sessions" / "--shop--"
        folder.mkdir(parents=True, exist_ok=True)
        path = write(folder / f"{name}.jsonl", *entries)
        os.utime(path, (1_767_000_000 + at, 1_767_000_000 + at))
        return path

    def make(self, caps: Caps = Caps(), keep_ms: int = 86_400_000) -> Plan:  # noqa: B008 - a frozen value
        """Plan what the sessions hold, and work on that plan from now on."""
        asked = Asked(find_project(self.root), caps, keep_ms)
        self.plan = make_plan(asked, self.shop, {"HOME": str(self.world.agent.parent)})
        self.shelf = PlanShelf(self.shop.volume, self.layout, self.plan.id)
        self.shelf.keep(self.plan)
        return self.plan

    def run(self) -> list[Step]:
        """Index and review, as `curator backfill run` does."""
        with self.shelf.alone(), contextlib.closing(open_ledger(self.key, self.shop)) as ledger:
            import_inputs(self.plan, self.shelf, ledger, self.shop)
            return list(review(self.plan, self.shelf, ledger, self.shop))

    def staged_bytes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.shelf.layout.staged.iterdir())}

    def foreground(self, text: str) -> None:
        foreground_add(self.layout.root / self.key, text)

    def stage(self, *proposals: tuple[Operation, ...]) -> None:
        """Stage proposals as a run would: each window sees what those before it staged."""
        for operations in proposals:
            before = self.shelf.proposals()
            shown = Shown(before).on(self.branch)
            self.shelf.stage(
                Staged(
                    plan_id=self.plan.id,
                    window=len(before) + 1,
                    operations=operations,
                    targets=targets_of(operations, shown),
                )
            )

    @property
    def branch(self) -> Branch:
        return standing_branch(self.plan, self.shop)

    @property
    def file(self) -> Path:
        return self.memory.branch(MAIN)

    @property
    def texts(self) -> list[str]:
        return self.world.texts(self.app, self.key)

    @property
    def entries(self) -> Json:
        found: Json = json.loads(self.file.read_bytes())["entries"]
        return found

    def promote(self) -> Done:
        """Promote the next part."""
        return promote(self.plan, self.shelf, self.shop, propose(self.plan, self.shelf, self.shop).parts[0])

    def promote_all(self) -> Part:
        """Promote what is one part."""
        (part,) = propose(self.plan, self.shelf, self.shop).parts
        promote(self.plan, self.shelf, self.shop, part)
        return part

    def reopen(self) -> None:
        """Go on as another process would, that has read nothing yet."""
        self.app = self.world.open(self.reviewer)
        self.shop = self.app.shop
        self.shelf = PlanShelf(self.shop.volume, self.layout, self.plan.id)

    def findings(self) -> list[object]:
        """What `curator verify` finds."""
        return list(verify(self.layout, lambda _path: None))
