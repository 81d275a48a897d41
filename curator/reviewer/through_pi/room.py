"""The folder that Pi is started in: its own retries off, nothing of a project, curator's instructions as a file.

It holds no evidence and no key, is the same for every review, and may be deleted at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from curator.durable.publish import ensure_directory, replace
from curator.durable.read import read_bounded
from curator.durable.volume import Volume
from curator.model.digest import Json, pretty
from curator.reviewer.prompt import SYSTEM_PROMPT

MEMORY_MIB_MAX: Final = 512
"""Of Pi's JavaScript heap; a Pi that idles takes a fifth of it."""
GUARD: Final = Path(__file__).with_name("guard.js")
_FILE_BYTES_MAX: Final = 65_536
_SETTINGS: Final[Json] = {
    "retry": {"enabled": False, "maxRetries": 0, "provider": {"maxRetries": 0}},
    "compaction": {"enabled": False},
    "packages": [],
    "extensions": [],
}
_FOREIGN_KEY: Final = re.compile(
    r".*(_API_KEY|_API_TOKEN|_AUTH_TOKEN|_OAUTH_TOKEN|_BEARER_TOKEN(_.*)?)|(HF|GH|GITHUB|COPILOT_GITHUB)_TOKEN"
    r"|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|GOOGLE_APPLICATION_CREDENTIALS"
)
"""Variables from which Pi would take a key by itself."""


def furnish(volume: Volume, room: Path) -> None:
    """Make sure that the room is as it should be."""
    ensure_directory(volume, room / ".pi")
    for path, data in (
        (room / "SYSTEM.md", SYSTEM_PROMPT.encode()),
        (room / ".pi" / "settings.json", pretty(_SETTINGS).encode()),
    ):
        if read_bounded(path, _FILE_BYTES_MAX) != data:
            replace(volume, path, data)


def arguments(pi: str, room: Path, provider: str, model: str, effort: str) -> Sequence[str]:
    """Return the command line: whom to ask, and everything off. What is reviewed is not in it."""
    off = ("session", "tools", "extensions", "skills", "prompt-templates", "themes", "context-files")
    return (
        *(pi, "--mode", "rpc", "--provider", provider, "--model", model, "--thinking", effort),
        *(f"--no-{name}" for name in off),
        *("--extension", str(GUARD), "--system-prompt", str(room / "SYSTEM.md"), "--approve", "--offline"),
    )


def environment(
    environ: Mapping[str, str], agent_dir: Path, pi: str, named: frozenset[str], output_tokens: int | None
) -> dict[str, str]:
    """Return Pi's environment: the person's own, but for keys that neither auth.json nor models.json names."""
    kept = {name: value for name, value in environ.items() if name in named or not _FOREIGN_KEY.fullmatch(name)}
    # Pi is a script that finds its Node on PATH, and a service's PATH is short.
    path = ":".join([str(Path(pi).parent), *([kept["PATH"]] if kept.get("PATH") else [])])
    ours = {
        "PATH": path,
        "PI_CODING_AGENT_DIR": str(agent_dir),
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
        "NODE_OPTIONS": f"--max-old-space-size={MEMORY_MIB_MAX}",
    }
    return kept | ours | ({} if output_tokens is None else {"CURATOR_OUTPUT_TOKENS": str(output_tokens)})
