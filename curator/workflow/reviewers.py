"""The reviewer of service.json, with Pi's models and keys behind it: where `pi` and `reviewer` meet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from curator.model.ports import Clock, Reviewer
from curator.model.reviewer_facts import Credential, ModelFacts
from curator.model.settings import ReviewerProfile
from curator.pi.credentials import find_credential
from curator.pi.models import find_model
from curator.reviewer.choose import choose_reviewer


def reviewer_for(profile: ReviewerProfile, agent_dir: Path, clock: Clock, environ: Mapping[str, str]) -> Reviewer:
    """Return the reviewer that `profile` names. Nothing is read before its `prepare`, and then anew each time."""

    def look_up(provider: str, model: str) -> tuple[ModelFacts, Credential]:
        found = find_model(agent_dir, provider, model)
        return found.facts, find_credential(agent_dir, found, environ)

    return choose_reviewer(profile, look_up, clock)
