"""Walking distances on a layout, in plain Python, for the checks of map files.

The planner of the engine searches on its own arrays; nothing here is used while an episode runs.
"""

from collections import deque
from collections.abc import Collection, Iterator
from typing import Final

from normgym_envs.constants import GRID_WIDTH, NUM_CELLS, Cell
from normgym_envs.layouts.legend import ENTERABLE
from normgym_envs.types import Layout

UNREACHABLE: Final = 10**6
"""Stands for "no way" in distances, in steps; larger than any way."""


def is_enterable(layout: Layout, cell: int) -> bool:
    """Return whether a person can step on a cell."""
    return Cell(int(layout.cells.flat[cell])) in ENTERABLE


def list_neighbours(layout: Layout, cell: int) -> Iterator[int]:
    """Yield the enterable cells beside a cell in the order up, down, left, right."""
    column = cell % GRID_WIDTH
    for neighbour, inside in (
        (cell - GRID_WIDTH, cell >= GRID_WIDTH),
        (cell + GRID_WIDTH, cell + GRID_WIDTH < NUM_CELLS),
        (cell - 1, column > 0),
        (cell + 1, column < GRID_WIDTH - 1),
    ):
        if inside and is_enterable(layout, neighbour):
            yield neighbour


def measure_distances(layout: Layout, start: int, closed: Collection[int] = ()) -> list[int]:
    """Return the number of steps from a cell to every cell.

    Args:
        layout: the place.
        start: cell index.
        closed: cells that cannot be entered (the start may be one of them).

    Returns:
        list of NUM_CELLS ints, steps; UNREACHABLE where no way leads.
    """
    distances = [UNREACHABLE] * NUM_CELLS
    distances[start] = 0
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for neighbour in list_neighbours(layout, cell):
            if distances[neighbour] == UNREACHABLE and neighbour not in closed:
                distances[neighbour] = distances[cell] + 1
                queue.append(neighbour)
    return distances
