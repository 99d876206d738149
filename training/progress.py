"""How far training is: a bar for one run, a table for a sweep; on standard error.

Without a terminal the bar is silent and the table one line for each run that ends.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich import box
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from training.sweep import Sweep, SweepRun

_SHOWN: Final = 12
"""Running and failed runs that a table lists."""


@contextmanager
def draw_bar(name: str, steps: int) -> Iterator[Callable[[int], None]]:
    """Give a function to tell transitions done to."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} steps/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=steps, rate="-")
        first: list[tuple[float, int]] = []

        def report(done: int) -> None:
            first.append((time.monotonic(), done)) if not first else None
            seconds = time.monotonic() - first[0][0]
            rate = f"{(done - first[0][1]) / seconds:,.0f}" if seconds > 0.5 else "-"
            progress.update(task, completed=done, rate=rate)

        yield report


@contextmanager
def draw_table() -> Iterator[Callable[[Sweep], None]]:
    """Give a function to show a sweep to."""
    if not sys.stderr.isatty():
        told: set[str] = set()

        def tell(sweep: Sweep) -> None:
            for run in sweep.runs:
                if run.status in ("finished", "failed") and run.folder.name not in told:
                    told.add(run.folder.name)
                    print(describe_run(run), file=sys.stderr)

        yield tell
        return
    started = time.monotonic()
    begun: list[int] = []
    with Live(console=Console(stderr=True), refresh_per_second=2) as live:

        def show(sweep: Sweep) -> None:
            if not begun:
                begun.append(sum(run.steps for run in sweep.runs))
            live.update(make_table(sweep, time.monotonic() - started, begun[0]))

        yield show


def describe_run(run: SweepRun) -> str:
    """Return one line on a run."""
    tail = f": {run.error}" if run.error else ""
    return f"{run.folder.name}: {run.status} at {run.steps:,} of {run.config.steps:,} steps{tail}"


def make_table(sweep: Sweep, seconds: float, begun: int) -> Table:
    """Return a sweep as a table.

    Args:
        sweep: what to show.
        seconds: since it was started or resumed.
        begun: transitions of all runs at that time.
    """
    counts = {
        status: sum(run.status == status for run in sweep.runs)
        for status in ("finished", "running", "waiting", "failed")
    }
    done = sum(run.steps for run in sweep.runs)
    rate = (done - begun) / seconds if seconds > 0 else 0.0
    left = sum(run.config.steps - run.steps for run in sweep.runs if run.status != "failed")
    remaining = f"about {left / rate / 60:,.0f} min left" if rate > 0 else "time left unknown"
    title = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    table = Table(
        title=title,
        caption=f"{done:,} steps, {rate:,.0f} a second, {remaining}",
        box=box.SIMPLE_HEAD,
    )
    for name in ("run", "status", "steps", "error"):
        table.add_column(name, justify="right" if name == "steps" else "left")
    shown = [run for run in sweep.runs if run.status in ("running", "failed")]
    for run in shown[:_SHOWN]:
        table.add_row(
            run.folder.name, run.status, f"{run.steps:,} / {run.config.steps:,}", run.error[:60]
        )
    if len(shown) > _SHOWN:
        table.add_row(f"and {len(shown) - _SHOWN} more", "", "", "")
    return table
