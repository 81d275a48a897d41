"""Every sequence of up to three things that may be done to a spool, each crashed in its last one.

What comes before the last one was crashed in a shorter sequence. A thing that changes nothing where it stands ends its
sequence: a job that nobody holds cannot be released. Two of the things are of two workers at once: each has a claim of its
own, and the one comes to its end while the other is in the middle.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.errors import CuratorError
from curator.model.ids import JobId
from curator.workflow.base import open_memory
from curator.workflow.claim import take
from curator.workflow.closing import cancel_job
from curator.workflow.election import decide
from curator.workflow.turn import take_turn
from curator.workflow.undo import undo
from faults.campaign import MODELS, Scenario
from faults.recording import Mark, Verb
from faults.world import MAIN, Fails, Says, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faults.campaign import Stage, Violation

Operation: TypeAlias = "Callable[[World, int], object]"

LENGTH: Final = 3
LAST: Final = "the last operation"
_BACK_OFF_MS: Final = 3_600_000
_FRONTIERS: Final = ("alpha", "beta", "gamma", "delta")
_TEXT: Final = "{} is remembered."


def _enqueue(world: World, at: int) -> None:
    world.enqueue(world.job(_FRONTIERS[at + 1]))


def _review(world: World, at: int) -> None:
    del at
    world.clock.move(_BACK_OFF_MS)
    world.review()


def _write(world: World, at: int) -> None:
    text = f"Pi wrote note {at}."
    world.tell(Mark("writing", text))
    world.write_foreground(text)


def _hold(world: World, at: int) -> None:
    del at
    spool = world.shop.stores.spool
    for waiting in spool.waiting()[:1]:
        world.tell(Mark("holding", waiting.job_id))
        spool.hold(waiting.job_id)


def _release(world: World, at: int) -> None:
    del at
    for path in sorted(world.layout.held.glob("*.json"))[:1]:
        world.shop.stores.spool.release(JobId(path.stem))
        world.tell(Mark("released", path.stem))


def _cancel(world: World, at: int) -> None:
    del at
    shop = world.shop
    for waiting in shop.stores.spool.waiting()[:1]:
        cancel_job(shop, waiting.job_id)
        world.tell(Mark("over", waiting.job_id))


def _undo(world: World, at: int) -> None:
    del at
    last = world.branch().entries[-1].text
    world.tell(Mark("undoing", last))
    undo(world.shop, world.project.key, MAIN)
    world.tell(Mark("undone", last))


def _beside(world: World, at: int) -> None:
    """Have a claim while another worker takes the next job to its end, and go on then."""
    _while_claimed(world, at, is_decided=False)


def _overtaken(world: World, at: int) -> None:
    """Have decided while another worker takes the next job to its end, and go on then."""
    _while_claimed(world, at, is_decided=True)


def _while_claimed(world: World, at: int, *, is_decided: bool) -> None:
    world.clock.move(_BACK_OFF_MS)
    shop = world.shop
    waiting = shop.stores.spool.waiting()
    claim = take(shop, waiting[0]) if len(waiting) > 1 else None
    if claim is None:
        return
    if is_decided:
        _, claim = decide(claim, open_memory(claim.job, shop), shop)
    World(world.layout.agent, world.volume, world.clock, world.script, f"{world.life}/other {at}", world.tell).review()
    take_turn(claim, shop)


OPERATIONS: Final[dict[str, Operation]] = {
    "enqueue": _enqueue,
    "review": _review,
    "write": _write,
    "hold": _hold,
    "release": _release,
    "cancel": _cancel,
    "undo": _undo,
    "beside": _beside,
    "overtaken": _overtaken,
}


def sequences() -> list[tuple[str, ...]]:
    """Return the names of every sequence, the shortest first."""
    return [each for length in range(1, LENGTH + 1) for each in itertools.product(OPERATIONS, repeat=length)]


def story(names: tuple[str, ...]) -> Scenario:
    """Return what happens when these are done one after the other, where one job waits already."""

    def run(world: World) -> None:
        for at, name in enumerate(names):
            world.rest()
            world.tell(Mark(LAST if at == len(names) - 1 else "an operation", name))
            with contextlib.suppress(CuratorError):
                OPERATIONS[name](world, at)

    script = {frontier: (Says((_TEXT.format(frontier.capitalize()),)),) for frontier in _FRONTIERS}
    # The first job fails once: so that some sequences have a job that waits for its second try.
    return Scenario(".".join(names), script | {"alpha": (Fails(), *script["alpha"])}, _prepare, run)


def is_idle(stage: Stage) -> bool:
    """Tell whether one of the operations changed nothing."""
    counts = [0]
    for asked in stage.recording.asked:
        if asked.mark is not None:
            counts += [0] if asked.mark.kind in (LAST, "an operation") else []
        elif asked.verb in (Verb.LINK, Verb.RENAME, Verb.UNLINK) and asked.is_done:
            counts[-1] += 1
    return 0 in counts[1:]


def judge_last(stage: Stage, share: int) -> Iterator[Violation | None]:
    """Judge one in a share of the distinct states that a crash within the last operation may leave."""
    begin = next(
        at for at, each in enumerate(stage.recording.asked) if each.mark is not None and each.mark.kind == LAST
    )
    first = next(index for index, point in enumerate(stage.disk.points) if point > begin)
    met = 0
    for model in MODELS:
        for place, state in stage.states(model, first=first):
            said = stage.said(place.point)
            if stage.is_new(state, said):
                met += 1
                if met % share == 0:
                    yield stage.judge(place, state, said)


def _prepare(world: World) -> None:
    world.prepare_folder()
    world.configure("external")
    world.begin_memory("The build runs on Linux.")
    world.enqueue(world.job("alpha"))
