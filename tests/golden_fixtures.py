"""State that the protocol's own worker and real Pi left on disk, packed, because git loses modes and empty folders.

`golden` unpacks one scenario; `vectors` are the protocol's digests. What each scenario holds, and what becomes of it,
its `expected.json` says.
"""

import json
import tarfile
from pathlib import Path
from typing import Final

from curator.model.digest import Json

GOLDEN: Final = Path(__file__).resolve().parent / "golden"

PROJECT_ROOT: Final = Path("/tmp/fixture-project")  # noqa: S108 - the path is in the records' digests; nothing stands there
PROJECT_KEY: Final = "826cdcf0ee7b9e3ad811eb46"


def golden(name: str, tmp_path: Path) -> Path:
    """Unpack the scenario whose name is or begins with `name` (`q` is `q-accounting-mix`); return its agent folder."""
    archive = GOLDEN / "fixtures.tar.gz"
    with tarfile.open(archive) as packed:
        scenarios = sorted({member.name.split("/")[0] for member in packed.getmembers()})
        wanted = [scenario for scenario in scenarios if scenario == name or scenario.startswith(f"{name}-")]
        assert len(wanted) == 1, f"{name} names {wanted} of {scenarios}"
        members = [member for member in packed.getmembers() if member.name.split("/")[0] == wanted[0]]
        packed.extractall(tmp_path, members, filter="tar")
    return tmp_path / wanted[0] / "agent"


def expected(agent: Path) -> dict[str, Json]:
    """Return what the protocol's own worker made of an unpacked scenario."""
    value = json.loads((agent.parent / "expected.json").read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def real_pi(moment: str, tmp_path: Path) -> Path:
    """Unpack what real Pi had on disk: `queued` before a review, `consumed` after its card was shown."""
    with tarfile.open(GOLDEN / f"{moment}-by-real-pi.tar.gz") as packed:
        packed.extractall(tmp_path, filter="tar")
    return tmp_path / "agent"


def vectors() -> dict[str, Json]:
    """Return the protocol's digests and encodings, by name."""
    value = json.loads((GOLDEN / "vectors.json").read_text("utf-8"))
    assert isinstance(value, dict)
    return value
