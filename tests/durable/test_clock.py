"""The one place that asks the machine for time and randomness."""

import re
import time

from curator.durable.clock import SystemChance, SystemClock, file_clock_ns


def test_the_clock_tells_the_time_in_whole_milliseconds() -> None:
    before = time.time_ns() // 1_000_000

    assert before <= SystemClock().now() <= time.time_ns() // 1_000_000
    assert before <= file_clock_ns() // 1_000_000


def test_monotonic_time_only_grows() -> None:
    looks = [SystemClock().monotonic() for _ in range(100)]

    assert looks == sorted(looks)


def test_ids_and_tokens_have_the_protocols_shape_and_never_repeat() -> None:
    chance = SystemChance()
    uuids, tokens = {chance.uuid() for _ in range(100)}, {chance.token() for _ in range(100)}

    assert (len(uuids), len(tokens)) == (100, 100)
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", one) for one in uuids
    )
    assert all(re.fullmatch(r"[0-9a-f]{32}", one) for one in tokens)
