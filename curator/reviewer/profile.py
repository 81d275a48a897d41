"""The reviewer that service.json names, looked up right before a call, and no other one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from curator.errors import ReviewerSetupError
from curator.model.reviewer_facts import Found, Lookup, ModelFacts
from curator.model.settings import Effort, ReviewerProfile

_DOWNWARDS: Final[tuple[Effort, ...]] = ("xhigh", "high", "medium", "low", "minimal")


def look_up(profile: ReviewerProfile, lookup: Lookup, apis: Sequence[str]) -> Found:
    """Look the profile's model up as it stands now. Raises `ReviewerSetupError` where it cannot be asked."""
    found = lookup(profile.provider, profile.model)
    facts = found.facts
    assert (facts.provider, facts.model) == (profile.provider, profile.model)
    if facts.api not in apis:
        spoken = ", ".join(apis)
        raise ReviewerSetupError(
            "model_registry_invalid",
            f"model {facts.model} of provider {facts.provider} has the api {facts.api!r}, and this release speaks {spoken}",
            remedy="Name a model with such an api in service.json, or ask it through Pi; jobs wait until then",
        )
    return found


def effort_of(wanted: Effort, facts: ModelFacts) -> str | None:
    """Return the wire's word for the wanted effort, or for the next lower one that the model has."""
    if wanted == "off":
        return None
    lower = _DOWNWARDS[_DOWNWARDS.index(wanted) :]
    return next((facts.efforts[effort] for effort in lower if effort in facts.efforts), None)
