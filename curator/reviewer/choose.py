"""Which reviewer service.json means: the embedded rules, or a model of models.json."""

from __future__ import annotations

from curator.model.ports import Clock, Reviewer
from curator.model.reviewer_facts import Lookup
from curator.model.settings import ReviewerProfile
from curator.reviewer.providers.completions import CompletionsReviewer
from curator.reviewer.providers.offline import PROVIDER, OfflineReviewer


def choose_reviewer(profile: ReviewerProfile, lookup: Lookup, clock: Clock) -> Reviewer:
    """Return the reviewer; whether it can be asked shows at its `prepare`, so that mending the files is enough."""
    if profile.provider == PROVIDER:
        return OfflineReviewer(profile, clock)
    return CompletionsReviewer(profile, lookup, clock)
