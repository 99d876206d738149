"""Which character of a map file stands for which cell or zone.

The parser, the text drawing and the text observation all read these tables.
"""

from typing import Final

from normgym_envs.constants import Cell, Door, Zone

CELL_OF: Final = {
    "#": Cell.WALL,
    ".": Cell.FLOOR,
    "h": Cell.CHAIR,
    "t": Cell.TABLE,
    "d": Cell.DISPLAY,
    "S": Cell.COUNTER,
    "A": Cell.DOOR,
    "B": Cell.DOOR,
    "C": Cell.DOOR,
}
"""Character of the `cells` drawing -> kind of cell."""

ZONE_OF: Final = {".": Zone.NONE, "Q": Zone.Q, "R": Zone.R}
"""Character of the `zones` drawing -> marked zone."""

DOOR_OF: Final = {"A": Door.A, "B": Door.B, "C": Door.C}
"""Character -> door. A lies in the left wall, B in the bottom wall, C in the right wall."""

CHARACTER_OF: Final = {cell: character for character, cell in reversed(CELL_OF.items())}
"""Kind of cell -> character (doors give "A"; use `DOOR_OF` to tell them apart)."""

MEANING: Final = {
    "#": "wall",
    ".": "floor",
    "h": "chair",
    "t": "table",
    "d": "display",
    "S": "counter",
    "A": "left door",
    "B": "bottom door",
    "C": "right door",
    "Q": "zone Q",
    "R": "zone R",
}
"""Character -> the word used for it in legends and error messages."""

ENTERABLE: Final = frozenset({Cell.FLOOR, Cell.CHAIR, Cell.DOOR})
"""Cells a person can step on. Source: not specified; chosen because seats and exits are goals."""
