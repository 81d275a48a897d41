"""The served page: for this machine, whoever has the address, and to look at alone."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from curator.audit.report.serve import HOST, ReportServer, Source
from curator.errors import BusyError
from tests.audit.report.made import without_pictures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator.audit.report.page import Report

WORD = "quetzal-harbour"


class Told:
    """What there is to tell, as a test changes it."""

    def __init__(self) -> None:
        self.report = without_pictures(WORD)
        self.fault: BusyError | None = None
        self.made = 0

    def make(self) -> Report:
        self.made += 1
        if self.fault is not None:
            raise self.fault
        return self.report


class Served:
    """A server that runs, and a way to ask it as anybody may."""

    def __init__(self, server: ReportServer, told: Told) -> None:
        self.server = server
        self.told = told
        self.own = f"{HOST}:{server.server_port}"
        self.path = f"/{server.token}/"

    def ask(self, method: str = "GET", path: str | None = None, **headers: str) -> tuple[int, Mapping[str, str], str]:
        said = {"Host": self.own, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection(HOST, self.server.server_port, timeout=10)
        with contextlib.closing(connection):
            connection.putrequest(method, self.path if path is None else path, skip_host=True)
            for name, value in said.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()

    def connect(self) -> socket.socket:
        return socket.create_connection((HOST, self.server.server_port), timeout=10)


@contextlib.contextmanager
def running(connection_s: float = 20.0) -> Iterator[Served]:
    told = Told()
    with ReportServer(Source(told.make, every_s=0), 0, connection_s) as server:
        thread = threading.Thread(target=lambda: server.serve_forever(0.05))
        thread.start()
        try:
            yield Served(server, told)
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with running() as it:
        yield it


def test_whoever_has_the_address_sees_the_page_and_nobody_may_keep_or_frame_it(served: Served) -> None:
    status, headers, body = served.ask()

    assert status == 200
    assert WORD in body
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Server"].strip() == "curator"
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("frame-ancestors 'none'")
    meant = policy.removesuffix("; frame-ancestors 'none'").replace("'", "&#x27;")
    assert meant in body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
    ],
)
def test_a_page_of_somebody_elses_in_the_same_browser_sees_nothing(
    served: Served, headers: dict[str, str], status: int
) -> None:
    found, _, body = served.ask(**headers)

    assert found == status
    assert (WORD in body) == (status == 200)
    assert served.ask(Host=f"localhost:{served.server.server_port}", Origin=f"http://{served.own}")[0] == 200


def test_the_address_is_right_as_a_whole_or_wrong(served: Served) -> None:
    token = served.server.token
    for path in (
        "/",
        "/favicon.ico",
        f"/{token}",
        f"/{token[:-1]}/",
        f"/{token}x/",
        f"/{token}/../",
        f"/{token}/?a",
        "/%00/",
    ):
        status, _, body = served.ask(path=path)

        assert (status, body) == (404, "404 Not Found\n"), path
    assert len(token) >= 43


def test_a_ticket_leads_to_the_page_once_and_only_who_may_look_can_use_it(served: Served) -> None:
    ticket = served.server.ticket_url().removeprefix(f"http://{served.own}")

    assert served.ask(path=ticket, Host="evil.example")[0] == 421
    assert served.ask(path=ticket, Sec_Fetch_Site="cross-site")[0] == 403
    assert served.ask("HEAD", ticket)[0] == 404
    status, headers, body = served.ask(path=ticket)
    assert (status, headers["Location"], body) == (303, served.path, "")
    assert served.ask(path=ticket)[0] == 404
    assert served.server.token not in ticket


def test_two_servers_have_two_addresses(served: Served) -> None:
    with running() as other:
        assert other.server.token != served.server.token
        assert other.ask(path=served.path)[0] == 404


@pytest.mark.parametrize(
    ("method", "status"),
    [("POST", 405), ("PUT", 405), ("DELETE", 405), ("PATCH", 405), ("OPTIONS", 405), ("TRACE", 501)],
)
def test_there_is_nothing_to_do_but_to_look(served: Served, method: str, status: int) -> None:
    found, _, body = served.ask(method)

    assert found == status
    assert WORD not in body


def test_a_head_is_the_answer_without_the_page(served: Served) -> None:
    status, headers, body = served.ask("HEAD")

    assert (status, body) == (200, "")
    assert int(headers["Content-Length"]) == len(served.ask()[2].encode())


def test_what_has_not_changed_is_not_sent_again_nor_made_again() -> None:
    with running() as served:
        _, headers, body = served.ask()
        tag = headers["ETag"]

        assert served.ask(If_None_Match=tag)[::2] == (304, "")
        served.told.report = dataclasses.replace(served.told.report, now=served.told.report.now + 60_000)
        status, headers, newer = served.ask(If_None_Match=tag)
        assert (status, headers["ETag"] == tag, newer == body) == (200, False, False)


def test_many_looks_at_once_cost_one_page() -> None:
    told = Told()
    source = Source(told.make, every_s=3_600)

    assert len({source.newest() for _ in range(20)}) == 1
    assert told.made == 1


def test_what_goes_wrong_is_told_by_its_kind_and_the_next_look_may_succeed() -> None:
    with running() as served:
        served.told.fault = BusyError(f"/home/somebody/{WORD}: busy")
        status, _, body = served.ask()
        assert (status, body) == (503, "503 busy\n")

        served.told.fault = None
        assert served.ask()[0] == 200


def test_no_request_is_written_down_not_even_a_broken_one(capfd: pytest.CaptureFixture[str]) -> None:
    with running() as served:
        served.ask()
        served.ask(path=f"{served.path}x")
        for line in (b"nonsense\r\n\r\n", b"GET " + b"a" * 70_000, served.path.encode() + b"\r\n\r\n"):
            with served.connect() as connection:
                connection.sendall(line)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass

    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_connections_are_bounded_in_number() -> None:
    with running() as served, contextlib.ExitStack() as held:
        idle = [held.enter_context(served.connect()) for _ in range(16)]
        one_more = held.enter_context(served.connect())
        one_more.sendall(f"GET {served.path} HTTP/1.1\r\nHost: {served.own}\r\n\r\n".encode())
        one_more.settimeout(0.5)
        with pytest.raises(TimeoutError):
            one_more.recv(1)

        idle[0].close()

        one_more.settimeout(10)
        assert one_more.recv(12) == b"HTTP/1.0 200"


def test_a_connection_is_bounded_in_time() -> None:
    with running(connection_s=0.1) as served, served.connect() as slow:
        slow.sendall(b"GET /")
        # Before the time that a browser is given for its request.
        slow.settimeout(3)

        assert slow.recv(1) == b""
        assert served.ask()[0] == 200
