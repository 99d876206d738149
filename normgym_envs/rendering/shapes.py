"""Shapes: filled polygons in drawing units. Everything in a picture is made of them.

A cell is 12 units wide; x grows to the right, y downwards.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from normgym_envs.rendering.palette import Colour

Point = tuple[float, float]
"""x, y in drawing units."""


class Shape(NamedTuple):
    """A filled polygon."""

    colour: Colour
    points: tuple[Point, ...]
    alpha: int = 255  # opacity in [0, 255]; below 255 only in sprites


def polygon(colour: Colour, points: Iterable[Point], alpha: int = 255) -> Shape:
    """Return a polygon."""
    return Shape(colour, tuple(points), alpha)


def rect(
    colour: Colour, left: float, top: float, right: float, bottom: float, radius: float = 0.0
) -> Shape:
    """Return a rectangle, its corners rounded by a radius."""
    if radius <= 0:
        return Shape(colour, ((left, top), (right, top), (right, bottom), (left, bottom)))
    radius = min(radius, (right - left) / 2, (bottom - top) / 2)
    corners = (
        (right - radius, top + radius, -90),
        (right - radius, bottom - radius, 0),
        (left + radius, bottom - radius, 90),
        (left + radius, top + radius, 180),
    )
    points = [
        (
            x + radius * math.cos(math.radians(start + step * 15)),
            y + radius * math.sin(math.radians(start + step * 15)),
        )
        for x, y, start in corners
        for step in range(7)
    ]
    return Shape(colour, tuple(points))


def ellipse(
    colour: Colour, x: float, y: float, width: float, height: float | None = None, alpha: int = 255
) -> Shape:
    """Return an ellipse by centre and radii."""
    tall = width if height is None else height
    angles = [2 * math.pi * step / 40 for step in range(40)]
    points = tuple((x + width * math.cos(a), y + tall * math.sin(a)) for a in angles)
    return Shape(colour, points, alpha)


def line(colour: Colour, points: Sequence[Point], width: float) -> list[Shape]:
    """Return a line through points with round ends."""
    half = width / 2
    shapes = [ellipse(colour, x, y, half) for x, y in points]
    for (x0, y0), (x1, y1) in pairwise(points):
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        dx, dy = -(y1 - y0) / length * half, (x1 - x0) / length * half
        corners = ((x0 + dx, y0 + dy), (x1 + dx, y1 + dy), (x1 - dx, y1 - dy), (x0 - dx, y0 - dy))
        shapes.append(Shape(colour, corners))
    return shapes


def star(colour: Colour, x: float, y: float, outer: float, inner: float) -> Shape:
    """Return a five-pointed star by centre and radii."""
    points = []
    for step in range(10):
        angle = math.pi * step / 5 - math.pi / 2
        radius = inner if step % 2 else outer
        points.append((x + radius * math.cos(angle), y + radius * math.sin(angle)))
    return Shape(colour, tuple(points))


def sector(colour: Colour, x: float, y: float, radius: float, first: float, last: float) -> Shape:
    """Return a piece of pie, angles in degrees clockwise from the top."""
    points = [(x, y)]
    for step in range(13):
        angle = math.radians(first + (last - first) * step / 12 - 90)
        points.append((x + radius * math.cos(angle), y + radius * math.sin(angle)))
    return Shape(colour, tuple(points))


def move(shapes: Iterable[Shape], dx: float, dy: float, scale: float = 1.0) -> list[Shape]:
    """Return shapes scaled about the origin, then shifted."""
    return [
        Shape(s.colour, tuple((x * scale + dx, y * scale + dy) for x, y in s.points), s.alpha)
        for s in shapes
    ]


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Return a colour between two: `share` of the second in [0, 1]."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
