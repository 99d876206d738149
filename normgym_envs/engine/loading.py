"""Compiled looks at what comes from outside, and rows filled with it."""

import numpy as np

from normgym_envs.engine.step import admit_arrivals, release_holders
from normgym_envs.kernels import njit

_PLACE, _ANY_ZONE_R = 1, 3  # constants.Goal1
_LAST_GROUP, _LAST_DOOR, _NUM_CELLS = 2, 2, 165  # constants


@njit
def are_actions(actions: np.ndarray) -> bool:
    """Return whether all entries are actions.

    Args:
        actions: (B, N) int8.
    """
    for index in range(actions.shape[0]):
        for slot in range(actions.shape[1]):
            if actions[index, slot] < 0 or actions[index, slot] > 4:
                return False
    return True


@njit
def are_valid(persons: np.ndarray, enterable: np.ndarray) -> bool:
    """Return whether every field of every person is in range and every cell can be entered.

    `checks.check_persons` says which field is wrong.

    Args:
        persons: (N, M) types.PERSON_DTYPE.
        enterable: (165,) of LAYOUT_DTYPE.
    """
    for slot in range(persons.shape[0]):
        for place in range(persons.shape[1]):
            person = persons[slot, place]
            if person["delay"] < (1 if place > 0 else 0):
                return False
            if not 0 <= person["start"] < _NUM_CELLS or not enterable[person["start"]]:
                return False
            if not 0 <= person["group"] <= _LAST_GROUP:
                return False
            if not 0 <= person["goal1_kind"] <= _ANY_ZONE_R:
                return False
            if not -1 <= person["goal2_door"] <= _LAST_DOOR or not 0 <= person["leg"] <= 1:
                return False
            if person["goal1_kind"] == _PLACE:
                cell = person["goal1_cell"]
                if not 0 <= cell < _NUM_CELLS or not enterable[cell]:
                    return False
    return True


@njit
def begin_row(states: np.ndarray, index: int, layouts: np.ndarray, persons: np.ndarray) -> None:
    """Fill in a row's rosters and let the persons of turn 0 appear, in place.

    Args:
        states: (B,) STATE_DTYPE; the row's other fields are filled, nobody is present.
        index: row.
        layouts: (L,) LAYOUT_DTYPE.
        persons: (N, M) types.PERSON_DTYPE.
    """
    row = states[index]
    for slot in range(persons.shape[0]):
        row["num_persons"][slot] = persons.shape[1]
        row["arrival"][slot] = persons[slot, 0]["delay"]
        for place in range(persons.shape[1]):
            person = persons[slot, place]
            row["r_delay"][slot, place] = person["delay"]
            row["r_start"][slot, place] = person["start"]
            row["r_goal1_cell"][slot, place] = person["goal1_cell"]
            row["r_group"][slot, place] = person["group"]
            row["r_goal1_kind"][slot, place] = person["goal1_kind"]
            row["r_goal2_door"][slot, place] = person["goal2_door"]
            row["r_leg"][slot, place] = person["leg"]
            row["r_holder"][slot, place] = person["holder"]
            if person["holder"]:
                row["holding"] = True
    layout = layouts[row["layout"]]
    admit_arrivals(row, layout)
    release_holders(row, layout)
