"""A state as text for terminals, five characters a cell at most: what a frame shows, in signs."""

from typing import Final

import numpy as np

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, Cell, Group, Zone
from normgym_envs.layouts.legend import CHARACTER_OF, DOOR_OF
from normgym_envs.norms.placement import place_norms
from normgym_envs.rendering.figures import Sprite
from normgym_envs.rendering.palette import SHIRTS
from normgym_envs.rendering.scene import list_sprites
from normgym_envs.types import Layout, RecordArray

LEGEND: Final = (
    "o g b somebody in orange, green, blue; * you; 1 2 3 turns of service; + first goal done; "
    "! collided; ~ pushed; X sanctioned; ( ) your goal; 'o has just left by this door"
)
"""What the signs mean."""
_RED: Final = "\x1b[1;97;41m"
_DIM: Final = "\x1b[90m"
_RESET: Final = "\x1b[0m"
_GROUND: Final = {Zone.Q: "\x1b[35m", Zone.R: "\x1b[36m"}


def draw_text(
    state: np.void,
    layout: Layout,
    *,
    viewer: int = 0,
    goal: bool = False,
    colour: bool = False,
    tables: RecordArray | None = None,
) -> str:
    """Return a frame as text.

    Args:
        state: STATE_DTYPE record; only what is public is read, and the viewer's goal.
        layout: where it plays.
        viewer: slot marked as oneself; -1 for none.
        goal: mark the cells that complete the viewer's present goal.
        colour: with ANSI colour codes.
        tables: (1,) LAYOUT_DTYPE of the layout, made when not given.
    """
    records = place_norms((layout,), ()).layouts if tables is None else tables
    copy = np.array([state])
    copy["layout"] = 0
    marks: dict[int, list[int]] = {}
    for sprite, cell in list_sprites(copy[0], records, viewer, goal).tolist():
        marks.setdefault(cell, []).append(sprite)
    lines = ["    " + "".join(f"{column:^4}" for column in range(GRID_WIDTH)).rstrip()]
    for row in range(GRID_HEIGHT):
        cells = []
        for column in range(GRID_WIDTH):
            cell = row * GRID_WIDTH + column
            cells.append(_draw_cell(layout, cell, marks.get(cell, []), colour))
        lines.append(f"{row:>3} " + "".join(cells).rstrip())
    return "\n".join(lines)


def _draw_cell(layout: Layout, cell: int, sprites: list[int], colour: bool) -> str:
    """Return the four characters of a cell."""
    people = [s for s in sprites if Sprite.PERSON <= s < Sprite.SANCTIONED]
    leavers = [s for s in sprites if Sprite.LEAVER <= s < Sprite.LEAVER_SANCTIONED]
    brackets = "()" if Sprite.GOAL in sprites else "  "
    if people:
        group = Group(people[0] - Sprite.PERSON)
        text = group.name[0].lower() + _list_signs(sprites)
        is_sanctioned = Sprite.SANCTIONED in sprites
    elif leavers:
        group = Group(leavers[0] - Sprite.LEAVER)
        text = "'" + group.name[0].lower()
        is_sanctioned = Sprite.LEAVER_SANCTIONED in sprites
        text += "*" if Sprite.LEAVER_NEWCOMER in sprites else ""
        text += "X" if is_sanctioned else ""
    else:
        text, is_sanctioned, group = _draw_ground(layout, cell), False, None
    if brackets == "()" and len(text) < 3:
        padded = f"({text})"
    else:
        padded = f" {text}"
    padded = f"{padded:<4}"[:4]
    if not colour:
        return padded
    if is_sanctioned:
        return f"{_RED}{padded}{_RESET}"
    if group is not None:
        red, green, blue = SHIRTS[group]
        return f"\x1b[1;38;2;{red};{green};{blue}m{padded}{_RESET}"
    zone = Zone(int(layout.zones.flat[cell]))
    return f"{_GROUND.get(zone, _DIM)}{padded}{_RESET}"


def _list_signs(sprites: list[int]) -> str:
    """Return the signs of the marks on a person, the most telling first."""
    signs = "*" if Sprite.NEWCOMER in sprites else ""
    signs += "X" if Sprite.SANCTIONED in sprites else ""
    signs += "!" if Sprite.CHARGED in sprites else "~" if Sprite.PUSHED in sprites else ""
    signs += "+" if Sprite.DONE in sprites else ""
    for served in range(4):
        if Sprite.SERVED + served in sprites:
            signs += str(served + 1)
    return signs


def _draw_ground(layout: Layout, cell: int) -> str:
    """Return the character of an empty cell."""
    for letter, door in DOOR_OF.items():
        if layout.doors[door] == cell:
            return letter
    zone = Zone(int(layout.zones.flat[cell]))
    if zone is not Zone.NONE:
        return zone.name
    return CHARACTER_OF[Cell(int(layout.cells.flat[cell]))]
