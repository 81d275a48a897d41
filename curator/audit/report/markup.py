"""HTML as values: text is escaped because it is text, and no string of anybody's becomes markup.

INVARIANT  What `render` returns holds exactly the elements that were built here, whatever the texts in them say. An
           element or attribute of another kind than those listed is a defect of ours, and raises.
"""

from __future__ import annotations

import dataclasses
import html
import re
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Node: TypeAlias = "Element | str"

_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9]*(?:-[a-zA-Z0-9]+)*")
_VOID: Final = frozenset({"link", "meta"})
_RAW: Final = frozenset({"script", "style"})
"""Their text is not escaped by a browser, so they take nothing but the files that come with curator."""
_URLS: Final = frozenset({"href", "src", "action", "formaction", "style"})
"""Where a text could be more than a text: such attributes are set by `link` and by the page's head alone."""
_HIDDEN: Final = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x061C,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_CLEAN: Final = {
    code: "\ufffd" for code in (*_HIDDEN, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF) if chr(code) not in "\n\t"
}


@dataclasses.dataclass(frozen=True, slots=True)
class Element:
    """One element, its attributes and what is in it."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Node, ...]


def element(name: str, *children: Node | None, **attributes: str | int | None) -> Element:
    """Return an element; an attribute is spelled `class_` or `aria_label`, and left out where it is None."""
    spelled = ((key.strip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    return checked(name, {key: str(value) for key, value in spelled}, children)


def checked(name: str, attributes: dict[str, str], children: tuple[Node | None, ...] = ()) -> Element:
    """Return an element whose attributes are spelled as they are written."""
    assert _NAME.fullmatch(name), name
    assert name not in _RAW, f"{name} takes no text of anybody's"
    for key in attributes:
        is_plain = _NAME.fullmatch(key) and not key.lower().startswith("on") and key.lower() not in _URLS
        assert is_plain, f"{key} is not set so"
    return Element(name, tuple(attributes.items()), tuple(child for child in children if child is not None))


def link(fragment: str, *children: Node) -> Element:
    """Return a link to another place of the page."""
    return Element("a", (("href", f"#{fragment}"),), children)


def render(node: Node) -> str:
    """Return the markup."""
    return "".join(_parts(node))


def cleaned(text: str) -> str:
    """Return a text without what steers a line's direction, or what no document may hold."""
    return text.translate(_CLEAN)


def escaped(text: str) -> str:
    """Return a text as it is written between tags and in attributes."""
    return html.escape(cleaned(text))


def _parts(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield escaped(node)
        return
    attributes = "".join(f' {key}="{escaped(value)}"' for key, value in node.attributes)
    yield f"<{node.name}{attributes}>"
    if node.name in _VOID:
        return
    for child in node.children:
        yield from _parts(child) if node.name not in _RAW else (str(child),)
    yield f"</{node.name}>"
