"""What is reserved before a call: the protocol's own figures."""

from curator.model.ports import Hold
from curator.model.reviewer_facts import ModelFacts, Rates, Tier
from curator.reviewer.hold import estimate_hold, request_digest

RATES = Rates(3_000_000_000, 15_000_000_000, 300_000_000, 3_750_000_000)
ABOVE = Rates(6_000_000_000, 22_500_000_000, 600_000_000, 7_500_000_000)
FACTS = ModelFacts("p", "m", "a", "http://h", 200_000, 8_192, RATES, (Tier(100_000, ABOVE),))


def test_the_hold_is_the_protocols() -> None:
    assert estimate_hold(FACTS, "SYS", "PROMPT é") == Hold(6_157, 104_016_900)


def test_the_request_digest_is_the_protocols() -> None:
    digest = request_digest("p", "m", "a", "SYS", "PROMPT é")
    assert digest == "76431a1d2b139d5c05f594ccd28218c6287f6ca216519e36bc4368b97ac6ebe1"


def test_input_is_no_more_than_fits_and_output_no_more_than_the_model_gives() -> None:
    small = ModelFacts("p", "m", "a", "http://h", 5_000, 100)
    assert estimate_hold(small, "x" * 10_000, "").tokens == 5_100


def test_a_free_model_still_holds_tokens() -> None:
    free = ModelFacts("p", "m", "a", "http://h", 200_000, 8_192)
    assert estimate_hold(free, "", "") == Hold(1 + 4_096 + 2_048, 0)


def test_a_fraction_of_a_nano_dollar_is_held_whole() -> None:
    cheap = ModelFacts("p", "m", "a", "http://h", 200_000, 1, Rates(input=1))
    assert estimate_hold(cheap, "", "").cost_nanousd == 1
