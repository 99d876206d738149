"""Frames: one state of the world as an array of pixels.

Making a renderer imports pygame; importing this module does not. Nothing here needs a display.
"""

from functools import cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.norms.placement import place_norms
from normgym_envs.rendering.blit import draw_blits, draw_rows
from normgym_envs.rendering.figures import NUM_SPRITES, draw_sprite
from normgym_envs.rendering.palette import MARGIN, MAX_CELL, MIN_CELL, UNITS
from normgym_envs.rendering.place import MARGIN_UNITS, draw_numbers, draw_place
from normgym_envs.rendering.rasterise import Image, load_pygame, rasterise
from normgym_envs.rendering.scene import Blits, list_sprites
from normgym_envs.rendering.shapes import rect
from normgym_envs.types import Layout, RecordArray

STYLES: Final = ("flat", "isometric")
"""Views of the world: from above, and from a corner."""
DEFAULT_WIDTH: Final = 660
"""Pixels."""
IMAGE_WIDTH: Final = MIN_CELL * GRID_WIDTH
"""Pixels of the pictures that policies see: 180, and 132 high."""


class Renderer(Protocol):
    """Draws states; made by `make_renderer`."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, 3) of every frame."""
        ...

    def draw(self, state: np.void, layout: Layout, *, viewer: int = 0, goal: bool = False) -> Image:
        """Return a frame.

        Args:
            state: STATE_DTYPE record; only what is public is read, and the viewer's goal.
            layout: where it plays.
            viewer: slot that carries the star; -1 for none.
            goal: mark the cells that complete the viewer's present goal.

        Returns:
            (H, W, 3) uint8, fresh.
        """
        ...


def make_renderer(
    style: str = "flat", width: int = DEFAULT_WIDTH, *, numbers: bool = False
) -> Renderer:
    """Return a renderer.

    Args:
        style: a name of `STYLES`.
        width: pixels of the grid, a multiple of 15 from 180 to 1,320.
        numbers: write row and column numbers; the frame grows by a strip above and on the left.

    Raises:
        UnknownNameError: no such style.
        ConfigError: the width is out of range.
        MissingExtraError: pygame is missing.
    """
    if style not in STYLES:
        raise UnknownNameError("style", style, STYLES)
    edge = check_width(width)
    load_pygame()
    if style == "isometric":
        from normgym_envs.rendering.isometric import IsometricRenderer

        return IsometricRenderer(edge, numbers)
    return FlatRenderer(edge, numbers)


def check_width(width: int) -> int:
    """Return the pixels of a cell's edge for a frame's width.

    Raises:
        ConfigError: no multiple of 15 from 180 to 1,320.
    """
    low, high = MIN_CELL * GRID_WIDTH, MAX_CELL * GRID_WIDTH
    if isinstance(width, bool) or not isinstance(width, int | np.integer):
        raise ConfigError(f"width is {width!r}; expected a whole number of pixels")
    if width % GRID_WIDTH or not low <= width <= high:
        near = min(max(round(width / GRID_WIDTH), MIN_CELL), MAX_CELL) * GRID_WIDTH
        raise ConfigError(
            f"width is {width}; expected a multiple of {GRID_WIDTH} from {low} to {high}, "
            f"e.g. {near}"
        )
    return int(width) // GRID_WIDTH


@cache
def make_tiles(edge: int) -> npt.NDArray[np.uint8]:
    """Return all sprites at a size.

    Args:
        edge: pixels of a cell's edge.

    Returns:
        (sprites, edge, edge, 4) uint8, red, green, blue, opacity; read-only.
    """
    tiles = np.stack(
        [
            rasterise(draw_sprite(sprite), UNITS, UNITS, edge, opaque=False)
            for sprite in range(NUM_SPRITES)
        ]
    )
    tiles.setflags(write=False)
    return tiles


def make_place(layout: Layout, edge: int, *, numbers: bool = False) -> Image:
    """Return the picture of a place without people.

    Args:
        layout: the place.
        edge: pixels of a cell's edge.
        numbers: with row and column numbers.
    """
    width, height = GRID_WIDTH * UNITS, GRID_HEIGHT * UNITS
    if not numbers:
        return rasterise(draw_place(layout), width, height, edge, opaque=True)
    margin = count_margin(edge)
    units = margin * UNITS / edge
    wide, tall = width + units, height + units
    shapes = [rect(MARGIN, 0, 0, wide, tall), *draw_numbers()]
    frame = rasterise(shapes, wide, tall, edge, opaque=True)
    frame[margin:, margin:] = rasterise(draw_place(layout), width, height, edge, opaque=True)
    return frame


def count_margin(edge: int) -> int:
    """Return the pixels of the strip with numbers."""
    return round(edge * MARGIN_UNITS / UNITS)


class FlatRenderer:
    """The view from above: a stored picture of the empty place, and sprites over it."""

    def __init__(self, edge: int, numbers: bool) -> None:
        """Draw the sprites.

        Args:
            edge: pixels of a cell's edge.
            numbers: with row and column numbers.
        """
        self._edge = edge
        self._numbers = numbers
        self._margin = count_margin(edge) if numbers else 0
        self._tiles = make_tiles(edge)
        self._places: dict[Layout, tuple[Image, RecordArray]] = {}

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, 3) of every frame."""
        height = GRID_HEIGHT * self._edge + self._margin
        return height, GRID_WIDTH * self._edge + self._margin, 3

    def draw(self, state: np.void, layout: Layout, *, viewer: int = 0, goal: bool = False) -> Image:
        """Return a frame; see `Renderer`."""
        _, tables = self._find_place(layout)
        return self.draw_blits(layout, list_sprites(_at_first(state), tables, viewer, goal))

    def draw_blits(self, layout: Layout, blits: Blits) -> Image:
        """Return a frame of listed sprites over the empty place."""
        frame = self._find_place(layout)[0].copy()
        draw_blits(frame, self._tiles, blits, len(blits), self._margin)
        return frame

    def _find_place(self, layout: Layout) -> tuple[Image, RecordArray]:
        """Return the picture of a place, drawn once, and its record."""
        if layout not in self._places:
            picture = make_place(layout, self._edge, numbers=self._numbers)
            self._places[layout] = picture, place_norms((layout,), ()).layouts
        return self._places[layout]


class BatchRenderer:
    """Draws all rows of a batch engine at once, for policies that learn from pixels.

    The picture is that of the flat renderer; no surface is made for a row.

    Example:
        >>> renderer = BatchRenderer(engine.layouts)  # doctest: +SKIP
        >>> frames = renderer.draw(engine.states, engine.tables[0])  # doctest: +SKIP
        >>> frames.shape  # doctest: +SKIP
        (256, 132, 180, 3)
    """

    def __init__(self, layouts: tuple[Layout, ...], width: int = IMAGE_WIDTH) -> None:
        """Draw every place once.

        Args:
            layouts: as the rows' `layout` indexes.
            width: as `make_renderer`.

        Raises:
            ConfigError: the width is out of range.
            MissingExtraError: pygame is missing.
        """
        edge = check_width(width)
        self._tiles = make_tiles(edge)
        self._places = np.stack([make_place(layout, edge) for layout in layouts])

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, 3) of a frame."""
        _, height, width, parts = self._places.shape
        return height, width, parts

    def draw(
        self,
        states: RecordArray,
        layouts: RecordArray,
        *,
        viewer: int = 0,
        goal: bool = True,
        out: Image | None = None,
    ) -> Image:
        """Return a frame of every row.

        Args:
            states: (B,) STATE_DTYPE.
            layouts: (L,) LAYOUT_DTYPE, `BatchEngine.tables[0]`.
            viewer: slot that carries the star; -1 for none.
            goal: mark the cells that complete the viewer's present goal.
            out: (B, H, W, 3) uint8 to write to, or None.

        Returns:
            (B, H, W, 3) uint8, `out` if given.
        """
        if out is None:
            out = np.empty((len(states), *self.shape), np.uint8)
        draw_rows(states, layouts, self._places, self._tiles, viewer, goal, out)
        return out


def _at_first(state: np.void) -> np.void:
    """Return a record that names layout 0, whatever it named before."""
    if state["layout"] == 0:
        return state
    copy: RecordArray = np.array([state])
    copy["layout"] = 0
    first: np.void = copy[0]
    return first
