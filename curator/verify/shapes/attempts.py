"""The attempt journal's steps, and the protocol's accounting (interop.md 5). That spells one state its own way."""

from __future__ import annotations

import re
from typing import Final

from curator.model.digest import Json, digest_of_text
from curator.model.limits import CLOSED_DAY_ATTEMPTS_MAX, DAY_ATTEMPTS_MAX
from curator.verify.shape import (
    Fields,
    Rule,
    Shape,
    amount,
    and_then,
    listing,
    matching,
    moment,
    number_of,
    one,
    text,
    text_of,
    truth,
    whole,
)
from curator.verify.shapes.common import ATTEMPT_ID, DAY, DIGEST, JOB_ID, LEASE_TOKEN, ONE, PROVIDER
from curator.verify.shapes.jobs import PROVENANCE, USAGE

_NANO: Final = 1_000_000_000


def attempt_id_of(fields: Fields) -> str:
    """Return the id that a claim gives its attempt."""
    claim = (text_of(fields, "jobDigest"), number_of(fields, "claimAttempt"), text_of(fields, "leaseToken"))
    return attempt_id(*claim)


def attempt_id(job_digest: str, claim_attempt: int, lease_token: str) -> str:
    """Return the id that a claim gives its attempt (interop.md 2.2)."""
    return f"review_attempt_{digest_of_text(f'{job_digest}{chr(10)}{claim_attempt}{chr(10)}{lease_token}')[:40]}"


def nano(cost: Fields) -> int:
    """Return a cost's total in nano-dollars, rounded half up (interop.md 5.3)."""
    total = cost.get("total")
    return int(total * _NANO + 0.5) if isinstance(total, int | float) else -1


def _id_is_its_claims(fields: Fields) -> str | None:
    return None if attempt_id_of(fields) == fields["id"] else "has an id that is not its claim's"


# The attempt journal (design: the attempt journal).

ATTEMPT_FACTS: Final = (
    "version",
    "kind",
    "id",
    "day",
    "provider",
    "jobId",
    "jobDigest",
    "claimAttempt",
    "leaseToken",
    "reservedAt",
    "holdTokens",
    "holdCostNanousd",
    "baseBranchDigest",
    "origin",
)
"""What every step of one attempt repeats."""
SENT_FACTS: Final = ("dispatchedAt", "requestDigest", "model", "api")
"""What every step after the dispatch repeats."""
_FACTS: Final[dict[str, Rule]] = {
    "version": ONE,
    "kind": one("curator-attempt"),
    "id": ATTEMPT_ID,
    "day": DAY,
    "provider": PROVIDER,
    "jobDigest": DIGEST,
    "claimAttempt": whole(1),
    "leaseToken": LEASE_TOKEN,
    "reservedAt": moment,
    "holdTokens": whole(1),
    "holdCostNanousd": whole(),
    "origin": one("curator", "adopted", "trial", "backfill"),
    "state": text(),
}
_FACTS_MAYBE: Final[dict[str, Rule]] = {"jobId": JOB_ID, "baseBranchDigest": DIGEST}
_SENT_MAYBE: Final[dict[str, Rule]] = {"requestDigest": DIGEST, "model": text(1, 256), "api": text(1, 256)}
_CHARGE: Final[dict[str, Rule]] = {"chargedTokens": whole(), "chargedCostNanousd": whole()}


def _attempt(required: dict[str, Rule], optional: dict[str, Rule]) -> Rule:
    return and_then(Shape(_FACTS | required, _FACTS_MAYBE | optional), _id_is_its_claims)


_SENT: Final[dict[str, Rule]] = {"dispatchedAt": moment}
STEPS: Final[tuple[dict[str, Rule], ...]] = (
    {"reserved": _attempt({}, {})},
    {"dispatched": _attempt(_SENT, _SENT_MAYBE), "cancelled": _attempt({"cancelledAt": moment}, {})},
    {
        "settled": _attempt(
            _SENT | _CHARGE | {"settledAt": moment, "isEstimated": truth, "provenance": PROVENANCE}, _SENT_MAYBE
        ),
        "unknown": _attempt(_SENT | {"unknownAt": moment}, _SENT_MAYBE),
    },
    {
        "corrected": _attempt(
            _CHARGE | {"correctedAt": moment, "source": one("late-result", "operator"), "isBilled": truth},
            {"reason": text(1, 500)},
        )
    },
)
"""By the step in the file's name: the states that may stand there."""
CARRY: Final = Shape(
    {"version": ONE, "kind": one("curator-legacy-budget"), "day": DAY, "provider": PROVIDER, "sourceDigest": DIGEST}
    | {"importedAt": moment, "calls": whole(), "tokens": whole(), "costNanousd": whole()}
)

ROW: Final = re.compile(
    r"(review_attempt_[0-9a-f]{40}) (settled|corrected|cancelled) ([01]) (0|[1-9][0-9]*) (0|[1-9][0-9]*)"
    r" ([A-Za-z0-9][A-Za-z0-9._:-]{0,127}) (review_[0-9a-f]{40}|-)"
)
"""An attempt of a closed day that has its end: id, state, calls, tokens, nano-dollars, provider, job."""
_AMOUNT: Final = Shape({"calls": whole(), "tokens": whole(), "costNanousd": whole()})


def _keyed(rule: Rule) -> Rule:
    def by_provider(value: Json) -> str | None:
        if not isinstance(value, dict):
            return "is not an object"
        faults = (PROVIDER(key) or rule(item) for key, item in value.items())
        return next((fault for fault in faults if fault is not None), None)

    return by_provider


CLOSED_DAY: Final = Shape(
    {"version": ONE, "kind": one("curator-closed-day"), "day": DAY}
    | {"totals": _keyed(Shape({"actual": _AMOUNT, "unknown": _AMOUNT})), "legacy": listing(CARRY, 0, 10_000)}
    | {"unresolved": listing(STEPS[2]["unknown"], 0, CLOSED_DAY_ATTEMPTS_MAX)}
    | {"attempts": listing(matching(ROW, "an attempt's row"), 0, CLOSED_DAY_ATTEMPTS_MAX)}
)

# The protocol's accounting (interop.md 5). It spells the last state with one l.

LEGACY_BUDGET: Final = Shape({"version": ONE, "day": DAY, "calls": whole(), "tokens": whole(), "costUsd": amount})
DAY_FACTS: Final = ("jobId", "jobDigest", "claimAttempt", "leaseToken", "provider", "reservedAt", "holdTokens")
_DAY_FACTS: Final[dict[str, Rule]] = {
    "id": ATTEMPT_ID,
    "jobDigest": DIGEST,
    "claimAttempt": whole(1),
    "leaseToken": LEASE_TOKEN,
    "provider": PROVIDER,
    "reservedAt": moment,
    "holdTokens": whole(1),
    "holdCostNanodollars": whole(),
}
IDENTITY: Final = and_then(Shape(_DAY_FACTS | {"version": ONE, "day": DAY}, {"jobId": JOB_ID}), _id_is_its_claims)
LOOSE_PROVENANCE: Final = Shape(
    {"provider": PROVIDER, "model": text(1, 256), "api": text(1, 256), "startedAt": moment, "completedAt": moment}
    | {"durationMs": whole(), "usage": USAGE},
    {"responseModel": text(1, 256), "responseId": text(0, 512)},
)


def ours(spelling: str) -> str:
    """Return a state of the protocol's accounting in our spelling."""
    return spelling.replace("celed", "celled")


def _day_attempt(value: Json) -> str | None:
    if not isinstance(value, dict):
        return "is not an object"
    spelling = text_of(value, "state")
    required, optional = dict(_DAY_FACTS), {"jobId": JOB_ID}
    sent = {"dispatchedAt": moment}
    match ours(spelling):
        case "reserved":
            pass
        case "cancelled" if spelling != "cancelled":
            required[f"{spelling}At"] = moment
        case "dispatched":
            required |= sent
            optional |= _SENT_MAYBE
        case "unknown":
            required |= sent | {"unknownAt": moment}
            optional |= _SENT_MAYBE
        case "settled":
            required |= sent | {"settledAt": moment, "chargedTokens": whole(), "chargedCostNanodollars": whole()}
            required["provenance"] = LOOSE_PROVENANCE
            optional |= _SENT_MAYBE
        case _:
            return "state: is none of its values"
    fault = Shape(required | {"state": text()}, optional)(value)
    if fault is None and len({key in value for key in _SENT_MAYBE}) != 1:
        return "names its request in part"
    return fault or _id_is_its_claims(value)


DAY_FILE: Final = Shape(
    {"version": ONE, "day": DAY, "providers": _keyed(listing(_day_attempt, 0, DAY_ATTEMPTS_MAX))},
    {
        "legacyCarry": _keyed(
            Shape(
                {"sourceDigest": DIGEST, "importedAt": moment, "calls": whole(), "tokens": whole()}
                | {"costNanodollars": whole()}
            )
        )
    },
)
