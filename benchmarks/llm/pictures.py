"""The pictures that models see: frames with row and column numbers, as small PNG files.

A palette for each place, made once from everything that can be drawn there, keeps the encoding of
a frame at about a millisecond; the same state gives the same bytes in every process.
"""

from collections.abc import Iterable
from functools import cache
from io import BytesIO
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_WIDTH
from normgym_envs.engine.state import allocate_states
from normgym_envs.types import Layout

WIDTH: Final = 660
"""Pixels of the grid. Source: not specified; chosen because signs on the floor can be told apart,
and hosted models take it for at most about 1,000 tokens."""
_PAPER: Final = 235.0  # grey under the sprites whose colours go into a palette
_COLOURS: Final = 256


def prepare(layouts: Iterable[Layout]) -> None:
    """Draw sprites and places beforehand, so that no episode has to wait for it.

    Args:
        layouts: where episodes will play.

    Raises:
        MissingExtraError: pygame is missing.
    """
    for layout in layouts:
        _find_palette(layout)


def draw_png(state: np.void, layout: Layout) -> bytes:
    """Return the picture of a state, from the newcomer's point of view, its goal marked.

    Args:
        state: STATE_DTYPE record.
        layout: where it plays.

    Raises:
        MissingExtraError: pygame is missing.
    """
    from PIL import Image

    frame = _find_renderer().draw(state, layout, viewer=0, goal=True)
    image = Image.fromarray(frame).quantize(palette=_find_palette(layout), dither=Image.Dither.NONE)
    buffer = BytesIO()
    image.save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


@cache
def _find_renderer() -> Any:
    """Return what draws the frames, made once."""
    from normgym_envs.rendering import make_renderer

    return make_renderer("flat", WIDTH, numbers=True)


@cache
def _find_palette(layout: Layout) -> Any:
    """Return an image whose palette has the colours of a place and of all who can be in it."""
    from PIL import Image

    place = _find_renderer().draw(allocate_states(1)[0], layout, viewer=0, goal=False)
    colours = np.unique(np.concatenate([_list_sprite_colours(), _pack(place)]))
    strip = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=-1)
    image = Image.fromarray(np.ascontiguousarray(strip[np.newaxis].astype(np.uint8)))
    return image.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT)


@cache
def _list_sprite_colours() -> npt.NDArray[np.uint32]:
    """Return the colours of everything that can stand in a place, on a grey floor."""
    from normgym_envs.rendering.renderer import make_tiles

    tiles = make_tiles(WIDTH // GRID_WIDTH).astype(np.float64)
    opacity = tiles[..., 3:] / 255
    drawn = np.rint(tiles[..., :3] * opacity + _PAPER * (1 - opacity))
    return np.unique(_pack(drawn.astype(np.uint8)))


def _pack(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return the colours of all pixels as single numbers."""
    parts = frame.astype(np.uint32)
    packed: npt.NDArray[np.uint32] = np.bitwise_or.reduce(
        parts << np.array([16, 8, 0], np.uint32), axis=-1
    )
    return packed.ravel()
