"""Every public fact as named arrays: what agents of the benchmark are given.

Others' goals, the norm, the seed and what follows from history alone (streaks, visits) are left
out. `text.py` says the same in words.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import (
    GRID_SHAPE,
    GRID_WIDTH,
    NUM_ACTIONS,
    Cell,
    Door,
    Goal1,
    Group,
    Zone,
)
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.planner import is_held
from normgym_envs.kernels import njit
from normgym_envs.observations.flat import seen_at

Symbolic = dict[str, npt.NDArray[Any]]
"""Observation by name; shapes and dtypes as `symbolic_space` says."""

VERSION: Final = 1
"""Moves when a key is added or changes its meaning."""

ABSENT: Final = -1
"""Stands for a cell, group or action that does not exist."""

_FACTS: Final = (
    "present",
    "left",
    "is_new",
    "groups",
    "actions",
    "displaced",
    "goal1_done",
    "service",
    "collided",
    "sanctioned",
)
"""Facts with one number per slot."""
_FLAGS: Final = tuple(name for name in _FACTS if name not in ("groups", "actions", "service"))


def symbolic_space(num_slots: int) -> spaces.Dict:
    """Return the space of the observation.

    Keys, for N slots (index 0 is the newcomer's, whoever observes):

    * `turn`, `limit`: (1,) int32, turn index of the decision and steps of the episode.
    * `cells`, `zones`: (11, 15) int8, constants.Cell and constants.Zone.
    * `slot`: (1,) int8, the observer's own slot.
    * `present`, `left`: (N,) int8, somebody is in the slot; somebody went out in the last step.
    * `is_new`: (N,) int8, the person has just appeared.
    * `positions`, `previous`: (N, 2) int8, (row, column) now and before the last step, -1 for
      nobody; the door for one who has just left.
    * `groups`: (N,) int8, constants.Group, -1 for nobody.
    * `actions`: (N,) int8, constants.Action executed in the last step, -1 for none.
    * `displaced`: (N,) int8, was displaced or pushed in the last step.
    * `goal1_done`: (N,) int8, the check mark of those on their way out.
    * `service`: (N,) int8, turns served so far.
    * `collided`, `sanctioned`: (N,) int8, marks of the last step.
    * `goal1_kind`, `goal2_door`: (1,) int8, the observer's own goals: constants.Goal1;
      constants.Door or -1 for any; both -1 without a person.
    * `goal1_cell`: (2,) int8, (row, column) of a given place, else -1.
    * `action_mask`: (5,) int8, 1 for actions that are physically open.

    Source: NG "Observation and Action Space"; docs/rules.md.
    """

    def integers(low: int, high: int, shape: tuple[int, ...], dtype: Any = np.int8) -> spaces.Box:
        return spaces.Box(low, high, shape, dtype)

    flags = {name: integers(0, 1, (num_slots,)) for name in _FLAGS}
    limit = 2**31 - 1
    return spaces.Dict(
        {
            "turn": integers(0, limit, (1,), np.int32),
            "limit": integers(0, limit, (1,), np.int32),
            "cells": integers(0, max(Cell), GRID_SHAPE),
            "zones": integers(0, max(Zone), GRID_SHAPE),
            "slot": integers(0, num_slots - 1, (1,)),
            **flags,
            "positions": integers(ABSENT, GRID_WIDTH - 1, (num_slots, 2)),
            "previous": integers(ABSENT, GRID_WIDTH - 1, (num_slots, 2)),
            "groups": integers(ABSENT, max(Group), (num_slots,)),
            "actions": integers(ABSENT, NUM_ACTIONS - 1, (num_slots,)),
            "service": integers(0, 4, (num_slots,)),
            "goal1_kind": integers(ABSENT, max(Goal1), (1,)),
            "goal1_cell": integers(ABSENT, GRID_WIDTH - 1, (2,)),
            "goal2_door": integers(ABSENT, max(Door), (1,)),
            "action_mask": integers(0, 1, (NUM_ACTIONS,)),
        }
    )


def observe_symbolic(engine: BatchEngine, row: int, slot: int) -> Symbolic:
    """Return what a slot sees in one row; fresh arrays, shapes as `symbolic_space` says.

    Args:
        engine: whose row is read.
        row: row index.
        slot: the viewpoint.
    """
    state = engine.states[row]
    layout = engine.layouts[state["layout"]]
    num_slots = int(state["num_slots"])
    facts = np.empty((len(_FACTS), num_slots), np.int8)
    pairs = np.empty((3, num_slots, 2), np.int8)
    goal = np.empty(2, np.int8)
    mask = np.empty(NUM_ACTIONS, np.int8)
    write_symbolic(state, engine.tables[0], slot, facts, pairs, goal, mask)
    return {
        "turn": np.array([state["turn"]], np.int32),
        "limit": np.array([state["limit"]], np.int32),
        "cells": layout.cells.copy(),
        "zones": layout.zones.copy(),
        "slot": np.array([slot], np.int8),
        **dict(zip(_FACTS, facts, strict=True)),
        "positions": pairs[0],
        "previous": pairs[1],
        "goal1_kind": goal[:1],
        "goal1_cell": pairs[2, 0],
        "goal2_door": goal[1:],
        "action_mask": mask,
    }


@njit
def write_symbolic(
    row: np.void,
    layouts: np.ndarray,
    slot: int,
    facts: np.ndarray,
    pairs: np.ndarray,
    goal: np.ndarray,
    mask: np.ndarray,
) -> None:
    """Write one slot's view of a row, in place in the last four arguments.

    Args:
        row: STATE_DTYPE record.
        layouts: (L,) LAYOUT_DTYPE.
        slot: the viewpoint.
        facts: (10, N) int8, lines as in `_FACTS`.
        pairs: (3, N, 2) int8, positions, positions before; the observer's place in [2, 0].
        goal: (2,) int8, the observer's goal1_kind and goal2_door.
        mask: (5,) int8.
    """
    layout = layouts[row["layout"]]
    for other in range(facts.shape[1]):
        present = row["present"][other] != 0
        cell = seen_at(row, layout, other)
        seen = cell >= 0
        gone = seen and not present
        facts[0, other] = present
        facts[1, other] = gone
        facts[2, other] = present and row["is_new"][other] != 0
        facts[3, other] = row["group"][other] if seen else -1
        facts[4, other] = row["action"][other] if seen else -1
        facts[5, other] = seen and row["displaced"][other] != 0
        facts[6, other] = gone or (present and row["leg"][other] == 1)
        facts[7, other] = row["timer"][other] if present else 0
        facts[8, other] = seen and row["collided"][other] != 0
        facts[9, other] = seen and row["sanctioned"][other] != 0
        _write_pair(pairs[0, other], cell)
        _write_pair(pairs[1, other], row["prev"][other] if seen else -1)
    own = row["present"][slot] != 0
    goal[0] = row["goal1_kind"][slot] if own else -1
    goal[1] = row["goal2_door"][slot] if own else -1
    _write_pair(pairs[2, 0], row["goal1_cell"][slot] if own else -1)
    mask[:4] = 0
    mask[4] = 1
    if own and not is_held(row, slot):
        for action in range(4):
            mask[action] = layout["neighbour"][row["pos"][slot], action] != row["pos"][slot]


@njit
def _write_pair(pair: np.ndarray, cell: int) -> None:
    pair[0] = cell // 15 if cell >= 0 else -1
    pair[1] = cell % 15 if cell >= 0 else -1
