"""What the service tells a service manager, over a real socket."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from curator_service.notify import Notifier

from tests.acceptance.processes import Place, ended, provided
from tests.fakes.provider import Settings
from tests.service.test_service import serving


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notified"))
        listening.settimeout(30)
        yield listening


def heard(supervisor: socket.socket, word: str) -> str:
    """Listen until a message begins so; return what was said."""
    while not (said := supervisor.recv(4_096).decode("utf-8")).startswith(word):
        assert said.startswith(("WATCHDOG=1", "STATUS=")), said
    return said


def test_a_life_is_told_from_ready_over_reloading_to_stopping(tmp_path: Path, supervisor: socket.socket) -> None:
    place = Place(tmp_path)
    place.configure()
    told = ("/usr/bin/env", f"NOTIFY_SOCKET={tmp_path / 'notified'}", "WATCHDOG_USEC=400000")
    with serving(place, *told) as service:
        heard(supervisor, "READY=1")
        heard(supervisor, "WATCHDOG=1")
        heard(supervisor, "WATCHDOG=1")
        service.send_signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in heard(supervisor, "RELOADING=1")
        heard(supervisor, "READY=1")
        place.layout.service_json.write_text("{", "utf-8")
        heard(supervisor, "RELOADING=1")
        heard(supervisor, "READY=1")
        service.send_signal(signal.SIGTERM)
        heard(supervisor, "STOPPING=1")

        assert ended(service).status == 0


def test_the_status_says_what_is_done_now(tmp_path: Path, supervisor: socket.socket) -> None:
    told = ("/usr/bin/env", f"NOTIFY_SOCKET={tmp_path / 'notified'}")
    with provided(tmp_path, Settings(review="slow", slow_s=0.1)) as (place, _), serving(place, *told) as service:
        heard(supervisor, "READY=1")
        place.enqueue(place.project())
        assert heard(supervisor, "STATUS=jobs") == "STATUS=jobs under way: 1"
        assert heard(supervisor, "STATUS=") == "STATUS=waiting for jobs"
        place.configure("embedded")
        service.send_signal(signal.SIGHUP)
        heard(supervisor, "RELOADING=1")
        heard(supervisor, "READY=1")
        assert "embedded" in heard(supervisor, "STATUS=")


def test_a_watchdog_of_another_process_is_not_fed(supervisor: socket.socket, tmp_path: Path) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notified"), "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"})

    notifier.alive()
    notifier.status("still here")

    assert supervisor.recv(4_096) == b"STATUS=still here"


@pytest.mark.parametrize("address", ["", "/no/such/socket", "@made-up-that-nobody-listens-to"])
def test_where_nobody_listens_nothing_is_said_and_nothing_fails(address: str) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": address})

    notifier.ready("made up")
    notifier.stopping()

    assert notifier.watchdog_s is None
