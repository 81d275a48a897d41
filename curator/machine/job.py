"""The life of one review job in the spool."""

from __future__ import annotations

import enum
from typing import Final

from curator.machine.table import Machine, Transition


class JobState(enum.StrEnum):
    """Which folder of the spool says who owns a job."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    HELD = "held"
    QUARANTINED = "quarantined"


_S = JobState

JOB: Final = Machine(
    name="job",
    entry="enqueue",
    initial=_S.QUEUED,
    transitions=(
        Transition(_S.QUEUED, "claim", _S.RUNNING, "a lease and a fence token are durable"),
        Transition(_S.QUEUED, "hold", _S.HELD, "a person sets it aside"),
        Transition(_S.QUEUED, "quarantine", _S.QUARANTINED, "its record cannot be read, or another job has its id"),
        Transition(_S.RUNNING, "renew", _S.RUNNING, "the lease is extended"),
        Transition(_S.RUNNING, "rebase", _S.RUNNING, "the branch moved: a new attempt against the new base"),
        Transition(
            _S.RUNNING, "take over", _S.RUNNING, "its owner died or slept beyond the lease: the next claim, in place"
        ),
        Transition(_S.RUNNING, "defer", _S.QUEUED, "it waits for another try"),
        Transition(
            _S.RUNNING, "expire", _S.QUEUED, "its owner died or slept beyond the lease, and nobody here takes it over"
        ),
        Transition(_S.RUNNING, "return", _S.QUEUED, "a graceful stop gives it back"),
        Transition(
            _S.RUNNING, "finish", _S.FINISHED, "its outcome is durable; a person's cancel claims it for that first"
        ),
        Transition(_S.RUNNING, "quarantine", _S.QUARANTINED, "its record cannot be read"),
        Transition(_S.HELD, "release", _S.QUEUED, "a person lets it go on"),
        Transition(_S.HELD, "quarantine", _S.QUARANTINED, "its record cannot be read, or another job has its id"),
        Transition(_S.QUARANTINED, "release", _S.QUEUED, "its record was mended"),
    ),
    orphaned={_S.RUNNING: "expire"},
)
