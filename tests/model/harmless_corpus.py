"""Texts that hold no secret, though they look as if: hashes, ids, pictures, documentation, references, code."""

from __future__ import annotations

import base64
import hashlib
import json
import textwrap
from collections.abc import Iterator
from typing import Final

from tests.model.secret_corpus import Maker


def _digests(seed: str) -> Iterator[str]:
    for name in ("md5", "sha1", "sha256", "sha384", "sha512"):
        yield hashlib.new(name, seed.encode(), usedforsecurity=False).hexdigest()


def harmless() -> list[str]:
    """Return texts that hold no secret, though they look as if."""
    made = Maker("harmless")
    texts = list(HARMLESS)
    for number in range(12):
        for digest in _digests(str(number)):
            texts += [digest, f"commit {digest}", f"sha256:{digest}", f"Fixed in {digest[:12]}, see {digest[:7]}."]
        one, other = made.uuid(), made.uuid()
        texts += [one, f"request {one} failed", json.dumps({"id": one, "parentId": other}), f"trace_id={other}"]
        picture = base64.b64encode(made.random.randbytes(600)).decode()
        texts += [picture, f"![x](data:image/png;base64,{picture})", "\n".join(textwrap.wrap(picture, 76))]
        own = hashlib.sha256(one.encode()).hexdigest()
        texts += [f"review_{own[:40]}", f"review_attempt_{own[:40]}", f"job review_{own[:40]} was claimed"]
        texts += [
            json.dumps({"leaseToken": own[:32], "attempt": number}),
            f"lease token {own[:32]}",
            f"fence token: {own[:32]}",
        ]
        texts += [
            json.dumps({"projectKey": own[:24], "sessionKey": own[:32], "jobDigest": own}),
            f"nextPageToken: {picture[:24]}",
        ]
        texts += [
            f"resolution: {{integrity: sha512-{picture[:86]}==}}",
            f"v{number}.{number + 1}.0-rc.{number}+build.{own[:8]}",
        ]
        texts += [
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{picture[:43]} me@host",
            f'ETag: "{own[:32]}"',
            f"cache_key = users:{own[:16]}",
        ]
    return texts


_SECRET_NAMES: Final = (
    ("password", "DB_PASSWORD"),
    ("token", "GITHUB_TOKEN"),
    ("secret", "CLIENT_SECRET"),
    ("api_key", "OPENAI_API_KEY"),
    ("access_token", "ACCESS_TOKEN"),
)
_STAND_INS: Final = (
    "<YOUR_TOKEN>", "${%s}", "$%s", "$(cat /run/secrets/one)", "{{ %s }}", "${{ secrets.%s }}", "process.env.%s",
    'os.environ["%s"]', "os.getenv('%s')", "getpass()", "ENV['%s']", "config.%s", "settings.%s", "xxxxxxxxxxxxxxxx",
    "********", "your-%s-here", "YOUR_%s", "<redacted>", "[REDACTED]", "changeme", "null", "None", "undefined", "true",
    "string", "op://vault/item/field", "/run/secrets/one", "see the vault", "await fetchIt()", "self._value", "args.value",
    "Optional[str]", "example-value-1", "...", "%%%s%%", "vault:kv/app#value", "import.meta.env.VITE_%s",
)  # fmt: skip


def stand_ins() -> list[str]:
    """Return assignments whose value only refers to a secret."""
    texts: list[str] = []
    for name, variable in _SECRET_NAMES:
        for value in _STAND_INS:
            filled = value.replace("%s", variable).replace("%%", "%")
            texts += [f"{name} = {filled}", f"{variable}={filled}", f"{name}: {filled}", f'"{name}": "{filled}"']
    return texts


HARMLESS: Final = (
    "The secretary keeps no secrets.",
    "token count: 12345678",
    "max_tokens: 200000",
    "password: see the vault",
    "Passwords must have at least 12 characters, one digit and one symbol.",
    "Reset your password at https://example.invalid/reset and log in again.",
    "The token is required.",
    "The password was changed yesterday.",
    "Your API key is missing; set the variable first.",
    "A bearer token authenticates the request.",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${ACCESS_TOKEN}",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Basic authentication is off, and so is Bearer authentication.",
    "Authorization: required",
    "authorization: see the table below",
    "We keep secrets in Vault and tokens in the keychain.",
    "password_hash: never logged",
    "passwordField: username-input-1",
    '<input type="password" name="password" id="password1" placeholder="Password">',
    '<label for="api-key">API key</label>',
    '{"password": {"type": "string", "minLength": 8}}',
    '{"title": "Password", "description": "Must hold 8 characters"}',
    '{"password": "Password", "forgotPassword": "Forgot your password?"}',
    "password: string;",
    "apiKey?: string | undefined",
    "token: &str,",
    "secret: Vec<u8>,",
    "password VARCHAR(255) NOT NULL",
    "def login(user: str, password: str, token: str | None = None) -> bool:",
    "if (!password) throw new Error('password required')",
    "const token = await getToken(user);",
    "const token = tokens[index2];",
    "let token = lexer.next_token();",
    "password = getpass.getpass('Password: ')",
    "api_key = os.environ.get('API_KEY')",
    "secret_key = secrets.token_hex(32)",
    "secretName: app-tls-cert",
    "secretKeyRef:\n  name: db\n  key: password",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password",
    "tokenizer: cl100k_base",
    "eos_token: <|endoftext|>",
    "pad_token_id: 50256",
    "token_type: bearer",
    "token_endpoint: https://login.invalid/oauth2/v2.0/token",
    "https://example.invalid/path?page=2&sort=asc&limit=100",
    "https://user@example.invalid/repo.git",
    "git@git.invalid:owner/name.git",
    "ssh://git@git.invalid:2222/owner/name.git",
    "https://registry.invalid:4873/@scope/name",
    "http://localhost:8080/@fs/src/main.ts",
    "postgres://user:" + "password@localhost/db",
    "postgres://${USER}:${PASSWORD}@localhost/db",
    "https://<user>:<password>@example.invalid",
    "mailto:someone@example.invalid",
    "docker run --user 1000:1000 -u 1000:1000 image",
    "docker run -p 8080:8080 image",
    "Cookie: theme=dark; lang=en-US",
    "Set-Cookie: consent=accepted; Path=/; Max-Age=31536000; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    "machine learning models log in to nothing",
    "src/app.py:12:5: error: undefined name 'token2'",
    "tests/test_login2.py::test_password_reset PASSED",
    "--- PASS: TestLogin2 (0.00s)",
    "PASS: tests/test_login2.py",
    "pass=3 fail=0",
    "keyboard: qwerty-us2",
    "primary key: user_id_12345678",
    "PRIMARY_KEY=user_id_12345678",
    "CACHE_KEY=users:v2:12345678",
    "key: value1234567890",
    "the key is value1234567890",
    "sort_key=created_at2",
    "sk-fading-circle { animation: sk-rotate 2s }",
    ".sk-folding-cube .sk-cube2:before { width: 50% }",
    "task-1234567890-abcdefghijklmnop",
    "risk-assessment-of-the-third-quarter-2026",
    "disk-usage-report-2026-01-01-final",
    "-----BEGIN CERTIFICATE-----\nMIIB" + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "-----BEGIN PGP SIGNATURE-----\n\niQIzBAABCgAdFiEE\n-----END PGP SIGNATURE-----",
    "-----BEGIN SSH SIGNATURE-----",
    "the private key stays on the host",
    "#ff00aa #a1b2c3d4 rgba(12, 34, 56, .7)",
    "background: url(data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=)",
    "2026-01-03T00:00:00.000Z",
    "192.168.0.1:8080 -> 10.0.0.2:443",
    "00:1a:2b:3c:4d:5e",
    "ISBN 978-3-16-148410-0, tel. +49 30 1234567",
    "arn:aws:secretsmanager:us-east-1:123456789012:secret:app/db-1a2b3c",
    "arn:aws:iam::123456789012:role/deploy",
    "projects/p/secrets/s/versions/1",
    "pk_live_ keys are public; the others are not.",
    "npm_config_registry_of_the_whole_company_2026=https://registry.invalid",
    "github_pat_ and ghp_ are the prefixes of its tokens.",
    "ghp_" + "x" * 36,
    "AKIA" + "X" * 16,
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-your-key-goes-right-here-please",
    "eyJhbGciOi... (shortened)",
    "The curator claims a job, takes a lease, and writes its fence token.",
    "Package commands use pnpm, never npm.",
    "Tests run with node --test \u2014 caf\u00e9 \u2713 \U0001f600.",
    "function compass() { return bypass(surpass) }",
    "pwd=$(pwd)",
    "cd $PWD && echo $OLDPWD",
    "PWD=/home/someone/project",
    "passwd: files systemd",
    "root:x:0:0:root:/root:/bin/bash",
    "token: sha256:" + "0123456789abcdef" * 4,
    "csrf tokens rotate daily",
    "session key rotation: every 24h",
    "credential helper = osxkeychain",
    "credentials: include",
    "credentials: 'same-origin'",
    "auth: none",
    "auth = HTTPBasicAuth(user, password)",
    "--password-stdin",
    "--token-file ./token.txt",
    "token: 1.2.3-alpha1",
    "secret: my-app-secret",
    "ENV API_KEY=\nARG TOKEN",
    "ALTER ROLE app PASSWORD NULL",
    "# password = ask the owner",
    "password is required; token is optional",
    "Enter password: ",
    "Password: ",
    "api key:\n\nSee the manual for how to get one.",
    "\n".join(f"line {number}: nothing to see" for number in range(40)),
)
