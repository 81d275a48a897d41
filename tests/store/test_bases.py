"""A base is published once under its own digest."""

from pathlib import Path

import pytest

from curator.durable.layout import Layout
from curator.durable.volume import Volume
from curator.errors import ConflictError, InvalidRecordError
from curator.model.job import Base
from curator.model.memory import branch_digest
from curator.store.bases import BaseStore
from tests.made_up import branch, entry, job, other_digest

MOVED = branch(entry("two", "Written meanwhile."))
BASE = Base.of(job(), MOVED, branch_digest(MOVED))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def test_a_base_is_found_by_job_and_digest(layout: Layout) -> None:
    store = BaseStore(Volume(), layout)
    store.publish(BASE)
    store.publish(BASE)

    assert store.find(job().id, BASE.base_branch_digest) == BASE
    assert store.find(job().id, other_digest()) is None
    assert layout.base(job().id, BASE.base_branch_digest).stat().st_mode & 0o777 == 0o600


def test_another_branch_under_the_same_digest_is_a_conflict(layout: Layout) -> None:
    store = BaseStore(Volume(), layout)
    store.publish(BASE)

    with pytest.raises(ConflictError):
        store.publish(Base.of(job(), branch(), BASE.base_branch_digest))


def test_a_base_under_anothers_name_is_refused(layout: Layout) -> None:
    store = BaseStore(Volume(), layout)
    store.publish(BASE)
    layout.base(job().id, BASE.base_branch_digest).rename(layout.base(job().id, other_digest()))

    with pytest.raises(InvalidRecordError, match="holds another base than its name says"):
        store.find(job().id, other_digest())
