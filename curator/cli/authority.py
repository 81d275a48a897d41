"""`curator authority`: who reviews and who changes memory; and how the shadow compares."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, recite, say

if TYPE_CHECKING:
    from curator.doctor.gates import Gate
    from curator.model.digest import Json
    from curator.model.settings import Mode
    from curator.workflow.authority import Difference

app = typer.Typer(help="Show or change who changes memory, or compare shadow and real memory.")

Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Change it though a gate is closed; needs --reason.")]
Reason: TypeAlias = Annotated[str | None, typer.Option("--reason", help="Why; it is kept, for good.")]


@app.command()
def show(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show which mode is in force, and what it means."""
    from curator.workflow.authority import MEANING
    from curator.workflow.settings_files import read_service

    layout = layout_of(agent_dir)
    service = read_service(layout)
    if as_json:
        document({"mode": service.mode, "meaning": MEANING[service.mode], "path": str(layout.service_json)})
        return
    say(f"{service.mode}: {MEANING[service.mode]}.")
    say(f"It stands in {layout.service_json}; `curator authority MODE` changes it.")


@app.command()
def external(force: Force = False, reason: Reason = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let curator review and change memory, if every gate is open."""
    _switch("external", agent_dir, reason, force=force, as_json=as_json)


@app.command()
def shadow(force: Force = False, reason: Reason = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let curator review beside the extension, into a store of its own."""
    _switch("shadow", agent_dir, reason, force=force, as_json=as_json)


@app.command()
def embedded(force: Force = False, reason: Reason = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Let Pi's extension review by itself again; curator then claims nothing."""
    _switch("embedded", agent_dir, reason, force=force, as_json=as_json)


@app.command()
def compare(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Compare what the shadow remembers with what the real memory holds; changes neither."""
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.workflow.authority import compare as compare_all

    opened = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))
    differences = compare_all(opened.shop)
    if as_json:
        document({"branches": [_document(each) for each in differences]})
        return
    if not differences:
        say("No shadow yet: it grows while the mode is shadow.")
    for each in differences:
        say(f"{each.root or each.key}, branch {each.branch}: {counted(each.shared, 'entry', 'entries')} in both")
        for text in each.only_real:
            recite(f"  real    {text}".replace("\n", "\n          "))
        for text in each.only_shadow:
            recite(f"  shadow  {text}".replace("\n", "\n          "))


def _switch(mode: Mode, agent_dir: Path | None, reason: str | None, *, force: bool, as_json: bool) -> None:
    """Print each gate with its evidence, then change the mode, or refuse to."""
    from curator.app import open_app
    from curator.cli.listener import sentences_for
    from curator.doctor.examine import examine
    from curator.doctor.gates import closed, gates
    from curator.errors import UsageError
    from curator.workflow.authority import MEANING
    from curator.workflow.switching import switch

    if force and not (reason or "").strip():
        raise UsageError("--force needs a reason", remedy="Say why with --reason TEXT; it is kept")
    opened = open_app(agent_dir, environ=os.environ, listener=sentences_for(layout_of(agent_dir)))
    before, shop = opened.service.mode, opened.shop
    found = gates(shop, opened.probe, examine(opened.layout, os.environ, shop.clock.now()), mode)
    shut = closed(found)
    is_refused = bool(shut) and not force and before != mode
    if not is_refused and before != mode:
        switch(shop, mode, shut, reason)
    if as_json:
        document({"before": before, "after": before if is_refused else mode, "gates": [_gate(each) for each in found]})
    else:
        for each in found:
            say(f"{'open' if each.is_open else 'CLOSED':<8} {each.name}: {each.evidence}")
    if is_refused:
        _refuse(shut, mode)
    elif not as_json:
        said = "was in force already" if before == mode else f"is in force now; it was {before}"
        say(f"{mode} {said}: {MEANING[mode]}.")


def _refuse(shut: tuple[str, ...], mode: Mode) -> None:
    from curator.errors import RefusedError

    fact = f"nothing was changed: {counted(len(shut), 'gate')} before {mode} mode closed: {', '.join(shut)}"
    remedy = f"Mend that, or run `curator authority {mode} --force --reason TEXT`; the reason is kept"
    raise RefusedError(fact, remedy=remedy)


def _gate(each: Gate) -> Json:
    return {"name": each.name, "isOpen": each.is_open, "evidence": each.evidence}


def _document(each: Difference) -> Json:
    return {
        "projectKey": each.key,
        "projectRoot": each.root,
        "branchName": each.branch,
        "shared": each.shared,
        "onlyReal": list(each.only_real),
        "onlyShadow": list(each.only_shadow),
    }
