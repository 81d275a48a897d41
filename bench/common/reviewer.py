"""A reviewer in the process that adds one entry a job, at once or after a while."""

from __future__ import annotations

import hashlib
import json
import threading
import time

from curator.model.digest import digest_of_text
from curator.model.outcome import Cost, Provenance, Usage
from curator.model.ports import Answer, Brief, CallFailure, Hold, Prepared, Stop
from curator.model.times import iso


class Scripted:
    """Answers every request with one addition that no other request brings."""

    def __init__(self, seconds: float = 0.0) -> None:
        """Take so long for an answer."""
        self._seconds = seconds
        self.asked = 0
        self._mutex = threading.Lock()

    def prepare(self, brief: Brief) -> Prepared:
        """Prepare a call."""
        prompt = f"{brief.job.id} {brief.attempt}"
        return Prepared(
            provider="scripted",
            model="fake-1",
            api="script",
            system_prompt="curator",
            user_prompt=prompt,
            request_digest=digest_of_text(prompt),
            hold=Hold(tokens=400, cost_nanousd=50_000),
        )

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        """Answer."""
        del stop
        started = time.time_ns() // 1_000_000
        if self._seconds:
            time.sleep(self._seconds)
        with self._mutex:
            self.asked += 1
        word = hashlib.sha256(prepared.user_prompt.encode()).hexdigest()[:8]
        operation = {"action": "add", "content": f"The build of {word} wants its own folder.", "importance": "normal"}
        return Answer(json.dumps({"operations": [operation]}), provenance(started, time.time_ns() // 1_000_000))


def provenance(started: int, completed: int) -> Provenance:
    """Return what stands behind an answer of 160 tokens."""
    cost = Cost(input=0.000011, output=0.00002, cache_read=0, cache_write=0, total=0.000031)
    return Provenance(
        provider="scripted",
        model="fake-1",
        api="script",
        started_at=iso(started),
        completed_at=iso(completed),
        duration_ms=completed - started,
        usage=Usage(input=120, output=40, cache_read=0, cache_write=0, total_tokens=160, cost=cost),
    )
