"""Whether a provider call may have happened, and what it may have cost: the attempt journal, one day a fold."""

from curator.store.attempts.fold import Seen
from curator.store.attempts.journal import AttemptStore, Refused

__all__ = ["AttemptStore", "Refused", "Seen"]
