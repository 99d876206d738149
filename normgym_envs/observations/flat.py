"""The flat vector of the DQN baselines.

Source: NG App. "Observation Representation": 3 x 11 x 15 planes, 13 numbers on the learner, 8 on
each of the K - 1 others, 5 mask entries; 553, 569 or 585 numbers for K = 6, 8, 10. Scales and the
order of the features are not specified there; `FEATURES` and `OTHER_FEATURES` name them.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import NUM_ACTIONS, NUM_CELLS
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.planner import is_held
from normgym_envs.engine.step import is_on_goal
from normgym_envs.kernels import njit

FEATURES: Final = (
    "goal_row",  # offset to the nearest acceptable goal cell / 10
    "goal_column",  # as goal_row / 14
    "goal_distance",  # steps to it / 64, others left aside; at most 1
    "goal_unreachable",
    "moved_row",  # displacement of the last step / 2
    "moved_column",
    "active",  # a person is in the slot
    "completed",  # the person has just left
    "leg",  # 1 on the way out
    "service",  # turns served / 4
    "free_choice",  # the present goal may be any object of its kind
    "sanctioned",  # in the last step
    "time_left",  # share of the episode's steps that remain
)
"""The learner's own features, in order."""

OTHER_FEATURES: Final = (
    "row",  # relative position / 10
    "column",  # relative position / 14
    "previous_row",  # relative position before the last step / 10
    "previous_column",
    "group",  # (constants.Group + 1) / 3
    "active",  # present and not in service
    "sanctioned",
    "occupied",  # the entry is used
)
"""Features of each other person, nearest first."""

_NUM_PLANES = 3


def flat_size(num_slots: int) -> int:
    """Return the length of the vector for a population. Source: as the module."""
    others = len(OTHER_FEATURES) * (num_slots - 1)
    return _NUM_PLANES * NUM_CELLS + len(FEATURES) + others + NUM_ACTIONS


def flat_space(num_slots: int) -> spaces.Box:
    """Return the space of the vector: (flat_size,) float32 in [-1, 1]."""
    return spaces.Box(-1.0, 1.0, (flat_size(num_slots),), np.float32)


def observe_flat(
    engine: BatchEngine, slot: int, num_slots: int, out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """Write what one slot sees in every row.

    An empty slot sees zeros and a mask that leaves only WAIT; in the step in which its person left
    `completed` and `sanctioned` are kept.

    Args:
        engine: whose rows are read; every row must have `num_slots` slots.
        slot: the viewpoint.
        num_slots: N.
        out: (B, flat_size) float32 to write to, or None.

    Returns:
        (B, flat_size) float32, `out` if given.
    """
    if out is None:
        out = np.empty((engine.num_rows, flat_size(num_slots)), np.float32)
    write_flat(engine.states, engine.tables[0], slot, num_slots, out)
    return out


@njit
def write_flat(
    states: np.ndarray, layouts: np.ndarray, slot: int, num_slots: int, out: np.ndarray
) -> None:
    """Write the flat observation of a slot for every row, in place in `out`.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        slot: the viewpoint.
        num_slots: N.
        out: (B, flat_size) float32.
    """
    order = np.empty(num_slots, np.int64)
    for index in range(states.shape[0]):
        write_flat_row(states[index], layouts, slot, num_slots, order, out[index])


@njit
def write_flat_row(
    row: np.void,
    layouts: np.ndarray,
    slot: int,
    num_slots: int,
    order: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the flat observation of a slot of one row, in place in `out`.

    Args:
        row: STATE_DTYPE record.
        layouts: (L,) LAYOUT_DTYPE.
        slot: the viewpoint.
        num_slots: N.
        order: (N,) int64, working memory.
        out: (flat_size,) float32.
    """
    out[:] = 0.0
    own = 3 * 165
    mask = own + 13 + 8 * (num_slots - 1)
    out[mask + 4] = 1.0
    if not row["present"][slot]:
        if row["prev"][slot] >= 0:
            out[own + 7] = 1.0
            out[own + 11] = row["sanctioned"][slot]
        return
    layout = layouts[row["layout"]]
    cell = np.int64(row["pos"][slot])
    for place in range(165):  # compiles in a fraction of the time a slice takes
        out[place] = layout["plane"][place]
    out[165 + cell] = 1.0

    goal = nearest_goal(row, layout, slot)
    if goal >= 0:
        out[own] = (goal // 15 - cell // 15) / 10.0
        out[own + 1] = (goal % 15 - cell % 15) / 14.0
        out[own + 2] = min(layout["distance"][cell, goal], 64) / 64.0
    else:
        out[own + 3] = 1.0
    before = np.int64(row["prev"][slot])
    out[own + 4] = (cell // 15 - before // 15) / 2.0
    out[own + 5] = (cell % 15 - before % 15) / 2.0
    out[own + 6] = 1.0
    leg = row["leg"][slot]
    out[own + 8] = leg
    out[own + 9] = row["timer"][slot] / 4.0
    if leg == 1:
        out[own + 10] = 1.0 if row["goal2_door"][slot] < 0 else 0.0
    else:
        out[own + 10] = 1.0 if row["goal1_kind"][slot] >= 2 else 0.0
    out[own + 11] = row["sanctioned"][slot]
    out[own + 12] = max(row["limit"] - row["turn"], 0) / row["limit"]

    count = 0  # others, nearest first; equally near ones by cell
    for other in range(num_slots):
        if other == slot or seen_at(row, layout, other) < 0:
            continue
        place = count
        while place > 0 and _comes_before(row, layout, cell, other, order[place - 1]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = other
        count += 1
    for place in range(count):
        other = order[place]
        base = own + 13 + 8 * place
        there = seen_at(row, layout, other)
        earlier = np.int64(row["prev"][other])
        group = (row["group"][other] + 1) / 3.0
        serving = row["leg"][other] == 0 and row["timer"][other] > 0
        if row["present"][other]:
            out[330 + there] = group
        out[base] = (there // 15 - cell // 15) / 10.0
        out[base + 1] = (there % 15 - cell % 15) / 14.0
        out[base + 2] = (earlier // 15 - cell // 15) / 10.0
        out[base + 3] = (earlier % 15 - cell % 15) / 14.0
        out[base + 4] = group
        out[base + 5] = 1.0 if row["present"][other] and not serving else 0.0
        out[base + 6] = row["sanctioned"][other]
        out[base + 7] = 1.0

    if not is_held(row, slot):
        for action in range(4):
            if layout["neighbour"][cell, action] != cell:
                out[mask + action] = 1.0


@njit
def seen_at(row: np.void, layout: np.void, slot: int) -> int:
    """Return where a slot's person is seen: at the door if it has just left; -1 for nobody."""
    if row["present"][slot]:
        return np.int64(row["pos"][slot])
    if row["prev"][slot] >= 0:
        return np.int64(layout["neighbour"][row["prev"][slot], row["action"][slot]])
    return -1


@njit
def nearest_goal(row: np.void, layout: np.void, slot: int) -> int:
    """Return the nearest cell that completes a person's present goal, others left aside.

    Equally near ones by cell. What the norm permits plays no part.

    Returns:
        int, cell, or -1 when none can be reached.
    """
    cell = row["pos"][slot]
    best = -1
    best_distance = 255
    for goal in range(165):
        if row["leg"][slot] == 1:
            door = layout["door_of"][goal]
            fits = door >= 0 and (row["goal2_door"][slot] < 0 or row["goal2_door"][slot] == door)
        else:
            fits = layout["enterable"][goal] and is_on_goal(row, layout, slot, goal)
        if fits and layout["distance"][cell, goal] < best_distance:
            best = goal
            best_distance = np.int64(layout["distance"][cell, goal])
    return best


@njit
def _comes_before(row: np.void, layout: np.void, cell: int, first: int, second: int) -> bool:
    here, there = seen_at(row, layout, first), seen_at(row, layout, second)
    near = abs(here // 15 - cell // 15) + abs(here % 15 - cell % 15)
    far = abs(there // 15 - cell // 15) + abs(there % 15 - cell % 15)
    return near < far or (near == far and here < there)
