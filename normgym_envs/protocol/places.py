"""Who comes and where they go: persons drawn by what a norm's kind allows."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import (
    MAX_REFILL_DELAY,
    MIN_REFILL_DELAY,
    Goal1,
    Group,
    Zone,
)
from normgym_envs.norms.library import goal_kinds
from normgym_envs.types import PERSON_DTYPE, Layout, Norm, RecordArray

_NUM_GROUPS = len(Group)


def draw_persons(
    rng: np.random.Generator, layout: Layout, norm: Norm, num_agents: int, num_persons: int
) -> RecordArray:
    """Draw rosters with groups, goals, doors and delays uniform over what the norm's kind allows.

    Args:
        rng: generator that is advanced.
        layout: where the persons go.
        norm: decides the kinds of goals (NG Table A3).
        num_agents: N.
        num_persons: M, persons a slot.

    Returns:
        (N, M) PERSON_DTYPE; delays of a slot's first person are drawn like the others.
    """
    shape = (num_agents, num_persons)
    kind, any_door = goal_kinds(norm)
    num_doors = len(layout.doors)
    persons = np.zeros(shape, PERSON_DTYPE)
    persons["delay"] = rng.integers(MIN_REFILL_DELAY, MAX_REFILL_DELAY + 1, shape)
    persons["group"] = rng.integers(_NUM_GROUPS, size=shape)
    persons["start"] = layout.doors[rng.integers(num_doors, size=shape)]
    persons["goal1_kind"] = kind
    persons["goal1_cell"] = -1
    if kind == Goal1.PLACE:
        places = list_places(layout, norm)
        persons["goal1_cell"] = places[rng.integers(len(places), size=shape)]
    persons["goal2_door"] = -1 if any_door else rng.integers(num_doors, size=shape)
    return persons


def list_places(layout: Layout, norm: Norm) -> npt.NDArray[np.int32]:
    """Return the cells that may be a person's given place under a norm's kind.

    Chairs and the map's further destinations outside both zones; chairs alone where the norm is
    about sitting. Source: NG Table A3 names a specified destination; which cells is not specified.

    Returns:
        (n,) int32, ascending cells.
    """
    if norm.kind == "visit_first":
        return layout.chairs
    return _list_unmarked(layout)


@lru_cache(maxsize=64)
def _list_unmarked(layout: Layout) -> npt.NDArray[np.int32]:
    """Return a layout's destinations outside both zones, ascending; read-only."""
    zones = layout.zones.reshape(-1)
    cells = sorted(cell for cell, _ in layout.destinations if zones[cell] == Zone.NONE)
    result = np.array(cells, np.int32)
    result.setflags(write=False)
    return result
