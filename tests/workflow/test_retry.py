"""How long a job waits, and what costs it none of its tries."""

import pytest

from curator.model.limits import RETRY_BASE_MS, RETRY_CONFIG_BASE_MS, RETRY_CONFIG_MS_MAX, RETRY_MS_MAX
from curator.model.outcome import Cost, Usage
from curator.model.ports import Class
from curator.model.times import DAY_MS
from curator.reviewer.normalize import no_usage
from curator.workflow.retry import CONFIGURATION_CODES, is_stand_in, wait_ms


@pytest.mark.parametrize(
    ("kind", "nth", "wish", "wait"),
    [
        (Class.RETRY, 1, None, RETRY_BASE_MS),
        (Class.RETRY, 3, None, 4 * RETRY_BASE_MS),
        (Class.RETRY, 1, 1, RETRY_BASE_MS),
        (Class.RETRY, 1, 40_000, 40_000),
        (Class.RETRY, 40, None, RETRY_MS_MAX),
        (Class.RETRY, 1, 2 * RETRY_MS_MAX, 2 * RETRY_MS_MAX),
        (Class.RETRY, 1, DAY_MS, DAY_MS),
        (Class.CONFIGURATION, 1, None, RETRY_CONFIG_BASE_MS),
        (Class.CONFIGURATION, 9, None, RETRY_CONFIG_MS_MAX),
    ],
)
def test_our_back_off_is_bounded_and_a_providers_wish_is_kept(
    kind: Class, nth: int, wish: int | None, wait: int
) -> None:
    assert wait_ms(kind, nth, wish) == wait


def test_what_has_to_be_mended_outside_is_a_closed_list() -> None:
    assert sorted(CONFIGURATION_CODES) == [
        "auth_unavailable",
        "model_not_found",
        "model_registry_invalid",
        "pi_unavailable",
        "price_unknown",
        "provider_unreachable",
    ]


def test_a_zero_that_is_told_stands_in_for_nothing() -> None:
    nothing = Cost(input=0, output=0, cache_read=0, cache_write=0, total=0)
    silent = Usage(input=0, output=0, cache_read=0, cache_write=0, total_tokens=0, cost=nothing)
    assert is_stand_in(silent)
    assert not is_stand_in(no_usage())
    assert no_usage() != silent
