"""The same bytes are decoded once, and what is remembered stays small."""

from __future__ import annotations

from curator.durable.memo import Memo


def test_bytes_mean_what_they_meant_before() -> None:
    memo = Memo[str]()

    memo.keep(str, b"{}", "nothing")

    assert memo.find(str, b"{}") == "nothing"


def test_other_bytes_and_another_kind_mean_something_else() -> None:
    memo = Memo[object]()
    memo.keep(str, b"{}", "nothing")

    assert memo.find(str, b"{} ") is None
    assert memo.find(int, b"{}") is None


def test_what_nobody_asked_for_longest_is_forgotten_first() -> None:
    memo = Memo[str](bytes_max=4)
    memo.keep(str, b"aa", "first")
    memo.keep(str, b"bb", "second")
    memo.find(str, b"aa")

    memo.keep(str, b"cc", "third")

    assert [memo.find(str, raw) for raw in (b"aa", b"bb", b"cc")] == ["first", None, "third"]


def test_the_same_bytes_kept_again_take_no_more_room() -> None:
    memo = Memo[str](bytes_max=4)
    memo.keep(str, b"aa", "first")
    for _ in range(3):
        memo.keep(str, b"bb", "second")

    assert memo.find(str, b"aa") == "first"


def test_a_record_that_is_too_large_is_not_kept() -> None:
    memo = Memo[str]()

    memo.keep(str, b"x" * 50_000, "large")

    assert memo.find(str, b"x" * 50_000) is None
