"""Shapes to pixels, with pygame, off screen: no display, no font, no sound is touched.

Shapes are drawn several times too large and averaged, which gives smooth edges and, unlike
pygame's own smoothing, equal pixels on every machine.
"""

import math
import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from normgym_envs.errors import MissingExtraError
from normgym_envs.rendering.palette import UNITS
from normgym_envs.rendering.shapes import Shape

if TYPE_CHECKING:
    import pygame

Image = npt.NDArray[np.uint8]
"""(H, W, 3) red, green, blue, or (H, W, 4) with opacity."""


@cache
def load_pygame() -> Any:
    """Return pygame without starting any part of it.

    Raises:
        MissingExtraError: neither pygame nor pygame-ce is installed.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError:
        raise MissingExtraError(
            "pictures need pygame, which is not installed; install normgym[render]"
        ) from None
    return pygame


def rasterise(
    shapes: Iterable[Shape], width: float, height: float, cell: int, *, opaque: bool
) -> Image:
    """Return a picture of shapes.

    Args:
        shapes: drawn in order.
        width: of the picture, drawing units.
        height: as `width`.
        cell: pixels for 12 units.
        opaque: leave out the opacity; what no shape covers is black.

    Returns:
        (height, width, 3) or (height, width, 4) uint8, rounded to whole pixels.
    """
    pygame = load_pygame()
    factor = 4 if cell <= 44 else 3 if cell <= 66 else 2
    wide, tall = round(width * cell / UNITS), round(height * cell / UNITS)
    surface = pygame.Surface((wide * factor, tall * factor), pygame.SRCALPHA, 32)
    scale = cell * factor / UNITS
    for shape in shapes:
        _fill(surface, shape, scale)
    pixels = _read(surface).reshape(tall, factor, wide, factor, 4).astype(np.float32)
    alpha = pixels[..., 3].mean(axis=(1, 3))
    weight = np.maximum(pixels[..., 3].sum(axis=(1, 3)), 1e-6)[..., None]
    colours = (pixels[..., :3] * pixels[..., 3:]).sum(axis=(1, 3)) / weight
    image = np.floor(np.concatenate([colours, alpha[..., None]], axis=2) + 0.5).astype(np.uint8)
    return np.ascontiguousarray(image[..., :3] if opaque else image)


def _fill(surface: "pygame.Surface", shape: Shape, scale: float) -> None:
    """Fill one polygon so that a whole unit covers whole pixels and nothing beyond.

    pygame's polygons hold the pixels of their outline too, one more to the right and below.
    """
    pygame = load_pygame()
    corners = np.array(shape.points) * scale
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = np.maximum(high - low, 1e-9)
    shrunk = low + (corners - low) * np.maximum(size - 1, 0) / size
    points = [(math.floor(x + 0.5), math.floor(y + 0.5)) for x, y in shrunk.tolist()]
    colour = (*shape.colour, shape.alpha)
    if len(set(points)) < 3:
        left, top = points[0]
        wide = max(round(float(size[0])), 1)
        tall = max(round(float(size[1])), 1)
        surface.fill(colour, pygame.Rect(left, top, wide, tall))
    else:
        pygame.draw.polygon(surface, colour, points)


def _read(surface: "pygame.Surface") -> npt.NDArray[np.uint8]:
    """Return a surface as (H, W, 4) uint8."""
    pygame = load_pygame()
    wide, tall = surface.get_size()
    data = pygame.image.tobytes(surface, "RGBA")
    return np.frombuffer(data, np.uint8).reshape(tall, wide, 4)
