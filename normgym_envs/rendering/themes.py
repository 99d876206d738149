"""How each place looks: its floor, its walls and what stands in it.

A map says that a cell holds a table or a display; the theme says what that is in this place.
"""

from typing import Final, NamedTuple

from normgym_envs.rendering.palette import Colour


class Theme(NamedTuple):
    """The looks of one place. Names of things are keys of `furniture.MOTIFS`."""

    floor: str  # pattern: planks, tiles, checker, carpet
    floor_colours: tuple[Colour, Colour]
    wall: Colour
    trim: Colour  # stripe along the foot of the walls
    chair: tuple[str, Colour]  # name and colour
    table: tuple[str, Colour]
    display: tuple[str, Colour]
    counter: tuple[str, Colour]


PLAIN: Final = Theme(
    "tiles",
    ((226, 222, 212), (216, 211, 200)),
    (150, 146, 140),
    (112, 108, 104),
    ("seat", (164, 120, 82)),
    ("bare", (178, 140, 100)),
    ("shelf", (140, 126, 112)),
    ("till", (150, 112, 78)),
)
"""For places without a theme of their own."""

THEMES: Final[dict[str, Theme]] = {
    "cafe": Theme(
        "planks",
        ((222, 190, 148), (212, 178, 134)),
        (124, 84, 62),
        (92, 60, 44),
        ("seat", (138, 88, 52)),
        ("coffee_table", (244, 232, 212)),
        ("pastries", (186, 220, 232)),
        ("coffee_bar", (104, 68, 48)),
    ),
    "bank": Theme(
        "checker",
        ((232, 230, 224), (216, 214, 210)),
        (92, 104, 124),
        (196, 164, 92),
        ("armchair", (64, 86, 70)),
        ("writing_desk", (122, 78, 46)),
        ("safe", (132, 140, 150)),
        ("teller", (128, 96, 56)),
    ),
    "barbershop": Theme(
        "checker",
        ((240, 240, 238), (196, 200, 206)),
        (160, 56, 60),
        (244, 240, 236),
        ("barber_chair", (178, 34, 44)),
        ("basin", (236, 240, 244)),
        ("mirror", (92, 78, 70)),
        ("barber_pole", (70, 62, 60)),
    ),
    "clothing_store": Theme(
        "planks",
        ((236, 224, 208), (228, 214, 196)),
        (196, 150, 160),
        (150, 104, 116),
        ("stool", (206, 150, 164)),
        ("folded_clothes", (238, 230, 220)),
        ("rack", (92, 88, 96)),
        ("till", (150, 104, 116)),
    ),
    "grocery_store": Theme(
        "tiles",
        ((234, 238, 232), (224, 230, 222)),
        (84, 138, 92),
        (232, 200, 84),
        ("stool", (120, 120, 128)),
        ("produce", (160, 116, 70)),
        ("cans", (196, 204, 208)),
        ("checkout", (84, 100, 116)),
    ),
    "hospital": Theme(
        "tiles",
        ((228, 240, 242), (216, 232, 236)),
        (150, 190, 204),
        (92, 150, 172),
        ("seat", (64, 124, 176)),
        ("bed", (250, 252, 255)),
        ("monitor", (204, 214, 220)),
        ("reception", (224, 232, 236)),
    ),
    "library": Theme(
        "carpet",
        ((148, 164, 140), (140, 156, 132)),
        (104, 72, 50),
        (72, 48, 34),
        ("seat", (120, 46, 40)),
        ("open_book", (150, 104, 66)),
        ("books", (96, 62, 40)),
        ("lending_desk", (112, 74, 46)),
    ),
    "movie_theater": Theme(
        "carpet",
        ((128, 72, 84), (120, 64, 78)),
        (58, 44, 66),
        (196, 156, 74),
        ("cinema_seat", (196, 40, 52)),
        ("popcorn", (74, 52, 56)),
        ("screen", (44, 42, 54)),
        ("ticket_booth", (150, 32, 44)),
    ),
    "pharmacy": Theme(
        "tiles",
        ((240, 244, 238), (228, 238, 230)),
        (70, 150, 116),
        (236, 240, 236),
        ("seat", (96, 176, 146)),
        ("pills", (240, 244, 242)),
        ("bottles", (224, 232, 230)),
        ("green_cross", (236, 240, 240)),
    ),
    "post_office": Theme(
        "tiles",
        ((232, 220, 196), (222, 208, 182)),
        (70, 84, 128),
        (228, 188, 60),
        ("stool", (228, 184, 52)),
        ("parcels", (176, 140, 96)),
        ("pigeonholes", (112, 92, 76)),
        ("scales", (70, 84, 128)),
    ),
}
"""Name of a layout -> its theme."""


def find_theme(layout_name: str) -> Theme:
    """Return the theme of a layout; variants of a place look like the place."""
    for name, theme in THEMES.items():
        if layout_name == name or layout_name.startswith(name + "_"):
            return theme
    return PLAIN
