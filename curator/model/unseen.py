"""Characters that a model reads and no person sees: by them a text can say one thing to whom it steers and another to whom it asks.

The protocol refuses the best known of them in memory (interop.md 7.4). The tag block spells whole sentences, selectors of
variants carry any bytes, and the fillers and joiners of some scripts stand for nothing anywhere else.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Final

_SEEN: Final = frozenset(
    (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440))
)
"""Characters of format that are drawn: signs around Arabic, Syriac and Kaithi numbers, and joiners of hieroglyphs."""
_FILLERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_VARIANTS: Final = "\u180b-\u180d\u180f\U000e0100-\U000e01ef"
_ONE_VARIANT: Final = "\ufe00-\ufe0f"
"""A single one chooses how the sign before it is drawn, as with most hearts; two in a row choose nothing."""


def has_unseen(text: str) -> bool:
    """Tell whether a text holds characters that nobody sees."""
    return not text.isascii() and _pattern().search(text) is not None


@cache
def _pattern() -> re.Pattern[str]:
    # Thousands of characters are looked at for it, so it is made with the first text that may need it.
    formats = "".join(
        chr(code)
        for code in range(0x80, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf" and code not in _SEEN
    )
    # Of the block of tags some have no category yet; all of it is unseen.
    return re.compile(f"[{re.escape(formats)}{_FILLERS}{_VARIANTS}\U000e0000-\U000e007f]|[{_ONE_VARIANT}]{{2}}")
