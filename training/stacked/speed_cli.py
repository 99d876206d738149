"""`normgym train speed`: the learners beside each other on this machine."""

import os
import platform
from typing import Annotated

import typer

from agents.dqn.runs import list_versions
from training.stacked.speed import describe_speed, measure_speed


def measure_learners(
    norms: Annotated[
        int, typer.Option(help="Norms of the stacked learner, a process; of 50.")
    ] = 25,
    num_envs: Annotated[int, typer.Option(help="Worlds a norm.")] = 16,
    processes: Annotated[int, typer.Option(help="Processes that measure side by side.")] = 1,
    turns: Annotated[int, typer.Option(help="Turns of each learner; medians are given.")] = 5,
    seconds: Annotated[float, typer.Option(help="Length of a turn.")] = 2.0,
) -> None:
    """Measure transitions a second of all norms; one update for 4 transitions in each learner.

    Learners take turns in one run, a torch thread a process. Rates by processor time leave out what
    other programs of the machine took.
    """
    from training.cli import check_packages

    check_packages()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    speeds = measure_speed(
        num_norms=norms, num_envs=num_envs, processes=processes, turns=turns, seconds=seconds
    )
    for line in describe_speed(speeds):
        typer.echo(line)
    versions = ", ".join(f"{name} {number}" for name, number in list_versions().items())
    typer.echo(
        f"{processes} process(es), {norms} norms in a stack, {num_envs} worlds a norm, MLP, "
        f"batches of 32; {platform.machine()}, {os.cpu_count()} processors; {versions}"
    )
