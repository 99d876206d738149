"""The view from a corner: the same floor, furniture and people, seen from the south-east.

Floor patterns and the tops of furniture are those of the view from above, laid into the slanted
plane; only walls, sides and backs are added.
"""

from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, NUM_CELLS, Cell
from normgym_envs.norms.placement import place_norms
from normgym_envs.rendering.blit import blend
from normgym_envs.rendering.figures import NUM_SPRITES, Sprite, draw_sprite
from normgym_envs.rendering.furniture import MOTIFS
from normgym_envs.rendering.glyphs import measure, write
from normgym_envs.rendering.palette import BLACK, MARGIN, MARGIN_INK, PAPER, UNITS, Colour
from normgym_envs.rendering.place import draw_ground, find_joins
from normgym_envs.rendering.rasterise import Image, rasterise
from normgym_envs.rendering.scene import list_sprites
from normgym_envs.rendering.shapes import Point, Shape, ellipse, mix, move, polygon, rect
from normgym_envs.rendering.themes import Theme, find_theme
from normgym_envs.types import Layout, RecordArray

ACROSS: Final = GRID_WIDTH * UNITS / (GRID_WIDTH + GRID_HEIGHT)
"""Drawing units by which one step in the grid moves sideways; the grid fills the frame's width."""
DOWN: Final = ACROSS / 2
"""Drawing units by which one step moves down."""
LIFT: Final = 0.62
"""Drawing units on the frame for a unit of height."""
TOP: Final = 14.0
FOOT: Final = 4.0
"""Drawing units above and below the floor."""
WIDTH: Final = GRID_WIDTH * UNITS
HEIGHT: Final = TOP + (GRID_WIDTH + GRID_HEIGHT) * DOWN + FOOT
BACK_WALL: Final = 17.0
FRONT_WALL: Final = 3.0
INNER_WALL: Final = 11.0
SEAT: Final = 3.0
"""Heights, drawing units."""
FIGURE: Final = 0.92
"""Size of people against the view from above."""


class Piece(NamedTuple):
    """Something that stands on a cell, as pixels."""

    tile: npt.NDArray[np.uint8]  # (h, w, 4)
    top: int  # pixel row in the frame
    left: int  # pixel column


class Stage(NamedTuple):
    """One place at one size."""

    ground: Image  # (H, W, 3), floor only
    pieces: dict[int, list[Piece]]  # by cell
    record: RecordArray  # (1,) LAYOUT_DTYPE


class IsometricRenderer:
    """The view from a corner."""

    def __init__(self, edge: int, numbers: bool) -> None:
        """Draw the sprites.

        Args:
            edge: pixels of a cell's edge in the view from above; fixes the frame's width.
            numbers: write row and column numbers along the two front walls.
        """
        self._edge = edge
        self._numbers = numbers
        self._tiles = _make_figures(edge)
        self._stages: dict[Layout, Stage] = {}

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, 3) of every frame."""
        return round(HEIGHT * self._edge / UNITS), round(WIDTH * self._edge / UNITS), 3

    def draw(self, state: np.void, layout: Layout, *, viewer: int = 0, goal: bool = False) -> Image:
        """Return a frame; see `Renderer`."""
        if layout not in self._stages:
            self._stages[layout] = _make_stage(layout, self._edge, self._numbers)
        stage = self._stages[layout]
        first = np.array([state])
        first["layout"] = 0
        people: dict[int, list[int]] = {}
        for sprite, cell in list_sprites(first[0], stage.record, viewer, goal).tolist():
            people.setdefault(cell, []).append(sprite)
        frame = stage.ground.copy()
        for cell in _list_by_depth():
            for piece in stage.pieces.get(cell, ()):
                blend(frame, piece.tile, piece.top, piece.left)
            lift = SEAT if layout.cells.flat[cell] == Cell.CHAIR else 0.0
            for sprite in people.get(cell, ()):
                self._put(frame, sprite, cell, lift)
        return frame

    def _put(self, frame: Image, sprite: int, cell: int, lift: float) -> None:
        """Draw a sprite on its cell: goal marks lie on the floor, people stand upright."""
        row, column = divmod(cell, GRID_WIDTH)
        x, y = project(column * UNITS + 6, row * UNITS + 6, lift)
        scale = self._edge / UNITS
        tile = self._tiles[sprite]
        height, width = tile.shape[:2]
        left = round(x * scale - width / 2)
        top = (
            round(y * scale - height / 2)
            if sprite == Sprite.GOAL
            else round((y + 1.6) * scale - height)
        )
        blend(frame, tile, top, left)


def project(x: float, y: float, z: float = 0.0) -> Point:
    """Return where a point of the room lies on the frame.

    Args:
        x: drawing units along the columns.
        y: along the rows.
        z: over the floor.
    """
    across = (x - y) / UNITS * ACROSS + GRID_HEIGHT * ACROSS
    return across, (x + y) / UNITS * DOWN + TOP - z * LIFT


def lay(shapes: list[Shape], z: float = 0.0) -> list[Shape]:
    """Return shapes of the view from above, laid into a plane over the floor."""
    return [Shape(s.colour, tuple(project(x, y, z) for x, y in s.points), s.alpha) for s in shapes]


def make_box(
    colour: Colour, left: float, top: float, right: float, bottom: float, low: float, high: float
) -> list[Shape]:
    """Return the three visible faces of a box in the room."""
    south = [(left, bottom, low), (right, bottom, low), (right, bottom, high), (left, bottom, high)]
    east = [(right, bottom, low), (right, top, low), (right, top, high), (right, bottom, high)]
    lid = [(left, top, high), (right, top, high), (right, bottom, high), (left, bottom, high)]
    return [
        polygon(mix(colour, BLACK, 0.18), [project(*corner) for corner in south]),
        polygon(mix(colour, BLACK, 0.38), [project(*corner) for corner in east]),
        polygon(colour, [project(*corner) for corner in lid]),
    ]


@cache
def _list_by_depth() -> tuple[int, ...]:
    """Return the cells from the back to the front."""
    cells = range(NUM_CELLS)
    return tuple(sorted(cells, key=lambda cell: (sum(divmod(cell, GRID_WIDTH)), cell)))


@cache
def _make_figures(edge: int) -> dict[int, npt.NDArray[np.uint8]]:
    """Return the sprites as they stand in the room."""
    tiles = {}
    for sprite in range(NUM_SPRITES):
        shapes = draw_sprite(sprite)
        if sprite == Sprite.GOAL:
            x, y = project(0, 0)
            laid = move(lay(shapes), ACROSS - x, -y)
            tiles[sprite] = rasterise(laid, 2 * ACROSS, 2 * DOWN, edge, opaque=False)
        else:
            size = UNITS * FIGURE
            tiles[sprite] = rasterise(move(shapes, 0, 0, FIGURE), size, size, edge, opaque=False)
    return tiles


def _make_stage(layout: Layout, edge: int, numbers: bool) -> Stage:
    """Return a place drawn from a corner, without people."""
    theme = find_theme(layout.name)
    shapes = [rect(MARGIN, 0, 0, WIDTH, HEIGHT)]
    for cell in range(NUM_CELLS):
        row, column = divmod(cell, GRID_WIDTH)
        shapes += lay(move(draw_ground(layout, theme, row, column), column * UNITS, row * UNITS))
    if numbers:
        shapes += _draw_numbers()
    ground = rasterise(shapes, WIDTH, HEIGHT, edge, opaque=True)
    pieces = {}
    for cell in range(NUM_CELLS):
        drawn = _draw_piece(layout, theme, *divmod(cell, GRID_WIDTH))
        if drawn:
            pieces[cell] = [_cut_out(drawn, edge)]
    return Stage(ground, pieces, place_norms((layout,), ()).layouts)


def _cut_out(shapes: list[Shape], edge: int) -> Piece:
    """Return shapes as the smallest tile that holds them."""
    scale = edge / UNITS
    points = np.array([point for shape in shapes for point in shape.points]) * scale
    left, top = np.floor(points.min(axis=0)).astype(int)
    limit = np.array([round(WIDTH * scale), round(HEIGHT * scale)])
    right, bottom = np.minimum(np.ceil(points.max(axis=0)).astype(int), limit)
    left, top = max(left, 0), max(top, 0)
    moved = move(shapes, -left / scale, -top / scale)
    size = (right - left) / scale, (bottom - top) / scale
    return Piece(rasterise(moved, *size, edge, opaque=False), int(top), int(left))


def _draw_piece(layout: Layout, theme: Theme, row: int, column: int) -> list[Shape]:
    """Return what stands on a cell, or nothing."""
    kind = Cell(int(layout.cells[row, column]))
    x, y = column * UNITS, row * UNITS
    if kind == Cell.WALL:
        return _draw_wall(theme, row, column)
    if kind == Cell.COUNTER:
        name, colour = theme.counter
        height = MOTIFS[name].height
        details = move(MOTIFS[name].details(colour, 0), x, y)
        body = make_box(mix(colour, PAPER, 0.1), x, y, x + 12, y + 12, 0, height)
        return [*body, *lay(details, height)]
    number = row * 3 + column * 5
    if kind == Cell.CHAIR:
        name, colour = theme.chair
        back = make_box(colour, x + 2, y + 1, x + 10, y + 2.6, 0, 8)
        body = make_box(mix(colour, BLACK, 0.1), x + 2, y + 2.6, x + 10, y + 10.4, 1, SEAT)
        shadow = lay([ellipse(mix(theme.floor_colours[1], BLACK, 0.25), x + 6, y + 6.6, 5)])
        pad = lay([rect(mix(colour, PAPER, 0.25), x + 3, y + 3.6, x + 9, y + 9.4, 0.8)], SEAT)
        is_stool = name == "stool"
        return [*shadow, *([] if is_stool else back), *body, *pad]
    if kind in (Cell.TABLE, Cell.DISPLAY):
        name, colour = theme.table if kind == Cell.TABLE else theme.display
        height = MOTIFS[name].height
        above, right, below, left = find_joins(layout.cells == int(kind), row, column)
        sides = (x + (0 if left else 0.7), y + (0 if above else 0.7))
        ends = (x + (12 if right else 11.3), y + (12 if below else 11.3))
        details = move(MOTIFS[name].details(colour, number), x, y + 0.8)
        return [*make_box(colour, *sides, *ends, 0, height), *lay(details, height)]
    return []


def _draw_wall(theme: Theme, row: int, column: int) -> list[Shape]:
    """Return a block of wall: high at the back, low in front, so that one can look in."""
    x, y = column * UNITS, row * UNITS
    is_front = row == GRID_HEIGHT - 1 or column == GRID_WIDTH - 1
    is_back = row == 0 or column == 0
    height = FRONT_WALL if is_front else BACK_WALL if is_back else INNER_WALL
    shapes = make_box(mix(theme.wall, PAPER, 0.12), x, y, x + 12, y + 12, 0, height)
    if not is_front:
        foot = make_box(theme.trim, x, y, x + 12, y + 12, 0, 1.6)
        shapes = [*shapes[:2], *foot[:2], *shapes[2:]]
    return shapes


def _draw_numbers() -> list[Shape]:
    """Return row numbers along the left front edge, column numbers along the right one."""
    shapes: list[Shape] = []
    size = 0.62
    for row in range(GRID_HEIGHT):
        x, y = project(0, row * UNITS + 6)
        text = str(row)
        shapes += write(text, MARGIN_INK, x - 3 - measure(text, size), y + 1.2, size)
    for column in range(GRID_WIDTH):
        x, y = project(column * UNITS + 6, GRID_HEIGHT * UNITS)
        shapes += write(str(column), MARGIN_INK, x - 3.4, y + 1.2, size)
    return shapes
