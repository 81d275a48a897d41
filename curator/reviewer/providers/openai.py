"""The door to OpenAI's official client: the chat completions and the responses API, here or at whoever speaks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import openai
from openai.types.chat import ChatCompletionMessageParam

from curator.model.digest import Json
from curator.reviewer.hold import output_tokens
from curator.reviewer.providers.wire import LostError, Pieces, RefusedError, UnreadableError, read

if TYPE_CHECKING:
    import httpx2
    from openai.types.shared_params import Reasoning

    from curator.reviewer.providers.direct import Call


async def ask_chat(call: Call, http: httpx2.AsyncClient) -> Pieces:
    """Send a chat completion, and yield what comes of it."""
    facts, effort = call.facts, call.effort
    limit = output_tokens(facts)
    is_new_field = facts.max_tokens_field == "max_completion_tokens"
    try:
        async with (
            _client(call, http) as client,
            await client.chat.completions.create(
                model=facts.model,
                messages=_messages(call),
                stream=True,
                stream_options={"include_usage": True} if facts.has_stream_usage else openai.omit,
                max_completion_tokens=limit if is_new_field else openai.omit,
                max_tokens=openai.omit if is_new_field else limit,
                store=False if facts.has_store_field else openai.omit,
                extra_body={"reasoning_effort": effort} if effort is not None else None,
            ) as stream,
        ):
            async for piece in read(stream, _plain):
                yield piece
    except openai.OpenAIError as error:
        raise _as_ours(error) from error.__cause__


async def ask_responses(call: Call, http: httpx2.AsyncClient) -> Pieces:
    """Send a request of the responses API, and yield what comes of it. Nothing of it is stored at the provider."""
    facts = call.facts
    # The wire's word is the person's own, from models.json; the client only knows those of its day.
    reasoning = cast("Reasoning", {"effort": call.effort})
    try:
        async with (
            _client(call, http) as client,
            await client.responses.create(
                model=facts.model,
                instructions=call.system_prompt,
                input=call.user_prompt,
                stream=True,
                store=False,
                max_output_tokens=output_tokens(facts),
                reasoning=openai.omit if call.effort is None else reasoning,
            ) as stream,
        ):
            async for piece in read(stream, _plain):
                yield piece
    except openai.OpenAIError as error:
        raise _as_ours(error) from error.__cause__


def _client(call: Call, http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    client = openai.AsyncOpenAI(
        api_key=call.sure_credential.api_key, base_url=call.facts.base_url, max_retries=0, http_client=http
    )
    # The client takes these from the environment; they belong to another account than the one that was named.
    client.organization = client.project = None
    return client


def _messages(call: Call) -> list[ChatCompletionMessageParam]:
    user: ChatCompletionMessageParam = {"role": "user", "content": call.user_prompt}
    system: ChatCompletionMessageParam = {"role": "system", "content": call.system_prompt}
    if call.facts.has_developer_role:
        system = {"role": "developer", "content": call.system_prompt}
    return [system, user]


def _as_ours(error: openai.OpenAIError) -> RefusedError | LostError | UnreadableError:
    if isinstance(error, openai.APIStatusError):
        return RefusedError(error.status_code, error.response.headers, error.body)
    return LostError() if isinstance(error, openai.APIConnectionError) else UnreadableError()


def _plain(piece: object) -> Json:
    """Return a piece as the JSON that it came as; a frame that is no object is not one."""
    return cast("Json", piece.to_dict(warnings=False)) if isinstance(piece, openai.BaseModel) else None
