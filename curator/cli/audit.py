"""`curator audit`: what happened, what it cost, and why memory changed, from a database that the files can make anew."""

from __future__ import annotations

import contextlib
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias, TypeVar

import typer

from curator.cli.options import AgentDir, AsJson, PlainCommand, layout_of
from curator.cli.page import counted, document, is_terminal, say, warn
from curator.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator.audit.database import Question
    from curator.audit.questions import Answer, Scope, ScopedQuestion
    from curator.durable.layout import Layout
    from curator.model.digest import Json
    from curator.model.ids import ProjectKey

app = typer.Typer(help="Ask what happened: which job spent what, why memory changed, what went wrong.")

T = TypeVar("T")
Since: TypeAlias = Annotated[
    str | None, typer.Option("--since", metavar="DAY", help="From this UTC day on, YYYY-MM-DD. [default: all]")
]
OfProject: TypeAlias = Annotated[
    str | None,
    typer.Option("--project", metavar="FOLDER", help="One project, by a folder of it or its key. [default: all]"),
]
AsCsv: TypeAlias = Annotated[bool, typer.Option("--csv", help="Answer in CSV.")]

_SHOWN_MAX: Final = 100


@app.command()
def summary(
    since: Since = None,
    project: OfProject = None,
    as_csv: AsCsv = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Show in figures what jobs came to, what calls cost, how memory changed, and what was set aside."""
    from curator.audit.questions import summary as question

    _tell(_scoped(question, since, project, agent_dir), "summary", as_csv=as_csv, as_json=as_json)


@app.command()
def jobs(
    since: Since = None,
    project: OfProject = None,
    as_csv: AsCsv = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """List every job that is known, also those whose evidence is long gone; the last to finish comes last."""
    from curator.audit.questions import jobs as question

    _tell(_scoped(question, since, project, agent_dir), "jobs", as_csv=as_csv, as_json=as_json)


@app.command()
def attempts(
    since: Since = None,
    project: OfProject = None,
    as_csv: AsCsv = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """List every provider attempt, with its state, its model, how long it took and what it cost or may cost."""
    from curator.audit.questions import attempts as question

    _tell(_scoped(question, since, project, agent_dir), "attempts", as_csv=as_csv, as_json=as_json)


@app.command()
def spend(
    since: Since = None,
    project: OfProject = None,
    as_csv: AsCsv = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what each UTC day cost with each provider: actual, held and unknown apart."""
    from curator.audit.questions import spend as question

    _tell(_scoped(question, since, project, agent_dir), "spend", as_csv=as_csv, as_json=as_json)


@app.command(cls=PlainCommand)
def timeline(
    project: Annotated[
        str | None,
        typer.Argument(metavar="[PROJECT]", help="A folder of it, or its key. [default: the current folder]"),
    ] = None,
    since: Since = None,
    as_csv: AsCsv = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Show when a project's memory changed, and which of its reviews changed nothing."""
    from curator.audit.questions import timeline as question

    _tell(_scoped(question, since, project or ".", agent_dir), "timeline", as_csv=as_csv, as_json=as_json)


@app.command(cls=PlainCommand)
def why(
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="A memory entry's id, or how it begins.")],
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Tell the life of one memory entry: the words it rests on, session, attempt, model, and every later change.

    The quote is shown while its evidence is kept, and its digest after that.
    """
    from curator.audit.life import life_of
    from curator.cli.audit_page import life_document, life_lines

    layout = layout_of(agent_dir)
    life = _asked(layout, lambda connection: life_of(connection, layout, entry))
    if as_json:
        document(life_document(life))
        return
    for line, is_ours in life_lines(life):
        _show_line(line, is_ours=is_ours)


@app.command(cls=PlainCommand)
def sql(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="One SELECT.")],
    as_csv: AsCsv = False,
    agent_dir: AgentDir = None,
    as_json: AsJson = False,
) -> None:
    """Answer one statement of SQL that reads; at most 10,000 rows, and 10 seconds.

    `SELECT sql FROM sqlite_master` shows the tables. They may change with any release.
    """
    from curator.audit.query import query

    _tell(_asked(layout_of(agent_dir), lambda it: query(it, statement)), "rows", as_csv=as_csv, as_json=as_json)


@app.command()
def rebuild(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Make the database anew from the files. Nothing else depends on it."""
    from curator.audit.database import fold_in
    from curator.durable.volume import Volume

    layout = layout_of(agent_dir)
    if not layout.root.is_dir():
        raise NotFoundError(f"{layout.root}: there is nothing to fold", remedy="Run `curator config init` first")
    with progress() as tell:
        folded = fold_in(layout, Volume(), warn, tell, anew=True)
    if as_json:
        document({"path": str(layout.audit), "sources": folded.read})
        return
    say(f"{counted(folded.read, 'source')} folded into {layout.audit}.")


@app.command()
def push(agent_dir: AgentDir = None, as_json: AsJson = False) -> None:
    """Fold what is new into the PostgreSQL that `[audit] url` of curator.toml names, as the service does by itself.

    Each machine has tables of its own there, in the schema `curator_host_…`; the views of the schema `curator` show all.
    """
    from curator.audit.server import fold_out, host_of
    from curator.errors import ConfigError
    from curator.workflow.settings_files import read_curator

    layout = layout_of(agent_dir)
    url = read_curator(layout).audit.url
    if url is None:
        remedy = 'Write `url = "postgresql://host/database"` under [audit]'
        raise ConfigError(f"{layout.curator_toml}: no [audit] url is set", remedy=remedy)
    with progress() as tell:
        folded = fold_out(layout, url, tell)
    host = host_of(layout)
    if as_json:
        document({"hostId": host, "sources": folded.read, "gone": folded.gone})
        return
    say(f"{counted(folded.read, 'source')} folded, {folded.gone:,} gone, as host {host}.")


@app.command()
def metrics(
    target: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A textfile. [default: standard output]")
    ] = None,
    agent_dir: AgentDir = None,
) -> None:
    """Tell the figures as Prometheus reads them, for the textfiles that its node exporter collects.

    Where `[metrics] textfile` of curator.toml names a file, the service writes it by itself after each fold.
    """
    from curator.audit.metrics import limits_of, metrics_of, write_textfile
    from curator.durable.clock import SystemClock
    from curator.durable.volume import Volume

    layout, now = layout_of(agent_dir), SystemClock().now()
    limits = limits_of(layout)
    data = _asked(layout, lambda connection: metrics_of(connection, limits, now))
    if target is None:
        sys.stdout.write(data.decode())
    else:
        write_textfile(Volume(), target.absolute(), data)


def _scoped(question: ScopedQuestion, since: str | None, project: str | None, agent_dir: Path | None) -> Answer:
    scope = scope_of(since, project)
    return _asked(layout_of(agent_dir), lambda connection: question(connection, scope))


def scope_of(since: str | None, project: str | None) -> Scope:
    """Return what a question is about. Raises `UsageError` for a day that is none."""
    from curator.audit.questions import Scope
    from curator.model.ids import Day

    return Scope(None if since is None else Day(_day(since)), None if project is None else _key(project))


def _asked(layout: Layout, question: Question[T]) -> T:
    from curator.audit.database import ask
    from curator.durable.volume import Volume

    with progress() as tell:
        return ask(layout, Volume(), warn, question, tell)


def _key(project: str) -> ProjectKey:
    from curator.model.ids import PROJECT_KEY_PATTERN, ProjectKey
    from curator.pi.project import find_project

    if PROJECT_KEY_PATTERN.fullmatch(project) and not Path(project).exists():
        return ProjectKey(project)
    return find_project(Path(project)).key


def _day(given: str) -> str:
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise UsageError("--since takes a UTC day, as 2026-01-31") from None


def _tell(answer: Answer, name: str, *, as_csv: bool, as_json: bool) -> None:
    from curator.cli.audit_page import table_lines, write_csv

    if as_csv and as_json:
        raise UsageError("an answer is CSV or JSON, not both", remedy="Leave one of them out")
    if as_json:
        rows: list[Json] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        document({name: rows, "isCut": answer.is_cut})
    elif as_csv:
        write_csv(answer, sys.stdout)
    else:
        shown = answer.rows[-_SHOWN_MAX:]
        for line in table_lines(answer.columns, shown):
            say(line)
        if len(shown) < len(answer.rows):
            say(f"The last {len(shown)} of {counted(len(answer.rows), 'row')}; --csv and --json tell all.")
        if not answer.rows:
            say("Nothing is known of that.")
    if answer.is_cut and not as_json:
        warn(f"only the first {len(answer.rows):,} rows are told")


def _show_line(line: str, *, is_ours: bool) -> None:
    from curator.cli.page import recite

    if is_ours:
        say(line)
    else:
        recite(line)


@contextlib.contextmanager
def progress() -> Iterator[Callable[[int, int], None] | None]:
    """Show a terminal how far a fold is."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("folders")
        yield lambda done, of: bar.update(task, completed=done, total=of)
