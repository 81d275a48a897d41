"""The life of one provider attempt: what is known of a call that may have been paid for."""

from __future__ import annotations

from typing import Final

from curator.machine.table import Machine, Transition
from curator.model.attempt import AttemptState

_S = AttemptState

ATTEMPT: Final = Machine(
    name="attempt",
    entry="reserve",
    initial=_S.RESERVED,
    transitions=(
        Transition(_S.RESERVED, "dispatch", _S.DISPATCHED, "the pre-dispatch checkpoint is durable: bytes may leave"),
        Transition(_S.RESERVED, "cancel", _S.CANCELLED, "no dispatch record: it never left"),
        Transition(_S.DISPATCHED, "settle", _S.SETTLED, "the whole normalized result is durable"),
        Transition(_S.DISPATCHED, "lose", _S.UNKNOWN, "it may have run; nothing proves how"),
        Transition(_S.UNKNOWN, "correct", _S.SETTLED, "a durable result came late, or an operator knows the bill"),
    ),
    orphaned={_S.RESERVED: "cancel", _S.DISPATCHED: "lose"},
)
