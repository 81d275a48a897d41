"""The reviewer of service.json, with Pi's models and keys behind it: where `pi` and `reviewer` meet.

A model is asked by its own API, or through Pi. `via = "auto"` takes the API where this release speaks it and a key, no
login, is there; Pi otherwise. Whichever way it is, it is decided by what stands in the files: a key that does not work
is no reason to try another way.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from curator.durable.volume import Volume
from curator.errors import InvalidRecordError, ReviewerSetupError, StorageError
from curator.model.ports import Answer, Brief, CallFailure, Clock, Prepared, Reviewer, Stop
from curator.model.reviewer_facts import Found
from curator.model.settings import CuratorSettings, ReviewerProfile
from curator.pi.credentials import check_key, find_credential, key_kind, variables_of
from curator.pi.models import Model, find_model, sources_of
from curator.reviewer.providers.direct import APIS, Call, DirectReviewer, send
from curator.reviewer.providers.offline import PROVIDER, OfflineReviewer
from curator.reviewer.providers.pi import PiCall, PiReviewer, Way, talk
from curator.reviewer.through_pi.room import furnish


def reviewer_for(
    profile: ReviewerProfile, settings: CuratorSettings, agent_dir: Path, clock: Clock, environ: Mapping[str, str]
) -> Reviewer:
    """Return the reviewer that `profile` names, asked as `settings` say.

    Nothing of Pi's is read before its `prepare`, and then anew each time.
    """
    if profile.provider == PROVIDER:
        return OfflineReviewer(profile, clock)
    return _Routed(profile, settings, agent_dir, clock, environ)


class _Routed:
    """Decides at each call which way it goes."""

    def __init__(
        self,
        profile: ReviewerProfile,
        settings: CuratorSettings,
        agent_dir: Path,
        clock: Clock,
        environ: Mapping[str, str],
    ) -> None:
        self._profile = profile
        self._settings = settings
        self._agent_dir = agent_dir
        self._clock = clock
        self._environ = environ

    def prepare(self, brief: Brief) -> Prepared:
        return route(self._profile, self._settings, self._agent_dir, self._clock, self._environ).prepare(brief)

    def ask(self, prepared: Prepared, stop: Stop) -> Answer | CallFailure:
        if isinstance(prepared, PiCall):
            return talk(prepared, stop)
        assert isinstance(prepared, Call)
        return send(prepared, stop)


def route(
    profile: ReviewerProfile, settings: CuratorSettings, agent_dir: Path, clock: Clock, environ: Mapping[str, str]
) -> DirectReviewer | PiReviewer:
    """Return the reviewer of the way that settings and files name. Raises `ReviewerSetupError` where there is none."""
    allows = settings.allow_unknown_price
    pi = shutil.which(settings.pi, path=environ.get("PATH", ""))
    is_pi = settings.via == "pi" or (settings.via == "auto" and pi is not None and not _is_direct(profile, agent_dir))
    if is_pi:
        way = _way(pi or settings.pi, profile, agent_dir, environ)
        return PiReviewer(profile, way, clock, allow_unknown_price=allows)

    def look_up(provider: str, model: str) -> Found:
        found = find_model(agent_dir, provider, model)
        return Found(found.facts, lambda: find_credential(agent_dir, found, environ))

    return DirectReviewer(profile, look_up, clock, allow_unknown_price=allows)


def _is_direct(profile: ReviewerProfile, agent_dir: Path) -> bool:
    """Tell whether this release speaks the model's API and a key of its own stands there."""
    model = _known(profile, agent_dir)
    if model is None or model.facts.api not in APIS:
        return False
    return key_kind(agent_dir, profile.provider, model.api_key_source) == "key"


def _known(profile: ReviewerProfile, agent_dir: Path) -> Model | None:
    try:
        return find_model(agent_dir, profile.provider, profile.model)
    except ReviewerSetupError as error:
        if error.setup_code != "model_not_found":
            raise
        return None


def _way(pi: str, profile: ReviewerProfile, agent_dir: Path, environ: Mapping[str, str]) -> Way:
    provider = profile.provider
    known, sources = _known(profile, agent_dir), sources_of(agent_dir, provider)
    home = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home()) / ".cache"
    room = Path(home) / "curator" / "pi"
    try:
        furnish(Volume(), room)
    except (StorageError, InvalidRecordError) as error:
        fact = f"Pi has no folder to be started in: {error.fact}"
        raise ReviewerSetupError("pi_unavailable", fact, remedy=f"{error.remedy}; jobs wait until then") from error
    return Way(
        command=pi,
        agent_dir=agent_dir,
        room=room,
        environ=environ,
        named=variables_of(agent_dir, provider, sources),
        known=None if known is None else known.facts,
        check_key=lambda: check_key(agent_dir, provider, None if known is None else known.api_key_source, environ),
    )
