"""Being offline shows before anything is sent, and costs nothing."""

import dataclasses
import socket
import struct
import threading
from pathlib import Path

import pytest

from curator.model.ports import Prepared, Unready
from curator.reviewer.providers.reach import find_obstacle, is_loopback
from tests.briefs import Flag, HandClock
from tests.reviewer.providers.benches import bench


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port: int = closed.getsockname()[1]
        return port


def test_a_listening_host_is_reached_and_hears_no_request(tmp_path: Path) -> None:
    with bench(tmp_path) as at:
        assert find_obstacle(at.url, HandClock(), Flag()) is None
        assert isinstance(at.reviewer().prepare(at.brief).make_ready(Flag()), Prepared)
        assert at.requests() == []


def test_a_refused_connection_is_an_obstacle(tmp_path: Path) -> None:
    obstacle = find_obstacle(f"http://127.0.0.1:{closed_port()}/v1", HandClock(), Flag())
    assert obstacle == "the connection was refused"
    with bench(tmp_path) as at:
        at.facts = dataclasses.replace(at.facts, base_url=f"http://127.0.0.1:{closed_port()}")
        unready = at.reviewer().prepare(at.brief).make_ready(Flag())
    assert isinstance(unready, Unready)
    assert unready.code == "provider_unreachable"
    assert "refused" in unready.fact


def test_a_name_that_nobody_knows_is_an_obstacle() -> None:
    obstacle = find_obstacle("https://made-up.invalid/v1", HandClock(), Flag())
    assert obstacle in ("its name is not known", "no connection", "no connection in time")


def test_a_host_that_speaks_no_tls_is_an_obstacle() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1_024)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        obstacle = find_obstacle(f"https://127.0.0.1:{server.getsockname()[1]}/v1", HandClock(), Flag())
        thread.join()
    assert obstacle == "TLS failed"


def test_a_host_that_resets_at_once_is_an_obstacle_and_leaves_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset() -> None:
            for _ in range(20):
                connection, _ = server.accept()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()

        thread = threading.Thread(target=reset)
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/v1"
        obstacles = {find_obstacle(url, HandClock(), Flag()) for _ in range(20)}
        thread.join()

    assert obstacles <= {"no connection", "TLS failed"}


def test_silence_after_the_connection_ends_by_the_bound() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}/v1"
        assert find_obstacle(url, HandClock(), Flag(), 200) == "no connection in time"
        assert find_obstacle(url, HandClock(each=6_000), Flag()) == "no connection in time"


def test_a_wish_to_stop_ends_the_wait() -> None:
    assert find_obstacle("http://127.0.0.1:9/v1", HandClock(), Flag(lambda: True)) == "a wish to stop"


def test_with_a_proxy_it_is_the_proxy_that_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    assert find_obstacle("http://made-up.invalid/v1", HandClock(), Flag()) == "the connection was refused"
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.getsockname()[1]}")
        assert find_obstacle("http://made-up.invalid/v1", HandClock(), Flag()) is None


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost:11434/v1", True),
        ("http://ollama.localhost", True),
        ("http://192.168.1.5/v1", False),
        ("https://localhost.example.invalid", False),
    ],
)
def test_this_machine_is_known_by_its_address(url: str, *, is_here: bool) -> None:
    assert is_loopback(url) == is_here
