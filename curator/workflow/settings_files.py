"""The two configuration files: read whole or refused, written only on a person's word (interop.md 14).

`service.json` is shared with the extension, so it is closed: one key of ours in it would stop Pi. What the protocol has
no word for stands in `curator/curator.toml`. A complaint names the file and the key, never a value.

INVARIANT  A configuration that stands is never overwritten without being asked for.
CRASH      Both are published or replaced whole; a torn configuration is never visible.
"""

from __future__ import annotations

import dataclasses
import os
import re
import stat
import threading
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from curator.durable.clock import SystemClock
from curator.durable.publish import ensure_directory, publish, replace
from curator.durable.read import read_bounded
from curator.errors import ConfigError, InvalidRecordError, ReviewerSetupError
from curator.model.digest import Json, MalformedJsonError, parse, pretty
from curator.model.limits import CURATOR_TOML_BYTES_MAX, SERVICE_JSON_BYTES_MAX
from curator.model.record import Record, Violation
from curator.model.reviewer_facts import Credential, Found
from curator.model.settings import (
    AuditSettings,
    BudgetSettings,
    CuratorSettings,
    MetricsSettings,
    Mode,
    ReviewerProfile,
    ServiceSettings,
)
from curator.pi.credentials import find_credential
from curator.pi.models import find_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from curator.durable.layout import Layout
    from curator.durable.volume import Volume
    from curator.model.ports import Hold
    from curator.model.reviewer_facts import ModelFacts
    from curator.pi.models import Model
    from curator.reviewer.providers.pi import PiReviewer

R = TypeVar("R", bound=Record)
Level: TypeAlias = Literal["ok", "warning", "error"]

OFFLINE_PROVIDER: Final = "offline"
OFFLINE_MODEL: Final = "rules-1"
INIT: Final = "Run `curator config init`"
LET_REVIEW: Final = "Run `curator config init --mode external --force`"
_MEND: Final = "Mend the file, or run `curator config init --force`"
_ANOTHER: Final = "Run `curator config init --reviewer PROVIDER/MODEL --force`"
_MEND_TOML: Final = "Mend the file; what it leaves out has a default"
_ANY_URL: Final = "postgresql://"
"""Stands for the address, so that its key is known where none is set."""
_ANY_TEXTFILE: Final = "/.prom"
"""Likewise for the file."""
_KEY_CHARS_SHOWN: Final = 64
_PLACE: Final = re.compile(r"\(at (line \d+, column \d+|end of document)\)\Z")


def find_service(layout: Layout) -> ServiceSettings | None:
    """Return the shared configuration, or None where none stands. Raises `ConfigError` for one that cannot be used."""
    path = layout.service_json
    raw = _read(path, SERVICE_JSON_BYTES_MAX, _MEND)
    if raw is None:
        return None
    try:
        value = parse(raw)
    except MalformedJsonError as error:
        raise ConfigError(f"{path}: {error}", remedy=_MEND) from error
    whole = service_of("external", profile_of(OFFLINE_PROVIDER), None)
    _refuse_strangers(path, value, whole, "", _MEND)
    if isinstance(value, dict) and whole.reviewer is not None:
        _refuse_strangers(path, value.get("reviewer"), whole.reviewer, "reviewer.", _MEND)
    return _decoded(path, value, ServiceSettings, _MEND)


def read_service(layout: Layout) -> ServiceSettings:
    """Return the shared configuration. Raises `ConfigError`, which names `curator config init`, where none stands."""
    service = find_service(layout)
    if service is None:
        raise ConfigError(f"{layout.service_json}: there is no configuration yet", remedy=INIT)
    return service


def read_curator(layout: Layout) -> CuratorSettings:
    """Return curator's own configuration; where no file stands, its defaults. Raises `ConfigError`."""
    path = layout.curator_toml
    raw = _read(path, CURATOR_TOML_BYTES_MAX, _MEND_TOML)
    if raw is None:
        return CuratorSettings()
    value = _parse_toml(path, raw)
    _refuse_strangers(path, value, CuratorSettings(), "", _MEND_TOML)
    if isinstance(value, dict):
        _refuse_strangers(path, value.get("budget"), BudgetSettings(), "budget.", _MEND_TOML)
        _refuse_strangers(path, value.get("audit"), AuditSettings(url=_ANY_URL), "audit.", _MEND_TOML)
        _refuse_strangers(path, value.get("metrics"), MetricsSettings(textfile=_ANY_TEXTFILE), "metrics.", _MEND_TOML)
    return _decoded(path, value, CuratorSettings, _MEND_TOML)


def profile_of(reviewer: str) -> ReviewerProfile:
    """Return the profile that `offline` or `PROVIDER/MODEL` names. Raises `ConfigError` for anything else."""
    provider, slash, model = reviewer.partition("/")
    if reviewer == OFFLINE_PROVIDER:
        model = OFFLINE_MODEL
    elif not slash:
        raise ConfigError("the reviewer names no model", remedy="Say `offline`, or PROVIDER/MODEL as in models.json")
    try:
        return ReviewerProfile.decode({"provider": provider, "model": model}, "reviewer")
    except Violation as error:
        raise ConfigError(str(error), remedy="Say `offline`, or PROVIDER/MODEL as in models.json") from error


def service_of(mode: Mode, profile: ReviewerProfile, standing: ServiceSettings | None) -> ServiceSettings:
    """Return a configuration of that mode and reviewer; limits that stand already are kept."""
    if standing is None:
        return ServiceSettings(mode=mode, reviewer=profile)
    if standing.reviewer is not None:
        profile = dataclasses.replace(standing.reviewer, provider=profile.provider, model=profile.model)
    return dataclasses.replace(standing, mode=mode, reviewer=profile)


def write_service(volume: Volume, layout: Layout, service: ServiceSettings, *, force: bool = False) -> None:
    """Write the shared configuration, private and durable.

    Without `force` a file that stands is left alone, and `ConfigError` says so.
    """
    path = layout.service_json
    data = pretty(service.encode()).encode()
    # Pi's own folder may be a link to where somebody keeps such things; ours in it may not.
    if layout.agent.is_dir() and volume.make_directory(layout.root):
        volume.sync_directory(layout.agent)
    ensure_directory(volume, layout.root)
    if force:
        if path.is_symlink() or path.is_dir():
            raise ConfigError(f"{path}: is not a regular file", remedy="Move it away, and run again")
        replace(volume, path, data)
    elif path.is_symlink() or path.exists():
        raise ConfigError(f"{path}: a configuration stands already", remedy="Run again with --force to replace it")
    else:
        publish(volume, path, data)


def _read(path: Path, limit: int, remedy: str) -> bytes | None:
    try:
        return read_bounded(path, limit)
    except InvalidRecordError as error:
        is_denied = path.is_file() and not os.access(path, os.R_OK)
        raise ConfigError(error.fact, remedy=f"Run: chmod u+r '{path}'" if is_denied else remedy) from error


def _parse_toml(path: Path, raw: bytes) -> Json:
    # Few have the file, and the parser would cost every start.
    import tomllib  # noqa: PLC0415 - see above

    try:
        value: dict[str, Json] = tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 at byte {error.start}", remedy=_MEND_TOML) from None
    except tomllib.TOMLDecodeError as error:
        # The parser's own message may quote the file; its place in it does not.
        place = _PLACE.search(str(error))
        at = f" at {place.group(1)}" if place else ""
        raise ConfigError(f"{path}: is not TOML{at}", remedy=_MEND_TOML) from None
    return value


def _refuse_strangers(path: Path, value: Json, whole: Record, where: str, remedy: str) -> None:
    """Name a key that a `whole` record does not have: the file is a person's, and the name tells the slip."""
    if not isinstance(value, dict):
        return
    known = set(whole.encode())
    for key in value:
        if key not in known:
            shown = ascii(key)[1:-1][:_KEY_CHARS_SHOWN]
            allowed = ", ".join(sorted(known))
            raise ConfigError(f"{path}: has an unknown key {where}{shown}; known are {allowed}", remedy=remedy)


def _decoded(path: Path, value: Json, cls: type[R], remedy: str) -> R:
    try:
        return cls.decode(value)
    except Violation as error:
        fact = f"{error.where} {error.rule}" if error.where else error.rule
        raise ConfigError(f"{path}: {fact}", remedy=remedy) from error


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it where something is to be done."""

    level: Level
    subject: str
    fact: str
    remedy: str | None = None


def check_config(layout: Layout, environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """Look at everything a review needs before its first call; a key is resolved as a call would, and never shown."""
    return (*_check_folders(layout), *_check_curator(layout), *_check_service(layout, environ))


def _check_folders(layout: Layout) -> Iterator[Finding]:
    if not layout.agent.is_dir():
        remedy = "Start Pi once, or name its folder with --agent-dir"
        yield Finding("error", "agent folder", f"{layout.agent}: is not there", remedy)
        return
    yield Finding("ok", "agent folder", str(layout.agent))
    for path, mode in ((layout.root, 0o700), (layout.service_json, 0o600)):
        if path.exists() and (standing := stat.S_IMODE(path.stat().st_mode)) & 0o022:
            fact = f"{path}: has mode {standing:04o}, so that others may change it"
            yield Finding("warning", "mode", fact, f"Run: chmod {mode:o} '{path}'")


def _check_curator(layout: Layout) -> Iterator[Finding]:
    try:
        read_curator(layout)
    except ConfigError as error:
        yield Finding("error", "curator.toml", error.fact, error.remedy)
        return
    fact = str(layout.curator_toml) if layout.curator_toml.exists() else "not there, so the defaults hold"
    yield Finding("ok", "curator.toml", fact)


def _check_service(layout: Layout, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        service = read_service(layout)
    except ConfigError as error:
        yield Finding("error", "service.json", error.fact, error.remedy)
        return
    yield Finding("ok", "service.json", str(layout.service_json))
    if service.mode == "embedded":
        remedy = f"{LET_REVIEW} to let curator review"
        yield Finding("warning", "mode", "embedded: Pi reviews by itself, and curator claims nothing", remedy)
    else:
        yield Finding("ok", "mode", service.mode)
    if service.reviewer is None:
        yield Finding("warning", "reviewer", "none is named", _ANOTHER)
    else:
        yield from check_reviewer(layout, service.reviewer, environ)


def check_reviewer(layout: Layout, profile: ReviewerProfile, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look up the model, whether this release can ask it, its key and its price, and say what a day may cost."""
    if profile.provider == OFFLINE_PROVIDER:
        if profile.model == OFFLINE_MODEL:
            yield Finding("ok", "reviewer", "offline/rules-1, built in: no key, no network, no cost")
        else:
            fact = f"the offline reviewer has no model {profile.model}"
            yield Finding("error", "reviewer", fact, "Run `curator config init --reviewer offline --force`")
    else:
        yield from _check_model(layout, profile, environ)
    limits = profile.limits
    spend = f"${profile.max_cost_per_day_usd:g}"
    yield Finding("ok", "limits", f"a UTC day may take {limits.calls:,} calls, {limits.tokens:,} tokens and {spend}")


def refuse_unspoken(profile: ReviewerProfile, model: Model) -> None:
    """Raise `ReviewerSetupError` unless this release can ask a model, by the question that each review asks first."""
    # Reading a configuration needs no reviewer.
    from curator.reviewer.profile import look_up  # noqa: PLC0415 - see above
    from curator.reviewer.providers.direct import APIS  # noqa: PLC0415 - see above

    look_up(profile, lambda _provider, _model: Found(model.facts, lambda: Credential("")), APIS)


def _check_model(layout: Layout, profile: ReviewerProfile, environ: Mapping[str, str]) -> Iterator[Finding]:
    # Reading a configuration needs no reviewer, and the reviewers read the configuration.
    from curator.reviewer.providers.pi import PiReviewer  # noqa: PLC0415 - see above
    from curator.workflow.reviewers import route  # noqa: PLC0415 - see above

    settings = _curator_or_default(layout)
    remedies = _Remedies.of(layout)
    try:
        reviewer = route(profile, settings, layout.agent, SystemClock(), environ)
        if isinstance(reviewer, PiReviewer):
            yield from _check_through_pi(reviewer, profile, settings)
            return
        model = find_model(layout.agent, profile.provider, profile.model)
    except ReviewerSetupError as error:
        yield _setup_finding(error, remedies)
        return
    yield from _check_direct(layout, profile, model, environ, settings)


def _check_through_pi(reviewer: PiReviewer, profile: ReviewerProfile, settings: CuratorSettings) -> Iterator[Finding]:
    try:
        facts, thinks = reviewer.find_facts(threading.Event())
    except ReviewerSetupError as error:
        subject = "key" if error.setup_code == "auth_unavailable" else "reviewer"
        yield Finding("error", subject, error.fact, error.remedy)
        return
    yield Finding("ok", "reviewer", f"{profile.provider}/{profile.model}, through Pi, api {facts.api}")
    yield Finding("ok", "key", f"Pi has one, or a login, for provider {profile.provider}")
    yield _price(facts, settings)
    yield from _hold(facts, profile, facts.output_tokens_max if thinks else None)


def _check_direct(
    layout: Layout,
    profile: ReviewerProfile,
    model: Model,
    environ: Mapping[str, str],
    settings: CuratorSettings,
) -> Iterator[Finding]:
    from curator.reviewer.providers.prices import priced  # noqa: PLC0415 - reading a configuration needs no reviewer

    remedies = _Remedies.of(layout)
    try:
        refuse_unspoken(profile, model)
    except ReviewerSetupError as error:
        yield Finding("error", "reviewer", error.fact, f"{remedies.another}, or {remedies.offline}")
        return
    yield Finding("ok", "reviewer", f"{profile.provider}/{profile.model}, api {model.facts.api}")
    try:
        find_credential(layout.agent, model, environ)
        yield Finding("ok", "key", f"there is one for provider {profile.provider}")
    except ReviewerSetupError as error:
        yield Finding("error", "key", error.fact, error.remedy)
    facts = priced(model.facts, SystemClock().now())
    yield _price(facts, settings)
    yield from _hold(facts, profile)


@dataclasses.dataclass(frozen=True, slots=True)
class _Remedies:
    """Another reviewer is chosen where one is named, and that is a file only once it stands."""

    another: str
    offline: str

    @classmethod
    def of(cls, layout: Layout) -> _Remedies:
        if layout.service_json.exists():
            return cls(_ANOTHER, "use `curator config init --reviewer offline --force`")
        return cls("Choose another with --reviewer", "use --reviewer offline")


def _setup_finding(error: ReviewerSetupError, remedies: _Remedies) -> Finding:
    if error.setup_code == "auth_unavailable":
        return Finding("error", "key", error.fact, error.remedy)
    ours = {"model_not_found": "Add it there", "model_registry_invalid": "Mend the file"}
    mend = ours.get(error.setup_code, error.remedy)
    return Finding("error", "reviewer", error.fact, f"{mend}, or {remedies.offline}")


def _price(facts: ModelFacts, settings: CuratorSettings) -> Finding:
    name = f"{facts.provider}/{facts.model}"
    match facts.price:
        case "unknown" if settings.allow_unknown_price:
            fact = f"nobody tells the price of {name}, so only calls and tokens are limited"
            return Finding("warning", "price", fact, "Give the model its cost in models.json")
        case "unknown":
            fact = f"nobody tells the price of {name}, so it is not asked"
            remedy = "Give the model its cost in models.json, or set allow_unknown_price = true in curator.toml"
            return Finding("error", "price", fact, remedy)
        case "this machine":
            fact = f"models.json has no price for {name}, on this machine: only calls and tokens are limited"
            return Finding("warning", "price", fact, "Give the model its cost in models.json, if it has one")
        case source:
            return Finding("ok", "price", f"known, from {source}")


def _hold(facts: ModelFacts, profile: ReviewerProfile, answer_tokens: int | None = None) -> Iterator[Finding]:
    """Say before the first job that no call, or none of a large one, would fit into a whole day's limits."""
    from curator.reviewer.hold import hold_bounds  # noqa: PLC0415 - reading a configuration needs no reviewer

    least, most = hold_bounds(facts, answer_tokens)
    limits = profile.limits
    bounds: tuple[tuple[Level, Hold, str], ...] = (
        ("error", least, "one call alone holds at least"),
        ("warning", most, "one call with as much evidence as there may be holds up to"),
    )
    for level, hold, what in bounds:
        limit = limits.can_never_hold(hold)
        if limit is not None:
            held = f"{hold.tokens:,} tokens and ${hold.cost_nanousd / 1_000_000_000:.4f}"
            fact = f"{what} {held}, more than the day's limit of {limit}: it would never be asked"
            yield Finding(level, "limits", fact, "Raise that limit of the reviewer in service.json")
            return


def _curator_or_default(layout: Layout) -> CuratorSettings:
    try:
        return read_curator(layout)
    except ConfigError:
        return CuratorSettings()
