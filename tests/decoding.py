"""Reads a state back from the smallest frame, by the colours of single pixels.

Shares nothing with the renderer but the palette: every rule is "this pixel of a cell has that
colour".
"""

import numpy as np

from normgym_envs.constants import Group, Zone
from normgym_envs.rendering import palette

EDGE = 12
# pixel of a cell (x, y) -> colours that mean something there
SHIRT = (5, 9)
CROSS = (2, 9)
STAR = (2, 2)
CLOCK = ((10, 1), (10, 2), (9, 2), (9, 1))  # quarters in the order in which they fill
DONE = (10, 3)
EXCLAMATION = (10, 5)
ZONE = (1, 5)
GOAL = (0, 8)
LEAVER_SHIRT = (8, 10)
LEAVER_CROSS = (8, 6)
LEAVER_STAR = (6, 10)
LEAVER_EXCLAMATION = (11, 7)

SHIRTS = {colour: group for group, colour in palette.SHIRTS.items()}


def decode(frame: np.ndarray) -> dict[int, dict[str, object]]:
    """Return what stands on each cell: facts by cell, cells without facts left out."""
    facts = {}
    for cell in range(165):
        row, column = divmod(cell, 15)
        tile = frame[row * EDGE : (row + 1) * EDGE, column * EDGE : (column + 1) * EDGE]
        found = decode_cell(tile)
        if found:
            facts[cell] = found
    return facts


def decode_cell(tile: np.ndarray) -> dict[str, object]:
    """Return the facts that a (12, 12, 3) tile shows."""

    def at(place: tuple[int, int]) -> tuple[int, ...]:
        return tuple(int(v) for v in tile[place[1], place[0]])

    facts: dict[str, object] = {}
    if at(GOAL) == palette.GOAL:
        facts["goal"] = True
    zone = {palette.ZONE_Q: Zone.Q, palette.ZONE_R: Zone.R}.get(at(ZONE))
    if zone is not None:
        facts["zone"] = zone
    if at(SHIRT) in SHIRTS:
        facts["group"] = Group(SHIRTS[at(SHIRT)])
        facts["sanctioned"] = at(CROSS) == palette.SANCTION
        facts["viewer"] = at(STAR) == palette.STAR
        facts["served"] = sum(at(place) == palette.CLOCK_SERVED for place in CLOCK)
        facts["done"] = at(DONE) == palette.DONE
        facts["charged"] = at(EXCLAMATION) == palette.CHARGED
        facts["pushed"] = at(EXCLAMATION) == palette.PUSHED
    if at(LEAVER_SHIRT) in SHIRTS:  # large shirts end above this row
        facts["left"] = Group(SHIRTS[at(LEAVER_SHIRT)])
        facts["left_sanctioned"] = at(LEAVER_CROSS) == palette.SANCTION
        facts["left_viewer"] = at(LEAVER_STAR) == palette.STAR
        facts["left_charged"] = at(LEAVER_EXCLAMATION) == palette.CHARGED
    return facts
