"""A layout from what can be seen of it: the grids of an observation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_SHAPE
from normgym_envs.layouts.legend import CHARACTER_OF, ZONE_OF
from normgym_envs.layouts.parser import OBJECTS, parse_layout
from normgym_envs.types import Layout


def layout_from_grids(cells: npt.NDArray[Any], zones: npt.NDArray[Any]) -> Layout:
    """Return the layout that an observation shows; its words for things are the plain ones.

    Args:
        cells: (11, 15) constants.Cell.
        zones: (11, 15) constants.Zone.

    Raises:
        LayoutError: no such layout can exist, e.g. a door is missing.
    """
    signs = np.array([[CHARACTER_OF[kind] for kind in row] for row in cells.tolist()])
    for row, column in np.argwhere(signs == "A"):
        if row == GRID_SHAPE[0] - 1:
            signs[row, column] = "B"
        elif column == GRID_SHAPE[1] - 1:
            signs[row, column] = "C"
    marks = {zone: sign for sign, zone in ZONE_OF.items()}
    text = "\n".join(
        [
            'title = "seen"',
            'place = "seen"',
            'cells = """',
            *("".join(row) for row in signs),
            '"""',
            'zones = """',
            *("".join(marks[zone] for zone in row) for row in zones.tolist()),
            '"""',
            "[objects]",
            *(f'{name} = "{name}"' for name in OBJECTS),
        ]
    )
    return parse_layout(text, "seen", "observation")
