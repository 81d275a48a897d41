"""What was said in a session, entry by entry, as a graph whose nodes name their parents by digest.

A node binds its parent, what may be kept of one entry, and the versions of what read and cleaned it. So a prefix that
forks share is one chain of nodes, however many files hold it, and a node that another release would make otherwise has
another digest.

INVARIANT  A node's digest is the SHA-256 of its canonical text without the digest; decoding proves it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring
from typing import Annotated, Final, Literal, TypeAlias, get_args

from curator.model.digest import Digest, digest_of_text, parse
from curator.model.ids import ADigest, AJobEntryId, AnIso, EntryId
from curator.model.limits import NODE_CHARS_MAX, TIPS_MAX
from curator.model.record import Integer, Items, Record, Text, Violation
from curator.model.text import sanitized_fault

PARSER: Final = 1
"""The version of how an entry becomes a text: a higher one makes other nodes of the same file."""
SANITIZER: Final = 1
"""The version of redaction and sanitizing: likewise."""

Role: TypeAlias = Literal["user", "assistant", "tool", "summary", "skills", "other"]
"""Who speaks. What a review may not see, and what Pi keeps for itself, is `other`: a link without a text."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_HALVES: Final = re.compile("[\ud800-\udfff]")


def _text_fault(text: str) -> str | None:
    if not text.isascii() and _HALVES.search(text):
        return "holds half a character"
    return sanitized_fault(text)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node(Record):
    """One entry of a session, in its place; `make_node` makes it."""

    version: Literal[1] = 1
    kind: Literal["trajectory-node"] = "trajectory-node"
    parent: ADigest | None = None
    """The node before it; a root has none."""
    entry_id: AJobEntryId
    """Pi's id of the entry: unique in a file only, and kept when Pi copies entries to a fork."""
    at: AnIso | None = None
    """When the source says that it was written, or None where it says nothing usable. It may be wrong by years."""
    role: Role
    text: Annotated[str, Text(0, NODE_CHARS_MAX, _text_fault)]
    """What a review may see of it, with its label, redacted and sanitized."""
    parser: Literal[1] = 1
    sanitizer: Literal[1] = 1
    digest: ADigest

    @property
    def line(self) -> str:
        """The canonical text of the whole node, without a line end."""
        return _sealed(self.parent, self.entry_id, self.at, self.role, self.text)[1]

    def check(self, where: str = "") -> None:
        """Prove the digest."""
        if _sealed(self.parent, self.entry_id, self.at, self.role, self.text)[0] != self.digest:
            raise Violation(where, "is not what its digest says")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tip(Record):
    """The last node of a branch, and Pi's id of its entry."""

    entry_id: AJobEntryId
    digest: ADigest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Record):
    """How far a session file was read in whole lines, and what it takes to go on from there.

    Text below `byte` is never read again while `prefix_digest` holds: it covers the first and the last block below
    `byte`, so it notices a file that was replaced or written anew, at a cost that does not grow with the file.
    """

    version: Literal[1] = 1
    session_id: Annotated[str, Text(1, 512)]
    byte: Annotated[int, Integer(0)]
    line: Annotated[int, Integer(0)]
    prefix_digest: ADigest
    tips: Annotated[tuple[Tip, ...], Items(0, TIPS_MAX)] = ()
    """The branches' ends, those last written to last; where an entry grows elsewhere, the file is read anew."""


@dataclasses.dataclass(frozen=True, slots=True)
class Turn:
    """A user's node and all after it on one path until the next user's; the first turn of a path may have no user."""

    nodes: tuple[Node, ...]

    @property
    def digest(self) -> Digest:
        """The turn's digest: it binds every node in it, and through them all that came before."""
        return turn_digest(node.digest for node in self.nodes)

    @property
    def has_user(self) -> bool:
        """Whether a user's message opens it."""
        return self.nodes[0].role == "user"


def make_node(parent: Digest | None, entry_id: EntryId, at: str | None, role: Role, text: str) -> Node:
    """Return the node of one entry; `text` is sanitized and within bounds, `at` the protocol's spelling of a time."""
    digest, _line = _sealed(parent, entry_id, at, role, text)
    return Node(parent=parent, entry_id=entry_id, at=at, role=role, text=text, digest=digest)


def seal_node(parent: Digest | None, entry_id: EntryId, at: str | None, role: Role, text: str) -> tuple[Digest, str]:
    """Return a node's digest and its canonical text, as `make_node` would, without making the record."""
    return _sealed(parent, entry_id, at, role, text)


def read_node(line: bytes) -> Node:
    """Return the node of one canonical line.

    Raises `MalformedJsonError` for what is not JSON, and `Violation` for what is not the node that its digest names.
    """
    return Node.decode(parse(line))


def turn_digest(digests: Iterable[Digest]) -> Digest:
    """Return the digest of a turn of these nodes, in the order of their path."""
    return digest_of_text("\n".join(("trajectory-turn", *digests)))


def turns(path: Iterable[Node]) -> Iterator[Turn]:
    """Cut a path, from root to leaf, into turns; hold no more than one of them."""
    gathered: list[Node] = []
    for node in path:
        if node.role == "user" and gathered:
            yield Turn(tuple(gathered))
            gathered = []
        gathered.append(node)
    if gathered:
        yield Turn(tuple(gathered))


def _sealed(parent: str | None, entry_id: str, at: str | None, role: str, text: str) -> tuple[Digest, str]:
    # The canonical text, put together: the keys are known and in order, every value but the text is plain, and a text that
    # is sanitized needs no escape but JSON's own.
    head = "{" if at is None else f'{{"at":"{at}",'
    above = "" if parent is None else f'"parent":"{parent}",'
    tail = (
        f'"entryId":"{entry_id}","kind":"trajectory-node",{above}"parser":{PARSER},"role":"{role}",'
        f'"sanitizer":{SANITIZER},"text":{encode_basestring(text)},"version":1}}'
    )
    digest = Digest(hashlib.sha256(f"{head}{tail}".encode()).hexdigest())
    return digest, f'{head}"digest":"{digest}",{tail}'
