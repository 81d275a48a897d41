"""Histories of spend: a provider that keeps a log of its own, days that pass, deaths at any primitive, and a person.

After each step three things are one, within what nobody knows: what is shown, what the files come to by another's code,
and what the provider has logged. A history is a list of steps, so that a shorter one can be found that shows the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from curator.app import App
from curator.durable.volume import Volume
from curator.errors import ConflictError, RefusedError
from curator.model.attempt import AttemptState
from curator.model.digest import Digest
from curator.model.ids import Day
from curator.model.outcome import Cost, Provenance, Usage
from curator.model.ports import Answer, CallFailure, Class, Hold, Prepared
from curator.model.settings import ReviewerProfile, ServiceSettings
from curator.model.times import day_of, iso
from curator.store.attempts import AttemptStore
from curator.workflow.reconcile import reconcile, reconcile_before
from curator.workflow.settings_files import read_curator, write_service
from faults.tree import read_tree
from faults.view import View, look, number_of, text_of
from faults.volumes import Crash, CrashingVolume, TimedVolume
from faults.world import HandClock, World

if TYPE_CHECKING:
    from pathlib import Path

    from curator.model.attempt import Attempt
    from curator.model.ports import Brief, Stop
    from curator.workflow.shop import Shop
    from faults.recording import Mark

Figures: TypeAlias = tuple[int, int, int]
"""Calls, tokens, nano-dollars."""
Sums: TypeAlias = "Counter[tuple[str, str, str, int]]"
"""By day, provider, column and figure."""

_NANO: Final = 1_000_000_000
_COLUMNS: Final = ("actual", "held", "unknown")
_TRIES: Final = 3
_HOUR_MS: Final = 3_600_000
_OLD_MS: Final = 50 * _HOUR_MS
_FAR: Final = 10**6
"""More primitives than any step asks for: nobody dies."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """How one call goes, and what its provider bills, in parts of a hundred of the hold."""

    kind: str
    """whole, silent (whole, without a word on usage), refused, limited, lost, or dies: the process, in mid-call."""
    part: int


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens."""

    kind: str
    survive: int = _FAR
    """After so many changes to the disk the process dies."""
    by: int = 0
    """Milliseconds, a bill in parts of a hundred of the hold, or a limit, as the kind has it."""
    word: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One call in the provider's own log."""

    provider: str
    bill: Figures
    is_told: bool
    """Whether the answer that went out says what it costs."""


class History:
    """One agent folder, and the log of whoever was asked."""

    def __init__(self, scratch: Path, replies: list[Reply]) -> None:
        """Begin with a memory and nothing in the queue."""
        self.agent = scratch / "agent"
        (scratch / "project").mkdir()
        self.clock = HandClock()
        self.log: dict[Digest, Entry] = {}
        self.replies = replies
        self.words: dict[str, list[Figures]] = {}
        """What a person has said of an attempt: each may stand or not, where the process died in saying it."""
        self.stood: dict[str, Figures] = {}
        """What was seen to stand: that stays."""
        self.attempt_of: dict[Digest, str] = {}
        self.holds: dict[str, Figures] = {}
        self.deaths = 0
        self.closed = 0
        """As many days were closed."""
        self._lives = 0
        self._jobs = 0
        world = self.world(TimedVolume(self.clock))
        world.prepare_folder()
        self.limits = {"calls": 100, "tokens": 10**9}
        self.provider = "scripted"
        self._configure()
        world.begin_memory("The build runs on Linux.")

    def world(self, volume: Volume) -> World:
        """Return the next life of the process."""
        self._lives += 1
        told: list[Mark] = []
        return World(self.agent, volume, self.clock, {}, f"history/{self._lives}", told.append)

    def take(self, step: Step) -> None:
        """Let one thing happen; whoever dies in it is dead."""
        volume = CrashingVolume(self.clock, step.survive)
        try:
            self._take(step, self.world(volume))
        except Crash:
            self.deaths += 1

    def _take(self, step: Step, world: World) -> None:
        match step.kind:
            case "enqueue":
                self._jobs += 1
                world.enqueue(world.job(f"entry-{self._jobs}"), is_awaited=False)
            case "review":
                self.clock.move(step.by)
                App(self._shop(world), None).review_once()
            case "maintain":
                self.clock.move(step.by)
                App(self._shop(world), None).maintain()
            case "quiet":
                self._let_days_pass(world)
            case "wait":
                self.clock.move(step.by)
            case "settle":
                self._settle(step, self._shop(world))
            case "settle all":
                today = Day(day_of(self.clock.now()))
                for each in (each for each in self._endless(world.shop) if each.day < today):
                    self.words.setdefault(each.id, []).append((1, each.hold_tokens, each.hold_cost_nanousd))
                reconcile_before(
                    today, None, "The books of the days before are closed.", self._shop(world), at_hold=True
                )
            case _:
                self._set(step, world)

    def _let_days_pass(self, world: World) -> None:
        """Let the jobs come to their ends and grow old, so that the days of their calls are closed."""
        for _ in range(_TRIES):
            self.clock.move(_HOUR_MS)
            App(self._shop(world), None).review_once()
        self._learn(look(read_tree(self.agent)))
        for _ in range(_TRIES):
            self.clock.move(_OLD_MS)
            App(self._shop(world), None).maintain()

    def _set(self, step: Step, world: World) -> None:
        """Change a setting, as a person does."""
        match step.kind:
            case "limit":
                self.limits[step.word] = step.by
            case "provider":
                self.provider = step.word
            case "unresolved":
                world.layout.curator_toml.write_text(f'[budget]\nunresolved = "{step.word}"\n', "utf-8")
            case other:
                raise AssertionError(other)
        self._configure()

    def _settle(self, step: Step, shop: Shop) -> None:
        """Let a person say what one lost call cost, or what an earlier word already says: then it is another bill, perhaps."""
        lost = self._endless(shop)
        if not lost:
            return
        chosen = lost[step.by % len(lost)]
        tokens = chosen.hold_tokens * step.by // 100
        bill = None if step.word == "not billed" else (tokens, tokens * 7)
        self.words.setdefault(chosen.id, []).append((0, 0, 0) if bill is None else (1, *bill))
        # Its result may have come after all, or it was said otherwise by a process that died: then that stands.
        with contextlib.suppress(ConflictError, RefusedError):
            reconcile(chosen.id, bill, "It is on the bill.", shop)

    def _endless(self, shop: Shop) -> list[Attempt]:
        """Return the attempts without an end, those too that a dead process has left open."""
        seen = [each for day in shop.stores.attempts.days() for each in shop.stores.attempts.of_day(day)]
        return [each.latest for each in seen if each.is_open or (each.state is AttemptState.UNKNOWN)]

    def _shop(self, world: World) -> Shop:
        return dataclasses.replace(world.shop, reviewer=_Logging(self, world))

    def _configure(self) -> None:
        profile = ReviewerProfile(
            provider=self.provider,
            model="script-1",
            max_calls_per_day=self.limits["calls"],
            max_tokens_per_day=self.limits["tokens"],
        )
        settings = ServiceSettings(mode="external", reviewer=profile)
        write_service(TimedVolume(self.clock), self.world(Volume()).layout, settings, force=True)

    # What is compared.

    def breaches(self) -> list[str]:
        """Return where what is shown, what the files come to and what the provider has logged are not one."""
        view = look(read_tree(self.agent))
        files = fold(view)
        self.closed = max(self.closed, len(view.closed))
        shown, earlier = self._shown()
        self._learn(view)
        told = [
            f"shown {shown[key]} and the files {files[key]}: {key}"
            for key in {*shown, *files}
            if shown[key] != files[key]
        ]
        for provider in {key[1] for key in files}:
            due = self.due_of_earlier(files, provider)
            if earlier.get(provider, (0, 0, 0)) != due:
                told.append(
                    f"of earlier days {earlier.get(provider)} is shown of {provider}, and the files come to {due}"
                )
        return [*told, *self._call_by_call(view), *self._in_all(shown, view)]

    def due_of_earlier(self, files: Sums, provider: str) -> Figures:
        """Return what of earlier days has no end and counts today."""
        today = Day(day_of(self.clock.now()))
        since = read_curator(self.world(Volume()).layout).budget.counts_from(today)
        open_ = [key for key in files if key[1] == provider and key[2] != "actual" and since <= key[0] < today]
        calls, tokens, cost = (sum(files[key] for key in open_ if key[3] == figure) for figure in range(3))
        return calls, tokens, cost

    def counted(self, files: Sums) -> Figures:
        """Return what today's limits are to be checked against."""
        today = day_of(self.clock.now())
        own = [sum(files[today, self.provider, column, figure] for column in _COLUMNS) for figure in range(3)]
        calls, tokens, cost = (a + b for a, b in zip(own, self.due_of_earlier(files, self.provider), strict=True))
        return calls, tokens, cost

    def _shown(self) -> tuple[Sums, dict[str, Figures]]:
        layout = self.world(Volume()).layout
        store, today = AttemptStore(Volume(), layout), Day(day_of(self.clock.now()))
        since = read_curator(layout).budget.counts_from(today)
        shown: Sums = Counter()
        for day in store.days():
            for provider in store.providers(day):
                exposure = store.exposure(provider, day)
                for column, amount in zip(_COLUMNS, (exposure.actual, exposure.held, exposure.unknown), strict=True):
                    for figure, number in enumerate((amount.calls, amount.tokens, amount.cost_nanousd)):
                        shown[day, provider, column, figure] += number
        earlier: dict[str, Figures] = {}
        for provider in store.unresolved_providers(today, since):
            total = store.unresolved(provider, today, since).total
            earlier[provider] = (total.calls, total.tokens, total.cost_nanousd)
        return shown, earlier

    def _learn(self, view: View) -> None:
        """Remember which attempt made which request: a closed day keeps what it cost, not what was asked."""
        for attempt, steps in view.attempts.items():
            latest = steps[max(each for each in steps if each < 3)]
            self.holds[attempt] = (1, number_of(latest, "holdTokens"), number_of(latest, "holdCostNanousd"))
            request = text_of(steps.get(1, steps.get(2, {})), "requestDigest")
            if request:
                self.attempt_of[Digest(request)] = attempt

    def _call_by_call(self, view: View) -> list[str]:
        told = []
        for request, entry in self.log.items():
            attempt = self.attempt_of.get(request, "")
            column, cost = _cost_of(view, attempt)
            hold = self.holds.get(attempt, (0, 0, 0))
            if column in ("held", "unknown"):
                is_right = cost == hold and all(a <= b for a, b in zip(entry.bill, cost, strict=True))
            elif attempt in self.stood:
                is_right = cost == self.stood[attempt]
            elif column == "word":
                is_right = cost in self.words.get(attempt, [])
                self.stood[attempt] = cost
            else:
                is_right = cost == (entry.bill if entry.is_told else hold)
            if not is_right:
                told.append(f"{attempt or request} was billed {entry.bill}, held {hold}, and is {column} with {cost}")
        return told

    def _in_all(self, shown: Sums, view: View) -> list[str]:
        """Hold the sum of all that is shown to the sum of the log, within what nobody knows."""
        told = []
        for provider in {entry.provider for entry in self.log.values()}:
            for figure in (1, 2):
                billed = sum(entry.bill[figure] for entry in self.log.values() if entry.provider == provider)
                sure = sum(n for key, n in shown.items() if key[1:] == (provider, "actual", figure))
                open_ = sum(
                    n for key, n in shown.items() if key[1] == provider and key[2] != "actual" and key[3] == figure
                )
                # What is charged otherwise than it was billed: at its hold, or by a person's word.
                beside = 0
                for request, entry in self.log.items():
                    column, cost = _cost_of(view, self.attempt_of.get(request, ""))
                    if entry.provider == provider and column not in ("held", "unknown"):
                        beside += cost[figure] - entry.bill[figure]
                unasked = self._unasked(view, provider, figure)
                if not sure - beside - unasked <= billed <= sure - beside - unasked + open_:
                    told.append(f"{provider} logged {billed}, and {sure} ({beside} beside) to {open_} more is shown")
        return told

    def _unasked(self, view: View, provider: str, figure: int) -> int:
        """Return what a person said of calls that were never made: their process died right after the checkpoint."""
        made = {self.attempt_of.get(request) for request in self.log}
        total = 0
        for attempt in set(self.holds) - made:
            column, cost = _cost_of(view, attempt)
            if column in ("word", "past") and _provider_of(view, attempt) == provider:
                total += cost[figure]
        return total


def fold(view: View) -> Sums:
    """Add up the files of the journal, with nothing of curator's own."""
    sums: Sums = Counter()
    for attempt, row in view.past.items():
        _add(sums, row.day, row.provider, "actual", _cost_of(view, attempt)[1])
    for attempt, steps in view.attempts.items():
        latest = steps[max(steps)]
        column, cost = _cost_of(view, attempt)
        name = {"word": "actual", "settled": "actual", "cancelled": ""}.get(column, column)
        if name:
            _add(sums, text_of(latest, "day"), text_of(latest, "provider"), name, cost)
    return Counter({key: number for key, number in sums.items() if number})


def _add(sums: Sums, day: str, provider: str, column: str, cost: Figures) -> None:
    for figure, number in enumerate(cost):
        sums[day, provider, column, figure] += number


def _cost_of(view: View, attempt: str) -> tuple[str, Figures]:
    """Return where an attempt stands, and what it costs there."""
    row = view.past.get(attempt)
    if row is not None:
        return "past", (row.calls, row.tokens, row.nanousd)
    steps = view.attempts.get(attempt)
    if steps is None:
        return "gone", (0, 0, 0)
    latest = steps[max(steps)]
    charged = (1, number_of(latest, "chargedTokens"), number_of(latest, "chargedCostNanousd"))
    match text_of(latest, "state"):
        case "reserved" | "dispatched":
            return "held", (1, number_of(latest, "holdTokens"), number_of(latest, "holdCostNanousd"))
        case "unknown":
            return "unknown", (1, number_of(latest, "holdTokens"), number_of(latest, "holdCostNanousd"))
        case "settled":
            return "settled", charged
        case "corrected" if text_of(latest, "source") == "operator":
            return "word", charged if latest["isBilled"] else (0, 0, 0)
        case "corrected":
            return "settled", charged
        case state:
            return state, (0, 0, 0)


def _provider_of(view: View, attempt: str) -> str:
    row = view.past.get(attempt)
    if row is not None:
        return row.provider
    steps = view.attempts.get(attempt, {})
    return text_of(steps[max(steps)], "provider") if steps else ""


class _Logging:
    """A reviewer whose provider writes down what it bills before it answers, as providers do."""

    def __init__(self, history: History, world: World) -> None:
        self._history = history
        self._world = world

    def prepare(self, brief: Brief) -> Prepared:
        tokens = 200 + 50 * (len(self._history.log) % 5)
        return Prepared(
            provider=self._history.provider,
            model="script-1",
            api="script",
            system_prompt="You are curator.",
            user_prompt=f"attempt {brief.attempt}",
            request_digest=self._world.next_request(brief),
            hold=Hold(tokens=tokens, cost_nanousd=tokens * 1_000),
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        del stop
        history = self._history
        made = len(history.log)
        reply = history.replies[made % len(history.replies)]
        self._hold_to_the_limits()
        tokens = 0 if reply.kind in ("refused", "limited") else prepared.hold.tokens * reply.part // 100
        bill = (1, tokens, tokens * 1_000)
        is_told = reply.kind in ("whole", "refused", "limited")
        history.log[prepared.request_digest] = Entry(prepared.provider, bill, is_told)
        text = json.dumps({"operations": [{"action": "add", "content": f"Fact number {made}.", "importance": "high"}]})
        told = self._provenance(prepared, tokens if is_told else 0, is_told=is_told)
        match reply.kind:
            case "whole":
                return Answer(text, told)
            case "silent":
                return Answer(text, told, is_estimated=True)
            case "refused":
                return CallFailure("provider_error", Class.RETRY, "The script refuses.", told)
            case "limited":
                return CallFailure("rate_limited", Class.LATER, "The script is busy.", told)
            case "lost":
                return CallFailure("model_timeout", Class.RETRY, "The script says nothing.")
            case _:
                raise Crash

    def _hold_to_the_limits(self) -> None:
        """A call that is on its way was within the limits, with everything that counts against them."""
        history = self._history
        counted = history.counted(fold(look(read_tree(history.agent))))
        assert counted[0] <= history.limits["calls"], (counted, history.limits)
        assert counted[1] <= history.limits["tokens"], (counted, history.limits)

    def _provenance(self, prepared: Prepared, tokens: int, *, is_told: bool) -> Provenance:
        now = iso(self._world.clock.now())
        total = tokens * 1_000 / _NANO
        return Provenance(
            provider=prepared.provider,
            model=prepared.model,
            api=prepared.api,
            started_at=now,
            completed_at=now,
            duration_ms=0,
            usage=Usage(
                input=tokens,
                output=0,
                cache_read=0,
                cache_write=0,
                total_tokens=tokens,
                reasoning=0 if is_told else None,
                cost=Cost(input=total, output=0, cache_read=0, cache_write=0, total=total),
            ),
        )
