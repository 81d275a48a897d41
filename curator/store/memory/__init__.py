"""The memory of projects: branches, their history, and the admissions that change them."""

from curator.store.memory.store import ProjectStore

__all__ = ["ProjectStore"]
