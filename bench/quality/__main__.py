"""Score the offline reviewer on the frozen corpus: precision, recall and harms, by halves that are told apart.

No model is asked, and no network; `curator eval` does the same with any reviewer. While tuning, look at the seen
half and the practice part alone: `--faults` names what goes wrong there, and for the unseen half there is no such thing.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from curator.durable.clock import SystemClock
from curator.quality.corpus import HALVES, PARTS, Half, read
from curator.quality.exam import Paper, offline, sit_all, table_of
from curator.quality.report import document_of, faults_of, lines_of

if TYPE_CHECKING:
    from curator.model.digest import Json


def main() -> int:
    options = _options()
    chosen: tuple[Half, ...] = HALVES if options.half == "both" else (options.half,)
    papers: list[Paper] = []
    for half in chosen:
        papers += sit_all(read(half), half, offline(SystemClock()))
    tables = [table_of(half, papers) for half in chosen]
    if options.json:
        told: Json = {"reviewer": "offline", "halves": [document_of(table) for table in tables]}
        print(json.dumps(told))
        return 0
    for table in tables:
        print("\n".join(lines_of(table)), end="\n\n")
    if options.faults:
        print("\n".join(faults_of(papers)))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("--half", choices=[*PARTS, "both"], default="both", help="which half to score")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--faults", action="store_true", help="name the conversations that go wrong, but none of the unseen half"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
