"""The tables: closed lists are the machines', and no column could hold what was said."""

from __future__ import annotations

from typing import Final

import pytest
from sqlalchemy import create_engine, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import StaticPool

from curator.audit.schema import ATTEMPTS, DERIVED, FACTS, JOBS, METADATA, states_of
from curator.machine.attempt import ATTEMPT
from curator.machine.job import JOB

TEXTS: Final = {
    "text",
    "content",
    "transcript",
    "quote",
    "message",
    "messages",
    "reason",
    "operations_text",
    "root",
    "path",
}
ATTEMPT_ROW: Final = {column.name: 0 for column in ATTEMPTS.columns if not column.nullable}


def test_the_states_are_those_that_the_machines_can_be_in() -> None:
    assert set(states_of(ATTEMPT)) == {"reserved", "dispatched", "settled", "unknown", "cancelled"}
    assert set(states_of(JOB)) == {"queued", "running", "finished", "held", "quarantined"}


@pytest.mark.parametrize(("state", "is_taken"), [("settled", True), ("held", False), ("canceled", False)])
def test_a_state_that_no_machine_has_is_refused_by_the_table(*, state: str, is_taken: bool) -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        METADATA.create_all(connection)
        adding = insert(ATTEMPTS).values(**ATTEMPT_ROW | {"state": state})
        if is_taken:
            connection.execute(adding)
        else:
            with pytest.raises(IntegrityError):
                connection.execute(adding)
        with pytest.raises(IntegrityError):
            connection.execute(insert(JOBS).values(job_id="j", state="over"))
    engine.dispose()


def test_no_column_is_for_words() -> None:
    columns = {column.name for table in (*FACTS, *DERIVED) for column in table.columns}

    assert columns & TEXTS == set()
