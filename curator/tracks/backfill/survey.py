"""Look through a project's sessions and say what is in them, without keeping a word: turns, characters, dates, damage.

Every file is read once, as a stream. What several files share is counted with the first. Counts of windows are an
estimate: where branches of a session part, its real windows part too.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from curator.errors import InvalidRecordError, NotFoundError, StorageError
from curator.model.limits import EVIDENCE_CHARS_MAX, EVIDENCE_TURNS_MAX, PLAN_INPUTS_MAX
from curator.model.times import iso
from curator.tracks.backfill.records import Input, LeftOut
from curator.tracks.trajectory.facts import Ended
from curator.tracks.trajectory.reading import index_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from curator.model.digest import Digest
    from curator.model.ids import ProjectKey
    from curator.model.trajectory import Role
    from curator.pi.sessions import Found, SessionFile
    from curator.tracks.backfill.records import Caps, Quality
    from curator.tracks.trajectory.facts import Facts
    from curator.tracks.trajectory.reading import Batch

_LATEST: Final = 20_000
"""So many nodes a file grows from are remembered; one that grows from an older place counts as a turn of its own."""
_SEPARATOR_CHARS: Final = 2


@dataclasses.dataclass(slots=True)
class Survey:
    """What the files come to, as they are read."""

    inputs: list[Input] = dataclasses.field(default_factory=list)
    left_out: list[LeftOut] = dataclasses.field(default_factory=list)
    windows: list[int] = dataclasses.field(default_factory=list)
    """The characters of each."""
    turns: int = 0
    chars: int = 0
    line_bytes: int = 0
    """Of what the ledger would take in."""
    uncertain: int = 0
    injected: int = 0


class Surveyor:
    """Reads the files of one project that the caps let through, the latest first where there are too many."""

    def __init__(self, key: ProjectKey, caps: Caps, settled: Collection[Digest], now: int) -> None:
        """`settled` are the nodes at which the ledger knows that sessions had come to rest."""
        self._key = key
        self._caps = caps
        self._settled = settled
        self._now = now
        self._seen: set[bytes] = set()
        self._result = Survey()

    def survey(self, found: Found, tell: Callable[[int, int], None]) -> Survey:
        """Read them and count; `tell` hears how many of how many are read."""
        result = self._result
        for each in found.quarantined:
            reason = f"quarantined: {each.doubt.value}"
            result.left_out.append(LeftOut(path=spelled(each.path), size=each.size, reason=reason))
        chosen = self._within(found.sessions)
        for done, file in enumerate(chosen):
            tell(done, len(chosen))
            try:
                self._read(file)
            except InvalidRecordError as error:
                self._leave_out(file, error.why)
            except (NotFoundError, StorageError):
                self._leave_out(file, "cannot be read")
        tell(len(chosen), len(chosen))
        result.inputs.sort(key=lambda each: (each.since or iso(each.modified_ms), each.path))
        return result

    def _within(self, sessions: Collection[SessionFile]) -> list[SessionFile]:
        """Return the files that are read, oldest first."""
        chosen: list[SessionFile] = []
        size, caps = 0, self._caps
        for file in sorted(sessions, key=lambda each: (-each.modified_ms, str(each.path))):
            is_many = len(chosen) in (caps.files, PLAN_INPUTS_MAX)
            is_many = is_many or (caps.size is not None and size + file.size > caps.size)
            if spelled(file.path) != str(file.path):
                self._leave_out(file, "its name is not Unicode")
            elif caps.since is not None and iso(file.modified_ms)[:10] < caps.since:
                self._leave_out(file, "not written since that day")
            elif is_many:
                self._leave_out(file, "beyond the cap of files or bytes")
            else:
                chosen.append(file)
                size += file.size
        return chosen[::-1]

    def _read(self, file: SessionFile) -> None:
        count, ended = _Count(self._seen), None
        for event in index_file(str(file.path), self._now, is_digested=True):
            if isinstance(event, Ended):
                ended = event
            else:
                count.take(event)
        assert ended is not None, "reading ends with its facts"
        since, until = _moment(ended.facts.first_ms), _moment(ended.facts.last_ms)
        if self._is_outside(since, until):
            self._leave_out(file, "outside the days")
        else:
            self._count(file, count, ended)

    def _count(self, file: SessionFile, count: _Count, ended: Ended) -> None:
        facts, result = ended.facts, self._result
        turns = [chars for chars in count.turns if chars]
        uncertain = _uncertain(facts, self._key, count)
        self._seen |= count.new
        result.turns += len(turns)
        result.chars += sum(turns)
        result.windows += packed(turns)
        result.line_bytes += count.line_bytes
        result.uncertain += uncertain
        result.injected += facts.injected
        assert ended.content_digest is not None, "it was asked for"
        result.inputs.append(
            Input(
                path=str(file.path),
                size=ended.size,
                modified_ms=file.modified_ms,
                digest=ended.content_digest,
                quality=self._quality(ended, uncertain),
                entries=sum(facts.roles.values()),
                turns=len(turns),
                damaged=facts.damage_count,
                origin=file.origin.value,
                dates={kind.value: count for kind, count in sorted(facts.dates.items()) if count},
                usage_unknown=facts.usage_unknown,
                usage_tokens=facts.tokens,
                since=_moment(facts.first_ms),
                until=_moment(facts.last_ms),
            )
        )

    def _is_outside(self, since: str | None, until: str | None) -> bool:
        caps = self._caps
        is_after = caps.until is not None and since is not None and since[:10] > caps.until
        return is_after or (caps.since is not None and until is not None and until[:10] < caps.since)

    def _quality(self, ended: Ended, uncertain: int) -> Quality:
        if uncertain:
            return "uncertain"
        return "settled" if any(leaf.digest in self._settled for leaf in ended.leaves) else "inferred"

    def _leave_out(self, file: SessionFile, reason: str) -> None:
        self._result.left_out.append(LeftOut(path=spelled(file.path), size=file.size, reason=reason))


class _Count:
    """The turns of one file, by the characters of each."""

    def __init__(self, seen: set[bytes]) -> None:
        self._seen = seen
        self._turn_of: dict[Digest, int] = {}
        self.new: set[bytes] = set()
        self.turns: list[int] = []
        self.line_bytes = 0

    def take(self, batch: Batch) -> None:
        self.line_bytes += len(batch.lines)
        for digest, parent, role, chars in zip(batch.digests, batch.parents, batch.roles, batch.chars, strict=True):
            self._add(digest, parent, role, chars)
        while len(self._turn_of) > _LATEST:
            del self._turn_of[next(iter(self._turn_of))]

    def turn_of(self, digest: Digest) -> int | None:
        """Return the number of the turn that a node belongs to, while it is remembered."""
        return self._turn_of.get(digest)

    def _add(self, digest: Digest, parent: Digest | None, role: Role, chars: int) -> None:
        name = bytes.fromhex(digest)[:16]
        at = self._turn_of.get(parent) if parent is not None else None
        if role == "user" or at is None:
            is_old = name in self._seen
            self.new.add(name)
            at = -1 if is_old else len(self.turns)
            if not is_old:
                self.turns.append(0)
        self._turn_of[digest] = at
        if at >= 0 and chars:
            self.turns[at] += chars + _SEPARATOR_CHARS


def packed(turns: Collection[int]) -> list[int]:
    """Return how many characters each window has into which turns of these lengths are cut."""
    windows: list[int] = []
    chars = count = 0
    for turn in turns:
        if count and (count == EVIDENCE_TURNS_MAX or chars + turn > EVIDENCE_CHARS_MAX):
            windows.append(chars)
            chars = count = 0
        chars, count = min(EVIDENCE_CHARS_MAX, chars + turn), count + 1
    return [*windows, chars] if count else windows


def _uncertain(facts: Facts, key: ProjectKey, count: _Count) -> int:
    """Return how many turns lie behind the frontier of an older review."""
    reached = 0
    for cursor in facts.cursors:
        if cursor.project_key == key:
            at = None if cursor.through is None else count.turn_of(cursor.through)
            reached = max(reached, len(count.turns) if at is None else at + 1)
    return reached


def _moment(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)


def spelled(path: Path) -> str:
    """Return a path as text; what is not Unicode in it stands as an escape."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
