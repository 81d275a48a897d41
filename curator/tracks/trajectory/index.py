"""The index of a ledger: a SQLite database that says where each line stands, and what was said with which words.

It is a cache. It knows which files it was made from; whoever holds the ledger's lock compares that with what stands, and
takes in what is new. A file that is damaged, or was made by another release, is made anew.

INVARIANT  No answer is given by it alone: what it finds is read from the file that it names.
CRASH      SQLite takes back what did not end. Whatever is lost here is found again in the files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import weakref
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, TypeVar
from urllib.parse import quote

from curator.durable.read import stamp_of
from curator.errors import CuratorError
from curator.model.digest import Digest
from curator.model.ids import EntryId, SessionKey
from curator.model.ledger import CoverageState, Covered
from curator.tracks.trajectory.schema import NUMBER, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curator.durable.trajectory_layout import TrajectoryLayout
    from curator.durable.volume import Volume
    from curator.model.ledger import Coverage, Settled, Tombstone

T = TypeVar("T")

_AT_ONCE: Final = 500
_PRIMARY: Final = 0xFF
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
"""The last is what SQLite says of a table that is not there."""
_BESIDE: Final = ("", "-journal", "-wal", "-shm")

Row: TypeAlias = "tuple[bytes, bytes | None, str, int, int]"
"""Of a node: digest, parent, entry id, and where its line begins and how long it is."""


class IndexLostError(CuratorError):
    """The index cannot be had. Nothing is lost with it."""

    code: ClassVar[str] = "index"
    exit_status: ClassVar[int] = 74
    remedy = "Nothing is lost with it; mend the disk, then run `curator trajectory rebuild`"


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """Where a node's line stands."""

    name: str
    byte: int
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """A node's place in the graph, and whether its text was forgotten."""

    parent: Digest | None
    is_forgotten: bool


class Index:
    """One ledger's index. All of it is used under the ledger's lock."""

    def __init__(self, layout: TrajectoryLayout, volume: Volume) -> None:
        """Know where it stands; nothing is opened yet."""
        self._layout = layout
        self._volume = volume
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def open(self) -> None:
        """Open the database that stands, or make an empty one."""
        stamp = stamp_of(self._layout.index)
        if self._connection is not None and stamp is not None and stamp.inode == self._inode:
            return
        self.close()
        # Its mode, and that of the files that SQLite puts beside it, is that of the lock, which nobody else may read.
        place, mode_of = (quote(str(path)) for path in (self._layout.index, self._layout.lock))
        connection = sqlite3.connect(
            f"file:{place}?modeof={mode_of}", uri=True, isolation_level=None, check_same_thread=False
        )
        weakref.finalize(self, connection.close)
        self._connection = connection
        for pragma in ("journal_mode=wal", "synchronous=normal", "secure_delete=on", "cache_size=-8000"):
            connection.execute(f"pragma {pragma}").fetchall()
        if self._number("pragma user_version") != NUMBER:
            if self._number("select count(*) from sqlite_master"):
                self.drop()
                self.open()
                return
            connection.executescript(f"begin immediate;{SCHEMA}pragma user_version={NUMBER};commit;")
        stamp = stamp_of(self._layout.index)
        self._inode = 0 if stamp is None else stamp.inode

    def close(self) -> None:
        """Let it go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def drop(self) -> None:
        """Remove it; the next opening makes an empty one."""
        self.close()
        for ending in _BESIDE:
            self._volume.unlink(self._layout.index.with_name(f"{self._layout.index.name}{ending}"))

    @contextlib.contextmanager
    def change(self) -> Iterator[None]:
        """Do what follows whole, or not at all."""
        self._sql.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._sql.execute("rollback")
            raise
        self._sql.execute("commit")

    # Files.

    def names(self, shelf: str) -> set[str]:
        """Return the files of a shelf that it was made from."""
        return {str(name) for (name,) in self._sql.execute("select name from file where shelf = ?", (shelf,))}

    def file_count(self, shelf: str) -> int:
        """Return how many files of a shelf it was made from."""
        return self._number("select count(*) from file where shelf = ?", shelf)

    def small_files(self, shelf: str, low: int, high: int, limit: int) -> list[str]:
        """Return files of a shelf within a size, by name: whichever index says it, the same are packed alike."""
        text = "select name from file where shelf = ? and size >= ? and size < ? order by name limit ?"
        return [str(name) for (name,) in self._sql.execute(text, (shelf, low, high, limit))]

    def note_file(self, shelf: str, name: str, size: int) -> int:
        """Note a file, and return its number here."""
        self._sql.execute("insert or ignore into file (shelf, name, size) values (?, ?, ?)", (shelf, name, size))
        return self._number("select id from file where shelf = ? and name = ?", shelf, name)

    def drop_files(self, shelf: str, names: Iterable[str]) -> int:
        """Let go of files that are gone, and of the nodes to be looked for in them; return how many nodes."""
        lost = 0
        for name in names:
            text = "delete from node where file in (select id from file where shelf = ? and name = ?)"
            lost += self._sql.execute(text, (shelf, name)).rowcount
            self._sql.execute("delete from file where shelf = ? and name = ?", (shelf, name))
            if shelf == "waiting":
                self._sql.execute("delete from waiting where name = ?", (name,))
                self._sql.execute("delete from waiting_node where name = ?", (name,))
        return lost

    # Nodes.

    def put_nodes(self, file: int, rows: Iterable[Row]) -> None:
        """Note where nodes stand; the latest place counts."""
        self._sql.executemany(
            "insert into node (digest, parent, entry, file, byte, size) values (?, ?, ?, ?, ?, ?) on conflict (digest)"
            " do update set file = excluded.file, byte = excluded.byte, size = excluded.size",
            [(digest, parent, entry, file, byte, size) for digest, parent, entry, byte, size in rows],
        )

    def links(self, digests: Iterable[Digest]) -> dict[Digest, Link]:
        """Return the place in the graph of those that are here or were forgotten."""
        found: dict[Digest, Link] = {}
        wanted = list(digests)
        for text, is_forgotten in (
            ("select digest, parent from node where digest in ({})", False),
            ("select digest, parent from forgotten where digest in ({})", True),
        ):
            for sql, values in _among(text, wanted):
                for digest, parent in self._sql.execute(sql, values):
                    found[_hex(digest)] = Link(None if parent is None else _hex(parent), is_forgotten)
        return found

    def link(self, digest: Digest) -> Link | None:
        """Return one node's place in the graph."""
        return self.links((digest,)).get(digest)

    def spots(self, digests: Iterable[Digest]) -> dict[Digest, Spot]:
        """Return where nodes stand."""
        text = "select digest, name, byte, node.size from node join file on file.id = node.file where digest in ({})"
        return {
            _hex(digest): Spot(str(name), byte, size)
            for sql, values in _among(text, digests)
            for digest, name, byte, size in self._sql.execute(sql, values)
        }

    def by_entry(self, entry: EntryId) -> list[Digest]:
        """Return the nodes of an entry id, in the order in which they came."""
        text = "select digest from node where entry = ? order by id"
        return [_hex(digest) for (digest,) in self._sql.execute(text, (entry,))]

    def begin_with(self, head: str, limit: int) -> list[Digest]:
        """Return nodes whose digest begins so."""
        low, high = bytes.fromhex(head.ljust(64, "0")), bytes.fromhex(head.ljust(64, "f"))
        text = "select digest from node where digest between ? and ? order by digest limit ?"
        return [_hex(digest) for (digest,) in self._sql.execute(text, (low, high, limit))]

    def ends(self) -> list[Digest]:
        """Return the nodes that nothing follows."""
        passed: set[Digest] = set()
        for (parent,) in self._sql.execute("select parent from node where parent in (select digest from forgotten)"):
            above: Digest | None = _hex(parent)
            while above is not None and (link := self.link(above)) is not None and link.is_forgotten:
                above = link.parent
            passed |= set() if above is None else {above}
        # Without an index of parents, which every push would have to write to: this is asked seldom.
        parents = "select parent from node where parent is not null"
        text = f"select digest from node where digest not in ({parents}) order by digest"  # noqa: S608 - our own words
        return [end for (digest,) in self._sql.execute(text) if (end := _hex(digest)) not in passed]

    def counts(self) -> dict[str, int]:
        """Return how much there is of what."""
        tables = {"nodes": "node", "roots": "node where parent is null", "settled": "settled", "forgotten": "forgotten"}
        tables |= {"waiting": "waiting", "untold": "node where is_told = 0"}
        return {name: self._number(f"select count(*) from {table}") for name, table in tables.items()}  # noqa: S608 - our own words

    # Checkpoints, coverage, tombstones.

    def put_settled(self, lines: Iterable[Settled]) -> None:
        """Note checkpoints."""
        self._sql.executemany(
            "insert or ignore into settled (session, leaf, entry) values (?, ?, ?)",
            [(each.session_key, bytes.fromhex(each.leaf), each.entry_id) for each in lines],
        )

    def is_settled(self, checkpoint: Settled) -> bool:
        """Tell whether a checkpoint is noted, at whatever time it was made."""
        text = "select 1 from settled where session = ? and entry = ? and leaf = ?"
        values = (checkpoint.session_key, checkpoint.entry_id, bytes.fromhex(checkpoint.leaf))
        return self._sql.execute(text, values).fetchone() is not None

    def settled_at(self, session: SessionKey, entry: EntryId) -> list[Digest]:
        """Return the nodes at which a session had come to rest with an entry."""
        text = "select leaf from settled where session = ? and entry = ?"
        return [_hex(leaf) for (leaf,) in self._sql.execute(text, (session, entry))]

    def settled_leaves(self) -> dict[Digest, set[SessionKey]]:
        """Return every node that a checkpoint names, with the sessions."""
        found: dict[Digest, set[SessionKey]] = {}
        for session, leaf in self._sql.execute("select session, leaf from settled"):
            found.setdefault(_hex(leaf), set()).add(SessionKey(session))
        return found

    def put_coverage(self, batch: Coverage) -> None:
        """Note a batch; of each digest the latest counts."""
        self._sql.executemany(
            "insert into covered (digest, state, plan, number) values (?, ?, ?, ?) on conflict (digest) do update set"
            " state = excluded.state, plan = excluded.plan, number = excluded.number where excluded.number > number",
            [(bytes.fromhex(digest), batch.state.value, batch.by, batch.number or 0) for digest in batch.digests],
        )

    def coverage(self, digests: Iterable[Digest]) -> dict[Digest, Covered]:
        """Return what became of those that anybody covered."""
        text = "select digest, state, plan from covered where digest in ({})"
        return {
            _hex(digest): Covered(CoverageState(state), str(by))
            for sql, values in _among(text, digests)
            for digest, state, by in self._sql.execute(sql, values)
        }

    def coverage_counts(self) -> dict[tuple[CoverageState, str], int]:
        """Return how many digests are in which state, by whose word."""
        text = "select state, plan, count(*) from covered group by state, plan order by plan, state"
        return {(CoverageState(state), str(by)): count for state, by, count in self._sql.execute(text)}

    def last_number(self) -> int:
        """Return the number of the latest batch."""
        return self._number("select coalesce(max(number), 0) from covered")

    def put_forgotten(self, lines: Iterable[Tombstone]) -> None:
        """Note tombstones, and let go of all words that were indexed: the search takes in what is left."""
        rows = [
            (bytes.fromhex(each.digest), None if each.parent is None else bytes.fromhex(each.parent)) for each in lines
        ]
        self._sql.executemany("insert or ignore into forgotten (digest, parent) values (?, ?)", rows)
        self._sql.executemany("delete from node where digest = ?", [(digest,) for digest, _ in rows])
        self._sql.execute("insert into said (said) values ('delete-all')")
        self._sql.execute("update node set is_told = 0 where is_told = 1")

    def scrub(self) -> None:
        """Let nothing of what was let go stay in the files of the database."""
        self._sql.execute("pragma wal_checkpoint(truncate)").fetchall()

    # What waits.

    def put_waiting(self, name: str, missing: str, digests: Iterable[Digest]) -> None:
        """Note a file that waits, what it waits for, and the nodes in it."""
        self._sql.execute("insert or ignore into waiting (missing, name) values (?, ?)", (missing, name))
        rows = [(bytes.fromhex(digest), name) for digest in digests]
        self._sql.executemany("insert or ignore into waiting_node (digest, name) values (?, ?)", rows)

    def waiting_for(self, missing: Iterable[str]) -> list[str]:
        """Return the files that wait for any of these."""
        found: dict[str, None] = {}
        for chunk in _chunks(list(missing)):
            text = f"select name from waiting where missing in ({','.join('?' * len(chunk))}) order by name"  # noqa: S608 - marks alone
            found |= dict.fromkeys(str(name) for (name,) in self._sql.execute(text, chunk))
        return list(found)

    def wait_no_more(self, name: str, missing: Iterable[str]) -> None:
        """Note that a file waits for none of these, but for something else."""
        rows = [(name, each) for each in missing]
        self._sql.executemany("delete from waiting where name = ? and missing = ?", rows)

    def missing(self) -> list[str]:
        """Return all that is waited for."""
        return [
            str(missing) for (missing,) in self._sql.execute("select distinct missing from waiting order by missing")
        ]

    def waiting_in(self, digests: Iterable[Digest]) -> dict[Digest, str]:
        """Return the nodes that wait, and a file in which each stands."""
        text = "select digest, name from waiting_node where digest in ({})"
        return {
            _hex(digest): str(name)
            for sql, values in _among(text, digests)
            for digest, name in self._sql.execute(sql, values)
        }

    # Search.

    def untold(self, limit: int) -> list[tuple[int, Spot]]:
        """Return nodes whose words are not indexed yet, by their number here."""
        text = (
            "select node.id, name, byte, node.size from node join file on file.id = node.file where is_told = 0"
            " order by file, byte limit ?"
        )
        return [(number, Spot(str(name), byte, size)) for number, name, byte, size in self._sql.execute(text, (limit,))]

    def tell(self, words: Iterable[tuple[int, str]]) -> None:
        """Index the words of nodes."""
        rows = list(words)
        self._sql.executemany("insert into said (rowid, text) values (?, ?)", [row for row in rows if row[1]])
        self._sql.executemany("update node set is_told = 1 where id = ?", [(number,) for number, _ in rows])

    def find(self, words: str, limit: int) -> list[tuple[Digest, Spot]]:
        """Return the nodes that best match words in SQLite's own language for that."""
        text = (
            "select digest, name, byte, node.size from said join node on node.id = said.rowid"
            " join file on file.id = node.file where said match ? order by rank limit ?"
        )
        return [
            (_hex(each), Spot(str(name), byte, size))
            for each, name, byte, size in self._sql.execute(text, (words, limit))
        ]

    def fault(self) -> str | None:
        """Return what SQLite finds wrong with its own file, or None."""
        told = [str(word) for (word,) in self._sql.execute("pragma quick_check(1)")]
        return None if told == ["ok"] else told[0]

    @property
    def _sql(self) -> sqlite3.Connection:
        assert self._connection is not None, "the index was not opened"
        return self._connection

    def _number(self, text: str, *values: str) -> int:
        for (number,) in self._sql.execute(text, values):
            return int(number)
        return 0


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Tell whether the file is not what it should be: then it is made anew."""
    return error.sqlite_errorcode & _PRIMARY in _DAMAGE


def _among(text: str, digests: Iterable[Digest]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield statements that ask for digests, so many at a time."""
    for chunk in _chunks(list(digests)):
        yield text.format(",".join("?" * len(chunk))), [bytes.fromhex(each) for each in chunk]


def _hex(digest: bytes) -> Digest:
    return Digest(digest.hex())


def _chunks(items: list[T]) -> Iterator[list[T]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))
