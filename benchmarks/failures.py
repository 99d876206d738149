"""What the commands say of episodes that could not be finished."""

from collections.abc import Sequence

import typer

from benchmarks.runner import Run


def exit_on_failures(runs: Sequence[Run], again: str) -> None:
    """Name the first failed episode and leave with status 1; return when there is none.

    Args:
        runs: all that were played.
        again: how to play the failed ones, empty when nothing was kept.

    Raises:
        typer.Exit: an episode has failed.
    """
    failed = [error for one in runs for error in one.errors]
    if not failed:
        return
    first = failed[0]
    typer.echo(
        f"{len(failed)} episodes failed and are not counted{'; ' if again else ''}{again}. First: "
        f"{first.agent}, {first.episode}, turn {first.turn}: {first.error}",
        err=True,
    )
    raise typer.Exit(1)
