"""Where a provider's key comes from: Pi's auth.json, else models.json; a literal, an environment name or a command.

A key is resolved right before a call and lives as long as that call. Nothing here shows a value: not the key, not what
a command printed, not even the command.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal, NoReturn, TypeAlias

from curator.durable.read import read_bounded
from curator.errors import InvalidRecordError, ReviewerSetupError, StorageError
from curator.model.digest import Json, MalformedJsonError, parse
from curator.model.reviewer_facts import Credential
from curator.pi.models import PI_FILE_BYTES_MAX, Model

COMMAND_S_MAX: Final = 10
"""As long as Pi itself waits for a password store."""
_OUTPUT_BYTES_MAX: Final = 65_536
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_SENDABLE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def find_credential(
    agent_dir: Path, model: Model, environ: Mapping[str, str], *, command_s_max: float = COMMAND_S_MAX
) -> Credential:
    """Return the key and the headers for that model. auth.json goes before models.json, as in Pi.

    A login by OAuth is an error rather than a reason to try the next key: whoever logged in did not mean another
    account. Raises `ReviewerSetupError` with auth_unavailable.
    """
    provider = model.facts.provider
    stored = _read_auth(agent_dir / "auth.json", provider)
    source, place = (model.api_key_source, "models.json") if stored is None else (stored, "auth.json")
    if source is None:
        _unavailable(
            f"neither auth.json nor models.json has a key for provider {provider}",
            "Log in with /login in Pi, or give the provider an apiKey in models.json",
        )
    resolver = _Resolver(environ, command_s_max)
    key = resolver.resolve(source, f"the key of provider {provider} in {place}")
    headers = {
        name: resolver.resolve(value, f"the header {name} of provider {provider}")
        for name, value in model.header_sources.items()
        if _is_header_name(name, provider)
    }
    return Credential(key, headers)


KeyKind: TypeAlias = Literal["key", "login"]


def key_kind(agent_dir: Path, provider: str, api_key_source: str | None) -> KeyKind | None:
    """Return whether a key or a login stands there for a provider; nothing is resolved. Raises as `find_credential`."""
    entry = _entry(agent_dir / "auth.json", provider)
    if entry is None:
        return None if api_key_source is None else "key"
    return "login" if entry.get("type") == "oauth" else "key"


def variables_of(agent_dir: Path, provider: str, sources: Iterable[str]) -> frozenset[str]:
    """Return the variables that auth.json, and the given values of models.json, name for a provider."""
    entry = _entry(agent_dir / "auth.json", provider) or {}
    texts = [*sources, *(value for value in entry.values() if isinstance(value, str))]
    return frozenset(match.group(1) or match.group(2) for text in texts for match in _VARIABLE.finditer(text))


def check_key(agent_dir: Path, provider: str, source: str | None, environ: Mapping[str, str]) -> None:
    """Raise `ReviewerSetupError` where a key names a variable that is not set; commands and logins are left to Pi."""
    entry = _entry(agent_dir / "auth.json", provider)
    if entry is not None and entry.get("type") == "oauth":
        return
    key = entry.get("key") if entry is not None else source
    if isinstance(key, str) and not key.startswith("!"):
        place = "models.json" if entry is None else "auth.json"
        _Resolver(environ, 0).resolve(key, f"the key of provider {provider} in {place}")


def _unavailable(fact: str, remedy: str) -> NoReturn:
    raise ReviewerSetupError("auth_unavailable", fact, remedy=f"{remedy}; jobs wait until then") from None


def _is_header_name(name: str, provider: str) -> bool:
    if not _HEADER_NAME.fullmatch(name):
        _unavailable(f"a header of provider {provider} has a name that cannot be sent", "Mend it in models.json")
    return True


def _entry(path: Path, provider: str) -> dict[str, Json] | None:
    """Return what auth.json has for a provider, or None if it does not know it."""
    try:
        raw = read_bounded(path, PI_FILE_BYTES_MAX, follow=True)
        value: Json = parse(raw.removeprefix(b"\xef\xbb\xbf")) if raw is not None else {}
    except (InvalidRecordError, MalformedJsonError) as error:
        fact = error.why if isinstance(error, InvalidRecordError) else str(error)
        _unavailable(f"{path}: {fact}", "Mend the file, or log in again with /login in Pi")
    except StorageError as error:
        _unavailable(error.fact, "Give curator's account the right to read the file")
    entry = value.get(provider) if isinstance(value, dict) else None
    if entry is not None and not isinstance(entry, dict):
        _unavailable(f"{path}: what stands for provider {provider} is not an object", "Log in again with /login in Pi")
    return entry


def _read_auth(path: Path, provider: str) -> str | None:
    """Return where the key of a provider comes from by auth.json, or None if that file does not know it."""
    entry = _entry(path, provider)
    if entry is None:
        return None
    if entry.get("type") == "oauth":
        _unavailable(
            f"{path}: provider {provider} is a login by OAuth, which only Pi itself can use",
            'Install Pi and let it be asked through Pi (via = "auto" or "pi" in curator.toml), or give it an API key',
        )
    key = entry.get("key")
    if entry.get("type") != "api_key" or not isinstance(key, str) or not key:
        _unavailable(f"{path}: provider {provider} has no API key there", "Log in again with /login in Pi")
    return key


class _Resolver:
    """Turns what stands in a file into the value that is sent."""

    def __init__(self, environ: Mapping[str, str], command_s_max: float) -> None:
        self._environ = environ
        self._command_s_max = command_s_max

    def resolve(self, source: str, what: str) -> str:
        value = self._run(source[1:], what) if source.startswith("!") else self._expand(source, what)
        # A line end in a header would be a second header, and the client would tell its text in an exception.
        if not _SENDABLE.fullmatch(value):
            _unavailable(f"{what} is empty or holds characters that cannot be sent", "Mend it")
        return value

    def _expand(self, template: str, what: str) -> str:
        """Put the environment's values for `$NAME` and `${NAME}`; `$$` and `$!` are the characters themselves."""
        parts: list[str] = []
        position = 0
        while (dollar := template.find("$", position)) >= 0:
            parts.append(template[position:dollar])
            name, position = _name_at(template, dollar + 1)
            if name is None:
                escaped = template[dollar + 1 : position] in ("$", "!")
                parts.append(template[dollar + 1 if escaped else dollar : position])
            elif value := self._environ.get(name):
                parts.append(value)
            else:
                _unavailable(f"{what} is ${name}, which the environment does not have", f"Set {name} for curator")
        return "".join([*parts, template[position:]])

    def _run(self, command: str, what: str) -> str:
        """Return what the command prints, trimmed. It gets no input, and its own complaints are not read."""
        try:
            with subprocess.Popen(  # noqa: S602 - the person's own command in the person's own file, as in Pi
                command,
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(self._environ),
                start_new_session=True,
            ) as child:
                return self._await_output(child, what)
        except OSError as error:
            _unavailable(f"{what} comes from a command that did not start ({error.strerror})", "Mend the command")

    def _await_output(self, child: subprocess.Popen[bytes], what: str) -> str:
        output = _read_all(child, self._command_s_max)
        if output is None:
            _end(child)
            _unavailable(
                f"{what} comes from a command that printed too much or took over {self._command_s_max} s",
                "Mend the command",
            )
        if child.returncode != 0:
            _unavailable(f"{what} comes from a command that failed with status {child.returncode}", "Mend the command")
        return output.decode("utf-8", "replace").strip()


def _read_all(child: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """Return all that the command prints until it ends, or None beyond the bound of time or size."""
    assert child.stdout is not None
    deadline = time.monotonic() + seconds
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            block = os.read(child.stdout.fileno(), _OUTPUT_BYTES_MAX)
            output += block
            if len(output) > _OUTPUT_BYTES_MAX:
                return None
            if not block:
                return output if _has_ended(child, deadline) else None
    return None


def _has_ended(child: subprocess.Popen[bytes], deadline: float) -> bool:
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _name_at(template: str, start: int) -> tuple[str | None, int]:
    """Return the name that a dollar sign introduces and where it ends; no name means that the text is literal."""
    if template[start : start + 1] == "{":
        end = template.find("}", start)
        if end < 0:
            return None, start
        name = template[start + 1 : end]
        return (name, end + 1) if _NAME.fullmatch(name) else (None, end + 1)
    if template[start : start + 1] in ("$", "!"):
        return None, start + 1
    match = _NAME.match(template, start)
    return (match.group(), match.end()) if match else (None, start)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the command with all that it started: it leads a process group of its own."""
    try:
        os.killpg(child.pid, 9)
    except ProcessLookupError:
        return
    child.wait()
