"""One look over a ledger: how much there is of what, where it ends, and what was read for it."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from curator.errors import StorageError
from curator.tracks.trajectory.ledger import Leaf, Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator.model.ledger import CoverageState, Source

_LEAVES_MAX = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Overview:
    """A ledger in figures."""

    counts: Mapping[str, int]
    bytes: int
    """On disk, the index apart."""
    index_bytes: int
    leaves: tuple[Leaf, ...]
    """The first of them."""
    leaf_count: int
    sources: tuple[Source, ...]
    coverage: Mapping[tuple[CoverageState, str], int]


def look_over(ledger: Ledger) -> Overview:
    """Look over a ledger; where there is none, it is empty."""
    counts = ledger.ask(ledger.files.index.counts) or {}
    leaves = tuple(ledger.leaves())
    coverage = ledger.ask(ledger.files.index.coverage_counts) or {}
    size, index_size = _sizes(ledger)
    return Overview(counts, size, index_size, leaves[:_LEAVES_MAX], len(leaves), tuple(ledger.sources()), coverage)


def _sizes(ledger: Ledger) -> tuple[int, int]:
    """Return the bytes of the files, and of the index."""
    sizes = [0, 0]
    for folder in ledger.files.folders():
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_index = entry.name.startswith(ledger.layout.index.name)
                    sizes[is_index] += entry.stat(follow_symlinks=False).st_size if entry.is_file() else 0
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StorageError(folder, error) from error
    return sizes[0], sizes[1]
