"""Colours and sizes of the pictures, in one table.

Colours of marks occur nowhere else in a picture, so that marks can be read back from its pixels.
"""

from typing import Final

from normgym_envs.constants import Group

Colour = tuple[int, int, int]
"""Red, green, blue in [0, 255]."""

SHIRTS: Final[dict[Group, Colour]] = {
    Group.ORANGE: (230, 145, 0),
    Group.GREEN: (0, 158, 115),
    Group.BLUE: (0, 114, 190),
}
"""Told apart by most colour-blind readers; the mark on the chest says it again."""
SHIRT_SHADES: Final[dict[Group, Colour]] = {
    Group.ORANGE: (186, 108, 0),
    Group.GREEN: (0, 118, 84),
    Group.BLUE: (0, 80, 140),
}
CHEST_MARK: Final[Colour] = (255, 252, 244)
SKIN: Final[Colour] = (242, 205, 172)
HAIR: Final[dict[Group, Colour]] = {
    Group.ORANGE: (92, 58, 34),
    Group.GREEN: (58, 46, 42),
    Group.BLUE: (126, 88, 46),
}
TROUSERS: Final[Colour] = (58, 62, 78)
SHOES: Final[Colour] = (34, 34, 42)
OUTLINE: Final[Colour] = (38, 36, 44)
WHITE: Final[Colour] = (255, 255, 255)

STAR: Final[Colour] = (255, 208, 0)
GOAL: Final[Colour] = (206, 24, 214)
SANCTION: Final[Colour] = (226, 0, 26)
CHARGED: Final[Colour] = (240, 20, 70)
PUSHED: Final[Colour] = (255, 138, 22)
DONE: Final[Colour] = (22, 176, 44)
CLOCK_FACE: Final[Colour] = (236, 238, 255)
CLOCK_SERVED: Final[Colour] = (106, 60, 200)
TRAIL: Final[Colour] = (255, 216, 60)

ZONE_Q: Final[Colour] = (206, 170, 224)
ZONE_Q_INK: Final[Colour] = (150, 98, 184)
ZONE_R: Final[Colour] = (150, 214, 214)
ZONE_R_INK: Final[Colour] = (46, 140, 146)

DOOR_MAT: Final[Colour] = (120, 86, 54)
DOOR_EDGE: Final[Colour] = (84, 58, 36)
DOOR_INK: Final[Colour] = (250, 236, 200)
MARGIN: Final[Colour] = (246, 244, 238)
MARGIN_INK: Final[Colour] = (104, 100, 96)

BLACK: Final[Colour] = (24, 22, 26)
PAPER: Final[Colour] = (250, 250, 250)
BRIGHT: Final[tuple[Colour, ...]] = (
    (204, 82, 70),
    (72, 116, 180),
    (226, 178, 80),
    (96, 150, 96),
    (150, 96, 160),
    (84, 160, 168),
)
"""Spines, cans, clothes."""

UNITS: Final = 12
"""Drawing units along a cell's edge; the smallest cell is as many pixels."""
MIN_CELL: Final = 12
MAX_CELL: Final = 88
"""Pixels along a cell's edge: frames from 180 to 1,320 pixels wide."""
