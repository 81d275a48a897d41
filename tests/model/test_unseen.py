"""Characters that nobody sees, and those that only look as if they were such."""

import pytest

from curator.model.unseen import has_unseen


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u200b", "\u200d", "\u202e", "\u2060", "\u2066", "\ufeff", "\u00ad", "\u061c", "\u180e", "\u206a", "\ufff9"),
        *("\u034f", "\u115f", "\u3164", "\uffa0", "\u180b", "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100"),
        *("\U0001d173", "\ufe0f\ufe0f", "\ufe00\ufe01"),
    ],
    ids=ascii,
)
def test_what_nobody_sees_is_found_wherever_it_stands(hidden: str) -> None:
    assert [has_unseen(text) for text in (hidden, f"{hidden}end", f"begin{hidden}", f"in{hidden}side")] == [True] * 4


@pytest.mark.parametrize(
    "text",
    [
        *("plain", "", "caf\u00e9", "Zeile\nzwei\tdrei", "\u2764\ufe0f and \u2600\ufe0f", "\U0001f600", "\u65b0\u805e"),
        *(
            "\u0645\u0631\u062d\u0628\u0627",
            "\u0600\u0661",
            "\u05e9\u05dc\u05d5\u05dd",
            "\u0928\u092e\u0938\u094d\u0924\u0947",
        ),
        *("\ud55c\uad6d\uc5b4", "e\u0301", "\u00a0", "\u2014"),
    ],
    ids=ascii,
)
def test_what_is_drawn_is_left_alone(text: str) -> None:
    assert not has_unseen(text)
