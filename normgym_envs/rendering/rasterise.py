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
    pixels = _read(surface).reshape(tall, factor, wide, factor, 4)
    return _average_opaque(pixels) if opaque else _average(pixels)


def _average_opaque(pixels: npt.NDArray[np.uint8]) -> Image:
    """Return the means of blocks, (h, f, w, f, 4) to (h, w, 3); opacity is left aside."""
    tall, factor, wide = pixels.shape[:3]
    total = np.zeros((tall, wide, 3), np.uint16)
    for y in range(factor):
        for x in range(factor):
            total += pixels[:, y, :, x, :3]
    count = factor * factor
    mean: Image = ((total + count // 2) // count).astype(np.uint8)
    return mean


def _average(pixels: npt.NDArray[np.uint8]) -> Image:
    """Return the means of blocks, (h, f, w, f, 4) to (h, w, 4); colours weigh by opacity."""
    parts = pixels.astype(np.float64)
    alpha = parts[..., 3].mean(axis=(1, 3))
    weight = np.maximum(parts[..., 3].sum(axis=(1, 3)), 1e-6)[..., None]
    colours = (parts[..., :3] * parts[..., 3:]).sum(axis=(1, 3)) / weight
    return np.floor(np.concatenate([colours, alpha[..., None]], axis=2) + 0.5).astype(np.uint8)


def _fill(surface: "pygame.Surface", shape: Shape, scale: float) -> None:
    """Fill one polygon: the pixels whose centres lie inside.

    pygame and pygame-ce fill polygons differently, rectangles alike; so polygons are cut into
    rectangles here. A shape of whole units covers whole pixels and nothing beyond.
    """
    colour = (*shape.colour, shape.alpha)
    for rect in cut_into_rects(np.array(shape.points) * scale):
        surface.fill(colour, rect)


def cut_into_rects(corners: npt.NDArray[np.float64]) -> list[tuple[int, int, int, int]]:
    """Return the pixels of a polygon as rectangles of one stretch in equal rows.

    Args:
        corners: (n, 2) x and y in pixels.

    Returns:
        list of left, top, width, height.
    """
    xs, ys = corners[:, 0], corners[:, 1]
    first = math.ceil(float(ys.min()) - 0.5)
    last = math.ceil(float(ys.max()) - 0.5)
    if last <= first:
        return []
    middles = np.arange(first, last)[:, None] + 0.5
    next_xs, next_ys = np.roll(xs, -1), np.roll(ys, -1)
    crosses = (ys <= middles) != (next_ys <= middles)  # (rows, edges)
    rise = np.where(next_ys == ys, 1.0, next_ys - ys)
    where = np.where(crosses, xs + (middles - ys) * (next_xs - xs) / rise, np.inf)
    where.sort(axis=1)
    # a hair of tolerance, so that rounding does not decide about pixels on the edge of whole units
    stops = np.ceil(where[:, : int(crosses.sum(axis=1).max())] - 0.5 - 1e-9)
    rects: list[tuple[int, int, int, int]] = []
    open_rects: dict[tuple[float, float], int] = {}  # stretch -> the row in which it began
    for row, ends in enumerate([*stops.tolist(), []], start=first):
        spans = {
            (ends[place], ends[place + 1])
            for place in range(0, len(ends) - 1, 2)
            if ends[place] < ends[place + 1] < math.inf
        }
        for span in [span for span in open_rects if span not in spans]:
            top = open_rects.pop(span)
            rects.append((int(span[0]), top, int(span[1] - span[0]), row - top))
        for span in spans:
            open_rects.setdefault(span, row)
    return rects


def _read(surface: "pygame.Surface") -> npt.NDArray[np.uint8]:
    """Return a surface as (H, W, 4) uint8."""
    pygame = load_pygame()
    wide, tall = surface.get_size()
    data = pygame.image.tobytes(surface, "RGBA")
    return np.frombuffer(data, np.uint8).reshape(tall, wide, 4)
