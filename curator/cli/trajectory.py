"""`curator trajectory`: what was said in a project's sessions, as far as it was indexed; nothing here reviews it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from curator.cli.options import AgentDir, AsJson, PlainCommand, ProjectDir, layout_of
from curator.cli.page import counted, document, say, warn
from curator.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from curator.durable.layout import Layout
    from curator.model.digest import Digest, Json
    from curator.model.ids import ProjectKey
    from curator.tracks.trajectory.inbox import Inbox, Received, Turned
    from curator.tracks.trajectory.ledger import Ledger

app = typer.Typer(help="Show, search, check or forget what was said in a project's sessions; or hand over more of it.")

_FOUND: Final = 65
_HEAD_CHARS_MIN: Final = 4
_DIGEST_CHARS: Final = 64

NodeArgument: TypeAlias = Annotated[str, typer.Argument(metavar="NODE", help="A node's digest, or its first digits.")]


@app.command(cls=PlainCommand)
def push(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE|-]", help="A delta; `-` reads it from standard input.")
    ] = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> int:
    """Hand over what was just said, as docs/trajectory-inbox.md describes it; without FILE, take in what lies in the inbox.

    A delta whose beginning is unknown waits, and that is asked for. One that repeats a session from its root is refused.
    """
    from curator.cli.trajectory_page import received_document, received_line
    from curator.model.limits import INBOX_MAX
    from curator.tracks.trajectory.inbox import Turned

    layout = layout_of(agent_dir)
    inbox = _inbox(layout)
    try:
        outcomes: list[Received | Turned] = (
            [inbox.receive(_bytes_of(file))] if file is not None else [*inbox.take_in(INBOX_MAX)]
        )
        refused = [each for each in outcomes if isinstance(each, Turned) and not each.is_kept]
        if as_json:
            told: list[Json] = [received_document(each) for each in outcomes]
            document({"deltas": told})
        else:
            for each in outcomes:
                say(received_line(each))
            if not outcomes:
                say(f"The inbox is empty: {layout.trajectory_inbox.root}")
    finally:
        inbox.close()
    return _FOUND if refused else 0


@app.command(cls=PlainCommand)
def show(
    node: Annotated[str | None, typer.Argument(metavar="[NODE]", help="A node's digest, or its first digits.")] = None,
    path: Annotated[bool, typer.Option("--path", help="Show all that was said on the way to the node.")] = False,
    project: ProjectDir = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what is kept of a project's sessions, in figures; or one node, or the whole path to it."""
    from curator.cli import trajectory_page as page
    from curator.tracks.trajectory.overview import look_over

    key, ledger = _open(agent_dir, project)
    try:
        if node is None:
            seen = look_over(ledger)
            if as_json:
                document({"projectKey": key} | page.overview_document(seen))
            else:
                page.show_overview(seen)
            return
        digest = _find(ledger, node)
        nodes = ledger.path_to(digest) if path else [found] if (found := ledger.node(digest)) else []
        covered = ledger.coverage([digest])
        if as_json:
            told: list[Json] = [page.node_document(each, covered.get(each.digest)) for each in nodes]
            document({"projectKey": key, "nodes": told})
            return
        for each in nodes:
            page.show_node(each, covered.get(each.digest))
    finally:
        ledger.close()


@app.command(cls=PlainCommand)
def coverage(project: ProjectDir = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Show what became of turns and nodes in reviews. Indexing implies no review: what nobody covered is pending."""
    from curator.cli.trajectory_page import show_coverage

    key, ledger = _open(agent_dir, project)
    try:
        counts = ledger.ask(ledger.files.index.coverage_counts) or {}
        if as_json:
            rows: list[Json] = [
                {"state": state.value, "by": by, "digests": count} for (state, by), count in counts.items()
            ]
            document({"projectKey": key, "coverage": rows})
            return
        show_coverage(counts)
    finally:
        ledger.close()


@app.command(cls=PlainCommand)
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="All must stand in it; a phrase in quotes.")],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200, help="Show at most so many.")] = 20,
    project: ProjectDir = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Search what was said, the best match first. `lint*` finds what begins so."""
    from curator.cli.progress import progress
    from curator.cli.trajectory_page import node_document, show_found
    from curator.tracks.trajectory.search import search as search_words

    key, ledger = _open(agent_dir, project)
    asked = " ".join(f'"{word}"' if " " in word else word for word in words)
    try:
        with progress(is_shown=not as_json) as tell:
            found = search_words(ledger, asked, limit, lambda left: tell(0, left, "nodes to index"))
        if as_json:
            told: list[Json] = [node_document(node, None) for node in found]
            document({"projectKey": key, "nodes": told})
            return
        show_found(found, asked)
    finally:
        ledger.close()


@app.command(cls=PlainCommand)
def forget(
    nodes: Annotated[
        list[str] | None, typer.Argument(metavar="[NODE...]", help="Digests of nodes, or their first digits.")
    ] = None,
    matching: Annotated[
        str | None, typer.Option("--matching", metavar="WORDS", help="Every node that a search for this finds.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Kept with the tombstones.")] = (
        "on a person's word"
    ),
    yes: Annotated[bool, typer.Option("--yes", help="Do what the plan says.")] = False,
    project: ProjectDir = None,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Let the text of nodes go for good. Shows which; --yes does it.

    Their place in the graph stays, so what follows them does too, and reading a session again does not bring them back.
    Pi's own session files are Pi's: they are not touched.
    """
    from curator.cli.trajectory_page import node_document, show_found
    from curator.tracks.trajectory.search import search as search_words

    key, ledger = _open(agent_dir, project)
    try:
        found = [ledger.node(_find(ledger, each)) for each in nodes or ()]
        if matching is not None:
            found += search_words(ledger, matching)
        if not (nodes or matching):
            raise UsageError("nothing is named", remedy="Name nodes, or words with --matching")
        chosen = list({each.digest: each for each in found if each is not None}.values())
        if yes and chosen:
            ledger.forget([each.digest for each in chosen], reason)
        if as_json:
            told: list[Json] = [node_document(each, None) for each in chosen]
            document({"projectKey": key, "isDone": yes, "nodes": told})
            return
        if not yes:
            show_found(chosen, matching or "")
        what = counted(len(chosen), "node")
        say(
            f"{what} forgotten." if yes else f"{what} would be forgotten. Run it again with --yes; it cannot be undone."
        )
    finally:
        ledger.close()


@app.command(cls=PlainCommand)
def verify(project: ProjectDir = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> int:
    """Check every line, digest, parent and state of a project's trajectory, and name what the inbox refused.

    Ends with 65 where something is wrong.
    """
    from curator.cli.progress import progress
    from curator.tracks.trajectory.inbox import refusals
    from curator.tracks.trajectory.verify import check

    layout = layout_of(agent_dir)
    key, ledger = _open(agent_dir, project)
    count = 0
    try:
        with progress(is_shown=not as_json) as tell:

            def looked(lines: int) -> None:
                nonlocal count
                count += lines
                tell(count, 0, "lines read")

            flaws = list(check(ledger, looked))
        refused = list(refusals(layout))
    finally:
        ledger.close()
    if as_json:
        told: list[Json] = [{"path": str(each.path), "fact": each.fact, "remedy": each.remedy} for each in flaws]
        document({"projectKey": key, "lines": count, "flaws": told, "refused": [each.encode() for each in refused]})
    else:
        for flaw in flaws:
            say(f"error    {flaw.path} {flaw.fact}. {flaw.remedy}".replace("\n", " ").rstrip(". "))
        for refusal in refused:
            say(f"refused  {refusal.name}, at {refusal.at}: {refusal.fact}. {refusal.remedy}".replace("\n", " "))
        wrong = counted(len(flaws), "error") if flaws else "nothing wrong"
        say(f"{counted(count, 'line')} checked: {wrong}.")
    return _FOUND if flaws else 0


@app.command(cls=PlainCommand)
def rebuild(project: ProjectDir = None, agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Make the index anew from the files, the words for the search included."""
    from curator.cli.progress import progress
    from curator.tracks.trajectory.search import index_words

    key, ledger = _open(agent_dir, project)
    try:
        ledger.rebuild()
        with progress(is_shown=not as_json) as tell:
            index_words(ledger, lambda left: tell(0, left, "nodes to index"))
        counts = ledger.ask(ledger.files.index.counts) or {}
    finally:
        ledger.close()
    if as_json:
        document({"projectKey": key, "nodes": counts.get("nodes", 0)})
        return
    say(f"The index is made anew: {counted(counts.get('nodes', 0), 'node')}.")


def _inbox(layout: Layout) -> Inbox:
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume
    from curator.tracks.trajectory.inbox import Inbox

    return Inbox(layout, Volume(), SystemClock())


def _open(agent_dir: Path | None, project: Path | None) -> tuple[ProjectKey, Ledger]:
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume
    from curator.tracks.trajectory.ledger import Ledger
    from curator.workflow.projects import find_key

    layout = layout_of(agent_dir)
    key = find_key(layout, str(Path.cwd() if project is None else project))
    if not layout.trajectory(key).root.is_dir():
        warn(
            f"{key[:12]}: nothing of this project's sessions is indexed yet; `curator backfill plan` says what could be"
        )
    return key, Ledger(layout.trajectory(key), Volume(), SystemClock())


def _find(ledger: Ledger, head: str) -> Digest:
    """Return the node whose digest begins so. Raises `UsageError` where several do, `NotFoundError` where none does."""
    given = head.lower()
    if not (_HEAD_CHARS_MIN <= len(given) <= _DIGEST_CHARS) or given.strip("0123456789abcdef"):
        raise UsageError(
            f"{head!a} is no node's digest", remedy="Give 4 to 64 hex digits; `curator trajectory show` has them"
        )
    found = ledger.ask(lambda: ledger.files.index.begin_with(given, 2)) or []
    if not found:
        raise NotFoundError(
            f"{given}: no such node in this project", remedy="See `curator trajectory show` or `search`"
        )
    if len(found) > 1:
        raise UsageError(f"several nodes begin with {given}", remedy="Give more digits")
    return found[0]


def _bytes_of(file: str) -> bytes:
    from curator.durable.read import read_bounded
    from curator.model.limits import DELTA_BYTES_MAX

    if file == "-":
        return sys.stdin.buffer.read(DELTA_BYTES_MAX + 1)
    raw = read_bounded(Path(file), DELTA_BYTES_MAX, follow=True)
    if raw is None:
        raise NotFoundError(f"{file}: there is no such file", remedy="Give a file with a delta, or `-`")
    return raw
