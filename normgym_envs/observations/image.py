"""The picture of the public facts: 132 by 180 pixels, the observer with the star, its goal marked.

Needs pygame (the extra `render`) to draw the sprites once; frames are then put together by
compiled code.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import GRID_HEIGHT
from normgym_envs.engine import BatchEngine
from normgym_envs.rendering.palette import MIN_CELL
from normgym_envs.rendering.renderer import IMAGE_WIDTH, BatchRenderer
from normgym_envs.types import Layout

IMAGE_SHAPE = (GRID_HEIGHT * MIN_CELL, IMAGE_WIDTH, 3)
"""Rows, columns, colours."""


def image_space() -> spaces.Box:
    """Return the space of the picture: (132, 180, 3) uint8."""
    return spaces.Box(0, 255, IMAGE_SHAPE, np.uint8)


def observe_image(
    engine: BatchEngine, slot: int, out: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    """Draw what one slot sees in every row.

    Args:
        engine: whose rows are drawn.
        slot: the viewpoint.
        out: (B, 132, 180, 3) uint8 to write to, or None.

    Returns:
        (B, 132, 180, 3) uint8, `out` if given.

    Raises:
        MissingExtraError: pygame is missing.
    """
    renderer = _find_renderer(engine.layouts)
    return renderer.draw(engine.states, engine.tables[0], viewer=slot, out=out)


@lru_cache(maxsize=16)
def _find_renderer(layouts: tuple[Layout, ...]) -> BatchRenderer:
    """Return the renderer of some layouts, made once."""
    return BatchRenderer(layouts)
