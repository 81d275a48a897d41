"""What each failure code means, and what to do about it: one sentence and one next step a code."""

from __future__ import annotations

import dataclasses
from typing import Final


@dataclasses.dataclass(frozen=True, slots=True)
class Meaning:
    """A code in words."""

    fact: str
    remedy: str


_AGAIN: Final = "It is tried again by itself"
_CHECK: Final = "Run `curator config check`, and once that is mended `curator jobs retry --all`"
_MODEL: Final = f"{_AGAIN}, three attempts in all; where it happens often, choose another model"
_LOOK: Final = "`curator review --once` names the file, and what helps"

MEANINGS: Final[dict[str, Meaning]] = {
    # Nobody can be asked.
    "auth_unavailable": Meaning(
        "There is no key for the provider, or it does not accept the key or the account", _CHECK
    ),
    "model_not_found": Meaning("The model is not in models.json, or the provider does not have it", _CHECK),
    "model_registry_invalid": Meaning("models.json, or the address in it, cannot be used for this model", _CHECK),
    "pi_unavailable": Meaning("Pi could not be started, and the model is to be asked through it", _CHECK),
    "price_unknown": Meaning(
        "Nobody tells the price of the model, so its cost cannot be limited",
        "Give it its cost in models.json, or set allow_unknown_price in curator.toml",
    ),
    "provider_unreachable": Meaning(
        "The provider cannot be reached, and nothing was sent",
        "It is tried again by itself; see that the network and the server are up, then `curator jobs retry --all`",
    ),
    "config": Meaning("The configuration does not let this job be reviewed", _CHECK),
    "incompatible_policy": Meaning(
        "The job allows more memory than this release may keep", "Upgrade curator, or cancel the job"
    ),
    "attempt_budget_exhausted": Meaning(
        "A limit of the UTC day was reached",
        "It goes on the next day, or once the limit is raised in service.json; see `curator budget`",
    ),
    # The provider.
    "rate_limited": Meaning(
        "The provider takes nothing more for now", "It is asked again when it said, or a little later; no try is lost"
    ),
    "model_timeout": Meaning("The provider did not answer in time", f"{_AGAIN}; see whether the provider is up"),
    "provider_error": Meaning(
        "The provider could not be reached, refused the request, or its answer broke off",
        f"{_AGAIN} where that may help; see whether the provider is up",
    ),
    # The answer.
    "empty_model_output": Meaning("The model's answer was empty", _MODEL),
    "invalid_model_output": Meaning("The model's answer was not the JSON that was asked for", _MODEL),
    "output_truncated": Meaning(
        "The model's answer was cut off at the limit of its length", f"{_MODEL}, or raise its maxTokens in models.json"
    ),
    "unexpected_tool_use": Meaning("The model called a tool, and a review has none", _MODEL),
    "invalid_proposal": Meaning("The proposal breaks a rule of size, form, evidence or secrecy", _MODEL),
    # The run.
    "interrupted": Meaning("The run was stopped before the job was done", "The next run takes it up"),
    "aborted": Meaning("The call was broken off because the run was stopped", "The next run takes it up"),
    "lease_lost": Meaning(
        "The claim ran out before the job was done, as after a long sleep", "It runs again by itself"
    ),
    "cancelled_before_dispatch": Meaning(
        "Another run closed the attempt before it was sent", "The next run takes it up"
    ),
    "needs_a_call": Meaning("Nobody has reviewed the job yet", "The next worker reviews it"),
    "review_error": Meaning("The attempts brought no proposal, and none says why", "`curator jobs retry` begins anew"),
    "cancelled": Meaning("A person ended the job", "`curator jobs retry` reviews it after all"),
    # The files.
    "busy": Meaning("A lock was held by another process", "It is tried again by itself"),
    "conflict": Meaning("A file that never changes holds something else than expected", _LOOK),
    "invalid_record": Meaning("A file that the job needs cannot be read", _LOOK),
    "not_found": Meaning("Something that the job needs is not there", _LOOK),
    "project_gone": Meaning(
        "The project's folder is not where its memory says",
        "Put the folder back, or `curator project list` names what else can be done",
    ),
    "refused": Meaning("A rule forbids the step", _LOOK),
    "storage": Meaning("The disk refused", _LOOK),
    "unmatched_state": Meaning("The files of a change of memory fit no step of it", _LOOK),
    "unsupported_storage": Meaning("The disk lacks what correctness needs", "Move the agent folder to a local disk"),
    "usage": Meaning("Something was asked for that cannot be", _LOOK),
    "error": Meaning("Something failed for which there is no word yet", _LOOK),
}


def meaning_of(code: str) -> Meaning | None:
    """Return what a code means; None for one of another worker that this release does not know."""
    return MEANINGS.get(code)
