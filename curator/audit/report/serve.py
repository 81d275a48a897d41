"""The page, kept live for this machine's browsers: loopback, an address that cannot be guessed, and nothing to change.

Whoever has no token sees nothing, and neither does a page of somebody else's in the same browser: its name for us (DNS
can give it one), its origin, and what the browser says of where a request comes from are looked at before the address.
Connections are bounded in number and in time. No request is written down anywhere, for each holds the token.
"""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar, Final

from curator.audit.report.page import page, served_policy
from curator.errors import BusyError, CuratorError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from curator.audit.report.page import Report

HOST: Final = "127.0.0.1"
_NAMES: Final = (HOST, "localhost")
_CONNECTIONS_MAX: Final = 16
_READ_S: Final = 5.0
"""A browser on this machine has sent its request by then."""
_CONNECTION_S: Final = 20.0
_MAKE_S: Final = 4.0
"""A page is made anew at most so often, however many look at it."""
_FROM_HERE: Final = ("none", "same-origin")


@dataclasses.dataclass(frozen=True, slots=True)
class _Made:
    report: Report
    body: bytes
    tag: str
    at: float


class Source:
    """The newest page: made anew when it is asked for and what it tells has changed."""

    def __init__(self, make: Callable[[], Report], every_s: float = _MAKE_S) -> None:
        """Make pages of what `make` returns, one at a time and at most so often."""
        self._make = make
        self._every_s = every_s
        self._lock = threading.Lock()
        self._made: _Made | None = None

    def newest(self) -> tuple[bytes, str]:
        """Return the page and its tag. Raises what making it raises."""
        with self._lock:
            now = time.monotonic()
            if self._made is None or now - self._made.at >= self._every_s:
                report = self._make()
                if self._made is not None and self._made.report == report:
                    self._made = dataclasses.replace(self._made, at=now)
                else:
                    body = page(report, is_live=True).encode()
                    self._made = _Made(report, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', now)
            return self._made.body, self._made.tag


class ReportServer(ThreadingHTTPServer):
    """Serves one page under one secret address."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, source: Source, port: int, connection_s: float = _CONNECTION_S) -> None:
        """Listen on a port of loopback; 0 takes any. Raises `BusyError` where somebody else has it."""
        self._connection_s = connection_s
        self.source: Final = source
        self.token: Final = secrets.token_urlsafe(32)
        self._tickets: list[str] = []
        self._room = threading.BoundedSemaphore(_CONNECTIONS_MAX)
        self._since: dict[socket.socket, float] = {}
        try:
            super().__init__((HOST, port), _Asked)
        except OSError as error:
            raise BusyError(
                f"port {port} of this machine: {error.strerror}", remedy="Name another with --port"
            ) from error

    @property
    def url(self) -> str:
        """The whole address, for the person who started it."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def ticket_url(self) -> str:
        """Return an address that leads to the page once: what starts a browser may show its arguments to everybody."""
        self._tickets.append(secrets.token_urlsafe(32))
        return f"http://{HOST}:{self.server_port}/{self._tickets[-1]}/"

    def take_ticket(self, path: str) -> bool:
        """Tell whether an address is such a one, and take it out of use."""
        if not any(_is_same(path, ticket) for ticket in self._tickets):
            return False
        self._tickets.clear()
        return True

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """Take in a connection, if there is room for one."""
        if not self._room.acquire(timeout=0.2):
            raise TimeoutError
        try:
            connection, address = self.socket.accept()
        except OSError:
            self._room.release()
            raise
        self._since[connection] = time.monotonic()
        return connection, address

    def close_request(self, request: socket.socket) -> None:  # type: ignore[override]  # ours are of one kind
        """Give the room of a connection back."""
        super().close_request(request)
        if self._since.pop(request, None) is not None:
            self._room.release()

    def service_actions(self) -> None:
        """End connections that take too long, now and then."""
        latest = time.monotonic() - self._connection_s
        for connection, since in list(self._since.items()):
            if since < latest:
                self.shutdown_request(connection)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of who hung up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # passed on as it came


class _Asked(BaseHTTPRequestHandler):
    """One request."""

    server: ReportServer
    timeout = _READ_S
    server_version = "curator"
    sys_version = ""
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = "text/plain; charset=utf-8"
    _headers: ClassVar[dict[str, str]] = {
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }

    def do_GET(self) -> None:
        """Answer with the page."""
        self._answer(is_whole=True)

    def do_HEAD(self) -> None:
        """Answer with what goes before the page."""
        self._answer(is_whole=False)

    def do_POST(self) -> None:
        """Refuse what could change something."""
        self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST  # noqa: N815 - as above

    def end_headers(self) -> None:
        """Add what is said with every answer."""
        for name, value in self._headers.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", served_policy())
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name for it
        """Write nothing down: the address is the key."""

    def _answer(self, *, is_whole: bool) -> None:
        refusal = self._refusal()
        if refusal is HTTPStatus.NOT_FOUND and is_whole and self.server.take_ticket(self.path):
            self.send_response(HTTPStatus.SEE_OTHER)
            self.send_header("Location", f"/{self.server.token}/")
            self.end_headers()
            return
        if refusal is not None:
            self.send_error(refusal)
            return
        try:
            body, tag = self.server.source.newest()
        except CuratorError as error:
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, error.code)
            return
        is_known = self.headers.get("If-None-Match") == tag
        self.send_response(HTTPStatus.NOT_MODIFIED if is_known else HTTPStatus.OK)
        self.send_header("ETag", tag)
        if not is_known:
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if is_whole and not is_known:
            self.wfile.write(body)

    def _refusal(self) -> HTTPStatus | None:
        """Return why there is no answer: who asks comes first, so that nobody else learns which addresses are right."""
        hosts = [f"{name}:{self.server.server_port}" for name in _NAMES]
        origins = [None, *(f"http://{host}" for host in hosts)]
        if self.headers.get_all("Host") not in [[host] for host in hosts]:
            return HTTPStatus.MISDIRECTED_REQUEST
        if self.headers.get("Origin") not in origins:
            return HTTPStatus.FORBIDDEN
        if self.headers.get("Sec-Fetch-Site", "none") not in _FROM_HERE:
            return HTTPStatus.FORBIDDEN
        return None if _is_same(self.path, self.server.token) else HTTPStatus.NOT_FOUND


def _is_same(path: str, secret: str) -> bool:
    return secrets.compare_digest(path.encode(errors="replace"), f"/{secret}/".encode())
