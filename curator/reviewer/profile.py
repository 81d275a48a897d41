"""The reviewer that service.json names, resolved right before a call, and no other one."""

from __future__ import annotations

import dataclasses
from typing import Final

from curator.errors import ReviewerSetupError
from curator.model.reviewer_facts import Credential, Lookup, ModelFacts
from curator.model.settings import Effort, ReviewerProfile

_DOWNWARDS: Final[tuple[Effort, ...]] = ("xhigh", "high", "medium", "low", "minimal")


@dataclasses.dataclass(frozen=True, slots=True)
class Resolved:
    """All that a call needs to know of whom it asks."""

    facts: ModelFacts
    credential: Credential
    effort: str | None
    """The wire's word for the reasoning effort, or None to say nothing of it."""


def resolve(profile: ReviewerProfile, lookup: Lookup, api: str) -> Resolved:
    """Look the profile's model up as it stands now. Raises `ReviewerSetupError` where it cannot be asked."""
    facts, credential = lookup(profile.provider, profile.model)
    assert (facts.provider, facts.model) == (profile.provider, profile.model)
    if facts.api != api:
        raise ReviewerSetupError(
            "model_registry_invalid",
            f"model {facts.model} of provider {facts.provider} has the api {facts.api!r}, and this release speaks {api}",
            remedy="Name a model with that api in service.json; jobs wait until then",
        )
    return Resolved(facts, credential, _effort(profile.reasoning_effort, facts))


def _effort(wanted: Effort, facts: ModelFacts) -> str | None:
    """Return the wire's word for the wanted effort, or for the next lower one that the model has."""
    if wanted == "off":
        return None
    lower = _DOWNWARDS[_DOWNWARDS.index(wanted) :]
    return next((facts.efforts[effort] for effort in lower if effort in facts.efforts), None)
