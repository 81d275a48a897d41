"""A chat completions server on loopback that answers at once, or fails as it is told, and remembers when it was asked."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

from curator.model.digest import Json


class Server(ThreadingHTTPServer):
    """A listening socket with a thread a connection. `mode` is told the number of a request, from 1 on."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, mode: Callable[[int], str]) -> None:
        """Listen on a port of the system's choice."""
        self.mode = mode
        self.arrivals: list[float] = []
        self.is_over = threading.Event()
        self.arrived = threading.Condition()
        super().__init__(("127.0.0.1", 0), Connection)

    @property
    def url(self) -> str:
        """Return the baseUrl of a models.json."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing where a client is gone: some are killed on purpose. Anything else is told as ever."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as the caller gave it

    def note(self) -> int:
        """Remember a request; return its number."""
        with self.arrived:
            self.arrivals.append(time.perf_counter())
            self.arrived.notify_all()
            return len(self.arrivals)

    def wait_for(self, count: int, seconds: float) -> float:
        """Wait for the request of that number and return when it came. Raises `TimeoutError`."""
        with self.arrived:
            if not self.arrived.wait_for(lambda: len(self.arrivals) >= count, seconds):
                raise TimeoutError(f"request {count} did not come")
            return self.arrivals[count - 1]


class Connection(BaseHTTPRequestHandler):
    """One client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""

    def do_POST(self) -> None:
        server = cast("Server", self.server)
        number = server.note()
        self.rfile.read(int(self.headers.get("content-length") or 0))
        mode = server.mode(number)
        if mode == "stall":
            server.is_over.wait(3.0)
            self.close_connection = True
        elif mode.startswith("http"):
            self._send(int(mode[4:]), json.dumps({"error": {"message": "made up", "code": mode[4:]}}))
        elif mode == "badjson":
            self._send(200, '{"choices": [')
        else:
            self._send(200, json.dumps(_answer(number, keeps_something=mode != "noop")))

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            if status == 429:
                self.send_header("retry-after", "1")
            self.end_headers()
            self.wfile.write(data)


def _answer(number: int, *, keeps_something: bool) -> Json:
    content = f"The build of part {number} wants its own folder."
    operation = {"action": "add", "content": content, "importance": "normal"}
    proposal = {"operations": [operation] if keeps_something else []}
    message: Json = {"role": "assistant", "content": json.dumps(proposal)}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": "fake-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160},
    }


@contextlib.contextmanager
def serving(mode: Callable[[int], str] = lambda _: "ok") -> Iterator[Server]:
    """Serve while the block runs."""
    with Server(mode) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            server.shutdown()
            thread.join()
