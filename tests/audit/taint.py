"""An agent folder whose reviews have gone over real HTTP, with a word planted in each thing that must stay where it is."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final

from tests.acceptance.processes import KEY, Place, provided
from tests.fakes.provider import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.model.digest import Json

EVIDENCE: Final = "made-up-canary-of-the-evidence"
PROMPT: Final = "the conservative keeper of a software project"
ANSWER: Final = "made-up-canary-of-the-answer"
ERROR: Final = "made-up-canary-of-the-provider"
MEMORY: Final = "made-up-word-of-memory"
"""What was admitted: the one word of all these that the page may show."""
CANARIES: Final = (EVIDENCE, PROMPT, ANSWER, ERROR, KEY)


@contextlib.contextmanager
def tainted(tmp_path: Path) -> Iterator[Place]:
    """Give a place where a review was applied, one came to nothing, one failed for good, one waits, one cannot be read."""
    applied = {"action": "add", "content": f"Say {MEMORY}.", "importance": "high", "quote": EVIDENCE}
    refused = {"action": "add", "content": f"Say {ANSWER}.", "importance": "high", "quote": f"{ANSWER}, said nobody"}
    error: dict[str, Json] = {"error": {"message": f"{ERROR}: {KEY}", "type": ERROR, "code": ERROR}}
    answers: dict[str, list[Json]] = {
        "job-to-apply": [json.dumps({"operations": [applied]})],
        "job-to-refuse": [json.dumps({"operations": [refused]})],
        "job-to-fail": [{"status": 400, "body": error}],
        "job-to-retry": [{"status": 500, "body": error}],
    }
    with provided(tmp_path, Settings(marked=json.dumps(answers))) as (place, _):
        key = place.project()
        for turn, name in enumerate(answers):
            place.enqueue(key, f"entry-{turn}", transcript=f"USER: We say {EVIDENCE} in the {name}.")
            place.open_later(turn).review_once()
        torn = place.layout.queued / f"review_{'e' * 40}.json"
        torn.write_text(f'{{"transcript": "{EVIDENCE}"', "utf-8")
        place.open_later(len(answers)).review_once()
        assert place.texts(key) == [f"Say {MEMORY}."]
        assert sorted(place.states()) == ["settled"]
        yield place
