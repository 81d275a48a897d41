"""Verbs that may be dropped, done twice or done elsewhere, each with its reason, beside those of `arguments`.

A flush in another folder is a dropped flush: what is argued for that holds here too. What leaves no state that the healthy
run cannot leave is equivalent by that proof and needs no argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from faults.arguments import argument_for
from faults.mutants import DROP_NAMES, Mutant
from faults.recording import Verb
from faults.verb_mutants import DROP, ELSEWHERE, TWICE

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLUSH: Final = f"{Verb.SYNC.value} in "
_STAGED: Final = (
    "nobody reads a staged name, and the sweep takes it; what is new is only where the sample of many states falls"
)
_WITHOUT_INDEX: Final = (
    "played anew, without its index, the story flushes once more, and the sample of its many states falls elsewhere; what"
    " is done twice changes nothing"
)

VERBS_ARGUED: Final[Sequence[tuple[str, str, str]]] = (
    # What is done otherwise, a part of where, and why it may live.
    (TWICE, "tracks/trajectory/shelf.py:Shelf.", _WITHOUT_INDEX),
    (TWICE, "stage in durable/publish.py:publish < store/attempts/closing.py", _STAGED),
    (
        TWICE,
        "unlink in durable/retire.py:retire_file < store/spool/retention.py:_forget",
        "the second finds nothing, so nobody flushes: what comes back is old, and is let go again the next time",
    ),
    *(
        (kind, f"unlink in durable/publish.py:publish < {room}", _STAGED)
        for kind in (DROP, ELSEWHERE)
        for room in ("store/attempts/closing.py", "tracks/trajectory/shelf.py")
    ),
    (
        ELSEWHERE,
        "stage in durable/publish.py:publish < tracks/trajectory/shelf.py",
        "a name is linked from any folder of a disk as well as from its own",
    ),
)


def verb_argument_for(mutant: Mutant) -> str:
    """Return why a mutant may live, or nothing."""
    if mutant.kind == ELSEWHERE and mutant.where.startswith(_FLUSH):
        return argument_for(Mutant(DROP_NAMES, mutant.where.removeprefix(_FLUSH)))
    for kind, where, why in VERBS_ARGUED:
        if kind == mutant.kind and where in mutant.where:
            return why
    return ""
