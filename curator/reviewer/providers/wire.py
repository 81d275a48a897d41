"""One request through an official client, and what comes back of it, whatever the API.

INVARIANT  Exactly one HTTP request: no retry, no redirect, no second address. It ends: by its answer, its deadline or
           a wish to stop.
INVARIANT  What is sent is what models.json and auth.json say: a header that a client takes from the environment is
           taken out again, for it belongs to another account.
INVARIANT  A failure is typed by status and exception class; no text of the provider enters a message.
CRASH      What ends an answer early leaves no provenance: the attempt stays unknown and counts at its hold.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

import httpx2

from curator.model.digest import Json, parse
from curator.model.limits import ANSWER_BYTES_MAX
from curator.model.outcome import Provenance
from curator.model.ports import Answer, CallFailure, Clock, Stop
from curator.reviewer.failures import Charge, Mishap, failure_of, failure_of_status, read_retry_after, row_of_status
from curator.reviewer.heard.answer import Heard
from curator.reviewer.normalize import Said, make_provenance, read_usage
from curator.reviewer.providers.reach import is_loopback
from curator.reviewer.providers.trust import trust_of

if TYPE_CHECKING:
    import ssl

    from curator.reviewer.providers.direct import Call, Patience

WIRE_BYTES_MAX: Final = 64 * ANSWER_BYTES_MAX
"""A streamed token of four characters comes in a frame of some 250 bytes; thoughts come on top and are not kept."""
_POLL_S: Final = 0.05
"""How soon a wish to stop is seen."""
_NEVER_OPENED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""No connection, so no byte of the request left: the provider provably did not run."""
_OF_THE_WIRE: Final = frozenset(
    ("accept", "connection", "content-length", "content-type", "host", "transfer-encoding", "user-agent")
)
"""What a request has beside the headers that are ours to say."""

T_co = TypeVar("T_co", covariant=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a stream as JSON, or a whole answer."""

    value: Json
    is_whole: bool = False


Pieces: TypeAlias = AsyncGenerator[Piece, None]
Door: TypeAlias = Callable[["Call", httpx2.AsyncClient], Pieces]
"""Sends one call through one official client. Raises nothing but the errors of this module and of the transport."""


class RefusedError(Exception):
    """The provider answered with an error status."""

    def __init__(self, status: int, headers: httpx2.Headers, body: object) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.body = body


class LostError(Exception):
    """The client could not send the request, or lost the connection; its cause says how."""


class UnreadableError(Exception):
    """A frame that is not what the API says, or an error in the middle of a stream."""


class _TooMuchError(Exception):
    """More bytes than any answer has."""


class Stream(Protocol[T_co]):
    """A client's stream of typed pieces."""

    @property
    def response(self) -> httpx2.Response:
        """The answer's head."""

    def __aiter__(self) -> AsyncIterator[T_co]:
        """Read piece after piece."""


async def read(stream: Stream[T_co], plain: Callable[[T_co], Json]) -> Pieces:
    """Yield a stream's pieces as JSON; or the one answer of a server that does not stream, or calls an error a success."""
    if "application/json" in stream.response.headers.get("content-type", ""):
        yield Piece(parse(await stream.response.aread()), is_whole=True)
        return
    async for piece in stream:
        yield Piece(plain(piece))


def converse(
    call: Call, door: Door, heard: Heard, clock: Clock, patience: Patience, stop: Stop
) -> Answer | CallFailure:
    """Send the request and wait: for its answer, for its deadline, or for `stop`."""
    if stop.is_set():
        return _stopped()
    # A loop of its own: cancelling is the one way to end a call in any phase, from the name's lookup on.
    with asyncio.Runner() as runner:
        return runner.run(_watch(_Exchange(call, door, heard, clock, patience), clock, patience, stop))


async def _watch(exchange: _Exchange, clock: Clock, patience: Patience, stop: Stop) -> Answer | CallFailure:
    deadline = clock.monotonic() + patience.total_ms
    task = asyncio.create_task(exchange.run())
    ending: CallFailure | None = None
    while ending is None:
        done, _ = await asyncio.wait({task}, timeout=_POLL_S)
        if done:
            return task.result()
        if stop.is_set():
            ending = _stopped()
        elif clock.monotonic() >= deadline:
            ending = failure_of(Mishap.TIMEOUT, "the provider did not finish in time")
    task.cancel()
    await asyncio.wait({task})
    # It may have finished in the very moment; then its answer is as good as any.
    return ending if task.cancelled() else task.result()


def _stopped() -> CallFailure:
    return failure_of(Mishap.STOPPED, "curator was asked to stop")


class _Exchange:
    """One request and its answer."""

    def __init__(self, call: Call, door: Door, heard: Heard, clock: Clock, patience: Patience) -> None:
        self._call = call
        self._facts = call.facts
        self._door = door
        self._heard = heard
        self._clock = clock
        self._patience = patience
        self._started_at = clock.now()

    async def run(self) -> Answer | CallFailure:
        """Send the request and return its end; every expected failure is returned."""
        self._started_at = self._clock.now()
        try:
            async with (
                _http_client(self._call, self._patience, trust_of(self._clock)) as http,
                aclosing(self._door(self._call, http)) as said,
            ):
                return await self._listen(said)
        except RefusedError as refused:
            return self._refused(refused)
        except LostError as error:
            return self._broken(error.__cause__)
        except httpx2.TransportError as error:
            return self._broken(error)
        except _TooMuchError:
            return _too_much()
        except (UnreadableError, httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
            # A frame that is not JSON, bytes that are not text, an error in the middle of the stream.
            return _broken_off()

    async def _listen(self, pieces: Pieces) -> Answer | CallFailure:
        heard = self._heard
        async for piece in pieces:
            heard.take(piece.value, is_whole=piece.is_whole)
            if heard.is_too_long:
                raise _TooMuchError
        if not heard.is_whole:
            return _broken_off()
        provenance, is_estimated = self._provenance(heard.said)
        failure = heard.failure()
        if failure is None:
            return Answer(heard.text, provenance, is_estimated)
        return dataclasses.replace(failure, provenance=provenance, is_estimated=is_estimated)

    def _refused(self, refused: RefusedError) -> CallFailure:
        headers, status = refused.headers, refused.status
        if httpx2.codes.is_success(status):
            # An error in the middle of what began as an answer.
            return _broken_off()
        wait = read_retry_after(headers.get("retry-after-ms"), headers.get("retry-after"), self._clock.now())
        failure = failure_of_status(status, self._facts.model, wait)
        usage = refused.body.get("usage") if isinstance(refused.body, dict) else None
        is_told = read_usage(usage, self._facts) is not None
        may_have_run = row_of_status(status).charge is Charge.HOLD
        said = Said(usage) if is_told or may_have_run else None
        provenance, is_estimated = self._provenance(said)
        return dataclasses.replace(failure, provenance=provenance, is_estimated=is_estimated)

    def _broken(self, cause: BaseException | None) -> CallFailure:
        if isinstance(cause, _TooMuchError):
            return _too_much()
        if isinstance(cause, _NEVER_OPENED):
            failure = failure_of(Mishap.NEVER_OPENED, "the provider could not be reached")
            return dataclasses.replace(failure, provenance=self._provenance(None)[0])
        if isinstance(cause, httpx2.TimeoutException):
            return failure_of(Mishap.TIMEOUT, "the provider fell silent")
        return failure_of(Mishap.RESET, "the connection to the provider broke off")

    def _provenance(self, said: Said | None) -> tuple[Provenance, bool]:
        return make_provenance(self._facts, self._started_at, self._clock.now(), said)


def _broken_off() -> CallFailure:
    return failure_of(Mishap.BROKEN, "the provider's answer broke off or is not readable")


def _too_much() -> CallFailure:
    return failure_of(Mishap.TOO_LONG, "the answer is too long to be one, or not in the encoding that was asked for")


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that ends with an error instead of filling the memory: a frame may be of any length."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for block in self._inner:
            size += len(block)
            if size > WIRE_BYTES_MAX:
                raise _TooMuchError
            yield block

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _bound(response: httpx2.Response) -> None:
    # The client has only promised bytes so far; an encoding that was not asked for could multiply them.
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise _TooMuchError
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream)


def _http_client(call: Call, patience: Patience, trust: ssl.SSLContext) -> httpx2.AsyncClient:
    ours = headers_of(call)
    base_url = call.facts.base_url

    async def purify(request: httpx2.Request) -> None:
        for name in {name.lower() for name in request.headers} - _OF_THE_WIRE:
            del request.headers[name]
        request.headers.update(ours)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(
            connect=patience.connect_ms / 1_000,
            read=patience.read_ms / 1_000,
            write=patience.connect_ms / 1_000,
            pool=patience.connect_ms / 1_000,
        ),
        verify=trust,
        follow_redirects=False,
        # A company's proxy and its certificates are the operator's own setting; what is on this machine stays here.
        trust_env=not is_loopback(base_url),
        event_hooks={"request": [purify], "response": [_bound]},
    )


def headers_of(call: Call) -> Mapping[str, str]:
    """Return the headers that are ours to say: the key as the API wants it, and what models.json adds or overrides."""
    facts, credential = call.facts, call.sure_credential
    said = {"accept-encoding": "identity"}  # so that the bytes that are counted are the bytes that are kept
    if facts.api == "anthropic-messages":
        said |= {"anthropic-version": "2023-06-01", "x-api-key": credential.api_key}
    if facts.api != "anthropic-messages" or facts.has_bearer:
        said |= {"authorization": f"Bearer {credential.api_key}"}
    return said | {name.lower(): value for name, value in credential.headers.items()}
