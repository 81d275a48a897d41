"""Random histories of spend: what is shown is what the files come to, and what the provider logged, within unknown."""

from __future__ import annotations

import os
import shutil
from typing import Final

import pytest
from faults.histories import History, Reply, Step
from faults.tree import scratch
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

IS_LONG: Final = os.environ.get("CURATOR_FAULTS") == "long"
EXAMPLES: Final = 1_000 if IS_LONG else 100
HOUR: Final = 3_600_000

replies = st.lists(
    st.builds(
        Reply,
        st.sampled_from(("whole", "whole", "silent", "refused", "limited", "lost", "lost", "dies")),
        st.integers(0, 100),
    ),
    min_size=1,
    max_size=8,
)
deaths = st.one_of(st.just(10**6), st.integers(0, 120))
steps = st.one_of(
    st.builds(Step, st.just("enqueue")),
    st.builds(Step, st.just("review"), deaths, st.sampled_from((0, HOUR, 2 * HOUR))),
    st.builds(Step, st.just("review"), deaths, st.sampled_from((0, HOUR, 2 * HOUR))),
    st.builds(Step, st.just("review"), deaths, st.sampled_from((0, HOUR, 2 * HOUR))),
    st.builds(Step, st.just("review"), deaths, st.sampled_from((0, HOUR, 2 * HOUR))),
    st.builds(Step, st.just("wait"), by=st.sampled_from((60_000, HOUR, 9 * HOUR, 15 * HOUR - 1, 24 * HOUR, 50 * HOUR))),
    st.builds(Step, st.just("maintain"), deaths, st.sampled_from((0, HOUR, 50 * HOUR, 240 * HOUR))),
    st.builds(Step, st.just("quiet"), st.one_of(st.just(10**6), st.integers(0, 400))),
    st.builds(Step, st.just("settle"), st.one_of(st.just(10**6), st.integers(0, 6)), st.integers(0, 150)),
    st.builds(
        Step, st.just("settle"), st.one_of(st.just(10**6), st.integers(0, 6)), st.integers(0, 9), st.just("not billed")
    ),
    st.builds(Step, st.just("settle all"), st.one_of(st.just(10**6), st.integers(0, 12))),
    st.builds(Step, st.just("limit"), by=st.integers(1, 6), word=st.just("calls")),
    st.builds(Step, st.just("limit"), by=st.sampled_from((400, 900, 2_000, 10**9)), word=st.just("tokens")),
    st.builds(Step, st.just("provider"), word=st.sampled_from(("scripted", "other"))),
    st.builds(
        Step,
        st.just("unresolved"),
        word=st.sampled_from(("charge", "expire-after = 0 days", "expire-after = 1 day", "expire-after = 3 days")),
    ),
)


@pytest.mark.timeout(1_800 if IS_LONG else 240)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=not IS_LONG,
    print_blob=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(replies, st.lists(steps, min_size=4, max_size=24))
def test_shown_budget_files_and_the_providers_log_are_one_within_unknown(told: list[Reply], taken: list[Step]) -> None:
    folder = scratch()
    try:
        history = History(folder, told)
        for step in (Step("enqueue"), Step("enqueue"), Step("review"), *taken):
            history.take(step)
            assert history.breaches() == [], step
        event(f"calls: {min(9, len(history.log))}")
        event(f"closed days: {min(3, history.closed)}")
        event(f"deaths: {min(5, history.deaths)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
