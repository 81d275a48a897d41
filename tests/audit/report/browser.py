"""A real browser for a test: Chromium without a window, driven over its own pipe; no driver, no port, no download."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curator.model.digest import Json

PROGRAM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WHY: Final = "no Chromium is installed (Debian: chromium)"
_ANSWER_S: Final = 30.0
_HIGH: Final = 10
_FLAGS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-proxy-server",
)


class Browser:
    """One browser with one page, and all that the page said and asked for."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _HIGH) for each in (theirs_in, theirs_out)]
        nowhere = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, nowhere, number) for number in range(3)]
        actions += [(os.POSIX_SPAWN_DUP2, each, number) for number, each in enumerate(high, start=3)]
        environ = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
        command = [PROGRAM, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        self._pid = os.posix_spawn(PROGRAM, command, environ, file_actions=actions, setpgroup=0)
        for each in (theirs_in, theirs_out, nowhere, *high):
            os.close(each)
        self._number = 0
        self._waiting = b""
        self._session: str | None = None
        self.events: list[tuple[str, dict[str, Json]]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = str(self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        for each in (self._in, self._out):
            os.close(each)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def ask(self, method: str, **params: Json) -> dict[str, Json]:
        """Give an order and return its answer; what happens meanwhile is kept."""
        self._number += 1
        number = self._number
        order: dict[str, Json] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            order["sessionId"] = self._session
        os.write(self._out, json.dumps(order).encode() + b"\0")
        while (told := self._next())[0] != number:
            pass
        assert "error" not in told[1], told[1]
        result = told[1]["result"]
        assert isinstance(result, dict)
        return result

    def show(self, url: str, *, width: int = 1200, height: int = 900, is_dark: bool = False) -> None:
        """Load a page into a window of that size, for somebody who likes it dark or light."""
        scheme: dict[str, Json] = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        is_phone = width < 600
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone)
        seen = self._count("Page.loadEventFired")
        self.ask("Page.navigate", url=url)
        while self._count("Page.loadEventFired") == seen:
            self._next()

    def run(self, script: str) -> Json:
        """Return what an expression comes to in the page, promises awaited."""
        told = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        result = told["result"]
        assert isinstance(result, dict)
        return result.get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            code = {"Tab": 9, "Enter": 13, " ": 32}[key]
            text = {} if key == "Tab" else {"text": "\r" if key == "Enter" else key}
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **(text if kind == "keyDown" else {}),
            )

    def picture(self, path: Path) -> None:
        """Keep what the whole page looks like."""
        told = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(str(told["data"])))

    @property
    def asked_for(self) -> list[str]:
        """Every address that a page asked for."""
        requests = [params["request"] for name, params in self.events if name == "Network.requestWillBeSent"]
        return [str(request["url"]) for request in requests if isinstance(request, dict)]

    @property
    def refused(self) -> list[str]:
        """Why an address was not asked, of each that a page would have asked for."""
        return [str(params.get("blockedReason")) for name, params in self.events if name == "Network.loadingFailed"]

    @property
    def complaints(self) -> list[str]:
        """All that went to the console: errors, warnings, what the policy refused."""
        said = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(params) for name, params in self.events if name in said]

    def _count(self, name: str) -> int:
        return sum(each == name for each, _ in self.events)

    def _next(self) -> tuple[int | None, dict[str, Json]]:
        deadline = time.monotonic() + _ANSWER_S
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has ended"
            self._waiting += part
        first, _, self._waiting = self._waiting.partition(b"\0")
        told: dict[str, Json] = json.loads(first)
        method, params = told.get("method"), told.get("params")
        if isinstance(method, str) and isinstance(params, dict):
            self.events.append((method, params))
        number = told.get("id")
        return (number if isinstance(number, int) else None), told
