"""`normgym bench dqn`: a sweep of DQN runs as NG Tables A6 to A9 and Figures A8 to A10."""

import platform
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from benchmarks.build import open_suite
from benchmarks.files import dump_json
from benchmarks.statistics import BOOTSTRAP_SEED, DRAWS
from benchmarks.tables import WIDTH, Table, print_tables, to_markdown
from normgym_envs.errors import ConfigError, check_seed
from normgym_envs.files import check_writable, make_folder, replace_file

if TYPE_CHECKING:
    from benchmarks.dqn import Evaluation


def report_dqn(
    sweep: Annotated[Path, typer.Argument(help="Folder that `normgym train dqn` has filled.")],
    out: Annotated[
        Path, typer.Option(help="Keep records here, resume from them, write report and figures.")
    ],
    suite: Annotated[str, typer.Option(help="Name of a suite or a .jsonl file.")] = "main",
    seed: Annotated[int, typer.Option(help="Of the agents' own random streams.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the numbers to this file.")] = None,
) -> None:
    """Evaluate the finished runs of a sweep and print them beside the paper's figures."""
    from benchmarks.dqn import evaluate
    from benchmarks.dqn_tables import make_dqn_tables

    if not sweep.is_dir():
        raise ConfigError(f"there is no folder {str(sweep)!r}; expected that of a sweep")
    if json is not None:
        check_writable(json, "--json")
    make_folder(out, "--out")
    played = open_suite(suite)
    errors = Console(stderr=True)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: errors.print(f"warning: {message}", markup=False)
        evaluation = evaluate(
            sweep, played, seed=check_seed(seed), records=out / "records", show_progress=True
        )
    for line in evaluation.unused:
        errors.print(f"not used: {line}", markup=False, soft_wrap=True)
    tables = make_dqn_tables(evaluation)
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    print_tables(tables, console)
    if json is not None:
        replace_file(json, (dump_json(to_json(evaluation)) + "\n").encode())
    path = write_dqn_report(out, evaluation, tables, "normgym " + shlex.join(sys.argv[1:]))
    console.print(f"report: {path}", markup=False, soft_wrap=True)


def write_dqn_report(
    out: Path, evaluation: "Evaluation", tables: list[Table], command: str
) -> Path:
    """Write `report.md` and the figures, and return the page's path.

    Args:
        out: folder, which must exist.
        evaluation: of the sweep.
        tables: of `make_dqn_tables`.
        command: what was typed to get here.
    """
    from benchmarks.dqn_plots import draw_figures

    figures = draw_figures(evaluation)
    for name, content in figures.items():
        replace_file(out / name, content)
    config = evaluation.conditions[0].result.config
    versions: dict[str, set[str]] = {}
    for condition in evaluation.conditions:
        for run in condition.runs:
            for name, number in run.versions.items():
                versions.setdefault(name, set()).add(number)
    trained = ", ".join(f"{name} {' or '.join(sorted(v))}" for name, v in versions.items())
    facts = {
        "command": f"`{command}`",
        "suite": f"{config.suite}, version {config.suite_version}",
        "suite hash": f"`{config.suite_hash}`",
        "package": f"normgym {config.package_version}, world `{config.world}`, "
        f"Python {platform.python_version()}",
        "trained with": trained,
        "norm library": ", ".join(
            sorted({f"`{r.norm_library}`" for c in evaluation.conditions for r in c.runs})
        ),
    }
    captions = {
        "figure_a8.png": "Figure A8: TD Huber loss. Targets change with the checkpoint; a lower "
        "loss need not mean better behaviour",
        "figure_a9.png": "Figure A9: Q-values and bootstrap targets",
        "figure_a10.png": "Figure A10: training return by bins of transitions",
        "validation.png": "Validation at the checkpoints, on episodes that no test uses",
    }
    unused = "".join(f"- {line}\n" for line in evaluation.unused) or "None.\n"
    parts = [
        "# DQN baselines\n",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()) + "\n",
        *[to_markdown(table) for table in tables],
        *[f"![{text}]({name})\n\n{text}.\n" for name, text in captions.items()],
        "Lines are medians over runs, bands the middle half of the runs, validation curves means "
        "over runs. Bands show how norms differ and are no confidence intervals.\n",
        "## How to read this\n\nEvery policy is the last checkpoint of its run, plays the "
        "episodes about the norm it was trained on, plays greedily "
        "among the open actions and is not trained further. Intervals with norms resampled come "
        f"from {DRAWS:,} resamples of whole norms (seed {BOOTSTRAP_SEED}). NG's figures come from "
        "its own episodes, which are not these.\n",
        f"## Runs that were not used\n\n{unused}",
    ]
    path = out / "report.md"
    replace_file(path, "\n".join(parts).encode())
    return path


def to_json(evaluation: "Evaluation") -> list[dict[str, Any]]:
    """Return the numbers of every condition as plain JSON values."""
    from benchmarks.dqn import measure_caution, measure_last_return
    from benchmarks.summary import to_json as run_to_json
    from normgym_envs.constants import TEST_PHASES

    result = []
    for condition in evaluation.conditions:
        mean, median = measure_last_return(condition)
        caution = {}
        for phase in TEST_PHASES:
            values = measure_caution(condition, phase)._asdict()
            caution[phase] = {name: list(value) for name, value in values.items()}
        result.append(
            {
                "encoder": condition.encoder,
                "reward": condition.reward,
                "norms": len(condition.norms),
                "runs": len(condition.runs),
                "steps": list(condition.steps),
                "last_return_mean": mean,
                "last_return_median": median,
                "caution": caution,
                **run_to_json(condition.result),
            }
        )
    return result
