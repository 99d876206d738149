"""The progress bar of long runs; on standard error, and only when that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def draw_progress(name: str, steps: int, is_wanted: bool) -> Iterator[Callable[[int], None]]:
    """Give a function to report steps to.

    Args:
        name: what stands before the bar.
        steps: all that there are.
        is_wanted: draw at all.
    """
    if not is_wanted or not sys.stderr.isatty():
        yield lambda number: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=steps)
        yield lambda number: progress.advance(task, number)
