"""The conditions a map must satisfy so that every norm can be obeyed, broken and seen on it.

Each was found necessary on trial layouts; the reasons stand beside the checks. This module stands
above `norms` in the order of imports, the rest of `layouts` below it.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Final, TypeVar

import numpy as np

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, NUM_CELLS, Cell, Door, Region, Zone
from normgym_envs.errors import LayoutError
from normgym_envs.layouts.routes import (
    UNREACHABLE,
    is_enterable,
    list_neighbours,
    measure_distances,
)
from normgym_envs.norms.geometry import queue_path, seat_order
from normgym_envs.norms.library import load_norms
from normgym_envs.types import Layout

Key = TypeVar("Key")

MIN_REGION_CHAIRS: Final = 3
"""Source: NG App. "Notation" names the regions; the number is not specified there."""
MIN_RING_CHAIRS: Final = 3
MIN_PATH: Final = 6
"""Cells of a queue path to which the paper gives no length. Source: not specified."""
MIN_ZONE_R: Final = 4
BLOCK_WIDTH: Final = 5
BLOCK_DEPTH: Final = 5


def validate_layout(layout: Layout) -> None:
    """Hold a layout against every condition.

    Args:
        layout: a well-formed layout, as `parse_layout` returns it.

    Raises:
        LayoutError: at least one condition is broken; the message has one line for each breach.
    """
    problems = list_problems(layout)
    if problems:
        count = "1 condition is" if len(problems) == 1 else f"{len(problems)} conditions are"
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise LayoutError(f"layout {layout.name!r}: {count} broken{lines}")


def list_problems(layout: Layout) -> list[str]:
    """Return one line for each condition that a layout breaks; empty if it is sound.

    Whether norms can come into conflict there is asked of the planner: `protocol/trips.py`.
    """
    problems = [problem for check in _BASIC_CHECKS for problem in check(layout)]
    if problems:  # the remaining checks walk on a map that satisfies these
        return problems
    return [problem for check in _CHECKS for problem in check(layout)]


def describe_cell(cell: int) -> str:
    """Return a cell as words for messages."""
    row, column = divmod(int(cell), GRID_WIDTH)
    return f"row {row}, column {column}"


def _check_ring(layout: Layout) -> Iterator[str]:
    """Edge queues and circulation need an unbroken lane along the outer wall."""
    for cell in layout.ring:
        kind = Cell(int(layout.cells.flat[cell]))
        if kind is not Cell.FLOOR:
            yield f"ring: {describe_cell(cell)} is a {kind.name.lower()}; expected floor"


def _check_regions(layout: Layout) -> Iterator[str]:
    """Seat norms need a choice of seats in every region."""
    for region in Region:
        count = int(np.count_nonzero(layout.regions == region))
        if count < MIN_REGION_CHAIRS:
            yield (
                f"seats: region {region.name} has {count} chair(s); "
                f"expected at least {MIN_REGION_CHAIRS}"
            )


def _check_zones_exist(layout: Layout) -> Iterator[str]:
    """Both zones are drawn under every norm."""
    for zone in (Zone.Q, Zone.R):
        if not np.any(layout.zones == zone):
            yield f"zones: no cell of zone {zone.name}"


def _check_connected(layout: Layout) -> Iterator[str]:
    """Everybody must be able to go everywhere, also without setting foot on zone Q."""
    start = int(layout.service)
    for closed, without in (((), ""), (_zone_cells(layout, Zone.Q), " without zone Q")):
        distances = measure_distances(layout, start, closed)
        for cell in range(NUM_CELLS):
            if is_enterable(layout, cell) and cell not in closed and distances[cell] == UNREACHABLE:
                yield f"connected: {describe_cell(cell)} cannot be reached{without}"
                return


def _check_queue_block(layout: Layout) -> Iterator[str]:
    """Winding queues need room before the counter."""
    row, column = divmod(layout.service, GRID_WIDTH)
    away_row, away_column = layout.away
    half = BLOCK_WIDTH // 2
    for depth, side in product(range(BLOCK_DEPTH), range(-half, half + 1)):
        here = (row + depth * away_row + side * away_column,
                column + depth * away_column + side * away_row)  # fmt: skip
        inside = 0 <= here[0] < GRID_HEIGHT and 0 <= here[1] < GRID_WIDTH
        if not inside or layout.cells[here] != Cell.FLOOR:
            yield (
                f"queue block: row {here[0]}, column {here[1]} is not floor; expected "
                f"{BLOCK_WIDTH} x {BLOCK_DEPTH} cells of floor before the counter"
            )


def _check_queue_paths(layout: Layout) -> Iterator[str]:
    """Every queue must be long enough, joinable at each tail, and leave the served person a way."""
    doors = [int(door) for door in layout.doors]
    for norm in load_norms():
        if norm.kind != "queue_path":
            continue
        path = [int(cell) for cell in queue_path(layout, norm.parameters)]
        length = int(norm.parameters["length"])
        if len(path) < (length or MIN_PATH):
            expected = f"{length}" if length else f"at least {MIN_PATH}"
            yield f"queue path: {norm.id} has {len(path)} cells; expected {expected}"
        for tail, cell in enumerate(path, start=1):
            distances = measure_distances(layout, cell, path[: tail - 1])
            for door in doors:
                if distances[door] == UNREACHABLE:
                    yield (
                        f"queue path: {norm.id}, cell {tail} at {describe_cell(cell)} cannot be "
                        f"joined from the door at {describe_cell(door)}"
                    )
        distances = measure_distances(layout, path[0], path[1:])
        for door in doors:
            if distances[door] == UNREACHABLE:
                yield (
                    f"queue path: {norm.id}, the served person cannot leave by the door at "
                    f"{describe_cell(door)} when the queue is full"
                )


def _check_ring_chairs(layout: Layout) -> Iterator[str]:
    """Circulation only matters on ways that must use the ring: to chairs beside nothing else."""
    sides = [
        {side for neighbour in neighbours for side in _ring_sides(neighbour)}
        for neighbours in (list(list_neighbours(layout, int(chair))) for chair in layout.chairs)
        if neighbours and all(neighbour in layout.ring for neighbour in neighbours)
    ]
    different = any(
        len(set(choice)) == MIN_RING_CHAIRS
        for chairs in combinations(sides, MIN_RING_CHAIRS)
        for choice in product(*chairs)
    )
    if not different:
        yield (
            f"ring chairs: {len(sides)} chair(s) can be reached from the ring only; expected "
            f"{MIN_RING_CHAIRS} on different walls"
        )


def _ring_sides(cell: int) -> Iterator[str]:
    """Yield the walls a ring cell lies at: one, or two in a corner."""
    row, column = divmod(cell, GRID_WIDTH)
    for side, here in (
        ("top", row == 1),
        ("bottom", row == GRID_HEIGHT - 2),
        ("left", column == 1),
        ("right", column == GRID_WIDTH - 2),
    ):
        if here:
            yield side


def _check_near_chairs(layout: Layout) -> Iterator[str]:
    """Norms about doors and seats only show where the nearest one is the wrong one."""
    chairs = [int(chair) for chair in layout.chairs]
    region_of = dict(zip(chairs, layout.regions, strict=True))
    distances = {door: measure_distances(layout, int(layout.doors[door])) for door in Door}
    own_door = {_strictly_nearest({door: distances[door][chair] for door in Door})
                for chair in chairs}  # fmt: skip
    for door in Door:
        if door not in own_door:
            yield f"doors: door {door.name} is the nearest of no chair"
    nearest = {door: _strictly_nearest({chair: distances[door][chair] for chair in chairs})
               for door in Door}  # fmt: skip
    served = {region_of[chair] for chair in nearest.values() if chair is not None}
    for region in Region:
        if region not in served:
            yield f"doors: no door has a {region.name} chair as its only nearest chair"
    first = int(seat_order(layout, "right-to-left")[0])
    if distances[Door.C][first] == min(distances[Door.C][chair] for chair in chairs):
        yield (
            f"seat order: the first chair from the right, {describe_cell(first)}, is also the "
            "nearest to door C"
        )


def _strictly_nearest(distances: dict[Key, int]) -> Key | None:
    """Return the key of the smallest distance, None if several share it."""
    least = min(distances.values())
    keys = [key for key, distance in distances.items() if distance == least]
    return keys[0] if len(keys) == 1 else None


def _check_zone_q(layout: Layout) -> Iterator[str]:
    """Zone Q lies across a corridor: on the shortest way of some, with a way round for all."""
    cells = _zone_cells(layout, Zone.Q)
    if not _is_connected(layout, cells):
        yield "zone Q: its cells do not hang together"
    rows, columns = {cell // GRID_WIDTH for cell in cells}, {cell % GRID_WIDTH for cell in cells}
    if min(max(rows) - min(rows), max(columns) - min(columns)) > 1:
        yield "zone Q: more than 2 thick"
    for cell in sorted(cells):
        for neighbour in list_neighbours(layout, cell):
            if layout.cells.flat[neighbour] == Cell.CHAIR:
                yield f"zone Q: the chair at {describe_cell(neighbour)} is next to it"
    places = [place for place, _ in layout.destinations if place not in cells]
    for door in layout.doors:
        plain = measure_distances(layout, int(door))
        round_q = measure_distances(layout, int(door), cells)
        if any(round_q[place] > plain[place] for place in places):
            return
    yield "zone Q: no shortest way between a door and a place leads through it"


def _check_zone_r(layout: Layout) -> Iterator[str]:
    """Zone R holds a few people, and they must not shut each other in."""
    cells = _zone_cells(layout, Zone.R)
    if len(cells) < MIN_ZONE_R:
        yield f"zone R: {len(cells)} cell(s); expected at least {MIN_ZONE_R}"
    if not _is_connected(layout, cells):
        yield "zone R: its cells do not hang together"
    ways_in = {
        neighbour for cell in cells for neighbour in list_neighbours(layout, cell)
    } - cells  # fmt: skip
    if len(ways_in) < 2:
        yield f"zone R: {len(ways_in)} way(s) in; expected at least 2"


def _zone_cells(layout: Layout, zone: Zone) -> set[int]:
    """Return the cells of a marked zone."""
    return {int(cell) for cell in np.flatnonzero(layout.zones == zone)}


def _is_connected(layout: Layout, cells: set[int]) -> bool:
    """Return whether one can walk between any two of some cells without leaving them."""
    outside = set(range(NUM_CELLS)) - cells
    distances = measure_distances(layout, min(cells), outside)
    return all(distances[cell] < UNREACHABLE for cell in cells)


_Check = Callable[[Layout], Iterator[str]]
_BASIC_CHECKS: Final[tuple[_Check, ...]] = (
    _check_ring,
    _check_regions,
    _check_zones_exist,
    _check_connected,
    _check_queue_block,
)
_CHECKS: Final[tuple[_Check, ...]] = (
    _check_queue_paths,
    _check_ring_chairs,
    _check_near_chairs,
    _check_zone_q,
    _check_zone_r,
)
