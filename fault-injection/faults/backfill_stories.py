"""The stories of a backfill: planned, run, promoted, taken back; crashed everywhere, and then run again by its person.

Whoever was cut off gives the same command again, and ends as if nobody had been: with the same proposals, byte for byte,
and the same memory.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from curator.errors import RefusedError
from curator.pi.project import find_project
from curator.tracks.backfill.expiry import end
from curator.tracks.backfill.importing import import_inputs
from curator.tracks.backfill.planning import Asked, make_plan, open_ledger
from curator.tracks.backfill.promote import finish_begun, promote, propose
from curator.tracks.backfill.records import Caps
from curator.tracks.backfill.review import Reviewed, review
from curator.tracks.backfill.rollback import restore, roll_back
from curator.tracks.backfill.shelf import PlanShelf, plan_ids
from curator.workflow.projection import project
from faults.campaign import Scenario
from faults.recording import Mark
from faults.world import MORNING, Says, SaysRaw
from tests.session_lines import assistant, header, user, write

if TYPE_CHECKING:
    from pathlib import Path

    from curator.tracks.backfill.records import Plan
    from curator.tracks.backfill.rollback import TakenBack
    from curator.workflow.shop import Shop
    from faults.campaign import Run
    from faults.world import Script, World

_ALPHA, _BETA = "Alpha is remembered.", "Beta is remembered."
_SCRIPT: Final[Script] = {
    "entry": (Says(),),
    "alpha-a": (SaysRaw("I would rather chat."), Says((_ALPHA,))),
    "beta-a": (Says((_BETA,)),),
}


def _sessions(world: World) -> Path:
    """Lay two old sessions down, beside the agent's folder: nothing here may change them."""
    folder = world.layout.agent.parent / "sessions"
    folder.mkdir(exist_ok=True)
    for name in ("alpha", "beta"):
        said = (user(f"{name}-u", None, f"Please remember {name}."), assistant(f"{name}-a", f"{name}-u", "I will."))
        path = write(folder / f"{name}.jsonl", header(cwd=world.project.root, id=f"session-{name}"), *said)
        # A plan's id comes from the times of its sessions too: it is to be the same wherever the story is told.
        os.utime(path, ns=(MORNING * 1_000_000,) * 2)
    return folder


def _planned(world: World) -> None:
    world.prepare_folder()
    world.configure("external")
    world.begin_memory("The build runs on Linux.")
    _plan(world)


def _plan(world: World) -> None:
    shop, root = world.shop, world.layout.agent.parent / "project"
    environ = {"PI_CODING_AGENT_SESSION_DIR": str(_sessions(world))}
    plan = make_plan(Asked(find_project(root), Caps()), shop, environ)
    PlanShelf(shop.volume, shop.layout, plan.id).keep(plan)
    world.tell(Mark("planned", plan.id))


def _opened(world: World) -> tuple[Plan, PlanShelf, Shop]:
    shop = world.shop
    shelf = PlanShelf(shop.volume, shop.layout, plan_ids(shop.layout)[0])
    return shelf.plan(), shelf, shop


def _run(world: World) -> None:
    plan, shelf, shop = _opened(world)
    with shelf.alone(), contextlib.closing(open_ledger(plan.project_key, shop)) as ledger:
        import_inputs(plan, shelf, ledger, shop)
        world.tell(Mark("indexed", plan.id))
        world.rest()
        for step in review(plan, shelf, ledger, shop):
            assert isinstance(step, Reviewed)
            world.tell(Mark("staged", str(step.staged.window)))
            world.rest()
    project(shop, force=True)


def _ran(world: World) -> None:
    _planned(world)
    _run(world)


def _promote(world: World) -> None:
    plan, shelf, shop = _opened(world)
    world.tell(Mark("promoting", plan.id))
    with shelf.alone():
        finish_begun(plan, shelf, shop)
        for part in propose(plan, shelf, shop).parts:
            promote(plan, shelf, shop, part)
    for text in (_ALPHA, _BETA):
        world.tell(Mark("promoted", text))


def _promoted(world: World) -> None:
    _ran(world)
    _promote(world)


def _take_back(*, is_exact: bool) -> Run:
    def run(world: World) -> None:
        plan, shelf, shop = _opened(world)
        for text in (_ALPHA, _BETA):
            world.tell(Mark("undoing", text))
        with shelf.alone(), contextlib.suppress(RefusedError):
            taken: TakenBack = (restore if is_exact else roll_back)(plan, shelf, shop)
            assert taken.numbers in ((1,), ())
        for text in (_ALPHA, _BETA):
            world.tell(Mark("undone", text))

    return run


def _cancel(world: World) -> None:
    plan, shelf, shop = _opened(world)
    with shelf.alone():
        end(plan, shelf, "cancel", shop)
    world.tell(Mark("cancelled", plan.id))


def _story(name: str, prepare: Run, run: Run) -> Scenario:
    def recover(world: World) -> None:
        world.review()
        run(world)

    return Scenario(name, _SCRIPT, prepare, run, again=run, recover=recover)


BACKFILL_STORIES: Final[dict[str, Scenario]] = {
    each.name: each
    for each in (
        _story("backfill-run", _planned, _run),
        _story("backfill-promoted", _ran, _promote),
        _story("backfill-rolled-back", _promoted, _take_back(is_exact=False)),
        _story("backfill-restored", _promoted, _take_back(is_exact=True)),
        _story("backfill-cancelled", _ran, _cancel),
    )
}
