"""`curator config`: make the configuration, and look at everything a review needs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import clean, document, has_colour, mended, say
from curator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator.model.digest import Json
    from curator.workflow.settings_files import Finding

app = typer.Typer(help="Make the configuration, or check it.")

_MARKS: Final = {"ok": "ok", "warning": "warning", "error": "ERROR"}
_STYLES: Final = {"ok": "", "warning": "yellow", "error": "bold red"}


@app.command()
def check(agent_dir: AgentDir = None, as_json: AsJson = False) -> int:
    """Look at what a review needs; status 78 if it is missing.

    Configuration, model, key and price are looked at as a review would. A key is never shown.
    """
    from curator.workflow.settings_files import check_config

    layout = layout_of(agent_dir)
    findings = check_config(layout, os.environ)
    is_good = all(finding.level != "error" for finding in findings)
    if as_json:
        told: list[Json] = [_document(finding) for finding in findings]
        document({"agentDir": str(layout.agent), "isGood": is_good, "findings": told})
    else:
        _tell(findings)
    return 0 if is_good else ConfigError.exit_status


@app.command()
def init(
    reviewer: Annotated[
        str | None,
        typer.Option(
            "--reviewer",
            metavar="offline|PROVIDER/MODEL",
            help="Who reviews. [default: who does by the configuration that stands, else offline]",
        ),
    ] = None,
    mode: Annotated[
        Literal["external", "shadow", "embedded"],
        typer.Option("--mode", help="Who changes memory: curator, nobody (a rehearsal), or Pi by itself."),
    ] = "external",
    force: Annotated[bool, typer.Option("--force", help="Replace a configuration that stands.")] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Write service.json, which Pi's extension reads too.

    Without flags: external mode, and the offline reviewer where none is named yet. Limits that stand are kept.
    """
    from curator.durable.volume import Volume
    from curator.workflow.settings_files import (
        OFFLINE_PROVIDER,
        check_reviewer,
        find_service,
        profile_of,
        service_of,
        write_service,
    )

    layout = layout_of(agent_dir)
    try:
        standing = find_service(layout)
    except ConfigError:
        if not force:
            raise
        standing = None
    kept = None if standing is None else standing.reviewer
    profile = kept if reviewer is None and kept is not None else profile_of(reviewer or OFFLINE_PROVIDER)
    findings = tuple(check_reviewer(layout, profile, os.environ))
    for finding in findings:
        if finding.subject == "reviewer" and finding.level == "error" and (reviewer is not None or mode != "embedded"):
            # A model that cannot be asked is a slip of the hand: better said now than by the first job.
            raise ConfigError(finding.fact, remedy=finding.remedy)
    service = service_of(mode, profile, standing)
    write_service(Volume(), layout, service, force=force)
    if as_json:
        document({"path": str(layout.service_json), "service": service.encode()})
        return
    say(f"Wrote {layout.service_json}: {mode}, {profile.provider}/{profile.model}.")
    for finding in findings:
        if finding.level != "ok":
            say(f"{finding.subject}: {finding.fact}. {finding.remedy}.")
    if mode == "embedded":
        say("Pi reviews by itself; curator claims nothing.")
    else:
        say("Next: `curator config check`, then `curator review --once`.")


def _tell(findings: Iterable[Finding]) -> None:
    lines = []
    for finding in findings:
        remedy = "" if finding.remedy is None else f". {finding.remedy}"
        lines.append((finding.level, f"{_MARKS[finding.level]:<8}", f" {finding.subject}: {finding.fact}{remedy}"))
    if not has_colour(sys.stdout):
        for _, mark, rest in lines:
            say(mark + rest)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for level, mark, rest in lines:
        console.print(Text.assemble((mark, _STYLES[level]), clean(mended(rest))))


def _document(finding: Finding) -> Json:
    told: dict[str, Json] = {"level": finding.level, "subject": finding.subject, "fact": finding.fact}
    return told if finding.remedy is None else told | {"remedy": finding.remedy}
