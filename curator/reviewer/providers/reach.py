"""Whether a provider can be reached at all: asked right before a dispatch, so that being offline costs nothing.

A connection is opened, with TLS where the address says so, and closed again: no byte of a request leaves. With a proxy
in the environment it is the proxy that has to be there.
"""

from __future__ import annotations

import ipaddress
import queue
import socket
import ssl
import threading
import urllib.parse
import urllib.request
from typing import Final

from curator.model.ports import Clock, Stop
from curator.reviewer.providers.trust import trust_of

CONNECT_MS_MAX: Final = 10_000
"""A slow line opens a connection in seconds; what takes longer is asked again after a back-off."""
_POLL_S: Final = 0.02
_PORTS: Final = {"http": 80, "https": 443}


def find_obstacle(base_url: str, clock: Clock, stop: Stop, connect_ms_max: int = CONNECT_MS_MAX) -> str | None:
    """Return what keeps the host from being reached, in our own words, or None. Ends by its bound or a wish to stop."""
    answer: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    # A name's lookup cannot be broken off, so it may outlive the wait, in a thread that nobody waits for.
    threading.Thread(target=lambda: answer.put(_try(base_url, connect_ms_max / 1_000, clock)), daemon=True).start()
    deadline = clock.monotonic() + connect_ms_max
    while not stop.is_set():
        try:
            return answer.get(timeout=_POLL_S)
        except queue.Empty:
            if clock.monotonic() >= deadline:
                return "no connection in time"
    return "a wish to stop"


def is_loopback(base_url: str) -> bool:
    """Tell whether an address leads to this machine."""
    host = urllib.parse.urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _try(base_url: str, seconds: float, clock: Clock) -> str | None:
    target = urllib.parse.urlsplit(_proxy_of(base_url) or base_url)
    host = target.hostname or ""
    try:
        port = target.port or _PORTS[target.scheme]
        if target.scheme == "https":
            _shake_hands(host, port, seconds, trust_of(clock))
        else:
            socket.create_connection((host, port), timeout=seconds).close()
    except ssl.SSLCertVerificationError:
        return "its certificate is not trusted"
    except ssl.SSLError:
        return "TLS failed"
    except socket.gaierror:
        return "its name is not known"
    except TimeoutError:
        return "no connection in time"
    except ConnectionRefusedError:
        return "the connection was refused"
    except (OSError, UnicodeError, KeyError):
        return "no connection"
    return None


def _shake_hands(host: str, port: int, seconds: float, trust: ssl.SSLContext) -> None:
    """Open a connection with TLS to the first address that takes one, and close it.

    The socket is wrapped before it connects: one that the other side resets between the two is lost to the wrapping.
    """
    failed = OSError("it has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        with (
            socket.socket(family, kind, protocol) as plain,
            trust.wrap_socket(plain, server_hostname=host) as connection,
        ):
            connection.settimeout(seconds)
            try:
                connection.connect(address)
            except OSError as error:
                failed = error
            else:
                return
    raise failed


def _proxy_of(base_url: str) -> str | None:
    parts = urllib.parse.urlsplit(base_url)
    if is_loopback(base_url) or urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
