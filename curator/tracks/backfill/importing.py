"""Index a plan's files into the project's trajectory, then cut what is new into windows: index first, ask later.

INVARIANT  The windows are frozen only after every file was read to the end and was, byte for byte, what the plan was made
           of. Indexing says nothing of reviews; the turns of the windows are leased, so that no other plan takes them.
CRASH      Before the windows stand, the next run indexes again, which changes nothing; after it, the files are not
           needed any more.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.ids import session_key
from curator.model.ledger import Coverage, CoverageState, Source
from curator.model.limits import COVERED_AT_ONCE_MAX, PLAN_WINDOWS_MAX, SOURCE_LEAVES_MAX
from curator.model.times import iso
from curator.model.trajectory import PARSER, SANITIZER
from curator.pi.stream import open_session
from curator.tracks.backfill.errors import InputsMovedError, PlanVersionError
from curator.tracks.backfill.records import PlanId, Windows
from curator.tracks.backfill.shelf import PlanShelf, is_plan_id
from curator.tracks.backfill.windows import Cutter, transcript_of
from curator.tracks.trajectory.pool import read_sessions
from curator.tracks.trajectory.reading import Batch
from curator.tracks.trajectory.task import Event, Refusal, Task

if TYPE_CHECKING:
    from curator.model.digest import Digest
    from curator.model.ledger import Covered
    from curator.model.trajectory import Node
    from curator.tracks.backfill.records import Input, Plan, Window
    from curator.tracks.backfill.windows import Cut
    from curator.tracks.trajectory.facts import Ended
    from curator.tracks.trajectory.ledger import Ledger
    from curator.workflow.shop import Shop

Read: TypeAlias = Callable[[Sequence[Task], int], Iterator[tuple[int, Event]]]
"""Who reads sessions: this process, several, or a cluster."""
_BLOCK_BYTES: Final = 1_048_576


def _read_here(tasks: Sequence[Task], now: int) -> Iterator[tuple[int, Event]]:
    return read_sessions(tasks, now, 1)


def changed_inputs(plan: Plan) -> tuple[Input, ...]:
    """Return the files that are not any more what the plan was made of; what was only written on is the same still."""
    return tuple(each for each in plan.inputs if _digest_of(each) != each.digest)


def import_inputs(
    plan: Plan,
    shelf: PlanShelf,
    ledger: Ledger,
    shop: Shop,
    read: Read = _read_here,
    tell: Callable[[int, int], None] = lambda _done, _of: None,
) -> Windows | None:
    """Index the plan's files and freeze its windows, or return those that stand; None where somebody wants to stop.

    Raises `PlanVersionError` for a plan whose files would be read otherwise now, and `InputsMovedError`, before anything
    is written, where a file is not what it was.
    """
    if (plan.parser, plan.sanitizer) != (PARSER, SANITIZER):
        fact = f"{plan.id}: this plan was made by another release, which read sessions otherwise"
        raise PlanVersionError(fact)
    windows = shelf.windows()
    if windows is None:
        changed = changed_inputs(plan)
        if changed:
            raise _moved(plan, changed)
        most = min(PLAN_WINDOWS_MAX, plan.caps.calls or PLAN_WINDOWS_MAX)
        ends = _index(plan, ledger, shop, read, tell)
        if ends is None:
            return None
        cuts = list(itertools.islice(_cut(plan, ledger, ends, shop), most))
        leased = dict.fromkeys(digest for cut in cuts for digest in cut.covered)
        cover(plan, CoverageState.LEASED, leased, ledger, shop)
        windows = Windows(plan_id=plan.id, windows=tuple(cut.window for cut in cuts))
        shelf.keep_windows(windows)
    return windows


def give_back(plan: Plan, shelf: PlanShelf, ledger: Ledger, shop: Shop) -> None:
    """Let other plans have the turns that this one leased and did not review."""
    windows = shelf.windows()
    for window in () if windows is None else windows.windows:
        _, digests = transcript_of(nodes_of(window, ledger))
        cover(plan, CoverageState.PENDING, digests, ledger, shop)


def cover(plan: Plan, state: CoverageState, digests: Iterable[Digest], ledger: Ledger, shop: Shop) -> None:
    """Say in the ledger what became of turns and nodes, by the word of a plan; what is not its own is left as it is."""
    asked = list(digests)
    known = ledger.coverage(asked)
    for by in {how.by for how in known.values()} - {plan.id} if state is CoverageState.LEASED else ():
        if _is_over(shop, by):
            left = [each for each, how in known.items() if (how.state, how.by) == (CoverageState.LEASED, by)]
            _cover(CoverageState.PENDING, left, by, ledger, shop)
            known |= ledger.coverage(left)
    _cover(state, [each for each in asked if _moves(known.get(each), state, plan)], plan.id, ledger, shop)


def _cover(state: CoverageState, digests: Sequence[Digest], by: str, ledger: Ledger, shop: Shop) -> None:
    at = iso(shop.clock.now())
    for first in range(0, len(digests), COVERED_AT_ONCE_MAX):
        some = tuple(digests[first : first + COVERED_AT_ONCE_MAX])
        ledger.cover(Coverage(state=state, digests=some, by=by, at=at))


def _is_over(shop: Shop, by: str) -> bool:
    """Tell whether a plan that has leased something is over, or gone: it may have died before it could give that back."""
    if not is_plan_id(by):
        return False
    shelf = PlanShelf(shop.volume, shop.layout, PlanId(by))
    wish = shelf.wish()
    return not shelf.layout.root.is_dir() or (wish is not None and wish.will in ("cancel", "expire"))


def _moves(how: Covered | None, state: CoverageState, plan: Plan) -> bool:
    """Tell whether a plan may bring something into a state: what nobody has it leases, what it has leased it lets go."""
    if how is None or how.state is CoverageState.PENDING:
        return state is CoverageState.LEASED
    return how.state is CoverageState.LEASED and how.by == plan.id


def nodes_of(window: Window, ledger: Ledger) -> list[Node]:
    """Return a window's nodes in the order of their path; it begins late where one is not kept any more."""
    found: list[Node] = []
    digest: Digest | None = window.last
    while digest is not None:
        node = ledger.node(digest)
        if node is None:
            break
        found.append(node)
        digest = None if digest == window.first else node.parent
    return found[::-1]


def _index(
    plan: Plan, ledger: Ledger, shop: Shop, read: Read, tell: Callable[[int, int], None]
) -> list[tuple[str, tuple[Digest, ...]]] | None:
    """Take every file into the ledger; return their sessions and ends, in the plan's order, or None for a wish to stop."""
    tasks = [Task(each.path, until=each.size, is_digested=True) for each in plan.inputs]
    ends: dict[int, tuple[str, tuple[Digest, ...]]] = {}
    tell(0, len(tasks))
    for number, event in read(tasks, shop.clock.now()) if tasks else ():
        if shop.stop.is_set():
            return None
        if isinstance(event, Batch):
            ledger.take_lines(event.lines.splitlines())
            continue
        each = plan.inputs[number]
        if isinstance(event, Refusal):
            raise _moved(plan, (each,)) from event.error()
        if event.content_digest != each.digest:
            raise _moved(plan, (each,))
        _note(event, ledger, shop)
        ends[number] = (event.progress.session_id, tuple(leaf.digest for leaf in event.leaves))
        tell(len(ends), len(tasks))
    return [ends[number] for number in sorted(ends)]


def _note(ended: Ended, ledger: Ledger, shop: Shop) -> None:
    """Note in the ledger how far a file was read, unless that stands there."""
    facts, key = ended.facts, session_key(ended.progress.session_id)
    damaged = collections.Counter(damage.fault.value for damage in facts.damage)
    damaged["not told apart"] = facts.damage_count - len(facts.damage)
    source = Source(
        session_key=key,
        path=ended.path,
        progress=ended.progress,
        leaves=ended.leaves[-SOURCE_LEAVES_MAX:],
        nodes=sum(facts.roles.values()),
        damaged=+damaged,
        unknown=facts.unknown,
        read_at=iso(shop.clock.now()),
    )
    before = ledger.source(key)
    if before is None or dataclasses.replace(before, read_at=source.read_at) != source:
        ledger.read_through(source)


def _cut(plan: Plan, ledger: Ledger, ends: Iterable[tuple[str, tuple[Digest, ...]]], shop: Shop) -> Iterator[Cut]:
    """Cut what nobody reviewed into windows, file by file, branch by branch."""
    is_over = functools.cache(functools.partial(_is_over, shop))

    def free(digests: Sequence[Digest]) -> list[Digest]:
        covered = ledger.coverage(digests)
        return [each for each in digests if each not in covered or _is_free(covered[each], plan, is_over)]

    cutter = Cutter(free)
    for session_id, leaves in ends:
        for leaf in leaves:
            yield from cutter.cut(ledger.path_to(leaf), session_key(session_id))


def _is_free(how: Covered, plan: Plan, is_over: Callable[[str], bool]) -> bool:
    is_leased = how.state is CoverageState.LEASED
    return how.state is CoverageState.PENDING or (is_leased and (how.by == plan.id or is_over(how.by)))


def _digest_of(each: Input) -> str | None:
    """Return the digest of the bytes that the plan read of a file, or None where they are not all there."""
    found, left = hashlib.sha256(), each.size
    try:
        with open_session(Path(each.path)) as file:
            while left and (block := file.read(min(left, _BLOCK_BYTES))):
                found.update(block)
                left -= len(block)
    except (InvalidRecordError, NotFoundError, StorageError, OSError):
        return None
    return None if left else found.hexdigest()


def _moved(plan: Plan, changed: tuple[Input, ...]) -> InputsMovedError:
    more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
    fact = f"{plan.id}: {changed[0].path} is not what it was when the plan was made{more}"
    return InputsMovedError(fact)
