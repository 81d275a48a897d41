"""The frozen corpus of review quality: conversations, the memory before them, and what is expected after.

One JSON object a line, in two halves and a part to practise on. `read` refuses one whose digest is not the one in `FROZEN`, and says path and
line of whatever else is wrong. A conversation turns into a review job as the extension would build it: its evidence is
sanitized by the protocol's own rules, and holds no more than the protocol lets through (interop.md 4.2).

The halves lie beside this module in an installed package, and in a checkout under `bench/quality/corpus`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from curator.errors import CuratorError
from curator.model.digest import MalformedJsonError, parse
from curator.model.ids import AnEntryId, BranchName, project_key, session_key
from curator.model.job import Job, make_job
from curator.model.limits import ENTRY_CHARS_MAX, JOB_CHARS_MAX, MEMORY_CHARS_MAX
from curator.model.memory import Branch, Entry, branch_digest
from curator.model.proposal import Importance
from curator.model.record import Integer, Items, MayBeAbsent, Pattern, Record, Text, Violation
from curator.model.text import js_trim, sanitize
from curator.quality.rules import Expectation, hold_in, joined

_SHIPPED: Final = Path(__file__).parent / "conversations"
_CHECKED_OUT: Final = Path(__file__).parents[2] / "bench" / "quality" / "corpus"
FOLDER: Final = _SHIPPED if _SHIPPED.is_dir() else _CHECKED_OUT
"""Where the halves and their digests lie."""
FROZEN: Final = "FROZEN"
_WRITTEN_AT: Final = "2026-01-05T09:00:00.000Z"
_TOOL_NAME_CHARS_MAX: Final = 128
_HEX_CHARS: Final = 64

Half: TypeAlias = Literal["seen", "unseen", "practice"]
HALVES: Final[tuple[Half, ...]] = ("seen", "unseen")
PARTS: Final[tuple[Half, ...]] = (*HALVES, "practice")
"""The halves are what a reviewer is measured by; the third part came later, for the tuning of rules."""

Category: TypeAlias = Literal[
    "decision",
    "preference",
    "correction",
    "supersession",
    "one-off",
    "question",
    "joke",
    "pasted",
    "secret",
    "near-duplicate",
    "full-memory",
    "taken-back",
    "proposal",
    "attack",
]
Technique: TypeAlias = Literal[
    "pasted",
    "tool-output",
    "tool-name",
    "nested-quote",
    "fake-turn",
    "poisoning",
    "other-language",
    "hidden-characters",
    "encoded",
    "markup",
    "fake-proposal",
    "delete-all",
    "fake-authority",
    "secret-bait",
    "summary",
    "skill-name",
    "split",
]
_ToolName = Annotated[str, Text(1, _TOOL_NAME_CHARS_MAX)]
_OF_ROLE: Final[dict[str, frozenset[str]]] = {
    "user": frozenset({"text"}),
    "assistant": frozenset({"text", "tools"}),
    "tool": frozenset({"name", "ending"}),
    "summary": frozenset({"text"}),
    "skills": frozenset({"names"}),
}


class CorpusError(CuratorError):
    """The corpus is not what it should be. Names the file and, where there is one, the line."""

    code = "corpus"
    exit_status = 65
    remedy = "Nothing was asked; install curator again, or check the file out again"

    def __init__(self, path: Path, fact: str, line: int | None = None) -> None:
        """Say where, then what."""
        super().__init__(f"{path}:{line}: {fact}" if line is not None else f"{path}: {fact}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """One section of evidence: what was said, or the bare name of a tool with its ending, or of skills."""

    role: Literal["user", "assistant", "tool", "summary", "skills"]
    text: Annotated[str, Text(1, JOB_CHARS_MAX)] | None = None
    tools: Annotated[tuple[_ToolName, ...], Items(1, 8)] | None = None
    name: _ToolName | None = None
    ending: Literal["completed", "failed"] | None = None
    names: Annotated[tuple[_ToolName, ...], Items(1, 8)] | None = None

    def check(self, where: str = "") -> None:
        """Each role has its own keys: an assistant speaks, calls tools or both, all others need theirs."""
        there, wanted = set(self.encode()) - {"role"}, _OF_ROLE[self.role]
        if not there <= wanted or not there or (self.role != "assistant" and there != wanted):
            raise Violation(where, f"does not have the keys of a {self.role}")

    def section(self) -> str:
        """Return the turn as evidence shows it, not sanitized yet."""
        match self.role:
            case "user":
                return f"USER: {js_trim(joined(self.text or ''))}"
            case "assistant":
                calls = [f"[tool call: {_on_one_line(name)}]" for name in self.tools or ()]
                spoken = [js_trim(joined(self.text))] if self.text is not None else []
                return "ASSISTANT: " + "\n".join([*spoken, *calls])
            case "tool":
                return f"TOOL {_on_one_line(self.name or '')}: {self.ending}"
            case "summary":
                return f"[Prior conversation summary]\n{js_trim(joined(self.text or ''))}"
            case "skills":
                return f"PROJECT SKILLS INVOKED: {', '.join(self.names or ())}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Record):
    """An entry of the memory before the review."""

    id: AnEntryId
    text: Annotated[str, Text(1, ENTRY_CHARS_MAX)]
    importance: Annotated[Importance, MayBeAbsent()] = "normal"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(Record):
    """One line of the corpus."""

    id: Annotated[str, Pattern(r"[a-z-]+-[0-9]{2,3}", "a category and a number")]
    category: Category
    languages: Annotated[tuple[Annotated[str, Pattern(r"[a-z]{2}", "a language")], ...], Items(1, 3)]
    noisy: bool
    """Typed in haste or dictated: typos, no punctuation, chat shorthand."""
    difficulty: Literal["plain", "indirect", "oblique"]
    technique: Technique | None = None
    """How an attack comes in; no other conversation has one."""
    max_chars: Annotated[int, Integer(1, MEMORY_CHARS_MAX), MayBeAbsent()] = MEMORY_CHARS_MAX
    turns: Annotated[tuple[Turn, ...], Items(1, 64)]
    memory: Annotated[tuple[Remembered, ...], Items(0, 64)]
    expect: Expectation

    @property
    def is_foreign_or_noisy(self) -> bool:
        """Whether anything but tidy English is spoken."""
        return self.noisy or self.languages != ("en",)

    @property
    def user_turns(self) -> int:
        """How often the person speaks."""
        return sum(turn.role == "user" for turn in self.turns)

    def check(self, where: str = "") -> None:
        """The rules fit the memory that they are about."""
        before = {entry.id: entry.text for entry in self.memory}
        if len(before) != len(self.memory):
            raise Violation(where, "has two entries of one id")
        if (self.technique is not None) != (self.category == "attack"):
            raise Violation(where, "has a technique and is no attack, or the other way round")
        if not self.id.startswith(f"{self.category}-"):
            raise Violation(where, "has the id of another category")
        if not {*self.expect.replaces, *(kept.id for kept in self.expect.keep)} <= before.keys():
            raise Violation(where, "names an entry that the memory before does not have")
        if not all(hold_in(kept.groups, before[kept.id]) for kept in self.expect.keep):
            raise Violation(where, "keeps what its entry does not say")
        if any(hold_in(fact.groups, text) for fact in self.expect.remember for text in before.values()):
            raise Violation(where, "asks for what the memory before already says")

    def transcript(self) -> str:
        """Return the evidence, as a job carries it."""
        return sanitize("\n\n".join(turn.section() for turn in self.turns))

    def branch(self) -> Branch:
        """Return the memory before the review."""
        entries = tuple(
            Entry(
                id=entry.id,
                text=entry.text,
                created_at=_WRITTEN_AT,
                updated_at=_WRITTEN_AT,
                created_by="background_review",
                updated_by="background_review",
                importance=entry.importance,
                importance_assessed_at=_WRITTEN_AT,
            )
            for entry in self.memory
        )
        return Branch(name=BranchName("main"), created_at=_WRITTEN_AT, updated_at=_WRITTEN_AT, entries=entries)

    def job(self) -> Job:
        """Return the review job of this conversation. Raises `Violation` if the protocol would not let it through."""
        branch = self.branch()
        return make_job(
            project_key=project_key("/corpus"),
            session_key=session_key(self.id),
            through_entry_id=self.id,
            transcript=self.transcript(),
            branch=branch,
            base_branch_digest=branch_digest(branch),
            max_chars=self.max_chars,
        )


def read(half: Half, folder: Path = FOLDER) -> tuple[Conversation, ...]:
    """Return a half of the corpus, once its digest is the frozen one. Raises `CorpusError`."""
    path = folder / f"{half}.jsonl"
    raw = _bytes_of(path)
    if frozen_digests(folder).get(path.name) != hashlib.sha256(raw).hexdigest():
        raise CorpusError(path, f"is not the file that {FROZEN} names: the corpus was changed after it was frozen")
    conversations = tuple(_lines(path, raw))
    seen: set[str] = set()
    for line, conversation in enumerate(conversations, start=1):
        if conversation.id in seen:
            raise CorpusError(path, f"{conversation.id} stands there twice", line)
        seen.add(conversation.id)
    return conversations


def frozen_digests(folder: Path = FOLDER) -> dict[str, str]:
    """Return the SHA-256 of each file by its name, in the form that `sha256sum --check` takes."""
    path = folder / FROZEN
    found: dict[str, str] = {}
    for number, line in enumerate(_bytes_of(path).decode().splitlines(), start=1):
        digest, gap, name = line.partition("  ")
        if not gap or len(digest) != _HEX_CHARS or name in found:
            raise CorpusError(path, "is not a digest, two spaces and a name of its own", number)
        found[name] = digest
    return found


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(path, f"cannot be read: {error.strerror}") from error


def _lines(path: Path, raw: bytes) -> Iterator[Conversation]:
    # Not `splitlines`: other line ends, like U+2028, may stand in a text.
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            yield Conversation.decode(parse(line))
        except (MalformedJsonError, Violation) as error:
            raise CorpusError(path, str(error), number) from error


def _on_one_line(name: str) -> str:
    return " ".join(name.split())[:_TOOL_NAME_CHARS_MAX]
