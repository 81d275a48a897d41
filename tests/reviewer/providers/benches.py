"""A reviewer before the fake provider, and the log of what that got."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

from curator.model.digest import Json
from curator.model.ports import Answer, Brief, CallFailure
from curator.model.reviewer_facts import Credential, Found, ModelFacts, Rates
from curator.model.settings import Effort, ReviewerProfile
from curator.reviewer.providers.direct import DirectReviewer, Patience
from tests.briefs import Flag, HandClock, brief
from tests.fakes.provider import Settings, serving

API = "openai-completions"
KEY = "key-never-shown"
SHORT = Patience(total_ms=20_000, connect_ms=5_000, read_ms=10_000)


def facts_at(url: str, api: str = API) -> ModelFacts:
    rates = Rates(1_000_000_000, 2_000_000_000)
    return ModelFacts("fake", "fake-1", api, url, 64_000, 4_096, rates, efforts={"low": "low", "medium": "medium"})


@dataclasses.dataclass
class Bench:
    """A reviewer before a server, and the log of what the server got."""

    url: str
    log: Path
    facts: ModelFacts
    credential: Credential = dataclasses.field(default_factory=lambda: Credential(KEY))
    effort: Effort = "off"
    clock: HandClock = dataclasses.field(default_factory=HandClock)
    patience: Patience = SHORT

    @property
    def brief(self) -> Brief:
        return brief("USER: Remember the tests.")

    def reviewer(self) -> DirectReviewer:
        profile = ReviewerProfile(provider="fake", model="fake-1", reasoning_effort=self.effort)
        return DirectReviewer(profile, lambda *_: Found(self.facts, lambda: self.credential), self.clock, self.patience)

    def ask(self, stop: Flag | None = None) -> Answer | CallFailure:
        reviewer = self.reviewer()
        prepared = reviewer.prepare(self.brief)
        # Made ready as if the host were there: what happens where it is not is tested by itself.
        return reviewer.ask(dataclasses.replace(prepared, credential=self.credential), stop or Flag())

    def requests(self) -> list[dict[str, Json]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def body(self) -> dict[str, Json]:
        (request,) = self.requests()
        body = request["body"]
        assert isinstance(body, dict)
        return body


@contextlib.contextmanager
def bench(tmp_path: Path, mode: str = "ok", api: str = API, **settings: Json) -> Iterator[Bench]:
    made = Settings(review=mode)
    for name, value in settings.items():
        setattr(made, name, value)
    log = tmp_path / "requests.jsonl"
    with serving(made, log) as server:
        # Each client adds its own path, and Anthropic's begins with the version.
        url = server.url.removesuffix("/v1") if api == "anthropic-messages" else server.url
        yield Bench(url, log, facts_at(url, api))


def failed(ending: Answer | CallFailure) -> CallFailure:
    assert isinstance(ending, CallFailure)
    return ending
