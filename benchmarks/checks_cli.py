"""`normgym bench matrix | evidence | beliefs`: what a suite's tests and interactions are worth."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import evidence, matrix
from benchmarks.build import open_suite
from benchmarks.files import dump_json
from benchmarks.identification import read_records, summarise_identification
from benchmarks.tables import WIDTH
from normgym_envs.constants import FAMILIES, TEST_PHASES
from normgym_envs.files import check_writable, make_folder, replace_file

SuiteOption = Annotated[str, typer.Option(help="Name of a suite, a .jsonl file, or fresh:SEED:N.")]
JsonOption = Annotated[Path | None, typer.Option(help="Write the numbers to this file.")]
OutOption = Annotated[Path | None, typer.Option(help="Draw the picture into this folder.")]


def print_matrix(
    suite: SuiteOption = "main", json: JsonOption = None, out: OutOption = None
) -> None:
    """Let an oracle that believes one norm play the tests of another, for all pairs."""
    played = open_suite(suite)
    if json is not None:
        check_writable(json, "--json")
    if out is not None:
        make_folder(out, "--out")
    tests = sum(spec.phase in TEST_PHASES for spec in played.specs)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("playing", total=tests * len(played.norms))
        result = matrix.play_matrix(played, lambda count: progress.advance(bar, count))
    values = matrix.to_json(result)
    if json is not None:
        header = {"suite": played.name, "suite_hash": played.sha256}
        replace_file(json, (dump_json({**header, **values}) + "\n").encode())
    if out is not None:
        matrix.draw_matrix(result, out / "matrix.png")
    episodes = tests * len(played.norms)
    typer.echo(f"suite {played.name} {played.sha256[:16]}: {episodes} episodes, joint success in %")
    typer.echo(f"belief true, lowest norm     {values['diagonal_min']:6.1f}")
    typer.echo(f"wrong belief, same family    {values['within']:6.1f}")
    for family in FAMILIES:
        typer.echo(f"  {family:<27}{values['within_by_family'][family]:6.1f}")
    typer.echo(f"wrong belief, other family   {values['across']:6.1f}")
    full = values["full"]
    typer.echo(f"wrong beliefs that pass every test of a norm: {len(full)}")
    for believed, true, implied in full:
        why = "implies it" if implied else "does not imply it"
        typer.echo(f"  {believed} passes {true} ({why})")


def print_evidence(suite: SuiteOption = "main", json: JsonOption = None) -> None:
    """Report what each interaction of a suite shows to somebody who only watches."""
    played = open_suite(suite)
    if json is not None:
        check_writable(json, "--json")
    total = sum(spec.phase == "interaction" for spec in played.specs)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("watching", total=total)
        found = evidence.report_evidence(played, lambda _: progress.advance(bar))
    if json is not None:
        values = {
            "suite": played.name,
            "suite_hash": played.sha256,
            "interactions": evidence.to_json(found),
        }
        replace_file(json, (dump_json(values) + "\n").encode())
    table = Table(title=f"What interactions show: suite {played.name} {played.sha256[:16]}")
    table.add_column("norm")
    for name in ("sanctions", "informative", "settled by others", "settled by all", "left over"):
        table.add_column(name, justify="right")
    for entry in found:
        by_others = str(entry.settled_by_others) if entry.settled_by_others >= 0 else "never"
        by_all = str(entry.settled_by_all) if entry.settled_by_all >= 0 else "never"
        left = str(len(entry.left_by_others))
        table.add_row(
            entry.norm, str(entry.sanctioned), str(entry.informative), by_others, by_all, left
        )
    console = Console()
    (console if console.is_terminal else Console(width=WIDTH)).print(table)
    settled = sum(entry.settled_by_others >= 0 for entry in found)
    typer.echo(
        f"Others' moves alone settle {settled} of {len(found)} norms. Sanctions: sanctioned moves "
        "of others; informative: turns on which others visibly kept the norm; settled: turns after "
        "which only the truth explains all."
    )


def print_beliefs(
    records: Annotated[Path, typer.Argument(help="Records of a run, <out>/records/<agent>.jsonl.")],
    suite: SuiteOption = "main",
) -> None:
    """Report when an agent that states beliefs came to the right one, by family."""
    played = open_suite(suite)
    sentences = {norm.id: norm.sentence for norm in played.norms}
    for entry in summarise_identification(read_records(records, played), sentences):
        turn = "never" if entry.median_turn is None else f"turn {entry.median_turn:g}"
        typer.echo(
            f"{entry.family:<14}{entry.num_right:>3} of {entry.num:>2} norms named, "
            f"median identification: {turn}"
        )
