"""Secrets of every kind in every dress, all made up at run time.

No secret stands in this file: each is put together from a prefix and random characters, always the same ones, for the
generator is seeded with the kind's name. What is made works nowhere.
"""

from __future__ import annotations

import base64
import json
import random
import string
import textwrap
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

ALNUM: Final = string.ascii_letters + string.digits
LOWER: Final = string.ascii_lowercase + string.digits
UPPER: Final = string.ascii_uppercase + string.digits
HEX: Final = "0123456789abcdef"
URLSAFE: Final = ALNUM + "_-"
BASE64: Final = ALNUM + "+/"
LONG: Final = 12
PRIVATE: Final = "PRIVATE" + " KEY"


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret: its kind, its parts that nobody may see, and the text that carries it."""

    kind: str
    form: Literal["token", "field", "line", "block"]
    value: str
    carrier: str = "{v}"
    """For a line, the text around the value; for a field, its name."""

    @property
    def text(self) -> str:
        """The secret as it stands alone."""
        return f"{self.carrier}={self.value}" if self.form == "field" else self.carrier.replace("{v}", self.value)


@dataclass(frozen=True, slots=True)
class Dressed:
    """A text with a secret in it, and the pieces of the secret as they stand there."""

    name: str
    text: str
    pieces: tuple[str, ...]


class Maker:
    """Draws the random parts of one kind."""

    def __init__(self, kind: str) -> None:
        self.random = random.Random(kind)

    def of(self, alphabet: str, length: int) -> str:
        """Return random characters; a long draw has every class of its alphabet in either half, as most draws have."""
        classes = [set(one) for one in (string.digits, string.ascii_lowercase, string.ascii_uppercase)]
        wanted = [one for one in classes if one & set(alphabet)] if length >= LONG else []
        while True:
            drawn = "".join(self.random.choice(alphabet) for _ in range(length))
            halves = (set(drawn[: length // 2]), set(drawn[length // 2 :]))
            if all(one & half for one in wanted for half in halves):
                return drawn

    def uuid(self) -> str:
        """Return a random UUID."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def password(self) -> str:
        """Return a password as a generator makes it."""
        return self.of(ALNUM, 10) + self.random.choice("!@#%^*") + self.of(ALNUM, 4)

    def jwt(self) -> str:
        """Return a signed token of encoded objects."""
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.of(HEX, 12), "iat": self.random.randrange(10**9)})
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*encoded, self.of(URLSAFE, 43)])

    def credentials(self) -> str:
        """Return `name:password` in base64."""
        return base64.b64encode(f"deploy:{self.of(ALNUM, 14)}".encode()).decode()

    def body(self, size: int = 640) -> str:
        """Return the lines of a key's base64 body."""
        return "\n".join(textwrap.wrap(base64.b64encode(self.random.randbytes(size)).decode(), 64))


TOKENS: Final[dict[str, Callable[[Maker], str]]] = {
    "github classic": lambda m: "gh" + "p_" + m.of(ALNUM, 36),
    "github oauth": lambda m: "gh" + "o_" + m.of(ALNUM, 36),
    "github user": lambda m: "gh" + "u_" + m.of(ALNUM, 36),
    "github server": lambda m: "gh" + "s_" + m.of(ALNUM, 36),
    "github refresh": lambda m: "gh" + "r_" + m.of(ALNUM, 76),
    "github fine-grained": lambda m: "github" + "_pat_" + m.of(ALNUM, 22) + "_" + m.of(ALNUM, 59),
    "gitlab personal": lambda m: "gl" + "pat-" + m.of(URLSAFE, 20),
    "gitlab deploy": lambda m: "gl" + "dt-" + m.of(ALNUM, 20),
    "gitlab runner": lambda m: "gl" + "rt-" + m.of(ALNUM, 20),
    "gitlab registration": lambda m: "GR13" + "48941" + m.of(URLSAFE, 20),
    "gitlab trigger": lambda m: "gl" + "ptt-" + m.of(HEX, 40),
    "gitlab ci": lambda m: "gl" + "cbt-64_" + m.of(ALNUM, 20),
    "bitbucket": lambda m: "AT" + "BB" + m.of(ALNUM, 32),
    "atlassian": lambda m: "ATA" + "TT3xFfGF0" + m.of(URLSAFE, 180),
    "npm": lambda m: "np" + "m_" + m.of(ALNUM, 36),
    "pypi": lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.of(URLSAFE, 150),
    "test pypi": lambda m: "py" + "pi-AgENdGVzdC5weXBpLm9yZw" + m.of(URLSAFE, 150),
    "rubygems": lambda m: "rubygems" + "_" + m.of(HEX, 48),
    "nuget": lambda m: "oy" + "2" + m.of(LOWER, 43),
    "crates": lambda m: "ci" + "o" + m.of(ALNUM, 32),
    "docker hub": lambda m: "dckr" + "_pat_" + m.of(URLSAFE, 27),
    "artifactory key": lambda m: "AK" + "Cp8" + m.of(ALNUM, 69),
    "artifactory password": lambda m: "AP" + "6" + m.of(ALNUM, 40),
    "aws access key": lambda m: "AK" + "IA" + m.of(UPPER, 16),
    "aws temporary key": lambda m: "AS" + "IA" + m.of(UPPER, 16),
    "aws session token": lambda m: "IQoJb3" + "JpZ2luX2VjE" + m.of(BASE64, 300),
    "aws mws": lambda m: "amzn" + ".mws." + m.uuid(),
    "google api key": lambda m: "AI" + "za" + m.of(URLSAFE, 35),
    "google access token": lambda m: "ya" + "29." + m.of(URLSAFE, 120),
    "google client secret": lambda m: "GOC" + "SPX-" + m.of(URLSAFE, 28),
    "google refresh token": lambda m: "1/" + "/0" + m.of(URLSAFE, 60),
    "azure client secret": lambda m: m.of(ALNUM, 3) + "8" + "Q~" + m.of(ALNUM, 34),
    "azure devops": lambda m: m.of(ALNUM, 76) + "AZ" + "DO" + m.of(ALNUM, 4),
    "digitalocean": lambda m: "dop" + "_v1_" + m.of(HEX, 64),
    "heroku": lambda m: "HR" + "KU-" + m.uuid(),
    "alibaba": lambda m: "LT" + "AI" + m.of(ALNUM, 20),
    "tencent": lambda m: "AK" + "ID" + m.of(ALNUM, 32),
    "terraform": lambda m: m.of(ALNUM, 14) + ".atlas" + "v1." + m.of(ALNUM, 67),
    "pulumi": lambda m: "pu" + "l-" + m.of(HEX, 40),
    "vault": lambda m: "hv" + "s." + m.of(URLSAFE, 90),
    "doppler": lambda m: "dp" + ".pt." + m.of(ALNUM, 43),
    "databricks": lambda m: "da" + "pi" + m.of(HEX, 32),
    "planetscale": lambda m: "pscale" + "_tkn_" + m.of(URLSAFE, 43),
    "supabase": lambda m: "sb" + "p_" + m.of(HEX, 40),
    "netlify": lambda m: "nf" + "p_" + m.of(ALNUM, 36),
    "tailscale": lambda m: "tskey" + "-auth-" + m.of(ALNUM, 17) + "-" + m.of(ALNUM, 32),
    "anthropic": lambda m: "sk-" + "ant-api03-" + m.of(URLSAFE, 93) + "AA",
    "openai classic": lambda m: "s" + "k-" + m.of(ALNUM, 20) + "T3Blbk" + "FJ" + m.of(ALNUM, 20),
    "openai project": lambda m: "sk-" + "proj-" + m.of(ALNUM, 48) + "T3Blbk" + "FJ" + m.of(ALNUM, 48),
    "openai new": lambda m: "sk-" + "proj-" + m.of(ALNUM, 100),
    "openrouter": lambda m: "sk-" + "or-v1-" + m.of(HEX, 64),
    "deepseek": lambda m: "s" + "k-" + m.of(HEX, 32),
    "hugging face": lambda m: "h" + "f_" + m.of(string.ascii_letters, 34),
    "groq": lambda m: "gs" + "k_" + m.of(ALNUM, 52),
    "replicate": lambda m: "r8" + "_" + m.of(ALNUM, 37),
    "perplexity": lambda m: "pp" + "lx-" + m.of(ALNUM, 48),
    "xai": lambda m: "xa" + "i-" + m.of(ALNUM, 80),
    "nvidia": lambda m: "nv" + "api-" + m.of(URLSAFE, 64),
    "langsmith": lambda m: "lsv2" + "_pt_" + m.of(HEX, 32) + "_" + m.of(HEX, 10),
    "stripe live": lambda m: "sk" + "_live_" + m.of(ALNUM, 24),
    "stripe restricted": lambda m: "rk" + "_live_" + m.of(ALNUM, 99),
    "stripe test": lambda m: "sk" + "_test_" + m.of(ALNUM, 24),
    "stripe webhook": lambda m: "wh" + "sec_" + m.of(ALNUM, 32),
    "square secret": lambda m: "sq0" + "csp-" + m.of(URLSAFE, 43),
    "square access": lambda m: "EA" + "AA" + m.of(URLSAFE, 60),
    "braintree": lambda m: "access_token" + "$production$" + m.of(LOWER, 16) + "$" + m.of(HEX, 32),
    "plaid": lambda m: "access" + "-sandbox-" + m.uuid(),
    "razorpay": lambda m: "rzp" + "_live_" + m.of(ALNUM, 14),
    "shopify": lambda m: "shp" + "at_" + m.of(HEX, 32),
    "shippo": lambda m: "shippo" + "_live_" + m.of(HEX, 40),
    "slack bot": lambda m: (
        "xo" + "xb-" + m.of(string.digits, 12) + "-" + m.of(string.digits, 13) + "-" + m.of(ALNUM, 24)
    ),
    "slack user": lambda m: (
        "xo" + "xp-" + m.of(string.digits, 12) + "-" + m.of(string.digits, 12) + "-" + m.of(HEX, 32)
    ),
    "slack app": lambda m: "xa" + "pp-1-A0" + m.of(UPPER, 9) + "-" + m.of(string.digits, 13) + "-" + m.of(HEX, 64),
    "discord": lambda m: "M" + m.of(ALNUM, 23) + "." + m.of(ALNUM, 6) + "." + m.of(ALNUM, 27),
    "telegram": lambda m: m.of(string.digits, 10) + ":AA" + m.of(URLSAFE, 33),
    "twilio": lambda m: "S" + "K" + m.of(HEX, 32),
    "sendgrid": lambda m: "S" + "G." + m.of(URLSAFE, 22) + "." + m.of(URLSAFE, 43),
    "mailgun": lambda m: "ke" + "y-" + m.of(HEX, 32),
    "mailchimp": lambda m: m.of(HEX, 32) + "-us" + "12",
    "brevo": lambda m: "xkey" + "sib-" + m.of(HEX, 64) + "-" + m.of(ALNUM, 16),
    "facebook": lambda m: "EA" + "AB" + m.of(ALNUM, 120),
    "notion": lambda m: "nt" + "n_" + m.of(ALNUM, 46),
    "linear": lambda m: "lin" + "_api_" + m.of(ALNUM, 40),
    "figma": lambda m: "fig" + "d_" + m.of(URLSAFE, 40),
    "airtable": lambda m: "pa" + "t" + m.of(ALNUM, 14) + "." + m.of(HEX, 64),
    "postman": lambda m: "PM" + "AK-" + m.of(HEX, 24) + "-" + m.of(HEX, 34),
    "dropbox": lambda m: "sl" + "." + m.of(URLSAFE, 135),
    "sourcegraph": lambda m: "sg" + "p_" + m.of(HEX, 40),
    "grafana": lambda m: "gl" + "sa_" + m.of(ALNUM, 32) + "_" + m.of(HEX, 8),
    "new relic": lambda m: "NR" + "AK-" + m.of(UPPER, 27),
    "sentry": lambda m: "sntry" + "u_" + m.of(HEX, 64),
    "dynatrace": lambda m: "dt0" + "c01." + m.of(UPPER, 24) + "." + m.of(UPPER, 64),
    "posthog": lambda m: "ph" + "x_" + m.of(ALNUM, 43),
    "buildkite": lambda m: "bk" + "ua_" + m.of(HEX, 40),
    "circleci": lambda m: "CCI" + "PAT_" + m.of(ALNUM, 22) + "_" + m.of(HEX, 40),
    "age": lambda m: "AGE-SEC" + "RET-KEY-1" + m.of(UPPER, 58),
    "onepassword": lambda m: "ops_" + "eyJ" + m.of(URLSAFE, 200),
    "jwt": lambda m: m.jwt(),
    "openssh body": lambda m: "b3BlbnNzaC1r" + "ZXktdjEAAAAA" + m.of(BASE64, 120),
    "rsa body": lambda m: "MIIEpAI" + "BAAKCAQEA" + m.of(BASE64, 120),
    "pkcs8 body": lambda m: "MIIEvQIBADANBgkqhkiG" + "9w0BAQEFAASC" + m.of(BASE64, 120),
}

FIELDS: Final[dict[str, tuple[str, Callable[[Maker], str]]]] = {
    "password": ("password", lambda m: m.password()),
    "prefixed password": ("db_password", lambda m: m.password()),
    "user password": ("smtp_user_passwd", lambda m: m.password()),
    "passphrase": ("ssh_passphrase", lambda m: m.password()),
    "pwd": ("mysql_pwd", lambda m: m.password()),
    "token": ("deploy_token", lambda m: m.of(ALNUM, 32)),
    "access token": ("access_token", lambda m: m.of(URLSAFE, 40)),
    "auth token": ("auth_token", lambda m: m.of(HEX, 40)),
    "secret": ("app_secret", lambda m: m.of(ALNUM, 32)),
    "client secret": ("client_secret", lambda m: m.of(URLSAFE, 40)),
    "secret key": ("django_secret_key", lambda m: m.of(ALNUM, 50)),
    "api key": ("api_key", lambda m: m.of(ALNUM, 32)),
    "prefixed api key": ("weather_api_key", lambda m: m.of(HEX, 32)),
    "datadog": ("dd_api_key", lambda m: m.of(HEX, 32)),
    "private key": ("wallet_private_key", lambda m: "0x" + m.of(HEX, 64)),
    "encryption key": ("encryption_key", lambda m: m.of(BASE64, 44)),
    "aws secret": ("aws_secret_access_key", lambda m: m.of(BASE64, 40)),
    "heroku uuid": ("heroku_api_key", lambda m: m.uuid()),
    "ibm cloud": ("ibm_cloud_api_key", lambda m: m.of(URLSAFE, 44)),
    "ibm cos": ("cos_hmac_secret_access_key", lambda m: m.of(HEX, 48)),
    "softlayer": ("softlayer_api_key", lambda m: m.of(LOWER, 64)),
    "cloudant": ("cloudant_password", lambda m: m.of(HEX, 64)),
    "twilio auth token": ("twilio_auth_token", lambda m: m.of(HEX, 32)),
    "webhook secret": ("webhook_secret", lambda m: m.of(ALNUM, 32)),
}

LINES: Final[dict[str, tuple[str, Callable[[Maker], str]]]] = {
    "bearer": ("Authorization: Bearer {v}", lambda m: m.of(URLSAFE, 40)),
    "bearer short": ("Authorization: Bearer {v}", lambda m: m.of(ALNUM, 20)),
    "bearer alone": ("curl with bearer {v}", lambda m: m.of(ALNUM, 40)),
    "basic": ("Authorization: Basic {v}", lambda m: m.credentials()),
    "token scheme": ("Authorization: Token {v}", lambda m: m.of(HEX, 40)),
    "okta": ("Authorization: SSWS {v}", lambda m: "00" + m.of(URLSAFE, 40)),
    "url password": ("postgres://app:{v}@db.invalid:5432/app", lambda m: m.of(ALNUM, 12)),
    "redis password": ("redis://:{v}@cache.invalid:6379/0", lambda m: m.of(ALNUM, 16)),
    "cloudant url": ("https://acme:{v}@acme.cloudant.com", lambda m: m.of(HEX, 64)),
    "url user": ("https://{v}@git.invalid/repo.git", lambda m: m.of(HEX, 40)),
    "query token": ("https://api.invalid/v1/items?page=2&token={v}", lambda m: m.of(ALNUM, 32)),
    "query api key": ("https://api.invalid/v1/items?api_key={v}&q=tea", lambda m: m.of(HEX, 32)),
    "signed url": ("https://blob.invalid/a?sv=2024-01-01&sig={v}", lambda m: m.of(ALNUM, 43)),
    "s3 presigned": ("https://s3.invalid/b?X-Amz-Expires=60&X-Amz-Signature={v}", lambda m: m.of(HEX, 64)),
    "azure storage": ("AccountName=acme;AccountKey={v}", lambda m: m.of(BASE64, 86) + "=="),
    "azure bus": ("SharedAccessKeyName=root;SharedAccessKey={v}", lambda m: m.of(BASE64, 43) + "="),
    "odbc": ("Driver=x;Server=db;Uid=app;Pwd={v}", lambda m: m.of(ALNUM, 14)),
    "npmrc": ("//registry.invalid/:_authToken={v}", lambda m: m.uuid()),
    "slack webhook": (
        "https://hooks.slack.com/services/{v}",
        lambda m: f"T{m.of(UPPER, 8)}/B{m.of(UPPER, 8)}/{m.of(ALNUM, 24)}",
    ),
    "discord webhook": (
        "https://discord.com/api/webhooks/{v}",
        lambda m: f"{m.of(string.digits, 18)}/{m.of(URLSAFE, 68)}",
    ),
    "softlayer url": ("https://api.softlayer.com/soap/v3/{v}", lambda m: m.of(LOWER, 64)),
    "session cookie": ("Cookie: theme=dark; session_id={v}", lambda m: m.of(ALNUM, 32)),
    "set cookie": ("Set-Cookie: connect.sid={v}; Path=/; HttpOnly", lambda m: m.of(ALNUM, 40)),
    "netrc": ("machine git.invalid login app password {v}", lambda m: m.password()),
    "curl user": ("curl -u deploy:{v} https://api.invalid", lambda m: m.of(ALNUM, 16)),
    "docker auth": ("auth: {v}", lambda m: m.credentials()),
    "sshpass": ("sshpass -p {v} ssh host.invalid", lambda m: m.of(ALNUM, 12)),
    "flag": ("deploy --api-token {v} --verbose", lambda m: m.of(ALNUM, 30)),
}

BLOCKS: Final = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "SSH2 ENCRYPTED ", "ANY ", "PGP")


def _block(kind: str) -> str:
    head, tail = (f"PGP {PRIVATE} BLOCK", "\n=aB3d") if kind == "PGP" else (f"{kind}{PRIVATE}", "")
    return f"-----BEGIN {head}-----\n{Maker(kind).body()}{tail}\n-----END {head}-----"


def secrets() -> list[Secret]:
    """Return one secret of each kind."""
    made = [Secret(kind, "token", make(Maker(kind))) for kind, make in TOKENS.items()]
    made += [Secret(kind, "field", make(Maker(kind)), name) for kind, (name, make) in FIELDS.items()]
    made += [Secret(kind, "line", make(Maker(kind)), carrier) for kind, (carrier, make) in LINES.items()]
    made += [Secret(f"{kind or 'PKCS8 '}key block", "block", _block(kind)) for kind in BLOCKS]
    return made


def dressings(secret: Secret) -> Iterator[Dressed]:
    """Yield the secret in each dress: at least twelve."""
    if secret.form == "field":
        yield from _dressed_field(secret.carrier, secret.value)
    elif secret.form == "block":
        yield from _dressed_block(secret.value)
    else:
        yield from _dressed_text(secret)


def _dressed_text(secret: Secret) -> Iterator[Dressed]:
    text, value = secret.text, secret.value
    whole = (value,)
    yield Dressed("bare", text, whole)
    yield Dressed("json", json.dumps({"note": text, "n": 1}), whole)
    yield Dressed("header", f"GET / HTTP/1.1\r\nHost: api.invalid\r\nX-Note: {text}\r\n\r\n", whole)
    yield Dressed("environment", f"export NOTE={text}\nexport LANG=C\n", whole)
    yield Dressed("quoted environment", f"NOTE='{text}'\n", whole)
    yield Dressed("here document", f"cat > note <<EOF\nfirst line\n{text}\nEOF\n", whole)
    yield Dressed("escaped", json.dumps({"log": f'started\n{text}\t"done"\n'}), whole)
    yield Dressed("twice escaped", json.dumps(json.dumps({"log": f"started\n{text}\n"})), whole)
    yield Dressed("yaml", f"note: {text}\nother: 1\n", whole)
    yield Dressed("code", f'client = Client("{text}", retries=3)\n', whole)
    yield Dressed("prose", f"First I used {text}, and then (see {text}) it worked: {text}.", whole)
    yield Dressed("fence", f"Run it:\n```sh\n{text}\n```\nand look.", whole)
    yield Dressed("command", f"echo '{text}' | tee note && ls -l", whole)
    yield Dressed("list", f"- one\n- {text}\n- three\n", whole)
    half = len(value) // 2
    pieces = (value[:half], value[half:])
    for name, joint in SPLITS.items():
        if secret.form == "token" or name == "continued line":
            yield Dressed(f"split by {name}", secret.carrier.replace("{v}", joint.join(pieces)), pieces)
    if secret.form == "token":
        yield Dressed("url", f"https://api.invalid/hook/{value}?page=2", whole)
        yield Dressed("encoded url", f"https://api.invalid/?note%3D{value}%26page=2", whole)


SPLITS: Final = {
    "continued line": "\\\n",
    "concatenation": '" +\n    "',
    "adjacent strings": '"\n    "',
    "wrapped line": "\n    ",
    "quoted reply": "\n> ",
}


def _dressed_field(name: str, value: str) -> Iterator[Dressed]:
    whole = (value,)
    upper, kebab, words = name.upper(), name.replace("_", "-"), name.replace("_", " ")
    camel = words.title().replace(" ", "")
    yield Dressed("bare", f"{name}={value}", whole)
    yield Dressed("json", json.dumps({"id": 7, name: value, "on": True}), whole)
    yield Dressed("header", f"GET / HTTP/1.1\r\nX-{kebab.title()}: {value}\r\n\r\n", whole)
    yield Dressed("url", f"https://api.invalid/v1?page=2&{name}={value}", whole)
    yield Dressed("environment", f"export {upper}={value}\nexport LANG=C\n", whole)
    yield Dressed("quoted environment", f"{upper}='{value}'\n", whole)
    yield Dressed("here document", f"cat > .env <<EOF\nLANG=C\n{upper}={value}\nEOF\n", whole)
    yield Dressed("value on the next line", f"{name}:\n  {value}\n", whole)
    yield Dressed("continued line", f"{upper}=\\\n{value}\n", whole)
    yield Dressed("escaped", json.dumps({"body": json.dumps({name: value})}), whole)
    yield Dressed("escaped lines", json.dumps({"log": f"LANG=C\n{upper}={value}\nHOME=/root\n"}), whole)
    yield Dressed("yaml", f"app:\n  {name}: {value}\n  port: 80\n", whole)
    yield Dressed("quoted yaml", f'{kebab}: "{value}"\n', whole)
    yield Dressed("toml", f'[app]\n{name} = "{value}"\n', whole)
    yield Dressed("container list", f"env:\n  - name: {upper}\n    value: {value}\n", whole)
    yield Dressed("xml", f"<app><{camel}>{value}</{camel}></app>", whole)
    yield Dressed("code", f'const {camel[0].lower()}{camel[1:]}: string = "{value}";', whole)
    yield Dressed("lookup", f'settings["{name}"] = "{value}"', whole)
    yield Dressed("call", f'client.set{camel}("{value}")', whole)
    yield Dressed("prose", f"The {words} is {value}.", whole)
    yield Dressed("markdown", f"- **{words.title()}:** {value}\n- **Port:** 80\n", whole)
    yield Dressed("fence", f"```ini\n{name} = {value}\n```", whole)
    yield Dressed("command", f"deploy --{kebab} {value} --verbose", whole)


def _dressed_block(block: str) -> Iterator[Dressed]:
    head, *body, _ = block.split("\n")
    whole = (block,)
    lines = (head, *body)
    yield Dressed("bare", block, whole)
    yield Dressed("json", json.dumps({"key": block}), lines)
    yield Dressed("environment", f'export KEY="{block}"\n', whole)
    yield Dressed("escaped environment", 'KEY="' + block.replace("\n", "\\n") + '"', lines)
    yield Dressed("here document", f"cat > id <<EOF\n{block}\nEOF\n", whole)
    yield Dressed("yaml", "key: |\n" + textwrap.indent(block, "  "), lines)
    yield Dressed("quoted reply", textwrap.indent(block, "> "), lines)
    yield Dressed("code", "key = (\n" + "\n".join(f'    "{line}\\n"' for line in block.split("\n")) + "\n)", lines)
    yield Dressed("fence", f"Here:\n```\n{block}\n```\nKeep it.", whole)
    yield Dressed("prose", f"It says {block}, and no more.", whole)
    yield Dressed("windows lines", block.replace("\n", "\r\n"), lines)
    yield Dressed("twice escaped", json.dumps(json.dumps({"key": block})), lines)
    yield Dressed("truncated", f"{head}\n" + "\n".join(body), lines)
    yield Dressed(
        "truncated in a line", f"{head}\n" + "\n".join(body[:3]) + "\n" + body[4][:11], (head, *body[:3], body[4][:11])
    )
    yield Dressed("truncated and escaped", json.dumps({"key": f"{head}\n" + "\n".join(body)}), lines)
    yield Dressed("split in its first line", block.replace(" PRI", "\nPRI", 1), (*body,))
