"""`normgym train dqn` and `normgym train trials`: one run, or a sweep over norms and conditions."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from agents.dqn.runs import ENCODERS, LEARNERS, REWARDS
from normgym_envs.errors import ConfigError, MissingExtraError, RecordError, UnknownNameError
from normgym_envs.files import make_folder
from normgym_envs.norms.library import list_norms
from training.config import DQNConfig, run_name
from training.progress import draw_bar, draw_table
from training.stacked.speed_cli import measure_learners
from training.sweep import plan_sweep, train_locally, train_on_ray
from training.trials_cli import train_on_trials

app = typer.Typer(
    help="Train the learning baselines.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def _group() -> None:
    """Train the learning baselines."""


app.command("trials")(train_on_trials)
app.command("speed")(measure_learners)


@app.command("dqn")
def train_dqns(
    norm: Annotated[
        list[str], typer.Option(help="Norm to train on; may be repeated; 'all' for the library.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder of the run; of several runs, one subfolder each.")
    ],
    encoder: Annotated[
        list[str], typer.Option(help=f"Network: {', '.join(ENCODERS)}; may be repeated.")
    ] = ["mlp"],  # noqa: B006 - never changed
    reward: Annotated[
        list[str],
        typer.Option(
            help=f"Condition: {', '.join(REWARDS)}; 'none' is sparse without penalties; may be "
            "repeated."
        ),
    ] = ["sparse"],  # noqa: B006
    steps: Annotated[int, typer.Option(help="Transitions of each run.")] = DQNConfig.steps,
    seed: Annotated[list[int], typer.Option(help="Replicate, 0 to 90; may be repeated.")] = [0],  # noqa: B006
    num_envs: Annotated[
        int, typer.Option(help="Worlds side by side; the update ratio stays the same.")
    ] = DQNConfig.num_envs,
    workers: Annotated[
        int,
        typer.Option(
            help="Processes of a sweep; 0 for one a processor, or one for a stack on a GPU."
        ),
    ] = 0,
    ray: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster to run a sweep on.")
    ] = None,
    learner: Annotated[
        str,
        typer.Option(
            help="sb3, a process a run; or stacked, the same algorithm for many norms side by side "
            "in each process, several times as fast."
        ),
    ] = "sb3",
    device: Annotated[
        str, typer.Option(help="cpu, cuda, or auto; the CPU is faster for the MLP.")
    ] = "cpu",
) -> None:
    """Train a DQN for each norm and condition; the same command goes on after an interruption."""
    norms = list_norms() if "all" in norm else tuple(dict.fromkeys(norm))
    for name in norms:
        if name not in list_norms():
            raise UnknownNameError("norm", name, ("all", *list_norms()))
    configs = [
        DQNConfig(
            norm=name,
            encoder=network,
            reward=condition,
            steps=steps,
            seed=replicate,
            num_envs=num_envs,
        )
        for network in dict.fromkeys(encoder)
        for condition in dict.fromkeys(reward)
        for replicate in dict.fromkeys(seed)
        for name in norms
    ]
    if learner not in LEARNERS:
        raise UnknownNameError("learner", learner, LEARNERS)
    if learner == "stacked" and ray is not None:
        raise ConfigError(
            "--ray is for the learner 'sb3'; the learner 'stacked' runs on one machine"
        )
    check_packages()
    make_folder(out, "--out")
    if len(configs) == 1 and ray is None:
        _train_one(configs[0], out, device, learner)
    else:
        _train_many(configs, out, workers, ray, device, learner)


def check_packages() -> None:
    """Refuse to begin what only the learners would find missing.

    Raises:
        MissingExtraError: torch or Stable-Baselines3 is missing.
    """
    for package in ("torch", "stable_baselines3"):
        if not _is_installed(package):
            raise MissingExtraError(
                f"training needs {package}; install the extra: pip install 'normgym[rl]'"
            )


def _is_installed(package: str) -> bool:
    """Return whether a package could be imported, without importing it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _train_one(config: DQNConfig, out: Path, device: str, learner: str) -> None:
    """Train one run in this process."""
    from torch import set_num_threads

    set_num_threads(1)
    with draw_bar(run_name(config), config.steps) as report:
        if learner == "stacked":
            from training.stacked.runs import train_stacked

            errors = train_stacked([(config, out)], device=device, report=report)
            if errors:
                raise RecordError(errors[out])
        else:
            from training.dqn import train_dqn

            train_dqn(config, out, device=device, report=report)
    typer.echo(f"{run_name(config)}: finished; play it with --agent dqn:{out}")


def _train_many(
    configs: list[DQNConfig],
    out: Path,
    workers: int,
    ray: str | None,
    device: str,
    learner: str,
) -> None:
    """Train a sweep, say what failed and leave with status 1 if anything did."""
    sweep = plan_sweep(configs, out, learner=learner)
    shared = learner == "stacked" and device != "cpu"  # by all runs of one process
    workers = workers or (1 if shared else os.cpu_count() or 1)
    with draw_table() as report:
        if learner == "stacked":
            from training.stacked.sweep import train_in_shares

            train_in_shares(sweep, workers=workers, device=device, report=report)
        elif ray is None:
            train_locally(sweep, workers=workers, device=device, report=report)
        else:
            train_on_ray(sweep, ray, device=device, report=report)
    finished = sum(run.status == "finished" for run in sweep.runs)
    typer.echo(f"{finished} of {len(sweep.runs)} runs finished in {out}")
    for run in sweep.failed:
        print(f"failed: {run.folder.name}: {run.error}", file=sys.stderr)
    if sweep.failed:
        print("the same command tries them again", file=sys.stderr)
        raise typer.Exit(1)
