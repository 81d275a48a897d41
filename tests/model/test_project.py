"""project.json says which folder a memory belongs to; other keys of it are tolerated."""

import pytest

from curator.model.digest import Json
from curator.model.ids import ProjectKey
from curator.model.project import Project, read_project
from curator.model.record import Violation
from tests.made_up import AT

KEY = ProjectKey("826cdcf0ee7b9e3ad811eb46")


def test_a_project_is_read_as_it_was_written() -> None:
    project = Project("/home/ann/project", KEY)

    assert read_project(project.encode(AT)) == project
    assert read_project(project.encode(AT) | {"colour": "red"}) == project


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"projectRoot": "relative", "projectKey": KEY},
        {"projectRoot": 1, "projectKey": KEY},
        {"projectRoot": "/p", "projectKey": "../etc"},
        {"projectRoot": "/p", "projectKey": None},
    ],
)
def test_what_names_no_project_is_refused(value: Json) -> None:
    with pytest.raises(Violation):
        read_project(value)
