"""A moment has one spelling, and only that one is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.model.times import day_of, day_start, is_iso, iso, ms_of, next_midnight


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_767_398_400_000, "2026-01-03T00:00:00.000Z"),
        (1_767_398_400_007, "2026-01-03T00:00:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-30_641_760_000_000, "0999-01-01T00:00:00.000Z"),
    ],
)
def test_a_moment_is_written_in_utc_with_three_digits(ms: int, text: str) -> None:
    assert (iso(ms), ms_of(text), is_iso(text)) == (text, ms, True)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_reading_what_was_written_gives_the_same_moment(ms: int) -> None:
    assert ms_of(iso(ms)) == ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-03",
        "2026-01-03T00:00:00Z",
        "2026-01-03T00:00:00.00Z",
        "2026-01-03T00:00:00.0000Z",
        "2026-01-03T00:00:00.000",
        "2026-01-03T00:00:00.000+00:00",
        "2026-01-03 00:00:00.000Z",
        "2026-02-30T00:00:00.000Z",
        "2026-01-03T24:00:00.000Z",
        "2026-01-03T00:00:60.000Z",
        "2026-01-03T00:00:00.000Z\n",
        "٢٠٢٦-01-03T00:00:00.000Z",
        "+10000-01-01T00:00:00.000Z",
    ],
)
def test_any_other_spelling_is_no_moment(text: str) -> None:
    assert not is_iso(text)


def test_a_day_is_utc_and_ends_at_midnight() -> None:
    last = day_start("2026-01-03") + 86_399_999

    assert (day_of(last), day_of(last + 1)) == ("2026-01-03", "2026-01-04")
    assert next_midnight(last) == last + 1
    assert next_midnight(last + 1) == last + 1 + 86_400_000
