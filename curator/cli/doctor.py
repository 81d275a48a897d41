"""`curator doctor`: what is not as it should be, and what to do about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curator.doctor.finding import Finding
    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.workflow.shop import Shop

_MARKS: Final = {"ok": "ok", "note": "note", "warning": "warning", "error": "ERROR"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is safe to mend, and say what was done.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --fix: also set begun changes aside that nobody can finish.")
    ] = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Look at everything; exit 0 if nothing is broken, and 1 otherwise. Credentials are looked for, never shown."""
    from curator.doctor.finding import is_healthy
    from curator.errors import UsageError

    if yes and not fix:
        raise UsageError("--yes is for --fix", remedy="Run `curator doctor --fix --yes`")
    layout = layout_of(agent_dir)
    findings = _examine(layout)
    done: list[str] = []
    if fix:
        done = _fix(findings, agent_dir, is_agreed=yes)
        findings = _examine(layout)
    is_good = is_healthy(findings)
    if as_json:
        document(
            {
                "agentDir": str(layout.agent),
                "isHealthy": is_good,
                **_told(findings),
                **({"done": [*done]} if fix else {}),
            }
        )
    else:
        for line in (*done, *_lines(findings)):
            say(line)
    return 0 if is_good else 1


def _examine(layout: Layout) -> tuple[Finding, ...]:
    from curator.doctor.examine import examine
    from curator.doctor.live import live_pi
    from curator.durable.clock import SystemClock

    now = SystemClock().now()
    return examine(layout, os.environ, now, pis=live_pi(), unit=lambda: _unit(layout))


def _fix(findings: tuple[Finding, ...], agent_dir: Path | None, *, is_agreed: bool) -> list[str]:
    from curator.doctor.fix import fix
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume

    def open_shop() -> Shop:
        from curator.app import open_app
        from curator.cli.listener import sentences_for

        return open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir))).shop

    return list(fix(findings, Volume(), SystemClock().now(), open_shop, is_agreed=is_agreed))


def _unit(layout: Layout) -> Iterator[Finding]:
    """Say how the service stands with the service manager."""
    import sys
    from pathlib import Path

    from curator.doctor.finding import Finding
    from curator.units.choose import choose
    from curator.units.commands import SystemRunner
    from curator.units.install import installed_kind
    from curator.units.rival import find_rivals
    from curator.units.supervisor import base_of

    home = Path(os.environ.get("HOME") or Path.home())
    supervisor = choose(sys.platform, SystemRunner(os.environ), os.environ, home)
    base = base_of(layout.agent, home)
    kind = installed_kind(supervisor, base)
    for rival in find_rivals(supervisor, layout.agent):
        fact = f"{rival.path} runs the extension's own worker"
        yield Finding("warning", "service", fact, "Run `curator service install`, which offers to stop it")
    if kind is None:
        yield Finding(
            "note", "service", f"no unit is installed for {supervisor.title}", "Run `curator service install`"
        )
        return
    for name in supervisor.names(base, kind):
        state = supervisor.state(name)
        fact = f"{name}: {state.word}"
        if state.is_active:
            yield Finding("ok", "service", fact)
        else:
            yield Finding("warning", "service", fact, "Run `curator service start`, and see `curator service logs`")


def _lines(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in findings:
        remedy = "" if finding.remedy is None else f". {finding.remedy}"
        yield f"{_MARKS[finding.level]:<8} {finding.subject}: {finding.fact}{remedy}"
    errors = sum(finding.level == "error" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    noted = f", {counted(warnings, 'warning')}" if warnings else ""
    yield f"{counted(errors, 'error')}{noted}." if errors else f"Nothing is broken{noted}."


def _told(findings: tuple[Finding, ...]) -> dict[str, Json]:
    told: list[Json] = []
    for each in findings:
        one: dict[str, Json] = {"level": each.level, "subject": each.subject, "fact": each.fact}
        told.append(one if each.remedy is None else one | {"remedy": each.remedy})
    return {"findings": told}
