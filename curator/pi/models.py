"""models.json: the models that a person gave Pi, read as Pi reads it and no further than a review needs.

Unknown keys are Pi's business. What we use is checked, and only for the model that is asked for: a slip in another
provider's block must not stop reviews. Comments and trailing commas are allowed, and so is a symbolic link: people keep
their settings among their dotfiles.
"""

from __future__ import annotations

import dataclasses
import math
import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

from curator.durable.read import read_bounded
from curator.errors import InvalidRecordError, ReviewerSetupError, StorageError
from curator.model.digest import Json, MalformedJsonError, parse
from curator.model.outcome import NANO_PER_USD
from curator.model.reviewer_facts import MaxTokensField, ModelFacts, Rates, Tier
from curator.model.settings import Effort

PI_FILE_BYTES_MAX: Final = 4_194_304
"""Pi's settings are kilobytes; its generated model catalogs stay below a megabyte."""
_CONTEXT_TOKENS: Final = 128_000
_OUTPUT_TOKENS: Final = 16_384
"""Pi's own defaults for a model that does not say."""
_TOKENS_MAX: Final = 1_000_000_000
_USD_PER_MILLION_MAX: Final = 10_000
"""No price comes near it; what does is a slip, and would overflow the protocol's integers."""
_EFFORTS: Final[tuple[Effort, ...]] = ("minimal", "low", "medium", "high", "xhigh")
_ADD: Final = "Add the model there, or name another one in service.json; jobs wait until then"
_COMMENT: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
_TRAILING_COMMA: Final = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """A model's facts, and where its key comes from: unresolved, so nothing secret yet unless it stands there openly."""

    facts: ModelFacts
    api_key_source: str | None = dataclasses.field(repr=False)
    header_sources: Mapping[str, str] = dataclasses.field(repr=False)


def find_model(agent_dir: Path, provider: str, model: str) -> Model:
    """Return the model of that provider and id, exactly; there is no other model to fall back to.

    Raises `ReviewerSetupError`: model_not_found if it is not there, model_registry_invalid if what stands there cannot
    be used. Neither ever shows a value of the file.
    """
    path = agent_dir / "models.json"
    providers = _read_providers(path)
    if providers is None:
        fact = f"there is no models.json in {agent_dir}, so it names no model {model} of provider {provider}"
        raise ReviewerSetupError("model_not_found", fact, remedy=_ADD)
    block = _Block(path, f"providers.{provider}", providers.get(provider))
    if block.value is None:
        _not_found(path, provider, model)
    found = [
        _Block(path, f"{block.where}.models[{index}]", item)
        for index, item in enumerate(block.items("models"))
        if isinstance(item, dict) and item.get("id") == model
    ]
    if not found:
        _not_found(path, provider, model)
    # Pi lets a later definition of an id replace an earlier one.
    return _read_model(provider, model, block, found[-1])


def sources_of(agent_dir: Path, provider: str) -> tuple[str, ...]:
    """Return where models.json says that a provider's key and headers come from, whether it has models of it or not."""
    providers = _read_providers(agent_dir / "models.json") or {}
    block = _Block(agent_dir / "models.json", f"providers.{provider}", providers.get(provider) or {})
    key = block.text("apiKey")
    return (*(() if key is None else (key,)), *block.texts("headers").values())


def _not_found(path: Path, provider: str, model: str) -> NoReturn:
    raise ReviewerSetupError("model_not_found", f"{path}: has no model {model} of provider {provider}", remedy=_ADD)


def _read_providers(path: Path) -> dict[str, Json] | None:
    try:
        raw = read_bounded(path, PI_FILE_BYTES_MAX, follow=True)
        if raw is None:
            return None
        value = parse(_plain_json(raw))
    except MalformedJsonError as error:
        _invalid(path, str(error))
    except UnicodeDecodeError:
        _invalid(path, "is not UTF-8")
    except InvalidRecordError as error:
        _invalid(path, error.why)
    except StorageError as error:
        _invalid(path, f"cannot be read ({error.fact})")
    providers = value.get("providers") if isinstance(value, dict) else None
    if not isinstance(providers, dict):
        _invalid(path, "has no object of providers")
    return providers


def _plain_json(raw: bytes) -> bytes:
    """Take away what Pi tolerates and JSON does not: a byte order mark, line comments, trailing commas."""
    text = raw.decode("utf-8-sig")
    for extra in (_COMMENT, _TRAILING_COMMA):
        text = extra.sub(lambda match: match.group(1) or "", text)
    return text.encode()


def _invalid(path: Path, fact: str) -> NoReturn:
    raise ReviewerSetupError(
        "model_registry_invalid", f"{path}: {fact}", remedy="Mend the file; jobs wait until then"
    ) from None


@dataclasses.dataclass(frozen=True, slots=True)
class _Block:
    """A JSON object of the file and its place, so that every complaint can name where."""

    path: Path
    where: str
    value: Json

    def get(self, key: str) -> Json:
        if not isinstance(self.value, dict):
            self.refuse("", "is not an object")
        return self.value.get(key)

    def inner(self, key: str) -> _Block:
        value = self.get(key)
        return _Block(self.path, f"{self.where}.{key}", {} if value is None else value)

    def items(self, key: str) -> list[Json]:
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.refuse(key, "is not a list")
        return value

    def text(self, key: str) -> str | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            self.refuse(key, "is not a text")
        return value

    def flag(self, key: str) -> bool | None:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(key, "is neither true nor false")
        return value

    def tokens(self, key: str, default: int | None = None, *, low: int = 1) -> int:
        value = self.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= _TOKENS_MAX:
            self.refuse(key, f"is not a number of tokens within {low} and {_TOKENS_MAX}")
        return int(value)

    def price(self, key: str) -> int:
        """Return dollars for a million tokens as nano-dollars."""
        value = self.get(key)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _USD_PER_MILLION_MAX:
            self.refuse(key, f"is not a price within 0 and {_USD_PER_MILLION_MAX}")
        return math.floor(value * NANO_PER_USD + 0.5)

    def texts(self, key: str) -> dict[str, str]:
        block = self.inner(key)
        if not isinstance(block.value, dict):
            block.refuse("", "is not an object")
        return {name: block.text(name) or "" for name in block.value}

    def refuse(self, key: str, rule: str) -> NoReturn:
        _invalid(self.path, f"{self.where}.{key} {rule}" if key else f"{self.where} {rule}")


def _read_model(provider: str, model: str, outer: _Block, inner: _Block) -> Model:
    api = inner.text("api") or outer.text("api")
    base_url = inner.text("baseUrl") or outer.text("baseUrl")
    if api is None or base_url is None:
        inner.refuse("", f"has no {'api' if api is None else 'baseUrl'}, and neither has its provider")
    _check_url(base_url, inner)
    shared, own = outer.inner("compat"), inner.inner("compat")
    facts = ModelFacts(
        provider=provider,
        model=model,
        api=api,
        base_url=base_url,
        context_tokens=inner.tokens("contextWindow", _CONTEXT_TOKENS),
        output_tokens_max=inner.tokens("maxTokens", _OUTPUT_TOKENS),
        rates=_rates(inner.inner("cost")),
        tiers=_tiers(inner.inner("cost")),
        price="unknown" if inner.get("cost") is None else "models.json",
        efforts=_efforts(inner, own, shared),
        has_developer_role=_flag("supportsDeveloperRole", own, shared, default=False),
        has_stream_usage=_flag("supportsUsageInStreaming", own, shared, default=True),
        has_store_field=_flag("supportsStore", own, shared, default=False),
        max_tokens_field=_max_tokens_field(own, shared),
        has_bearer=bool(outer.flag("authHeader")),
    )
    return Model(facts, outer.text("apiKey"), outer.texts("headers") | inner.texts("headers"))


def _check_url(url: str, inner: _Block) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        is_usable = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        is_usable = False
    if not is_usable:
        inner.refuse("baseUrl", "is not an http or https address")


def _rates(cost: _Block) -> Rates:
    return Rates(cost.price("input"), cost.price("output"), cost.price("cacheRead"), cost.price("cacheWrite"))


def _tiers(cost: _Block) -> tuple[Tier, ...]:
    tiers = [_Block(cost.path, f"{cost.where}.tiers[{n}]", item) for n, item in enumerate(cost.items("tiers"))]
    return tuple(Tier(tier.tokens("inputTokensAbove", low=0), _rates(tier)) for tier in tiers)


def _flag(key: str, own: _Block, shared: _Block, *, default: bool) -> bool:
    for block in (own, shared):
        if (value := block.flag(key)) is not None:
            return value
    return default


def _max_tokens_field(own: _Block, shared: _Block) -> MaxTokensField:
    value = own.text("maxTokensField") or shared.text("maxTokensField")
    if value == "max_tokens":
        return "max_tokens"
    if value not in (None, "max_completion_tokens"):
        own.refuse("maxTokensField", "is neither max_completion_tokens nor max_tokens")
    return "max_completion_tokens"


def _efforts(inner: _Block, own: _Block, shared: _Block) -> Mapping[Effort, str]:
    """Return the wire's words for reasoning efforts: none unless the model reasons and takes `reasoning_effort`."""
    form = own.text("thinkingFormat") or shared.text("thinkingFormat") or "openai"
    if not inner.flag("reasoning") or form != "openai":
        return {}
    if not _flag("supportsReasoningEffort", own, shared, default=True):
        return {}
    map_ = inner.inner("thinkingLevelMap")
    words: dict[Effort, str] = {}
    for effort in _EFFORTS:
        is_named = isinstance(map_.value, dict) and effort in map_.value
        word = map_.text(effort)
        # A null there means that the model lacks the level; xhigh exists only where it is named.
        if word is not None or not (is_named or effort == "xhigh"):
            words[effort] = word or effort
    return words
