"""`normgym suites`: list the suites that ship, or build them again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from benchmarks.build import BUILDERS, DERIVED, build_suite, derive_suite
from benchmarks.suite import SUITES_FOLDER, Suite, list_suites, load_suite, save_suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import ConfigError, UnknownNameError

app = typer.Typer(
    help="List the suites that ship, or build them again.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def print_suites(context: typer.Context) -> None:
    """List the suites that ship."""
    if context.invoked_subcommand is None:
        for name in list_suites():
            typer.echo(_describe(load_suite(name)))


@app.command("build")
def build(
    name: Annotated[str, typer.Argument(help="; ".join((*BUILDERS, *DERIVED)))],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; by default where suites ship.")
    ] = None,
) -> None:
    """Build a suite from its seeds and say what was refused on the way."""
    folder = SUITES_FOLDER if out is None else out
    if not folder.is_dir():
        raise ConfigError(f"--out: {folder} is no folder")
    if name in DERIVED:
        suite = derive_suite(name, load_suite("main"))
    elif name in BUILDERS:
        suite = _build(name)
    else:
        raise UnknownNameError("suite", name, (*BUILDERS, *DERIVED))
    typer.echo(_describe(suite))
    typer.echo(f"written to {save_suite(suite, folder)}")


def _build(name: str) -> Suite:
    """Build a suite with a progress bar; print the refused candidates by norm."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(f"building {name}", total=None)
        built = build_suite(name, lambda norm_id, _: progress.advance(bar))
    typer.echo("refused and passed-over candidates, and wrong beliefs that pass, by norm:")
    for norm_id, episodes in built.tried.items():
        refused = [len(entry.rejected) for entry in episodes]
        over = [entry.passed_over for entry in episodes]
        passing = [len(entry.passed_by) for entry in episodes]
        typer.echo(f"  {norm_id:<32}refused {refused}, passed over {over}, passing {passing}")
    every = [len(entry.rejected) for episodes in built.tried.values() for entry in episodes]
    typer.echo(f"refused: {sum(every) / len(every):.2f} a scenario, at most {max(every)}")
    return built.suite


def _describe(suite: Suite) -> str:
    phases = [spec.phase for spec in suite.specs]
    counts = [f"{phases.count(phase)} {phase}" for phase in TEST_PHASES if phase in phases]
    return (
        f"{suite.name:<12}version {suite.version}, {len(suite.groups)} norms, "
        f"{phases.count('interaction')} interactions, {', '.join(counts)}, "
        f"hash {suite.sha256[:16]}"
    )
