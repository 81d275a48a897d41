"""How a memory's history is shown: one revision after the other, each change as a diff in which the changed words stand out."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from curator.audit.report.markup import Element, Node, element
from curator.audit.report.sections import memory_name
from curator.audit.report.words import counted, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curator.audit.report.stories import Changed, Story, Told

_WORD: Final = re.compile(r"\s+|[^\s]+")
_GONE: Final = "(text not kept)"
_SAYS: Final = {"add": "added", "replace": "changed", "assess": "weighed anew", "remove": "removed"}
_PAIRS_MAX: Final = 60_000
"""Of two entries as long as ours may be, in words of any language. Comparing takes as long as there are pairs of words."""
_ALIKE: Final = 0.3
"""Texts that have less than this in common are shown as a whole each: marks between them would tell nothing."""


def tale(story: Story, roots: Mapping[str, str | None], *, is_open: bool) -> Element:
    """Return one memory's history."""
    branch = story.branch
    name = memory_name(branch.project_key, branch.name, roots)
    root = roots.get(branch.project_key)
    head = element(
        "summary",
        element("h3", name),
        element("span", counted(branch.revisions, "revision"), class_="count"),
    )
    parts: list[Node] = [element("p", root, class_="told path")] if root is not None else []
    if story.fault is not None:
        parts.append(element("p", f"It cannot be told: {story.fault}.", class_="fault"))
    if story.told:
        parts.append(element("ol", *(_revision(told) for told in story.told), class_="revisions"))
    if story.untold and story.fault is None:
        parts.append(
            element("p", f"{counted(story.untold, 'earlier revision')} more: curator memory log", class_="more")
        )
    return element(
        "details",
        head,
        *parts,
        class_="tale",
        open="" if is_open else None,
        id=f"memory-{branch.project_key}-{branch.name}",
    )


def _revision(told: Told) -> Element:
    facts: list[Node] = [moment(told.committed_at)]
    if told.behind is not None:
        if told.behind.model is not None:
            facts += [" · ", told.behind.model]
        facts += [" · ", element("code", told.behind.job_id[:15])]
    kind = element(
        "b", f"{told.sequence}. {'undo' if told.is_undo else 'review'}", class_="undo" if told.is_undo else "review"
    )
    return element(
        "li",
        element("p", kind, " ", element("span", *facts, class_="soft"), class_="when"),
        element("ul", *(_change(each) for each in told.changes), class_="changes"),
    )


def _change(changed: Changed) -> Element:
    # The signs beside a diff say it to the eye.
    says = element("span", _SAYS[changed.kind], class_="verb" if changed.kind == "assess" else "unseen")
    weight = (
        None if changed.importance in (None, "normal") else element("span", changed.importance or "", class_="weight")
    )
    match changed.kind:
        case "assess":
            return element("li", says, weight, element("p", changed.after or _GONE))
        case "add":
            return element("li", says, weight, _side("ins", [changed.after or _GONE]))
        case "remove":
            return element("li", says, _side("del", [changed.before or _GONE]))
        case _:
            before, after = _marked(changed.before, changed.after)
            return element("li", says, weight, _side("del", before), _side("ins", after))


def _side(name: str, words: Sequence[Node]) -> Element:
    return element("p", element(name, *words))


def _marked(before: str | None, after: str | None) -> tuple[list[Node], list[Node]]:
    """Return both texts with what differs between them marked."""
    if before is None or after is None:
        return [before or _GONE], [after or _GONE]
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) * len(new) > _PAIRS_MAX:
        return [before], [after]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [before], [after]
    codes = matcher.get_opcodes()
    return (
        list(_marks((tag != "equal", old[low:high]) for tag, low, high, _, _ in codes)),
        list(_marks((tag != "equal", new[low:high]) for tag, _, _, low, high in codes)),
    )


def _marks(parts: Iterator[tuple[bool, list[str]]]) -> Iterator[Node]:
    for is_other, words in parts:
        if words:
            yield element("mark", "".join(words)) if is_other else "".join(words)
