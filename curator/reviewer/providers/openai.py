"""One request through the official client of the chat completions API, and what comes back of it.

INVARIANT  Exactly one HTTP request: no retry, no redirect, no second address. It ends: by its answer, its deadline or
           a wish to stop.
INVARIANT  A failure is typed by status and exception class; no text of the provider enters a message.
CRASH      What ends an answer early leaves no provenance: the attempt stays unknown and counts at its hold.
"""

from __future__ import annotations

import asyncio
import dataclasses
import ipaddress
import urllib.parse
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final, cast

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam

from curator.model.digest import Json, parse
from curator.model.limits import ANSWER_BYTES_MAX
from curator.model.outcome import Provenance
from curator.model.ports import Answer, CallFailure, Class, Clock, Stop
from curator.reviewer.failures import failure_of_status, read_retry_after
from curator.reviewer.heard import Heard
from curator.reviewer.hold import output_tokens
from curator.reviewer.normalize import Said, make_provenance

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

    from curator.reviewer.providers.completions import Call, Patience

WIRE_BYTES_MAX: Final = 64 * ANSWER_BYTES_MAX
"""A streamed token of four characters comes in a frame of some 250 bytes; thoughts come on top and are not kept."""
_POLL_S: Final = 0.05
"""How soon a wish to stop is seen."""
_NEVER_OPENED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""No connection, so no byte of the request left: the provider provably did not run."""


def converse(call: Call, clock: Clock, patience: Patience, stop: Stop) -> Answer | CallFailure:
    """Send the request and wait: for its answer, for its deadline, or for `stop`."""
    if stop.is_set():
        return _stopped()
    # A loop of its own: cancelling is the one way to end a call in any phase, from the name's lookup on.
    with asyncio.Runner() as runner:
        return runner.run(_watch(_Exchange(call, clock, patience), clock, patience, stop))


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
            ending = CallFailure("model_timeout", Class.RETRY, "the provider did not finish in time")
    task.cancel()
    await asyncio.wait({task})
    # It may have finished in the very moment; then its answer is as good as any.
    return ending if task.cancelled() else task.result()


def _stopped() -> CallFailure:
    return CallFailure("aborted", Class.STOPPED, "curator was asked to stop")


class _Exchange:
    """One request and its answer."""

    def __init__(self, call: Call, clock: Clock, patience: Patience) -> None:
        self._call = call
        self._facts = call.resolved.facts
        self._clock = clock
        self._patience = patience
        self._started_at = clock.now()
        self._heard = Heard()

    async def run(self) -> Answer | CallFailure:
        """Send the request and return its end; every expected failure is returned."""
        self._started_at = self._clock.now()
        try:
            async with self._client() as client, await self._send(client) as stream:
                return await self._listen(stream)
        except openai.APIStatusError as error:
            return self._refused(error.status_code, error.response.headers)
        except openai.APIConnectionError as error:
            return self._broken(error.__cause__)
        except httpx2.TransportError as error:
            return self._broken(error)
        except _TooMuchError:
            return CallFailure("invalid_model_output", Class.RETRY, "the answer is too long to be one")
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
            # A frame that is not JSON, bytes that are not text, an error in the middle of the stream.
            return _broken_off()

    def _client(self) -> openai.AsyncOpenAI:
        resolved = self._call.resolved
        headers = {
            "Accept-Encoding": "identity",  # so that the bytes that are counted are the bytes that are kept
            "Authorization": f"Bearer {resolved.credential.api_key}",
        }
        own = {name.lower() for name in resolved.credential.headers}
        headers = {name: value for name, value in headers.items() if name.lower() not in own}
        client = openai.AsyncOpenAI(
            api_key=resolved.credential.api_key,
            base_url=self._facts.base_url,
            max_retries=0,
            default_headers={**headers, **resolved.credential.headers},
            http_client=_http_client(self._facts.base_url, self._patience),
        )
        # The client takes these from the environment; they belong to another account than the one that was named.
        client.organization = client.project = None
        return client

    async def _send(self, client: openai.AsyncOpenAI) -> openai.AsyncStream[ChatCompletionChunk]:
        facts, effort = self._facts, self._call.resolved.effort
        limit = output_tokens(facts)
        is_new_field = facts.max_tokens_field == "max_completion_tokens"
        return await client.chat.completions.create(
            model=facts.model,
            messages=self._messages(),
            stream=True,
            stream_options={"include_usage": True} if facts.has_stream_usage else openai.omit,
            max_completion_tokens=limit if is_new_field else openai.omit,
            max_tokens=openai.omit if is_new_field else limit,
            store=False if facts.has_store_field else openai.omit,
            extra_body={"reasoning_effort": effort} if effort is not None else None,
        )

    def _messages(self) -> list[ChatCompletionMessageParam]:
        user: ChatCompletionMessageParam = {"role": "user", "content": self._call.user_prompt}
        system: ChatCompletionMessageParam = {"role": "system", "content": self._call.system_prompt}
        if self._facts.has_developer_role:
            system = {"role": "developer", "content": self._call.system_prompt}
        return [system, user]

    async def _listen(self, stream: openai.AsyncStream[ChatCompletionChunk]) -> Answer | CallFailure:
        if "application/json" in stream.response.headers.get("content-type", ""):
            # A server that does not stream, or that reports an error as a success.
            self._heard.take(parse(await stream.response.aread()), "message")
        else:
            async for chunk in stream:
                self._heard.take(_plain(chunk))
                if self._heard.is_too_long:
                    raise _TooMuchError
        if not self._heard.is_whole:
            return _broken_off()
        provenance, is_estimated = self._provenance(self._heard.said)
        failure = self._heard.failure()
        if failure is None:
            return Answer(self._heard.text, provenance, is_estimated)
        return _with(failure, provenance, is_estimated=is_estimated)

    def _refused(self, status: int, headers: httpx2.Headers) -> CallFailure:
        wait = read_retry_after(headers.get("retry-after-ms"), headers.get("retry-after"), self._clock.now())
        # A whole error answer: the provider did not run the model, and says so.
        return _with(failure_of_status(status, self._facts.model, wait), self._provenance(Said())[0])

    def _broken(self, cause: BaseException | None) -> CallFailure:
        code = "model_timeout" if isinstance(cause, httpx2.TimeoutException) else "provider_error"
        if isinstance(cause, _NEVER_OPENED):
            failure = CallFailure(code, Class.RETRY, "the provider could not be reached")
            return _with(failure, self._provenance(Said())[0])
        return CallFailure(code, Class.RETRY, "the connection to the provider broke off")

    def _provenance(self, said: Said) -> tuple[Provenance, bool]:
        return make_provenance(self._facts, self._started_at, self._clock.now(), said)


def _with(failure: CallFailure, provenance: Provenance, *, is_estimated: bool = False) -> CallFailure:
    return dataclasses.replace(failure, provenance=provenance, is_estimated=is_estimated)


def _broken_off() -> CallFailure:
    return CallFailure("provider_error", Class.RETRY, "the provider's answer broke off or is not readable")


def _plain(chunk: object) -> Json:
    """Return a chunk as the JSON that it came as; a frame that is no object is not a chunk."""
    return cast("Json", chunk.to_dict(warnings=False)) if isinstance(chunk, openai.BaseModel) else None


class _TooMuchError(Exception):
    """More bytes than any answer has."""


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


def _http_client(base_url: str, patience: Patience) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(
            connect=patience.connect_ms / 1_000,
            read=patience.read_ms / 1_000,
            write=patience.connect_ms / 1_000,
            pool=patience.connect_ms / 1_000,
        ),
        follow_redirects=False,
        # A company's proxy and its certificates are the operator's own setting; what is on this machine stays here.
        trust_env=not _is_loopback(base_url),
        event_hooks={"response": [_bound]},
    )


def _is_loopback(base_url: str) -> bool:
    host = urllib.parse.urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
