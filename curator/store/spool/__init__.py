"""Who owns a job: queued, running, outcomes, and the dead letters, under one lock that Pi's extension shares."""

from curator.store.spool.glimpse import Waiting
from curator.store.spool.moves import Claim, Enqueued, Spool
from curator.store.spool.recovery import Recovery, recover

__all__ = ["Claim", "Enqueued", "Recovery", "Spool", "Waiting", "recover"]
