"""Where a norm's symbols lie on a layout: queue paths and orders of seats.

Plain functions of a layout and a norm's parameters; `norms/placement.py` turns what they return
into rows for the kernels, and the validator of maps and the drawings use them as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_WIDTH, MAX_PATH, NUM_CELLS, Cell
from normgym_envs.errors import NormError, nearest
from normgym_envs.types import Layout

TURNS: Final = ("right", "left", "away", "toward")
"""Directions of a queue leg; right and left are those of a person who faces the counter."""
WALL_TURNS: Final = ("right-along-wall", "left-along-wall")
"""Directions of a leg that follows the outer ring, corners included."""
SEAT_ORDERS: Final = ("left-to-right", "right-to-left")
ON_AND_ON: Final = "*"
"""Count of a leg that goes on until the path has to stop."""


def parse_leg(leg: str) -> tuple[str, int]:
    """Split a leg such as "right 2" or "away *" into its direction and its number of cells.

    Returns:
        tuple of direction and count; NUM_CELLS stands for "on and on".

    Raises:
        NormError: unknown direction, or a count that is neither a number from 1 nor "*".
    """
    direction, _, count = leg.partition(" ")
    if direction not in TURNS + WALL_TURNS:
        raise NormError(
            f'leg {leg!r} has direction {direction!r}; expected "<direction> <count>"'
            f"{nearest(direction, TURNS + WALL_TURNS)}"
        )
    if count == ON_AND_ON:
        return direction, NUM_CELLS
    if not (count.isascii() and count.isdigit()) or not 1 <= int(count) <= NUM_CELLS:
        raise NormError(f"leg {leg!r} has count {count!r}; expected a number from 1, or *")
    return direction, int(count)


def queue_path(layout: Layout, parameters: Mapping[str, Any]) -> npt.NDArray[np.int32]:
    """Return the cells of a queue on a layout, the service cell first.

    The path stops before the first cell that is not plain floor (marked floor counts as floor) or
    that it already holds.

    Source: NG Table A2, Coordination; the end of a path without a length is not specified there,
    chosen because people can wait on free floor only, and MAX_PATH of them at most.

    Args:
        layout: the place.
        parameters: of a norm of kind queue_path: legs, and perhaps repeat and length.

    Returns:
        (P,) int32, cell indices, 1 <= P <= MAX_PATH.

    Raises:
        NormError: a leg cannot be read.
    """
    length = int(parameters.get("length", 0)) or MAX_PATH
    repeat = bool(parameters.get("repeat", False))
    path = [layout.service]
    for direction in _directions(parameters["legs"], repeat):
        if len(path) == min(length, MAX_PATH):
            break
        cell = _neighbour(layout, path[-1], direction)
        if cell < 0 or layout.cells.flat[cell] != Cell.FLOOR or cell in path:
            break
        path.append(cell)
    return np.array(path, np.int32)


def seat_order(layout: Layout, order: str) -> npt.NDArray[np.int32]:
    """Return all chairs column by column, from top to bottom within a column.

    Source: NG Table A2, "Seats in order".

    Args:
        layout: the place.
        order: "left-to-right" or "right-to-left", the order of the columns on the map.

    Returns:
        (n,) int32, cell indices.

    Raises:
        NormError: unknown order.
    """
    if order not in SEAT_ORDERS:
        raise NormError(f"unknown order {order!r}{nearest(order, SEAT_ORDERS)}")
    sign = 1 if order == "left-to-right" else -1
    cells = sorted(
        (int(cell) for cell in layout.chairs),
        key=lambda cell: (sign * (cell % GRID_WIDTH), cell // GRID_WIDTH),
    )
    return np.array(cells, np.int32)


def _directions(legs: Sequence[str], repeat: bool) -> Iterator[str]:
    """Yield the direction of each further cell of a path; without end if the legs repeat."""
    parsed = [parse_leg(leg) for leg in legs]
    while parsed:
        for direction, count in parsed:
            for _ in range(count):
                yield direction
        if not repeat:
            return


def _neighbour(layout: Layout, cell: int, direction: str) -> int:
    """Return the next cell in a direction, or -1 where there is none."""
    if direction in WALL_TURNS:
        (place,) = np.flatnonzero(layout.ring == cell)[:1] if cell in layout.ring else (-1,)
        if place < 0:
            return -1
        # A person who faces an outer wall has the clockwise neighbour on the right.
        step = 1 if direction == "right-along-wall" else -1
        return int(layout.ring[(place + step) % len(layout.ring)])
    away_row, away_column = layout.away
    row_step, column_step = {
        "away": (away_row, away_column),
        "toward": (-away_row, -away_column),
        "right": (-away_column, away_row),
        "left": (away_column, -away_row),
    }[direction]
    row, column = divmod(cell, GRID_WIDTH)
    row, column = row + row_step, column + column_step
    if not (0 <= row < layout.cells.shape[0] and 0 <= column < GRID_WIDTH):
        return -1
    return row * GRID_WIDTH + column
