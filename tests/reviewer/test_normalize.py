"""Usage and provenance: what cannot be true is not kept, and what is not told is not zero."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.digest import Json
from curator.model.outcome import Provenance, nanousd
from curator.model.reviewer_facts import ModelFacts, Rates, Tier
from curator.reviewer.normalize import PI_FORM, Said, make_provenance, read_usage
from tests.briefs import NOW

FACTS = ModelFacts("p", "m", "a", "http://h", 1_000, 1_000, Rates(1_000_000_000, 2_000_000_000, 100_000_000, 0))
PLAIN: dict[str, Json] = {"prompt_tokens": 1_000, "completion_tokens": 40, "total_tokens": 1_040}


def columns(usage: Json) -> tuple[int, int, int, int, int] | None:
    read = read_usage(usage, FACTS)
    if read is None:
        return None
    return read.input, read.output, read.cache_read, read.cache_write, read.total_tokens


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, (1_000, 40, 0, 0, 1_040)),
        ({"prompt_tokens_details": {"cached_tokens": 800}}, (200, 40, 800, 0, 1_040)),
        ({"prompt_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 100}}, (100, 40, 800, 100, 1_040)),
        ({"prompt_cache_hit_tokens": 800}, (200, 40, 800, 0, 1_040)),
        ({"cached_tokens": 800}, (200, 40, 800, 0, 1_040)),
        ({"prompt_tokens_details": {"cached_tokens": 5_000}}, (1_000, 40, 5_000, 0, 6_040)),
        ({"prompt_tokens_details": {"cached_tokens": None}}, (1_000, 40, 0, 0, 1_040)),
        ({"prompt_tokens_details": "none"}, (1_000, 40, 0, 0, 1_040)),
        ({"total_tokens": 1_540}, (1_000, 540, 0, 0, 1_540)),
        ({"total_tokens": None}, (1_000, 40, 0, 0, 1_040)),
        ({"total_tokens": 7}, (1_000, 40, 0, 0, 1_040)),
        ({"prompt_tokens": 1_000.0, "completion_tokens": 39.2}, (1_000, 40, 0, 0, 1_040)),
    ],
)
def test_tokens_are_put_into_the_protocols_columns(
    more: dict[str, Json], expected: tuple[int, int, int, int, int]
) -> None:
    assert columns(PLAIN | more) == expected


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        "900",
        {"prompt_tokens": 900, "completion_tokens": None, "total_tokens": None},
        {"prompt_tokens": "900", "completion_tokens": "40"},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": -1, "completion_tokens": 40},
        {"prompt_tokens": True, "completion_tokens": 40},
        {"prompt_tokens": 10**12, "completion_tokens": 40},
        {"prompt_tokens": float("nan"), "completion_tokens": 40},
        {"prompt_tokens": float("inf"), "completion_tokens": 40},
    ],
    ids=repr,
)
def test_usage_that_is_not_told_or_cannot_be_is_unknown_and_not_zero(usage: Json) -> None:
    provenance, is_estimated = make_provenance(FACTS, NOW, NOW, Said(usage))
    assert is_estimated
    assert provenance.usage.total_tokens == 0


FORMS: dict[str, tuple[str, str, dict[str, Json]]] = {
    "openai-responses": (
        "input_tokens",
        "output_tokens",
        {
            "input_tokens": 1_000,
            "input_tokens_details": {"cached_tokens": 800},
            "output_tokens": 40,
            "total_tokens": 1_040,
        },
    ),
    "anthropic-messages": (
        "input_tokens",
        "output_tokens",
        {"input_tokens": 200, "cache_read_input_tokens": 800, "output_tokens": 40},
    ),
    PI_FORM: ("input", "output", {"input": 200, "cacheRead": 800, "cacheWrite": 0, "output": 40, "totalTokens": 1_040}),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_api_counts_the_same_answer_alike(form: str) -> None:
    usage = read_usage(FORMS[form][2], FACTS, form)
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output, usage.total_tokens) == (200, 800, 40, 1_040)
    assert nanousd(usage.cost.total) == 200_000 + 80_000 + 80_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [None, "40", -1, True, float("nan"), float("inf"), 10**12, [], {}], ids=repr)
def test_a_count_that_is_missing_or_cannot_be_makes_the_usage_unknown_in_each_api(form: str, value: Json) -> None:
    fresh, output, whole = FORMS[form]
    assert read_usage(whole | {fresh: value}, FACTS, form) is None
    assert read_usage(whole | {output: value}, FACTS, form) is None
    rounded = read_usage(whole | {output: 39.2}, FACTS, form)
    assert rounded is not None
    assert rounded.output == 40


def test_nothing_said_is_a_zero_that_is_told() -> None:
    provenance, is_estimated = make_provenance(FACTS, NOW, NOW, None)
    assert not is_estimated
    assert (provenance.usage.total_tokens, provenance.usage.reasoning) == (0, 0)


def test_cost_is_exact_to_the_nano_dollar_and_its_columns_add_up() -> None:
    usage = read_usage(PLAIN | {"prompt_tokens_details": {"cached_tokens": 801}}, FACTS)
    assert usage is not None
    assert nanousd(usage.cost.input) == 199_000
    assert nanousd(usage.cost.output) == 80_000
    assert nanousd(usage.cost.cache_read) == 80_100
    assert nanousd(usage.cost.total) == 359_100


def test_a_tier_is_the_price_of_the_whole_request() -> None:
    facts = ModelFacts("p", "m", "a", "http://h", 1_000, 1_000, Rates(), (Tier(999, Rates(input=1_000_000_000)),))
    dear, cheap = read_usage(PLAIN, facts), read_usage(PLAIN | {"prompt_tokens": 999}, facts)
    assert dear is not None
    assert cheap is not None
    assert (nanousd(dear.cost.total), nanousd(cheap.cost.total)) == (1_000_000, 0)


def test_reasoning_is_part_of_the_output() -> None:
    usage = read_usage(PLAIN | {"completion_tokens_details": {"reasoning_tokens": 30}}, FACTS)
    assert usage is not None
    assert (usage.output, usage.reasoning) == (40, 30)


@pytest.mark.parametrize("response_id", ["", "-x", "a b", "x" * 257, 7, None, "id\n"])
def test_a_response_id_outside_the_protocol_is_dropped(response_id: Json) -> None:
    assert make_provenance(FACTS, NOW, NOW, Said(PLAIN, response_id))[0].response_id is None


def test_a_response_id_and_another_model_are_kept() -> None:
    provenance, is_estimated = make_provenance(FACTS, NOW, NOW, Said(PLAIN, "chatcmpl-1", "m-2026-01"))
    assert (provenance.response_id, provenance.response_model, is_estimated) == ("chatcmpl-1", "m-2026-01", False)


@pytest.mark.parametrize("model", ["m", "", "x" * 257, "a b", "a\u202eb", 7])
def test_a_model_that_says_nothing_new_or_nothing_fit_is_dropped(model: Json) -> None:
    assert make_provenance(FACTS, NOW, NOW, Said(PLAIN, None, model))[0].response_model is None


def test_a_clock_that_went_back_ends_the_call_when_it_began() -> None:
    provenance = make_provenance(FACTS, NOW, NOW - 5_000, Said(PLAIN))[0]
    assert provenance.completed_at == provenance.started_at
    assert provenance.duration_ms == 0


_JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_USAGE = st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": _JSON | st.integers(0, 10**9),
        "completion_tokens": _JSON | st.integers(0, 10**9),
        "total_tokens": _JSON,
        "prompt_tokens_details": st.fixed_dictionaries({}, optional={"cached_tokens": _JSON}) | _JSON,
        "completion_tokens_details": st.fixed_dictionaries({}, optional={"reasoning_tokens": _JSON}) | _JSON,
        "cached_tokens": _JSON,
    },
)


@given(_USAGE, _JSON, _JSON)
def test_whatever_a_provider_says_makes_a_provenance_that_can_be_read_again(
    usage: dict[str, Json], response_id: Json, response_model: Json
) -> None:
    dear = ModelFacts("p", "m", "a", "http://h", 1_000, 1_000, Rates(*[10**13] * 4))
    provenance, _ = make_provenance(dear, NOW, NOW + 1, Said(usage, response_id, response_model))
    assert Provenance.decode(provenance.encode()) == provenance
    nanousd(provenance.usage.cost.total)
