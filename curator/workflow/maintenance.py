"""What keeps an agent folder small and right, between jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.workflow.recovery import recover

if TYPE_CHECKING:
    from curator.workflow.shop import Shop


def maintain(shop: Shop) -> None:
    """Put right what others left meanwhile. Raises `StorageError` when the disk fails."""
    recover(shop)
