"""Lines of a Pi session file, as Pi writes them, for tests to put together and to damage."""

import json
from pathlib import Path

from curator.model.digest import Json

SESSION_ID = "00000000-0000-4000-8000-000000000001"


def header(**more: Json) -> dict[str, Json]:
    head: dict[str, Json] = {"type": "session", "version": 3, "id": SESSION_ID, "cwd": "/home/user/proj-a"}
    return {**head, **more}


def user(entry_id: str, parent: str | None, content: Json) -> dict[str, Json]:
    said: Json = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return message(entry_id, parent, {"role": "user", "content": said})


def assistant(entry_id: str, parent: str | None, content: Json) -> dict[str, Json]:
    said: Json = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return message(entry_id, parent, {"role": "assistant", "content": said, "stopReason": "stop"})


def tool_result(entry_id: str, parent: str, name: Json, *, is_error: bool = False) -> dict[str, Json]:
    said: Json = [{"type": "text", "text": "what the tool printed"}]
    return message(entry_id, parent, {"role": "toolResult", "toolName": name, "content": said, "isError": is_error})


def message(entry_id: str, parent: str | None, inner: Json) -> dict[str, Json]:
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-05-04T10:00:01.000Z",
        "message": inner,
    }


def custom(entry_id: str, parent: str | None, custom_type: str, content: Json) -> dict[str, Json]:
    return {"type": "custom", "customType": custom_type, "data": content, "id": entry_id, "parentId": parent}


def lines(*entries: dict[str, Json]) -> bytes:
    return b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)


def write(path: Path, *entries: dict[str, Json]) -> Path:
    path.write_bytes(lines(*entries))
    return path
