"""All that environment classes hand out after a step, written by one compiled call.

At one row a call costs about as much as the work, so the vector, masks, facts of infos and rewards
of all learnt slots come together.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_SLOTS, NUM_ACTIONS
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.step import write_masks
from normgym_envs.kernels import njit
from normgym_envs.observations.flat import flat_size, write_flat_row

FACTS: Final = ("person", "present", "auto", "goals", "collided", "sanctioned")
"""Numbers of an info."""

_SIZES: Final = tuple(flat_size(num_slots) for num_slots in range(MAX_SLOTS + 1))


class Views(NamedTuple):
    """What the first L slots of every row are told."""

    flat: npt.NDArray[np.float32]  # (B, L, size); (B, 0, size) when not asked for
    masks: npt.NDArray[np.int8]  # (B, L, 5), 1 open
    facts: npt.NDArray[np.int64]  # (B, L, 6), in the order of FACTS
    rewards: npt.NDArray[np.float64]  # (B, L), reward points of the last step


def look(engine: BatchEngine, num_slots: int, num_learners: int, *, flat: bool = True) -> Views:
    """Return fresh arrays of what the first slots of every row are told.

    Args:
        engine: whose rows are read; every row must have `num_slots` slots.
        num_slots: N.
        num_learners: L, number of slots.
        flat: whether the flat vectors are wanted.
    """
    num_rows = len(engine.states)
    views = Views(
        np.empty((num_rows, num_learners if flat else 0, _SIZES[num_slots]), np.float32),
        np.empty((num_rows, num_learners, NUM_ACTIONS), np.int8),
        np.empty((num_rows, num_learners, len(FACTS)), np.int64),
        np.empty((num_rows, num_learners), np.float64),
    )
    write_views(engine.states, engine.tables[0], num_slots, *views)
    return views


@njit
def write_views(
    states: np.ndarray,
    layouts: np.ndarray,
    num_slots: int,
    out_flat: np.ndarray,
    out_masks: np.ndarray,
    out_facts: np.ndarray,
    out_rewards: np.ndarray,
) -> None:
    """Write what slots are told, in place in the last four arguments; shapes as in `Views`.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        num_slots: N.
        out_flat: float32.
        out_masks: int8.
        out_facts: int64.
        out_rewards: float64.
    """
    order = np.empty(num_slots, np.int64)
    write_masks(states, layouts, out_masks)
    for index in range(states.shape[0]):
        row = states[index]
        for slot in range(out_flat.shape[1]):
            write_flat_row(row, layouts, slot, num_slots, order, out_flat[index, slot])
        for slot in range(out_rewards.shape[1]):
            facts = out_facts[index, slot]
            facts[0] = row["person"][slot]
            facts[1] = row["present"][slot]
            facts[2] = row["auto"][slot]
            facts[3] = row["goals"][slot]
            facts[4] = row["collided"][slot]
            facts[5] = row["sanctioned"][slot]
            out_rewards[index, slot] = row["reward"][slot]
