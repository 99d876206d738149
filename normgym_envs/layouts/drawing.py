"""Plain text drawings of a layout, for the command line, tests and error reports.

Frames with people in them are the business of `rendering`.
"""

from collections.abc import Iterable, Mapping

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, Cell, Zone
from normgym_envs.layouts.legend import CHARACTER_OF, DOOR_OF
from normgym_envs.types import Layout


def draw_layout(layout: Layout, marks: Mapping[int, str] | None = None) -> str:
    """Return a drawing with row and column numbers, three characters a cell.

    Marked floor shows its zone letter; a mark replaces what the cell would show.

    Args:
        layout: the place.
        marks: cell index -> text of at most two characters.

    Returns:
        str of 12 lines: the column numbers, then one line for each row.

    Example:
        >>> from normgym_envs.layouts import get_layout
        >>> print(draw_layout(get_layout("cafe")).splitlines()[6])
         5  A  .  .  .  .  .  Q  Q  .  .  .  .  .  .  #
    """
    shown = dict(marks or {})
    header = "  " + "".join(f"{column:>3}" for column in range(GRID_WIDTH))
    lines = [header]
    for row in range(GRID_HEIGHT):
        signs = []
        for column in range(GRID_WIDTH):
            cell = row * GRID_WIDTH + column
            signs.append(f"{shown.get(cell, _sign(layout, cell)):>3}")
        lines.append(f"{row:>2}" + "".join(signs))
    return "\n".join(lines)


def draw_path(layout: Layout, path: Iterable[int]) -> str:
    """Return the drawing with the cells of a path numbered from 1.

    Args:
        layout: the place.
        path: cell indices, from the head on; entries below 0 are padding.

    Example:
        >>> from normgym_envs.layouts import get_layout
        >>> print(draw_path(get_layout("cafe"), [25, 26, 41]).splitlines()[2])
         1  #  .  .  .  .  .  .  .  .  .  1  2  .  .  #
    """
    cells = [int(cell) for cell in path if cell >= 0]
    return draw_layout(layout, {cell: str(number) for number, cell in enumerate(cells, start=1)})


def _sign(layout: Layout, cell: int) -> str:
    """Return the character of a cell without marks."""
    for letter, door in DOOR_OF.items():
        if layout.doors[door] == cell:
            return letter
    zone = Zone(int(layout.zones.flat[cell]))
    if zone is not Zone.NONE:
        return zone.name
    return CHARACTER_OF[Cell(int(layout.cells.flat[cell]))]
