"""The reviewer of service.json, with Pi's models and keys behind it: where `pi` and `reviewer` meet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from curator.model.ports import Clock, Reviewer
from curator.model.reviewer_facts import Found
from curator.model.settings import ReviewerProfile
from curator.pi.credentials import find_credential
from curator.pi.models import find_model
from curator.reviewer.providers.direct import DirectReviewer
from curator.reviewer.providers.offline import PROVIDER, OfflineReviewer


def reviewer_for(profile: ReviewerProfile, agent_dir: Path, clock: Clock, environ: Mapping[str, str]) -> Reviewer:
    """Return the reviewer that `profile` names. Nothing is read before its `prepare`, and then anew each time."""

    def look_up(provider: str, model: str) -> Found:
        found = find_model(agent_dir, provider, model)
        return Found(found.facts, lambda: find_credential(agent_dir, found, environ))

    if profile.provider == PROVIDER:
        return OfflineReviewer(profile, clock)
    return DirectReviewer(profile, look_up, clock)
