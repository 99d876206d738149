"""`normgym bench run | throughput | market | matrix | evidence`, and `normgym agents`."""

import os
import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from agents import AGENTS, AgentSource, find_agent
from benchmarks.build import open_suite
from benchmarks.checks_cli import print_beliefs, print_evidence, print_matrix
from benchmarks.dqn_cli import report_dqn
from benchmarks.failures import exit_on_failures
from benchmarks.files import dump_json
from benchmarks.playing import Watch
from benchmarks.recordfile import set_aside
from benchmarks.runner import (
    CONDITIONS,
    Run,
    find_observer,
    list_notes,
    make_config,
    make_slug,
    run,
    select_groups,
    select_playable,
)
from benchmarks.suite import Suite
from benchmarks.summary import to_json
from benchmarks.tables import WIDTH, make_tables, print_tables
from normgym_envs.constants import FAMILIES
from normgym_envs.errors import ConfigError, check_seed
from normgym_envs.files import check_writable, make_folder, replace_file

app = typer.Typer(
    help="Run agents on a suite and report the results.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
agents_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


app.command("matrix")(print_matrix)
app.command("evidence")(print_evidence)
app.command("beliefs")(print_beliefs)
app.command("dqn")(report_dqn)


@app.command("run")
def run_agents(
    agent: Annotated[
        list[str],
        typer.Option(
            help="Built-in name, dqn:PATH of a checkpoint, run or sweep, or "
            "package.module:attribute; may be repeated."
        ),
    ],
    suite: Annotated[
        str, typer.Option(help="Name of a suite, a .jsonl file, or fresh:SEED:N.")
    ] = "cafe",
    norm: Annotated[list[str] | None, typer.Option(help="Only this norm; may be repeated.")] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this family: {', '.join(FAMILIES)}; may be repeated."),
    ] = None,
    condition: Annotated[str, typer.Option(help=f"Tests: {', '.join(CONDITIONS)}.")] = "all",
    seed: Annotated[int, typer.Option(help="Of the agents' own random streams.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the numbers to this file.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep records here, resume from them, write report.md."),
    ] = None,
    traces: Annotated[
        bool, typer.Option("--traces", help="Keep a trace of every episode too; needs --out.")
    ] = False,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew", help="Rename records of other versions in --out instead of refusing them."
        ),
    ] = False,
) -> None:
    """Play a suite with one or more agents and print tables by family."""
    command = "normgym bench " + shlex.join(["run", *_list_arguments()])
    names = list(dict.fromkeys(agent))
    norms, families = norm or [], family or []
    # everything that can be wrong is looked at before anything is played
    _open_imports()
    sources = [find_agent(name) for name in names]
    played = open_suite(suite)
    groups = select_groups(played, norms, families, condition)
    for source in sources:
        select_playable(source, groups)
        find_observer(make_config(source, played, check_seed(seed)))
    if json is not None:
        check_writable(json, "--json")
    if out is not None:
        make_folder(out, "--out")
    elif traces:
        raise ConfigError("--traces needs a folder to write to; give --out")
    errors = Console(stderr=True)
    for source in sources:
        for note in list_notes(source, groups):
            errors.print(f"warning: {note}", markup=False, soft_wrap=True)
    if anew and out is not None:
        for source in sources:
            path = out / "records" / f"{make_slug(source.name)}.jsonl"
            moved = set_aside(path, make_config(source, played, seed))
            if moved is not None:
                errors.print(f"warning: {path} is of another run; it is now {moved}", markup=False)
    runs = []
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: errors.print(f"warning: {message}", markup=False)
        for source in sources:
            runs.append(
                run(
                    source,
                    played,
                    seed=seed,
                    norms=norms,
                    families=families,
                    condition=condition,
                    folder=None if out is None else out / "records",
                    show_progress=True,
                    watch=_watch(source, played, seed, out) if traces else None,
                )
            )
    _report(runs, json, out, command)


@app.command("throughput")
def measure(
    seconds: Annotated[float, typer.Option(help="Time to spend on measuring.")] = 60.0,
    starts: Annotated[bool, typer.Option(help="Time fresh processes to their first step.")] = True,
    json: Annotated[Path | None, typer.Option(help="Write the numbers to this file.")] = None,
) -> None:
    """Measure engine and faces against plain Python and others' environments (needs a checkout)."""
    from benchmarks.starts import measure_starts
    from benchmarks.throughput import describe_throughput, measure_throughput

    if json is not None:
        check_writable(json, "--json")
    result = measure_throughput(seconds)
    if starts:
        result["starts"] = measure_starts()
    if json is not None:
        replace_file(json, (dump_json(result) + "\n").encode())
    for line in describe_throughput(result):
        typer.echo(line)


@app.command(
    "market",
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],  # --help belongs to the application behind it
    },
)
def run_market(context: typer.Context) -> None:
    """Play the soft-label market over seeds and print its tables."""
    from benchmarks.market_cli import app as market_app

    market_app(args=context.args, prog_name="normgym bench market")


@app.command(
    "llm",
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],  # --help belongs to the application behind it
    },
)
def run_models(context: typer.Context) -> None:
    """Play a suite with a language model: hosted, served or local."""
    from benchmarks.llm.cli import app as llm_app

    llm_app(args=context.args, prog_name="normgym bench llm")


@agents_app.command()
def print_agents() -> None:
    """List the built-in agents."""
    for name in AGENTS:
        kind = type(find_agent(name).make())
        mark = " (privileged)" if getattr(kind, "privileged", False) else ""
        line = (kind.__doc__ or "").splitlines()[0]
        typer.echo(f"{name:<18}{line}{mark}")
    typer.echo("dqn:PATH          A trained DQN: a checkpoint, a run or a sweep (docs/dqn.md).")
    typer.echo(
        "llm:BACKEND       A language model that reads text, e.g. llm:openai/gpt-5 (docs/llm.md)."
    )
    typer.echo("Any other: package.module:attribute, a class with reset and act or a function.")


def _watch(source: AgentSource, suite: Suite, seed: int, out: Path | None) -> Watch | None:
    """Return what writes the traces of an agent."""
    from benchmarks.replay import TraceFolder

    if out is None:
        return None
    folder = out / "traces" / make_slug(source.name)
    return TraceFolder(folder, make_config(source, suite, seed))


def _report(runs: list[Run], json: Path | None, out: Path | None, command: str) -> None:
    """Print, write and leave with status 1 when episodes failed."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    print_tables(make_tables(runs), console)
    if json is not None:
        text = dump_json([to_json(one) for one in runs])
        replace_file(json, (text + "\n").encode())
    if out is not None:
        from benchmarks.report import write_report

        console.print(f"report: {write_report(out, runs, command)}", markup=False, soft_wrap=True)
    exit_on_failures(runs, "the same command plays them again" if out is not None else "")


def _open_imports() -> None:
    """Let agents be imported from the present folder, as `python -m` would."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())


def _list_arguments() -> list[str]:
    """Return what was typed behind `bench run`."""
    typed = sys.argv[1:]
    return typed[typed.index("run") + 1 :] if "run" in typed else typed
