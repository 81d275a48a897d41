"""The door to Anthropic's official client: the messages API, at Anthropic or at whoever speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import anthropic

from curator.model.digest import Json
from curator.reviewer.hold import output_tokens
from curator.reviewer.providers.wire import LostError, Pieces, RefusedError, UnreadableError, read

if TYPE_CHECKING:
    import httpx2

    from curator.reviewer.providers.direct import Call


async def ask_messages(call: Call, http: httpx2.AsyncClient) -> Pieces:
    """Send a message, and yield what comes of it. It is asked to answer without thinking first: a review is short."""
    facts = call.facts
    try:
        async with (
            _client(call, http) as client,
            await client.messages.create(
                model=facts.model,
                system=call.system_prompt,
                messages=[{"role": "user", "content": call.user_prompt}],
                max_tokens=output_tokens(facts),
                stream=True,
            ) as stream,
        ):
            async for piece in read(stream, _plain):
                yield piece
    except anthropic.AnthropicError as error:
        raise _as_ours(error) from error.__cause__


def _client(call: Call, http: httpx2.AsyncClient) -> anthropic.AsyncAnthropic:
    # With a key given the client looks for none; telemetry would carry evidence.
    return anthropic.AsyncAnthropic(
        api_key=call.sure_credential.api_key,
        base_url=call.facts.base_url,
        max_retries=0,
        http_client=http,
        open_telemetry=False,
    )


def _as_ours(error: anthropic.AnthropicError) -> RefusedError | LostError | UnreadableError:
    if isinstance(error, anthropic.APIStatusError):
        return RefusedError(error.status_code, error.response.headers, error.body)
    return LostError() if isinstance(error, anthropic.APIConnectionError) else UnreadableError()


def _plain(piece: object) -> Json:
    """Return a piece as the JSON that it came as; a frame that is no object is not one."""
    return cast("Json", piece.to_dict(warnings=False)) if isinstance(piece, anthropic.BaseModel) else None
