"""Secrets that are known by their own shape: one row for each kind of token, wherever it stands.

A row's anchors are literals of which each match contains one: a text without any of them is not searched. The patterns
take linear time. Each either fails within a bounded distance of where it began, or takes what it ran over; where a
shape can only be judged at its end, the pattern takes the whole run and `judge` decides. `{L}` begins a token that no
letter or digit may precede, `{R}` ends one. Where a pattern has a group, the group alone is the secret.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from functools import cache
from typing import Final

_LEFT: Final = "(?<![A-Za-z0-9])"
_RIGHT: Final = "(?![A-Za-z0-9])"
_DISTINCT_MIN: Final = 5
"""A run of fewer different characters is a placeholder such as `xxxxxxxx`."""
RUN_CHARS_MIN: Final = 15
LONG_RUN_CHARS_MIN: Final = 40
"""For tokens whose anchor stands in many a word."""


def is_varied(token: str) -> bool:
    """Say whether the token is no placeholder made of a few repeated characters."""
    return len(set(token)) >= _DISTINCT_MIN


def has_random_part(token: str) -> bool:
    """Say whether one part of the token is long and mixes letters with digits, as words joined by hyphens do not."""
    parts = re.split(r"[^A-Za-z0-9]+", token)
    return any(len(part) >= 16 and _mixes(part) for part in parts)  # noqa: PLR2004 - the shortest body of such a key


def _mixes(token: str) -> bool:
    return bool(re.search(r"[0-9]", token) and re.search(r"[A-Za-z]", token))


def _is_cased(token: str) -> bool:
    return is_varied(token) and _mixes(token) and bool(re.search(r"[A-Z]", token) and re.search(r"[a-z]", token))


def _is_mixed(token: str) -> bool:
    return is_varied(token) and _mixes(token)


def _is_jwt(token: str) -> bool:
    """Two or more parts, of which the first two are long enough to be encoded objects."""
    parts = token.split(".")
    return len(parts) > 1 and len(parts[0]) >= 10 and len(parts[1]) >= 8 and is_varied(token)  # noqa: PLR2004 - no shorter object is encoded


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret: its name, what it must contain, its pattern, and what else must hold of a match."""

    name: str
    anchors: tuple[str, ...]
    pattern: str
    judge: Callable[[str], bool] = is_varied
    run_chars_min: int = RUN_CHARS_MIN
    """How long a run of characters without white space is in which such a token stands, as far as the judge takes it
    for one; 0 where it need not stand in one run. Most words are shorter, and need not be searched for anchors."""


@cache
def compiled(kind: Kind) -> re.Pattern[str]:
    """Return the compiled pattern of a row; compiled at its first use, for most texts need few of them."""
    return re.compile(kind.pattern.replace("{L}", _LEFT).replace("{R}", _RIGHT), re.ASCII)


def _row(
    name: str, anchors: str, pattern: str, judge: Callable[[str], bool] = is_varied, *, run: int = RUN_CHARS_MIN
) -> Kind:
    return Kind(name, tuple(anchors.split()), pattern, judge, run)


_HEX: Final = "[0-9a-f]"
_UUID: Final = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

KINDS: Final = (
    # Code hosting and packages.
    _row("GITHUB TOKEN", "ghp_ gho_ ghu_ ghs_ ghr_", r"{L}gh[pousr]_[A-Za-z0-9_]{34,255}", _is_mixed),
    _row("GITHUB TOKEN", "github_pat_", r"{L}github_pat_[A-Za-z0-9_]{22,255}", has_random_part),
    _row("GITLAB TOKEN", "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- glffct-",
         r"{L}gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[A-Za-z0-9_-]{20,1024}(?:\.[A-Za-z0-9]{2,20}){0,3}", _is_mixed),
    _row("GITLAB TOKEN", "GR1348941", r"{L}GR1348941[A-Za-z0-9_-]{20,50}"),
    _row("BITBUCKET TOKEN", "ATBB ATCTT3", r"{L}(?:ATBB[A-Za-z0-9]{28,}|ATCTT3xFf[A-Za-z0-9_=-]{40,})", _is_mixed),
    _row("ATLASSIAN TOKEN", "ATATT3", r"{L}ATATT3[A-Za-z0-9_=-]{40,}"),
    _row("NPM TOKEN", "npm_", r"{L}npm_[A-Za-z0-9]{36,255}"),
    _row("NPM TOKEN", "_authToken", rf"_authToken[ \t]*=[ \t]*[\"']?((?:{_UUID}|[A-Za-z0-9+/=_-]{{20,}}))", run=0),
    _row("PYPI TOKEN", "pypi-AgE", r"{L}pypi-AgE[A-Za-z0-9_-]{40,}"),
    _row("RUBYGEMS TOKEN", "rubygems_", r"{L}rubygems_[0-9a-f]{48}"),
    _row("NUGET TOKEN", "oy2", r"{L}oy2[a-z0-9]{43}{R}", _is_mixed),
    _row("CRATES TOKEN", "cio", r"{L}cio[A-Za-z0-9]{32}{R}", _is_cased),
    _row("DOCKER TOKEN", "dckr_", r"{L}dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    _row("ARTIFACTORY TOKEN", "AKCp", r"{L}AKCp[A-Za-z0-9]{30,}", _is_cased),
    _row("ARTIFACTORY TOKEN", "AP", r"{L}AP[0-9A-F][A-Za-z0-9]{30,}", _is_cased),
    _row("ARTIFACTORY TOKEN", "cmVmdGtu", r"{L}cmVmdGtu[A-Za-z0-9]{40,}"),
    # Clouds.
    _row("AWS ACCESS KEY", "AKIA ASIA ABIA ACCA A3T", r"{L}(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}{R}"),
    _row("AWS SESSION TOKEN", "FwoGZXIvYXdz FQoGZXIvYXdz IQoJb3JpZ2lu",
         r"{L}(?:F[wQ]oGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{40,}"),
    _row("AWS BEDROCK KEY", "ABSK", r"{L}ABSK[A-Za-z0-9+/=]{80,}", _is_cased),
    _row("AWS MWS KEY", "amzn.mws.", rf"{{L}}amzn\.mws\.{_UUID}"),
    _row("GOOGLE API KEY", "AIza", r"{L}AIza[A-Za-z0-9_-]{30,}"),
    _row("GOOGLE OAUTH TOKEN", "ya29.", r"{L}ya29\.[A-Za-z0-9_.-]{20,}", _is_mixed),
    _row("GOOGLE CLIENT SECRET", "GOCSPX-", r"{L}GOCSPX-[A-Za-z0-9_-]{20,}"),
    _row("GOOGLE REFRESH TOKEN", "1//0", r"{L}1//0[A-Za-z0-9_-]{30,}", _is_cased),
    _row("AZURE CLIENT SECRET", "Q~", r"{L}[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}"),
    _row("AZURE STORAGE KEY", "AccountKey SharedAccessKey",
         r"(?:AccountKey|SharedAccessKey)[ \t]*=[ \t]*([A-Za-z0-9+/]{20,}={0,2})", run=0),
    _row("AZURE DEVOPS TOKEN", "AZDO", r"{L}[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}{R}"),
    _row("DIGITALOCEAN TOKEN", "dop_v1_ doo_v1_ dor_v1_", r"{L}do[opr]_v1_[0-9a-f]{64}"),
    _row("HEROKU KEY", "HRKU-", r"{L}HRKU-[A-Za-z0-9_-]{30,}"),
    _row("ALIBABA KEY", "LTAI", r"{L}LTAI[A-Za-z0-9]{16,24}{R}", _is_cased),
    _row("TENCENT KEY", "AKID", r"{L}AKID[A-Za-z0-9]{32}{R}", _is_cased),
    _row("YANDEX KEY", "AQVN", r"{L}AQVN[A-Za-z0-9_-]{30,}", _is_cased),
    _row("CLOUDFLARE CA KEY", "v1.0-", r"{L}v1\.0-[0-9a-f]{24}-[0-9a-f]{140,}"),
    _row("FLY TOKEN", "fo1_ fm1r_ fm2_", r"{L}(?:fo1|fm1r|fm2)_[A-Za-z0-9+/=_-]{40,}"),
    _row("TERRAFORM TOKEN", ".atlasv1.", r"{L}[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    _row("PULUMI TOKEN", "pul-", r"{L}pul-[0-9a-f]{40}{R}"),
    _row("VAULT TOKEN", "hvs. hvb. hvr.", r"{L}hv[sbr]\.[A-Za-z0-9_-]{24,}", _is_cased),
    _row("DOPPLER TOKEN", "dp.", r"{L}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}{R}"),
    _row("DATABRICKS TOKEN", "dapi", r"{L}dapi[0-9a-f]{32}(?:-[0-9]{1,2})?{R}"),
    _row("PLANETSCALE TOKEN", "pscale_", r"{L}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    _row("SUPABASE KEY", "sbp_ sb_secret_", r"{L}(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})", _is_mixed),
    _row("NETLIFY TOKEN", "nfp_", r"{L}nfp_[A-Za-z0-9]{36,}"),
    _row("SOFTLAYER KEY", "api.softlayer.com", r"api\.softlayer\.com/soap/v3(?:\.1)?/([A-Za-z0-9]{64})"),
    _row("TAILSCALE KEY", "tskey-", r"{L}tskey-[a-z]{2,12}-[A-Za-z0-9-]{20,}", _is_mixed),
    # Models.
    _row("ANTHROPIC KEY", "sk-ant-", r"{L}sk-ant-[A-Za-z0-9_-]{16,}", has_random_part),
    _row("OPENROUTER KEY", "sk-or-", r"{L}sk-or-(?:v[0-9]-)?[0-9a-f]{32,}"),
    _row("OPENAI KEY", "T3BlbkFJ sk-proj- sk-svcacct- sk-admin-",
         r"{L}sk-[A-Za-z0-9_-]{20,}", lambda token: "T3BlbkFJ" in token or has_random_part(token)),
    _row("API KEY", "sk-", r"{L}sk-[A-Za-z0-9_-]{20,}", has_random_part),
    _row("HUGGING FACE TOKEN", "hf_ api_org_", r"{L}(?:hf|api_org)_[A-Za-z0-9]{34,}"),
    _row("GROQ KEY", "gsk_", r"{L}gsk_[A-Za-z0-9]{48,}"),
    _row("REPLICATE TOKEN", "r8_", r"{L}r8_[A-Za-z0-9]{37,}"),
    _row("PERPLEXITY KEY", "pplx-", r"{L}pplx-[A-Za-z0-9]{40,}"),
    _row("XAI KEY", "xai-", r"{L}xai-[A-Za-z0-9]{70,}"),
    _row("NVIDIA KEY", "nvapi-", r"{L}nvapi-[A-Za-z0-9_-]{50,}"),
    _row("CEREBRAS KEY", "csk-", r"{L}csk-[a-z0-9]{40,}"),
    _row("LANGSMITH KEY", "lsv2_", r"{L}lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _row("ELEVENLABS KEY", "sk_", r"{L}sk_[0-9a-f]{48}{R}"),
    # Money.
    _row("STRIPE KEY", "k_live_ k_test_ k_prod_", r"{L}[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}"),
    _row("STRIPE WEBHOOK SECRET", "whsec_", r"{L}whsec_[A-Za-z0-9+/=]{20,}"),
    _row("SQUARE TOKEN", "sq0", r"{L}sq0(?:csp|atp|idp)-[A-Za-z0-9_\\-]{22,}"),
    _row("SQUARE TOKEN", "EAAA", r"{L}EAAA[A-Za-z0-9_-]{56,}", _is_cased),
    _row("BRAINTREE TOKEN", "access_token$", r"{L}access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _row("PLAID TOKEN", "access-", rf"{{L}}access-(?:sandbox|development|production)-{_UUID}"),
    _row("RAZORPAY KEY", "rzp_", r"{L}rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    _row("SHOPIFY TOKEN", "shpat_ shpca_ shppa_ shpss_", r"{L}shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _row("EASYPOST KEY", "EZAK EZTK", r"{L}EZ[AT]K[A-Za-z0-9]{54}{R}"),
    _row("SHIPPO TOKEN", "shippo_", r"{L}shippo_(?:live|test)_[0-9a-f]{40}"),
    _row("DUFFEL TOKEN", "duffel_", r"{L}duffel_(?:live|test)_[A-Za-z0-9_-]{43}"),
    # Talk and mail.
    _row("SLACK TOKEN", "xoxa- xoxb- xoxc- xoxd- xoxe xoxo- xoxp- xoxr- xoxs-",
         r"{L}xox(?:[abcdeoprs]-|e\.xox[bp]-)[A-Za-z0-9%-]{10,}", _is_mixed),
    _row("SLACK TOKEN", "xapp-", r"{L}xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    _row("SLACK WEBHOOK", "hooks.slack.com",
         r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_]{6,}(?:/[A-Za-z0-9_]{6,}){1,4})"),
    _row("DISCORD TOKEN", ".", r"{L}[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", _is_cased, run=LONG_RUN_CHARS_MIN),
    _row("DISCORD WEBHOOK", "/api/webhooks/", r"/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{40,})"),
    _row("TEAMS WEBHOOK", ".webhook.office.com", r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})"),
    _row("TELEGRAM TOKEN", ":", r"(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", _is_cased, run=LONG_RUN_CHARS_MIN),
    _row("TWILIO KEY", "SK AC", r"{L}(?:SK|AC)[0-9a-z]{32}{R}", _is_mixed),
    _row("SENDGRID KEY", "SG.", r"{L}SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}"),
    _row("MAILGUN KEY", "key-", r"{L}(?:pub)?key-[0-9a-z]{32}{R}", _is_mixed),
    _row("MAILGUN KEY", "-", rf"{{L}}{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}(?![0-9A-Za-z-])", _is_mixed, run=LONG_RUN_CHARS_MIN),
    _row("MAILCHIMP KEY", "-us", r"{L}[0-9a-z]{32}-us[0-9]{1,2}{R}", _is_mixed),
    _row("BREVO KEY", "xkeysib- xsmtpsib-", r"{L}x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _row("RESEND KEY", "re_", r"{L}re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}{R}", _is_cased),
    _row("FACEBOOK TOKEN", "EAA", r"{L}EAA[A-Za-z0-9]{60,}", _is_cased),
    _row("X BEARER TOKEN", "AAAAAAAAAAAAAAAAAAAA", r"{L}A{20,24}[A-Za-z0-9%]{60,}", _is_cased),
    # Work.
    _row("NOTION TOKEN", "ntn_ secret_", r"{L}(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}{R})", _is_cased),
    _row("LINEAR KEY", "lin_", r"{L}lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _row("FIGMA TOKEN", "figd_ figo_ figu_", r"{L}fig[dou]_[A-Za-z0-9_-]{36,}", _is_cased),
    _row("AIRTABLE TOKEN", "pat", r"{L}pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _row("POSTMAN KEY", "PMAK-", r"{L}PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _row("DROPBOX TOKEN", "sl.", r"{L}sl\.(?:u\.)?[A-Za-z0-9_-]{100,}", _is_cased),
    _row("CONTENTFUL TOKEN", "CFPAT-", r"{L}CFPAT-[A-Za-z0-9_-]{40,}"),
    _row("README KEY", "rdme_", r"{L}rdme_[A-Za-z0-9]{64,}"),
    _row("TYPEFORM TOKEN", "tfp_", r"{L}tfp_[A-Za-z0-9_.-]{40,}", _is_cased),
    _row("ADAFRUIT KEY", "aio_", r"{L}aio_[A-Za-z0-9]{28}{R}"),
    _row("SOURCEGRAPH TOKEN", "sgp_", r"{L}sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    # Watching and building.
    _row("GRAFANA TOKEN", "glsa_ glc_ eyJrIjoi",
         r"{L}(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,}|eyJrIjoi[A-Za-z0-9+/=_-]{40,})"),
    _row("NEW RELIC KEY", "NRAK- NRJS- NRII- NRRA- NRAL",
         r"{L}(?:NR(?:AK|JS|II|RA)-[A-Za-z0-9_-]{19,}|[0-9a-f]{36}NRAL)"),
    _row("SENTRY TOKEN", "sntrys_ sntryu_", r"{L}sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    _row("DYNATRACE TOKEN", "dt0", r"{L}dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _row("POSTHOG KEY", "phx_", r"{L}phx_[A-Za-z0-9]{32,}"),
    _row("BUILDKITE TOKEN", "bkua_ bkaa_", r"{L}bk[ua]a_[0-9a-f]{40}"),
    _row("CIRCLECI TOKEN", "CCIPAT_ CCIPRJ_", r"{L}CCIP(?:AT|RJ)_[A-Za-z0-9_]{40,}"),
    _row("PREFECT KEY", "pnu_ pnb_", r"{L}pn[ub]_[A-Za-z0-9]{36}{R}", _is_cased),
    # Keys and sessions.
    _row("AGE KEY", "AGE-SECRET-KEY-1", r"{L}AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _row("ONEPASSWORD TOKEN", "ops_eyJ", r"{L}ops_eyJ[A-Za-z0-9+/=_-]{40,}"),
    _row("JWT", "eyJ", r"{L}eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+){0,4}", _is_jwt),
    _row("MAPBOX TOKEN", "sk.eyJ", r"{L}sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{10,}"),
    _row("PRIVATE KEY BODY",
         "b3BlbnNzaC1rZXktdjE IBAAKC BADANBgkqhkiG9w0BAQEFAASC MHcCAQEE MIGHAgEAMBMG MC4CAQAwBQYDK2Vw DBOBgkqhkiG9w0BBQ0w",
         r"{L}(?:b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{3,4}IBAAKC|MII[A-Za-z0-9+/]{3,5}BADANBgkqhkiG9w0BAQEFAASC|MHcCAQEE"
         r"|MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw|MII[A-Za-z0-9+/]{2,3}DBOBgkqhkiG9w0BBQ0w)(?=[A-Za-z0-9+/]{20})"
         r"[A-Za-z0-9+/=]++(?:\s++(?:[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/]{1,15}+={1,2}+))*+", run=0),
)  # fmt: skip
"""Most specific first: where two rows take the same place, the earlier one names it."""
