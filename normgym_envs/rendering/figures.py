"""The sprites: people and the marks on them, each in a cell of 12 by 12 units.

Every sprite keeps some whole units in its own colour uncovered by those drawn later, so that even
the smallest frames can be read back (tests/decoding.py lists them).
"""

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Final

from normgym_envs.constants import Group
from normgym_envs.rendering.palette import (
    CHARGED,
    CHEST_MARK,
    CLOCK_FACE,
    CLOCK_SERVED,
    DONE,
    GOAL,
    HAIR,
    OUTLINE,
    PUSHED,
    SANCTION,
    SHIRT_SHADES,
    SHIRTS,
    SHOES,
    SKIN,
    STAR,
    TRAIL,
    TROUSERS,
    WHITE,
    Colour,
)
from normgym_envs.rendering.shapes import (
    Shape,
    ellipse,
    line,
    move,
    polygon,
    rect,
    sector,
    star,
)


class Sprite(IntEnum):
    """What may be drawn over the empty place."""

    GOAL = 0  # a cell that completes the viewer's present goal
    PERSON = 1  # of group 0; groups 1 and 2 follow
    SANCTIONED = 4  # the red X
    NEWCOMER = 5  # the gold star
    SERVED = 6  # a clock with one quarter served; 2, 3 and 4 quarters follow
    DONE = 10  # first goal complete
    CHARGED = 11  # moved into a contested cell
    PUSHED = 12  # was displaced or pushed
    LEAVER = 13  # a person of group 0 that has just gone out; groups 1 and 2 follow
    LEAVER_SANCTIONED = 16
    LEAVER_NEWCOMER = 17
    LEAVER_CHARGED = 18
    TRAIL = 19  # where somebody has been; only in the gallery


def make_person(group: Group) -> list[Shape]:
    """Return a standing figure in the shirt of its group."""
    shirt, shade = SHIRTS[group], SHIRT_SHADES[group]
    return [
        polygon((20, 18, 24), ellipse(OUTLINE, 6, 11.2, 3.5, 0.8).points, alpha=90),
        rect(TROUSERS, 3.9, 9.6, 5.7, 11.2),
        rect(TROUSERS, 6.3, 9.6, 8.1, 11.2),
        rect(SHOES, 3.6, 10.8, 5.7, 11.6, 0.4),
        rect(SHOES, 6.3, 10.8, 8.4, 11.6, 0.4),
        rect(shade, 2.1, 5.3, 3.4, 8.6, 0.6),
        rect(shade, 8.6, 5.3, 9.9, 8.6, 0.6),
        ellipse(SKIN, 2.75, 8.9, 0.65),
        ellipse(SKIN, 9.25, 8.9, 0.65),
        rect(shirt, 3, 5, 9, 10, 0.7),
        rect(shirt, 3.3, 8, 8.7, 10),
        rect(SKIN, 5.3, 4.4, 6.7, 5.6, 0.5),
        ellipse(HAIR[group], 6, 2.75, 2.35, 2.3),
        ellipse(SKIN, 6, 3.15, 1.9, 1.85),
        *_make_fringe(HAIR[group]),
        ellipse(OUTLINE, 5.3, 3.35, 0.26, 0.34),
        ellipse(OUTLINE, 6.7, 3.35, 0.26, 0.34),
        *_make_chest_mark(group),
    ]


def _make_fringe(hair: Colour) -> list[Shape]:
    """Return the hair over the forehead."""
    return [polygon(hair, [(3.8, 2.6), (4.4, 1.3), (6, 0.7), (7.6, 1.3), (8.2, 2.6), (6.2, 2.2)])]


def _make_chest_mark(group: Group) -> list[Shape]:
    """Return the group's shape: circle, triangle, square."""
    if group == Group.ORANGE:
        return [ellipse(CHEST_MARK, 6, 6.75, 1.25)]
    if group == Group.GREEN:
        return [polygon(CHEST_MARK, [(6, 5.5), (7.6, 8), (4.4, 8)])]
    return [rect(CHEST_MARK, 5, 6, 7, 8)]


def make_cross(x: float, y: float, half: float, width: float) -> list[Shape]:
    """Return the mark of a sanction."""
    arms = (
        [(x - half, y - half), (x + half, y + half)],
        [(x - half, y + half), (x + half, y - half)],
    )
    white = [shape for arm in arms for shape in line(WHITE, arm, width + 0.9)]
    return white + [shape for arm in arms for shape in line(SANCTION, arm, width)]


def make_star(x: float, y: float, outer: float) -> list[Shape]:
    """Return the mark of the viewer."""
    return [
        star(OUTLINE, x, y, outer, outer * 0.58),
        star(STAR, x, y, outer * 0.8, outer * 0.42),
    ]


def make_clock(quarters: int) -> list[Shape]:
    """Return the clock of a person in service; a quarter a turn."""
    return [
        ellipse(OUTLINE, 10, 2, 2),
        ellipse(CLOCK_FACE, 10, 2, 1.72),
        sector(CLOCK_SERVED, 10, 2, 1.72, 0, 90 * quarters),
    ]


def make_check() -> list[Shape]:
    """Return the mark of a person whose first goal is complete."""
    return [
        rect(DONE, 8, 0, 12, 4, 0.9),
        *line(WHITE, [(8.9, 1.9), (9.7, 2.7), (11.1, 0.9)], 0.62),
    ]


def make_exclamation(colour: Colour) -> list[Shape]:
    """Return the mark of a collision."""
    return [
        rect(WHITE, 9.6, 4.5, 11.4, 10.4, 0.8),
        rect(colour, 10, 5, 11, 8),
        rect(colour, 10, 8.7, 11, 9.9),
    ]


def make_goal_corners() -> list[Shape]:
    """Return four corners round a cell that completes the viewer's goal."""
    shapes = []
    for right, bottom in ((0, 0), (1, 0), (0, 1), (1, 1)):
        for wide, tall in ((4, 1), (1, 4)):
            left, top = (12 - wide) * right, (12 - tall) * bottom
            shapes.append(rect(GOAL, left, top, left + wide, top + tall))
    return shapes


def _make_leaver(group: Group) -> list[Shape]:
    """Return a person on its way out, small, so that the next one has room in the door."""
    return move(make_person(group), 6, 6, 0.5)


def _make_leaver_exclamation() -> list[Shape]:
    """Return the mark of a collision on a person that has just gone out."""
    return [rect(CHARGED, 11, 7, 12, 9), rect(CHARGED, 11, 9.6, 12, 10.6)]


_DRAWINGS: Final[dict[int, Callable[[], list[Shape]]]] = {
    Sprite.GOAL: make_goal_corners,
    **{Sprite.PERSON + group: partial(make_person, group) for group in Group},
    Sprite.SANCTIONED: lambda: make_cross(6, 6, 4.4, 1.5),
    Sprite.NEWCOMER: lambda: make_star(2.5, 2.5, 2.5),
    **{Sprite.SERVED + n - 1: partial(make_clock, n) for n in (1, 2, 3, 4)},
    Sprite.DONE: make_check,
    Sprite.CHARGED: lambda: make_exclamation(CHARGED),
    Sprite.PUSHED: lambda: make_exclamation(PUSHED),
    **{Sprite.LEAVER + group: partial(_make_leaver, group) for group in Group},
    Sprite.LEAVER_SANCTIONED: lambda: make_cross(9, 7, 1.5, 1.5),
    Sprite.LEAVER_NEWCOMER: lambda: make_star(6.55, 10.6, 1.45),
    Sprite.LEAVER_CHARGED: _make_leaver_exclamation,
    Sprite.TRAIL: lambda: [ellipse(OUTLINE, 6, 6, 1.9), ellipse(TRAIL, 6, 6, 1.5)],
}
NUM_SPRITES: Final = len(_DRAWINGS)


def draw_sprite(sprite: int) -> list[Shape]:
    """Return the shapes of a sprite."""
    return _DRAWINGS[sprite]()
