"""Secrets that are known by where they stand: assigned to a telling name, in a header, a URL, a command.

The search goes from the telling word outwards, a bounded distance each way, so it takes linear time. What is found must
also look like a secret, more so the less its place says: after `DB_PASSWORD=` almost anything counts, in a sentence only
what is no word. References to a secret (`${TOKEN}`, `process.env.KEY`, `<your token>`, `getpass()`) are none.
"""

from __future__ import annotations

import base64
import binascii
import enum
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

Found: TypeAlias = tuple[str, int, int]
"""A kind's name, and where the secret begins and ends."""


class Place(enum.Enum):
    """How much the place of a value says about it, from most to least."""

    SHELL = enum.auto()
    QUOTED = enum.auto()
    BARE = enum.auto()
    PROSE = enum.auto()


class Owner(enum.Enum):
    """What the telling name promises."""

    PASSWORD = "PASSWORD"  # noqa: S105 - the name of a kind
    SECRET = "SECRET"  # noqa: S105 - the name of a kind


_CASELESS: Final = re.IGNORECASE | re.ASCII
_WORD: Final = re.compile(r"pass|pwd|pw|secret|token|credential|key|auth", _CASELESS)
_BEFORE: Final = re.compile(r"(?:([A-Za-z]{2,24})[ ])?([A-Za-z0-9_.$-]{0,64})\Z", re.ASCII)
_AFTER: Final = re.compile(r"[A-Za-z0-9_.-]{0,64}", re.ASCII)
_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", re.ASCII)
_TRAILING: Final = frozenset(
    "prod production staging stage dev test live base value raw plain plaintext string str old new main primary default "
    "backup id".split(),
) - {"id"}
_NOT_SECRET: Final = frozenset(
    "lease fence fencing page next prev continuation sync resume cursor public pub cancel cancellation stop eos bos pad "
    "unk mask sep cls image num max min total count design primary foreign cache partition sort row group routing object "
    "index dedup idempotency project host known authorized".split(),
)
_KEY_OWNERS: Final = frozenset(
    "api secret access private auth encryption encrypt signing sign master shared storage account subscription service "
    "app deploy ssh hmac jwt client consumer license webhook admin server root crypto cipher aes session ibm cloud "
    "cloudant softlayer sl cos".split(),
)
_PASSWORDS: Final = ("password", "passwd", "passphrase", "passcode", "pwd", "passwort")
_SECRETS: Final = ("secret", "token", "apikey", "secretkey", "accesskey", "authkey", "privatekey", "credential")

_TAIL: Final = re.compile(
    r"""(?P<close>\\{0,4}["'`])?\]?[*_]{0,3}[ \t]{0,8}+
    (?::[ \t]{0,4}[A-Za-z_&][A-Za-z0-9_&'.<>\[\]|? ]{0,40}+(?==))?
    (?P<sep>=>|:=|={1,3}|:{1,2}|[ \t]?\bis[ \t]|,(?=[ \t]{0,4}["'`])|\((?=\\{0,4}["'`])|>|
      ,?[ \t]{0,8}(?:\r?\n)?[ \t]{0,16}\\{0,4}["']?value\\{0,4}["']?[ \t]{0,4}[:=]|)
    [*_]{0,3}[ \t]{0,8}+(?:[|>][+-]?[ \t]{0,4})?(?:\r?\n[ \t]{0,16}){0,2}[*_]{0,2}[bruf]{0,2}(?=["'])|""",
    re.ASCII | re.VERBOSE,
)
