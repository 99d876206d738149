"""What a frame shows: the list of sprites and the cells they are drawn on. No pygame here.

The list depends on public facts alone, and on the viewer's own goal. The single-frame renderer,
the batch renderer and the pages of `normgym replay` all draw it over the picture of the empty
place.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_SLOTS, NUM_CELLS
from normgym_envs.engine.step import is_on_goal
from normgym_envs.kernels import njit
from normgym_envs.rendering.figures import Sprite

MAX_BLITS: Final = NUM_CELLS + 5 * MAX_SLOTS
"""Longest list of sprites."""

Blits = npt.NDArray[np.int16]
"""(n, 2) int16: sprite, cell; drawn in this order."""

_GOAL: Final = int(Sprite.GOAL)
_PERSON: Final = int(Sprite.PERSON)
_SANCTIONED: Final = int(Sprite.SANCTIONED)
_NEWCOMER: Final = int(Sprite.NEWCOMER)
_SERVED: Final = int(Sprite.SERVED)
_DONE: Final = int(Sprite.DONE)
_CHARGED: Final = int(Sprite.CHARGED)
_PUSHED: Final = int(Sprite.PUSHED)
_LEAVER: Final = int(Sprite.LEAVER)
_LEAVER_SANCTIONED: Final = int(Sprite.LEAVER_SANCTIONED)
_LEAVER_NEWCOMER: Final = int(Sprite.LEAVER_NEWCOMER)
_LEAVER_CHARGED: Final = int(Sprite.LEAVER_CHARGED)


def list_sprites(state: np.void, layouts: np.ndarray, viewer: int = 0, goal: bool = False) -> Blits:
    """Return what is drawn over the empty place.

    Args:
        state: STATE_DTYPE record; only public fields and the viewer's goal are read.
        layouts: (L,) LAYOUT_DTYPE, as the record's `layout` indexes.
        viewer: slot that carries the star; -1 for none.
        goal: mark the cells that complete the viewer's present goal.
    """
    blits = np.empty((MAX_BLITS, 2), np.int16)
    count = write_sprites(state, layouts[state["layout"]], viewer, goal, blits)
    return blits[:count].copy()


@njit
def write_sprites(row: np.void, layout: np.void, viewer: int, goal: bool, blits: np.ndarray) -> int:
    """Write the list of sprites of a row, in place in `blits`, and return its length.

    Args:
        row: STATE_DTYPE record.
        layout: LAYOUT_DTYPE record of its place.
        viewer: as `list_sprites`.
        goal: as `list_sprites`.
        blits: (MAX_BLITS, 2) int16.
    """
    count = 0
    if goal and viewer >= 0 and row["present"][viewer]:
        for cell in range(165):
            if _completes_goal(row, layout, viewer, cell):
                count = _put(blits, count, _GOAL, cell)
    for slot in range(row["num_slots"]):
        if row["present"][slot]:
            count = _put_person(row, slot, slot == viewer, blits, count)
    for slot in range(row["num_slots"]):
        # the slot is empty, but its last person took part in the last step: it has gone out
        if not row["present"][slot] and row["prev"][slot] >= 0:
            cell = layout["neighbour"][row["prev"][slot], row["action"][slot]]
            count = _put(blits, count, _LEAVER + row["group"][slot], cell)
            if row["sanctioned"][slot]:
                count = _put(blits, count, _LEAVER_SANCTIONED, cell)
            if slot == viewer:
                count = _put(blits, count, _LEAVER_NEWCOMER, cell)
            if row["collided"][slot]:
                count = _put(blits, count, _LEAVER_CHARGED, cell)
    return count


@njit
def _put_person(row: np.void, slot: int, is_viewer: bool, blits: np.ndarray, count: int) -> int:
    cell = row["pos"][slot]
    count = _put(blits, count, _PERSON + row["group"][slot], cell)
    if row["sanctioned"][slot]:
        count = _put(blits, count, _SANCTIONED, cell)
    if is_viewer:
        count = _put(blits, count, _NEWCOMER, cell)
    if row["leg"][slot] == 1:
        count = _put(blits, count, _DONE, cell)
    elif row["timer"][slot] > 0:
        count = _put(blits, count, _SERVED + row["timer"][slot] - 1, cell)
    if row["collided"][slot]:
        count = _put(blits, count, _CHARGED, cell)
    elif row["displaced"][slot]:
        count = _put(blits, count, _PUSHED, cell)
    return count


@njit
def _put(blits: np.ndarray, count: int, sprite: int, cell: int) -> int:
    blits[count, 0] = sprite
    blits[count, 1] = cell
    return count + 1


@njit
def _completes_goal(row: np.void, layout: np.void, slot: int, cell: int) -> bool:
    if row["leg"][slot] == 1:
        door = layout["door_of"][cell]
        return door >= 0 and (row["goal2_door"][slot] < 0 or row["goal2_door"][slot] == door)
    return layout["enterable"][cell] != 0 and is_on_goal(row, layout, slot, cell)
