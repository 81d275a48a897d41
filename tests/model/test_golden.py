"""Every record that the protocol's own worker and real Pi left on disk is read, and written again alike.

All come out byte for byte but those of the spool and the days, whose readers ignore the order of keys.
"""

import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from curator.model.accounting import DayFile, Identity
from curator.model.admission import Completion, Intent, Receipt, Tombstone
from curator.model.decision import Decision, ProviderResult
from curator.model.digest import Json, canonical, compact, parse, pretty
from curator.model.feedback import Pending, Ready
from curator.model.heartbeat import RuntimeBeat, WorkerBeat
from curator.model.ids import BranchName
from curator.model.job import DeadLetter, Finished, Queued, Running
from curator.model.memory import decode_revision, read_branch
from curator.model.record import Record
from curator.model.settings import ServiceSettings
from tests.golden_fixtures import GOLDEN, real_pi

ARCHIVE: Final = GOLDEN / "fixtures.tar.gz"

with tarfile.open(ARCHIVE) as _packed:
    SCENARIOS: Final = sorted({member.name.split("/")[0] for member in _packed.getmembers()})

Write = Callable[[Json], str]


def _line(value: Json) -> str:
    return canonical(value) + "\n"


def _compact_line(value: Json) -> str:
    return compact(value) + "\n"


# By the shape of the path under no-forgetti: the record, and how its file is encoded.
KINDS: Final[tuple[tuple[str, type[Record], Write], ...]] = (
    ("review-spool/queued/*.json", Queued, compact),
    ("review-spool/running/*.json", Running, compact),
    ("review-spool/outcomes/*.json", Finished, compact),
    ("review-spool/dead-letter/*.json", DeadLetter, compact),
    ("review-spool/accounting/days/*", DayFile, compact),
    ("review-spool/accounting/identities/*", Identity, _compact_line),
    ("review-spool/provider-results/*/*.json", ProviderResult, _line),
    ("review-spool/proposal-decisions/*.json", Decision, _line),
    ("*/review-admissions/*.intent.json", Intent, pretty),
    ("*/review-admissions/*.complete.json", Completion, pretty),
    ("*/review-admissions/retired/*.json", Tombstone, pretty),
    ("*/service/commit-receipts/*.json", Receipt, _line),
    ("*/service/review-feedback/pending/*.json", Pending, _line),
    ("*/service/review-feedback/ready/*.json", Ready, _line),
    ("review-workers/*.json", WorkerBeat, pretty),
    ("runtimes/*.json", RuntimeBeat, pretty),
)
BYTE_FOR_BYTE: Final = (_line, _compact_line, pretty)
SKILLS: Final = re.compile(r"[0-9a-f]{24}/skill.*")
OTHERS: Final = (
    "*/project.json",
    "*/reviews/*.json",
    "review-budget.json",
    "review-ledger.sqlite*",
    "*.bad",
    "*.lock",
)


def check(root: Path, path: Path) -> None:
    relative = path.relative_to(root)
    for shape, cls, write in KINDS:
        if relative.match(shape) and len(relative.parts) == len(Path(shape).parts):
            raw = path.read_bytes()
            value = parse(raw)
            encoded = cls.decode(value).encode()
            assert canonical(encoded) == canonical(value), relative
            if write in BYTE_FOR_BYTE:
                assert write(encoded).encode() == raw, relative
            return
    if relative.match("branches/*.json"):
        value = parse(path.read_bytes())
        assert canonical(read_branch(value, BranchName(path.stem)).encode()) == canonical(value), relative
    elif relative.match("revisions/*/*.json"):
        assert pretty(decode_revision(parse(path.read_bytes())).encode()).encode() == path.read_bytes(), relative
    elif relative.name == "service.json":
        assert ServiceSettings.decode(parse(path.read_bytes())).version == 1
    else:
        assert SKILLS.fullmatch(str(relative)) or any(relative.match(shape) for shape in OTHERS), (
            f"{relative} is a kind of file that no test knows"
        )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_golden_record_is_read_and_written_alike(tmp_path: Path, scenario: str) -> None:
    with tarfile.open(ARCHIVE) as packed:
        members = [member for member in packed.getmembers() if member.name.split("/")[0] == scenario]
        packed.extractall(tmp_path, members, filter="tar")
    root = tmp_path / scenario / "agent" / "no-forgetti"
    files = [path for path in root.rglob("*") if path.is_file()]

    assert files
    for path in files:
        check(root, path)


@pytest.mark.parametrize("moment", ["queued", "consumed"])
def test_every_record_of_real_pi_is_read_and_written_alike(tmp_path: Path, moment: str) -> None:
    root = real_pi(moment, tmp_path) / "no-forgetti"
    files = [path for path in root.rglob("*") if path.is_file()]

    assert files
    for path in files:
        check(root, path)
