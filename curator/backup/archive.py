"""One backup file: a compressed tar, in sections, each followed by its manifest.

A manifest has a line a file, `<sha256>  <name>`, and only what stands in it was in the state that was copied: within a
section a name may come again, newer, or be dropped. The last member seals all manifests, so that a backup that was cut
short, or changed, is known as one. Written and read from front to back; memory holds one section's names.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import tarfile
import zlib
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Final

from curator.errors import InvalidRecordError
from curator.model.digest import MalformedJsonError, compact, parse
from curator.model.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curator.model.digest import Json

FILE_BYTES_MAX: Final = 67_108_864
"""No record is larger; what is, was no record, and is not copied."""
ROOT: Final = "no-forgetti"
_HEAD: Final = "backup.json"
_SEAL: Final = "seal.json"
_MANIFEST: Final = "manifest/"
_MANIFEST_BYTES_MAX: Final = 1_073_741_824
_NS: Final = 1_000_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One file of a backup."""

    name: str
    """From the agent folder on, with slashes."""
    data: bytes
    mtime_ns: int


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """What a backup was found to hold, every digest right."""

    made_at: str
    files: int
    size: int
    superseded: frozenset[int]
    """The members, by number, that a later one of their section replaced or dropped."""


class Writer:
    """Writes a backup."""

    def __init__(self, out: IO[bytes], now: int) -> None:
        """Begin a backup made at `now`, UTC milliseconds."""
        self._zip = gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0)
        self._tar = tarfile.TarFile(fileobj=self._zip, mode="w", format=tarfile.PAX_FORMAT)
        self._section: dict[str, str] = {}
        self._sections = 0
        self._seal = hashlib.sha256()
        self.files = 0
        self._put(_HEAD, _document({"version": 1, "kind": "curator-backup", "madeAt": iso(now)}), now * 1_000_000)

    def add(self, member: Member) -> None:
        """Add a file, or what replaces one of this section."""
        self._section[member.name] = hashlib.sha256(member.data).hexdigest()
        self._put(member.name, member.data, member.mtime_ns)

    def drop(self, name: str) -> None:
        """Say that a file of this section is gone after all."""
        self._section.pop(name, None)

    def end_section(self) -> None:
        """Write the section's manifest."""
        if not self._section:
            return
        manifest = "".join(f"{digest}  {name}\n" for name, digest in self._section.items()).encode()
        self._put(f"{_MANIFEST}{self._sections:06d}", manifest, 0)
        self._seal.update(manifest)
        self._sections += 1
        self.files += len(self._section)
        self._section = {}

    def finish(self) -> None:
        """Seal the backup."""
        self.end_section()
        seal: dict[str, Json] = {"sections": self._sections, "files": self.files, "digest": self._seal.hexdigest()}
        self._put(_SEAL, _document(seal), 0)
        self._tar.close()
        self._zip.close()

    def _put(self, name: str, data: bytes, mtime_ns: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = len(data), 0o600, mtime_ns / _NS
        self._tar.addfile(info, io.BytesIO(data))
        # The library would remember every member.
        self._tar.members = []  # type: ignore[attr-defined]  # its own list, which typeshed does not name


def check(path: Path, also: Callable[[Member], None]) -> Contents:
    """Read a whole backup and hold it to its manifests; `also` is shown each member, to be held to more.

    Raises `InvalidRecordError` for anything that is not a whole backup of ours.
    """
    digests: dict[str, tuple[str, int]] = {}
    superseded: set[int] = set()
    seal = hashlib.sha256()
    made_at, files, size, sections, is_sealed = "", 0, 0, 0, False
    for number, member in enumerate(_members(path)):
        if is_sealed:
            raise InvalidRecordError(path, "goes on after its seal")
        if number == 0:
            made_at = _made_at(path, member)
        elif member.name.startswith(_MANIFEST):
            wanted = _lines(path, member.data)
            if wanted != {name: digest for name, (digest, _) in digests.items() if name in wanted}:
                raise InvalidRecordError(path, f"holds something else than {member.name} says")
            superseded.update(index for name, (_, index) in digests.items() if name not in wanted)
            seal.update(member.data)
            files, sections, digests = files + len(wanted), sections + 1, {}
        elif member.name == _SEAL:
            _check_seal(path, member, {"sections": sections, "files": files, "digest": seal.hexdigest()})
            is_sealed = True
        else:
            _check_name(path, member.name)
            also(member)
            if member.name in digests:
                superseded.add(digests[member.name][1])
            digests[member.name] = (hashlib.sha256(member.data).hexdigest(), number)
            size += len(member.data)
    if not is_sealed or digests:
        raise InvalidRecordError(path, "was cut short", remedy="Take another backup; this one is not whole")
    return Contents(made_at, files, size, frozenset(superseded))


def files_of(path: Path, contents: Contents) -> Iterator[Member]:
    """Yield the files of a checked backup."""
    for number, member in enumerate(_members(path)):
        if member.name.startswith(f"{ROOT}/") and number not in contents.superseded:
            yield member


def _members(path: Path) -> Iterator[Member]:
    try:
        with gzip.open(path, "rb") as unzipped, tarfile.open(fileobj=unzipped, mode="r|") as packed:
            for info in packed:
                limit = _MANIFEST_BYTES_MAX if info.name.startswith(_MANIFEST) else FILE_BYTES_MAX
                source = packed.extractfile(info) if info.isreg() and info.size <= limit else None
                if source is None:
                    raise InvalidRecordError(path, "holds what no backup of curator does")
                yield Member(info.name, source.read(), int(info.mtime * _NS))
                packed.members = []  # type: ignore[attr-defined]  # its own list, which would grow
            # To the very end, so that the packer's own checksum is held to as well.
            while unzipped.read(1_048_576):
                pass
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidRecordError(path, "is not a whole backup of curator") from error


def _made_at(path: Path, member: Member) -> str:
    head = _object(path, member)
    made_at = head.get("madeAt")
    if (head.get("kind"), head.get("version")) != ("curator-backup", 1) or not isinstance(made_at, str):
        raise InvalidRecordError(path, "is not a backup of curator, or one of a later release")
    return made_at


def _check_seal(path: Path, member: Member, wanted: dict[str, Json]) -> None:
    if _object(path, member) != wanted:
        raise InvalidRecordError(path, "does not hold what its seal says")


def _object(path: Path, member: Member) -> dict[str, Json]:
    try:
        value = parse(member.data)
    except MalformedJsonError:
        value = None
    if not isinstance(value, dict):
        raise InvalidRecordError(path, "is not a backup of curator")
    return value


def _lines(path: Path, manifest: bytes) -> dict[str, str]:
    wanted: dict[str, str] = {}
    for line in manifest.decode("utf-8", "surrogateescape").splitlines():
        digest, _, name = line.partition("  ")
        if not name or name in wanted:
            raise InvalidRecordError(path, "has a manifest that is none")
        wanted[name] = digest
    return wanted


def _check_name(path: Path, name: str) -> None:
    """Refuse a name that leads anywhere but below the folder."""
    pure = PurePosixPath(name)
    parts = pure.parts
    is_plain = str(pure) == name and not pure.is_absolute() and "\0" not in name
    if not is_plain or len(parts) < 2 or parts[0] != ROOT or ".." in parts:  # noqa: PLR2004 - the folder and a name in it
        raise InvalidRecordError(path, "holds a file that would not lie in the folder")


def _document(value: dict[str, Json]) -> bytes:
    return (compact(value) + "\n").encode()
