"""A provider on loopback that fails in every way a real one does, on command.

Serves POST /v1/chat/completions, /v1/responses and /v1/messages (a stream where one is asked for), GET /v1/models, GET /healthz, and GET and POST
/_control to read and change its settings while it runs. What comes in is told apart by its first message: `review` if
that says "curator", `skill` if it speaks of skills, else `foreground`. Each kind has a mode, or a comma list of modes
that is used up one a request while the last one stays. Every request is one JSON line in the log.

Modes: ok noop fenced invalidop toolong malformed empty huge toolcall length refusal thought nousage nodone badsse badjson truncated stall
slow hang reset reset_mid gzip, and http429 with any other status in its place. An unknown one answers as ok does.

    python -m tests.fakes.provider --port-file port --log requests.jsonl --review-mode http429,ok
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import re
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from tests.fakes.dialects import Dialect, Told, dialect_of, encoded, prompt_of, system_of

if TYPE_CHECKING:
    from curator.model.digest import Json

_SECRET: Final = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})
_OPERATION: Final = {
    "action": "add",
    "content": "Run the test suite with 'make check-fast'; plain pytest skips the generated fixtures.",
    "importance": "high",
}
PROPOSAL: Final = json.dumps({"operations": [_OPERATION]})


@dataclasses.dataclass
class Settings:
    """What can be changed while it runs, and by the command line."""

    review: str = "ok"
    skill: str = "ok"
    foreground: str = "ok"
    proposal: str = PROPOSAL
    """The answer to a review; `{n}` becomes the number of the request."""
    foreground_text: str = "Understood. I will use that convention from now on."
    tool_call: str = ""
    """A tool's name and its arguments, called at each turn of a user."""
    retry_after: str = "1"
    hang_s: float = 600.0
    slow_s: float = 0.2
    huge_bytes: int = 8 << 20
    chunk: int = 24
    raw: str = ""
    """One exchange to replay instead: `{"status", "headers", "body"}` as JSON, or with `sse` for the text of a stream."""
    marked: str = ""
    """Answers to reviews whose request holds a marker: a JSON object of markers to lists, which are used up one a
    request while the last one stays. Each is an exchange as above, the text of an answer, or null for what `review` says."""

    def mode(self, kind: str) -> str:
        """Take the next mode of a kind."""
        first, comma, rest = str(getattr(self, kind)).partition(",")
        if comma:
            setattr(self, kind, rest)
        return first.strip() or "ok"

    def mark(self, request: str) -> Json:
        """Take the next answer to a request that holds a marker."""
        answers = json.loads(self.marked or "{}")
        for marker, said in answers.items():
            if marker in request:
                taken: Json = said.pop(0) if len(said) > 1 else said[0]
                self.marked = json.dumps(answers)
                return taken
        return None


@dataclasses.dataclass
class State:
    """What all connections share."""

    settings: Settings
    log: Path | None = None
    requests: int = 0
    live: int = 0
    max_live: int = 0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    is_over: threading.Event = dataclasses.field(default_factory=threading.Event)

    def note(self, record: dict[str, Json]) -> int:
        """Count a request and log it; return its number."""
        with self.lock:
            self.requests += 1
            if self.log is not None:
                with self.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"ts": time.time(), "n": self.requests} | record) + "\n")
            return self.requests


class Server(ThreadingHTTPServer):
    """A listening socket with a thread a connection."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, state: State, host: str = "127.0.0.1", port: int = 0) -> None:
        self.state = state
        super().__init__((host, port), Connection)

    @property
    def url(self) -> str:
        """Return the baseUrl of a models.json."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextlib.contextmanager
def serving(settings: Settings | None = None, log: Path | None = None) -> Iterator[Server]:
    """Serve while the block runs."""
    state = State(settings or Settings(), log)
    with Server(state) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            state.is_over.set()
            server.shutdown()
            thread.join()


class Connection(BaseHTTPRequestHandler):
    """One client."""

    protocol_version = "HTTP/1.1"

    @property
    def state(self) -> State:
        return cast("Server", self.server).state

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""

    def do_GET(self) -> None:
        path = self.path.split("?")[0].rstrip("/")
        if path == "/healthz":
            self._json(200, {"ok": True, "requests": self.state.requests})
        elif path == "/_control":
            counts: dict[str, Json] = {"requests": self.state.requests, "max_live": self.state.max_live}
            self._json(200, {**dataclasses.asdict(self.state.settings), **counts})
        else:
            self._note(None, "other", "ok")
            self._json(200 if path.endswith("/models") else 404, {"object": "list", "data": [{"id": "fake-1"}]})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        if self.path.startswith("/_control"):
            for name, value in body.items():
                setattr(self.state.settings, name, value)
            self._json(200, dataclasses.asdict(self.state.settings))
            return
        kind = classify(body)
        mode = self.state.settings.mode(kind)
        number = self._note(body, kind, mode)
        with self.state.lock:
            self.state.live += 1
            self.state.max_live = max(self.state.max_live, self.state.live)
        try:
            self._respond(number, kind, mode, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.state.lock:
                self.state.live -= 1

    def _note(self, body: Json, kind: str, mode: str) -> int:
        headers: dict[str, Json] = {
            name.lower(): "<redacted>" if name.lower() in _SECRET else value for name, value in self.headers.items()
        }
        seen: dict[str, Json] = {"kind": kind, "mode": mode, "method": self.command, "path": self.path}
        return self.state.note(seen | {"headers": headers, "body": body})

    def _respond(self, number: int, kind: str, mode: str, body: dict[str, Json]) -> None:
        settings = self.state.settings
        with self.state.lock:
            marked = settings.mark(json.dumps(body)) if kind == "review" else None
        if settings.raw and kind == "review":
            self._replay(json.loads(settings.raw))
        elif isinstance(marked, dict):
            self._replay(marked)
        elif isinstance(marked, str):
            self._tell(number, mode, body, marked)
        elif mode.startswith("http"):
            error: Json = {"message": f"made-up failure {mode[4:]}", "type": "server_error", "code": mode[4:]}
            wait = {"retry-after": settings.retry_after} if mode in ("http429", "http503", "http529") else {}
            self._json(int(mode[4:]), {"error": error}, wait | ({"location": "/v1/other"} if mode[4] == "3" else {}))
        elif mode in ("reset", "hang"):
            self.state.is_over.wait(settings.hang_s if mode == "hang" else 0)
            self._reset()
        elif mode == "gzip":
            # Not asked for, and not true either.
            self._send(200, b"{}", {"content-type": "application/json", "content-encoding": "gzip"})
        elif mode == "badjson":
            self._send(200, b"<html>502 bad gateway</html>", {"content-type": "text/html"})
        else:
            self._answer(number, kind, mode, body)

    def _replay(self, exchange: dict[str, Json]) -> None:
        sse, status = exchange.get("sse"), exchange.get("status")
        if isinstance(sse, str):
            self._send(200, sse.encode("utf-8", "surrogateescape"), {"content-type": "text/event-stream"})
        else:
            assert isinstance(status, int)
            self._json(status, exchange.get("body"), cast("dict[str, str]", exchange.get("headers")))

    def _answer(self, number: int, kind: str, mode: str, body: dict[str, Json]) -> None:
        self._tell(number, mode, body, *self._say(number, kind, mode, body))

    def _tell(self, number: int, mode: str, body: dict[str, Json], text: str, calls: list[Json] | None = None) -> None:
        told = Told(number, body.get("model"), text, calls or [], mode, len(prompt_of(body)) // 4)
        dialect = dialect_of(self.path.split("?")[0])
        if body.get("stream"):
            self._stream(dialect, told)
        else:
            self._json(200, dialect.whole(told))

    def _say(self, number: int, kind: str, mode: str, body: dict[str, Json]) -> tuple[str, list[Json]]:
        settings = self.state.settings
        if mode == "toolcall":
            return "", [_call(number, "bash", '{"command": "true"}')]
        add: dict[str, Json] = {"action": "add", "content": "y" * 900, "importance": "normal"}
        said = {
            "malformed": "I am sorry, here is no JSON { operations: oops",
            "huge": "x" * settings.huge_bytes if mode == "huge" else "",
            "empty": "",
            "thought": f"<think>First of all {settings.proposal}",
            "noop": '{"operations":[]}',
            "invalidop": json.dumps({"operations": [add | {"action": "explode"}]}),
            "toolong": json.dumps({"operations": [add]}),
            "fenced": f"Here you go:\n```json\n{settings.proposal}\n```\nDone.",
        }
        if mode in ("malformed", "huge", "empty", "thought") or (kind == "review" and mode in said):
            return said[mode], []
        if kind == "review":
            return settings.proposal.replace("{n}", str(number)), []
        if kind == "skill":
            return said["noop"], []
        name, _, arguments = settings.tool_call.partition(" ")
        messages = cast("list[dict[str, Json]]", body.get("messages") or [{}])
        if name and messages[-1].get("role") == "user" and f'"name": "{name}"' in json.dumps(body.get("tools")):
            return "Let me check.", [_call(number, name, arguments or "{}")]
        return settings.foreground_text, []

    def _stream(self, dialect: Dialect, told: Told) -> None:
        mode = told.mode
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for frame in dialect.opening(told):
            self._write(encoded(frame))
        size = 65_536 if mode == "huge" else max(1, self.state.settings.chunk)
        pieces = [told.text[at : at + size] for at in range(0, len(told.text), size)]
        for index, piece in enumerate(pieces):
            if mode == "truncated" and index >= max(1, len(pieces) // 2):
                return
            if mode in ("stall", "reset_mid") and index == 1:
                self.state.is_over.wait(self.state.settings.hang_s if mode == "stall" else 0)
                self._reset()
                return
            if mode == "slow":
                self.state.is_over.wait(self.state.settings.slow_s)
            is_broken = mode == "badsse" and index == 0
            self._write(dialect.broken if is_broken else encoded(dialect.piece(told, piece)))
        for frame in dialect.closing(told):
            self._write(encoded(frame))
        if mode != "nodone":
            self._write(dialect.ending)

    def _write(self, raw: bytes) -> None:
        self.wfile.write(raw)
        self.wfile.flush()

    def _json(self, status: int, value: Json, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"content-type": "application/json"} | (headers or {}))

    def _send(self, status: int, raw: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _reset(self) -> None:
        """End the connection as a crash does: with a reset instead of a farewell."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.wfile = io.BytesIO()
        self.rfile.close()
        self.connection.close()


def classify(body: dict[str, Json]) -> str:
    """Return what kind of request this is."""
    system = system_of(body)
    if not body.get("tools"):
        if re.search(r"\bcurator\b", system, re.IGNORECASE):
            return "review"
        if re.search(r"\bskill\b|procedural-skill", system, re.IGNORECASE):
            return "skill"
    return "foreground"


def _call(number: int, name: str, arguments: str) -> Json:
    return {
        "index": 0,
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def main(arguments: list[str]) -> int:
    """Serve until a signal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--log", type=Path)
    for field in dataclasses.fields(Settings):
        name = f"--{field.name.replace('_', '-')}" + (
            "-mode" if field.name in ("review", "skill", "foreground") else ""
        )
        parser.add_argument(name, dest=field.name, default=field.default, type=type(field.default))
    given = vars(parser.parse_args(arguments))
    settings = Settings(**{field.name: given[field.name] for field in dataclasses.fields(Settings)})
    with Server(State(settings, given["log"]), given["host"], given["port"]) as server:
        if given["port_file"]:
            staged = given["port_file"].with_suffix(".tmp")
            staged.write_text(str(server.server_address[1]))
            staged.replace(given["port_file"])
        print(json.dumps({"listening": server.url}), flush=True)
        stop = threading.Thread(target=server.shutdown, daemon=True)
        signal.signal(signal.SIGTERM, lambda *_: stop.start())
        server.serve_forever(poll_interval=0.2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
