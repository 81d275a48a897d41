"""`curator authority`: who reviews and who changes memory; and how the shadow compares."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from curator.cli.options import AgentDir, AsJson, layout_of
from curator.cli.page import counted, document, recite, say

if TYPE_CHECKING:
    from curator.model.digest import Json
    from curator.workflow.authority import Difference

app = typer.Typer(help="Show who changes memory, or compare shadow and real memory.")


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
    say(f"It stands in {layout.service_json}; `curator config init --mode MODE --force` changes it.")


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


def _document(each: Difference) -> Json:
    return {
        "projectKey": each.key,
        "projectRoot": each.root,
        "branchName": each.branch,
        "shared": each.shared,
        "onlyReal": list(each.only_real),
        "onlyShadow": list(each.only_shadow),
    }
