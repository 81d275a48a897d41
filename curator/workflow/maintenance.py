"""What keeps an agent folder small and right, between jobs.

Everything that grows has an end but memory itself, its revisions, the closing records and closed days: those are small,
and never read again unless somebody asks.

INVARIANT  A bad entry costs itself, and is told. A failing disk ends the round.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from curator.workflow.recovery import apart, recover
from curator.workflow.retention.cards import answer_closed
from curator.workflow.retention.finished import (
    retire_acceptances,
    retire_evidence,
    retire_letters,
    retire_outcomes,
    retire_proofs,
)
from curator.workflow.retention.leftovers import retire_beats, stop_dead, sweep_all
from curator.workflow.retention.spending import close_days, retire_accounting
from curator.workflow.retention.ties import Ties

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator.workflow.shop import Shop

_STEPS: Final[tuple[tuple[str, Callable[[Shop, Ties], None]], ...]] = (
    ("waiting cards", answer_closed),
    ("outcomes", retire_outcomes),
    ("evidence", retire_evidence),
    ("dead letters", retire_letters),
    ("receipts", retire_proofs),
    ("acceptances", retire_acceptances),
    ("attempts", close_days),
    ("accounting", retire_accounting),
    ("dead workers", stop_dead),
    ("heartbeats", retire_beats),
    ("leftovers", sweep_all),
)
"""In this order: who waits is answered while there is something to say, and a closing record is made while its evidence
stands."""


def maintain(shop: Shop) -> None:
    """Put right what others left meanwhile, then let go what is old. Raises `StorageError` when the disk fails."""
    recover(shop, leave_expired=True)
    ties = Ties(shop)
    for subject, step in _STEPS:
        apart(subject, partial(step, shop, ties), shop)
