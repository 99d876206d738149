"""The picture of an empty place from above, as shapes."""

import numpy as np

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, Cell, Door, Zone
from normgym_envs.rendering.furniture import MOTIFS
from normgym_envs.rendering.glyphs import measure, write
from normgym_envs.rendering.palette import (
    BLACK,
    DOOR_EDGE,
    DOOR_INK,
    DOOR_MAT,
    MARGIN_INK,
    PAPER,
    UNITS,
    ZONE_Q,
    ZONE_Q_INK,
    ZONE_R,
    ZONE_R_INK,
    Colour,
)
from normgym_envs.rendering.shapes import Shape, ellipse, mix, move, polygon, rect
from normgym_envs.rendering.themes import Theme, find_theme
from normgym_envs.types import Layout

ZONE_COLOURS: dict[Zone, tuple[Colour, Colour]] = {
    Zone.Q: (ZONE_Q, ZONE_Q_INK),
    Zone.R: (ZONE_R, ZONE_R_INK),
}
"""Zone -> ground and ink."""
MARGIN_UNITS = 9
"""Drawing units of the strip that holds row and column numbers."""


def draw_place(layout: Layout) -> list[Shape]:
    """Return the shapes of a place without people, grid only, from (0, 0) on."""
    theme = find_theme(layout.name)
    shapes: list[Shape] = []
    for cell in range(GRID_HEIGHT * GRID_WIDTH):
        row, column = divmod(cell, GRID_WIDTH)
        shapes += move(draw_ground(layout, theme, row, column), column * UNITS, row * UNITS)
    for cell in range(GRID_HEIGHT * GRID_WIDTH):
        row, column = divmod(cell, GRID_WIDTH)
        shapes += move(_draw_object(layout, theme, row, column), column * UNITS, row * UNITS)
    return shapes


def draw_numbers() -> list[Shape]:
    """Return row and column numbers, to stand above and left of a grid that begins at (9, 9)."""
    shapes: list[Shape] = []
    size = 0.9
    for column in range(GRID_WIDTH):
        text = str(column)
        x = MARGIN_UNITS + (column + 0.5) * UNITS - measure(text, size) / 2
        shapes += write(text, MARGIN_INK, x, 2.4, size)
    for row in range(GRID_HEIGHT):
        text = str(row)
        x = (MARGIN_UNITS - measure(text, size)) / 2
        shapes += write(text, MARGIN_INK, x, MARGIN_UNITS + (row + 0.5) * UNITS - 2.2, size)
    return shapes


def draw_ground(layout: Layout, theme: Theme, row: int, column: int) -> list[Shape]:
    """Return the floor of a cell: pattern, marked zone, door mat."""
    shapes = draw_floor(theme, row, column)
    zone = Zone(int(layout.zones[row, column]))
    if zone != Zone.NONE:
        shapes += draw_zone(layout, zone, row, column)
    kind = layout.cells[row, column]
    if kind == Cell.DOOR:
        shapes += draw_door(layout, row * GRID_WIDTH + column)
    return shapes


def draw_floor(theme: Theme, row: int, column: int) -> list[Shape]:
    """Return the bare floor of a cell."""
    first, second = theme.floor_colours
    if theme.floor == "planks":
        seam = mix(second, BLACK, 0.16)
        shapes = [rect(first if (row * 2 + column) % 3 else second, 0, 0, 12, 12)]
        shapes.append(rect(second if (row + column) % 2 else first, 0, 6, 12, 12))
        shapes += [rect(seam, 0, 5.8, 12, 6.1), rect(seam, 0, 11.8, 12, 12)]
        at = (column * 5 + row * 3) % 9 + 1
        shapes.append(rect(seam, at, 0, at + 0.3, 6))
        return shapes
    if theme.floor == "checker":
        return [rect(first if (row + column) % 2 else second, 0, 0, 12, 12)]
    if theme.floor == "carpet":
        shapes = [rect(first, 0, 0, 12, 12)]
        for x, y in ((3, 3), (9, 9)):
            shapes.append(polygon(second, [(x, y - 1.5), (x + 1.5, y), (x, y + 1.5), (x - 1.5, y)]))
        return shapes
    joint = mix(second, BLACK, 0.08)
    return [rect(joint, 0, 0, 12, 12), rect(first, 0, 0, 11.7, 11.7), rect(second, 0, 0, 0.4, 11.7)]


def draw_zone(layout: Layout, zone: Zone, row: int, column: int) -> list[Shape]:
    """Return marked floor: a ground of its own, an edge round the zone, its letter."""
    ground, ink = ZONE_COLOURS[zone]
    shapes = [rect(ground, 0, 0, 12, 12)]
    light = mix(ground, PAPER, 0.35)
    if zone == Zone.Q:
        for start in (-4, 2, 8, 14, 20):
            shapes.append(polygon(light, _make_band(start, start + 3)))
    else:
        for x, y in ((3, 3), (9, 3), (3, 9), (9, 9)):
            shapes.append(ellipse(light, x, y, 1.3))
    sides = find_joins(layout.zones == int(zone), row, column)
    shapes += write(zone.name, ink, 4.5, 3.5, 1)
    edges = ((0, 0, 12, 0.9), (11.1, 0, 12, 12), (0, 11.1, 12, 12), (0, 0, 0.9, 12))
    for is_joined, edge in zip(sides, edges, strict=True):
        if not is_joined:
            shapes.append(rect(ink, *edge))
    return shapes


def _make_band(low: float, high: float) -> list[tuple[float, float]]:
    """Return the part of a cell where x + y lies between two numbers."""

    def ends(total: float) -> list[tuple[float, float]]:
        total = min(max(total, 0.0), 24.0)
        return [(max(0, total - 12), min(total, 12)), (min(total, 12), max(0, total - 12))]

    corner = [(12.0, 0.0)] if low < 12 < high else []
    opposite = [(0.0, 12.0)] if low < 12 < high else []
    return [*ends(low), *corner, *reversed(ends(high)), *opposite]


def draw_door(layout: Layout, cell: int) -> list[Shape]:
    """Return the mat of a door with its letter."""
    column = cell % GRID_WIDTH
    door = next(d for d in Door if layout.doors[d] == cell)
    shapes = [rect(DOOR_EDGE, 0, 0, 12, 12), rect(DOOR_MAT, 1, 1, 11, 11, 0.6)]
    light = mix(DOOR_MAT, PAPER, 0.55)
    if column in (0, GRID_WIDTH - 1):
        shapes += [rect(light, 0, 0, 12, 1), rect(light, 0, 11, 12, 12)]
    else:
        shapes += [rect(light, 0, 0, 1, 12), rect(light, 11, 0, 12, 12)]
    return shapes + write(door.name, DOOR_INK, 3.9, 2.5, 1.4)


def _draw_object(layout: Layout, theme: Theme, row: int, column: int) -> list[Shape]:
    """Return what stands on a cell."""
    kind = Cell(int(layout.cells[row, column]))
    if kind == Cell.WALL:
        return _draw_wall(layout, theme, row, column)
    if kind == Cell.COUNTER:
        return [*_draw_wall(layout, theme, row, column), *_draw_counter(theme, row, column)]
    number = row * 3 + column * 5
    if kind == Cell.CHAIR:
        name, colour = theme.chair
        return [
            ellipse(mix(theme.floor_colours[1], BLACK, 0.22), 6, 10.4, 4.6, 1.2),
            *MOTIFS[name].details(colour, number),
        ]
    if kind in (Cell.TABLE, Cell.DISPLAY):
        name, colour = theme.table if kind == Cell.TABLE else theme.display
        block = draw_block(colour, find_joins(layout.cells == int(kind), row, column))
        return [*block, *MOTIFS[name].details(colour, number)]
    return []


def draw_block(colour: Colour, joined: tuple[bool, bool, bool, bool]) -> list[Shape]:
    """Return the body of a table, joined to its neighbours above, right, below and left."""
    above, right, below, left = joined
    x0, x1 = (0.0 if left else 0.7), (12.0 if right else 11.3)
    y0, y1 = (0.0 if above else 0.4), (12.0 if below else 9.8)
    dark, side = mix(colour, BLACK, 0.5), mix(colour, BLACK, 0.28)
    shapes = []
    if not below:
        shapes += [rect(dark, x0, y1, x1, 12), rect(side, x0 + 0.3, y1, x1 - 0.3, 11.6)]
    shapes += [rect(dark, x0, y0, x1, y1)]
    inner = (x0 if left else x0 + 0.4, y0 if above else y0 + 0.4)
    outer = (x1 if right else x1 - 0.4, y1 if below else y1 - 0.3)
    return [*shapes, rect(colour, *inner, *outer)]


def _draw_counter(theme: Theme, row: int, column: int) -> list[Shape]:
    """Return the counter in the outer wall."""
    name, colour = theme.counter
    return [
        rect(mix(colour, BLACK, 0.55), 0, 0, 12, 12),
        rect(colour, 0.6, 0.6, 11.4, 9.8, 0.6),
        rect(mix(colour, BLACK, 0.3), 0.6, 9.8, 11.4, 11.5),
        *MOTIFS[name].details(colour, 0),
    ]


def _draw_wall(layout: Layout, theme: Theme, row: int, column: int) -> list[Shape]:
    """Return a piece of wall: its top, and its front where floor lies below it."""
    top = mix(theme.wall, PAPER, 0.12)
    shapes = [rect(top, 0, 0, 12, 12)]
    if row + 1 < GRID_HEIGHT and not _is_solid(layout, row + 1, column):
        shapes += [
            rect(mix(theme.wall, BLACK, 0.12), 0, 5.4, 12, 12),
            rect(mix(theme.wall, BLACK, 0.3), 0, 5.4, 12, 6),
            rect(theme.trim, 0, 10.4, 12, 12),
        ]
    edge = mix(theme.wall, BLACK, 0.3)
    if column + 1 < GRID_WIDTH and not _is_solid(layout, row, column + 1):
        shapes.append(rect(edge, 11.3, 0, 12, 12))
    if column > 0 and not _is_solid(layout, row, column - 1):
        shapes.append(rect(edge, 0, 0, 0.7, 12))
    if row > 0 and not _is_solid(layout, row - 1, column):
        shapes.append(rect(edge, 0, 0, 12, 0.7))
    return shapes


def _is_solid(layout: Layout, row: int, column: int) -> bool:
    """Return whether a cell is wall or counter."""
    return layout.cells[row, column] in (Cell.WALL, Cell.COUNTER)


def find_joins(same: np.ndarray, row: int, column: int) -> tuple[bool, bool, bool, bool]:
    """Return whether the cells above, right, below and left are of the same kind."""
    padded = np.pad(same, 1)
    r, c = row + 1, column + 1
    return (
        bool(padded[r - 1, c]),
        bool(padded[r, c + 1]),
        bool(padded[r + 1, c]),
        bool(padded[r, c - 1]),
    )
