"""The structured records of the engine: one per batch row, and one scratch pad per thread.

A row holds the whole world of one episode, so copying a row is a snapshot, comparing bytes is
equality, and pickling carries everything. Fields are read as `row["field"]`, which works compiled
and uncompiled.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from normgym_envs.constants import (
    MAX_NORMS,
    MAX_PERSONS,
    MAX_SLOTS,
    NUM_ACTIONS,
    NUM_CELLS,
)

_N = (MAX_SLOTS,)
_ROSTER = (MAX_SLOTS, MAX_PERSONS)
_MOVES = NUM_ACTIONS - 1


def name_gaps(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
    """Return an aligned record type in which every byte belongs to a field.

    NumPy copies fields, not the gaps between them, so that copies of records with gaps need not be
    equal byte for byte.

    Args:
        dtype: a record type made with `align=True`.
    """
    names, formats, offsets = [], [], []
    end = 0
    fields: Mapping[str, Any] = dtype.fields or {}
    for name in dtype.names or ():
        kind, offset = fields[name][:2]
        if offset > end:
            names.append(f"gap_{end}")
            formats.append(np.dtype((np.uint8, (offset - end,))))
            offsets.append(end)
        names.append(name)
        formats.append(kind)
        offsets.append(offset)
        end = offset + kind.itemsize
    if dtype.itemsize > end:
        names.append(f"gap_{end}")
        formats.append(np.dtype((np.uint8, (dtype.itemsize - end,))))
        offsets.append(end)
    return np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize},
        align=True,
    )


STATE_DTYPE = name_gaps(
    np.dtype(
        [
            # the episode
            ("seed", np.uint64),  # of the row's own random stream
            ("turn", np.int32),  # turn index of the next decision
            ("limit", np.int32),  # turn index at which the episode is cut
            ("change_turn", np.int32),  # norms_after is in force from here on; -1 never
            ("layout", np.int16),  # index into the engine's layouts
            ("norms", np.int16, (MAX_NORMS,)),  # indices into the engine's norms, -1 pads
            ("norms_after", np.int16, (MAX_NORMS,)),  # as norms
            (
                "believed",
                np.int16,
                (MAX_NORMS,),
            ),  # norms that slot 0 plans by; -1 first: those in force
            ("num_slots", np.int16),  # N
            ("is_test", np.bool_),  # ends when the newcomer has finished
            ("ending", np.int8),  # constants.Ending
            (
                "holding",
                np.bool_,
            ),  # holders of zone R wait for the newcomer; false for good afterwards
            ("reward_terms", np.float32, (4,)),  # goal, step cost, collision, sanction; all >= 0
            # one per slot
            ("driver", np.int8, _N),  # constants.Driver
            ("predicted", np.int8, _N),  # constants.Driver that others foresee, never EXTERNAL
            ("priority", np.int8, _N),  # rank, 0 first
            (
                "person",
                np.int16,
                _N,
            ),  # index of the person in the slot, counted from 0; -1 none yet
            ("present", np.uint8, _N),  # a person stands in the grid
            ("arrival", np.int32, _N),  # turn at which the next person may appear
            ("pos", np.int16, _N),  # cell, -1 when absent
            ("prev", np.int16, _N),  # cell before the last step, -1 when absent
            (
                "came_from",
                np.int16,
                _N,
            ),  # cell left by the last own move, if it may be walked back to
            ("group", np.int8, _N),  # constants.Group
            ("goal1_kind", np.int8, _N),  # constants.Goal1
            ("goal1_cell", np.int16, _N),  # cell of a PLACE goal, else -1
            ("goal2_door", np.int8, _N),  # constants.Door, -1 any
            ("leg", np.int8, _N),  # 0 goal 1 open, 1 goal 1 complete
            ("timer", np.int8, _N),  # turns served so far, counting the arriving one
            ("holder", np.uint8, _N),  # held in zone R until the newcomer comes near
            ("visited", np.uint8, _N),  # has stood in zone Q since arriving
            ("streak", np.int16, _N),  # own moves on the last turns without a break
            ("courtesy", np.int8, _N),  # courteous waits since the last own move
            ("is_new", np.uint8, _N),  # appeared after the last step
            # what happened in the last step, one per slot
            ("action", np.int8, _N),  # executed constants.Action, -1 before the first
            ("auto", np.uint8, _N),  # the action was played by the environment
            ("own_move", np.uint8, _N),  # moved by its own choice to its intended cell
            ("displaced", np.uint8, _N),  # was displaced or pushed
            ("collided", np.uint8, _N),  # was charged with a collision
            ("violated", np.uint8, _N),  # broke a norm in force (fact)
            ("sanctioned", np.uint8, _N),  # is shown as sanctioned (what the community says)
            ("goals", np.int8, _N),  # goals completed in the step
            ("reward", np.float32, _N),  # reward points
            # carried for wrappers and levers; the step itself does not use them
            ("reputation", np.float32, _N),  # dimensionless
            ("stake", np.float32, _N),  # reward points
            # rosters
            (
                "num_persons",
                np.int16,
                _N,
            ),  # persons listed; used in turn, then again from the first
            ("r_delay", np.int16, _ROSTER),  # as types.PERSON_DTYPE
            ("r_start", np.int16, _ROSTER),
            ("r_goal1_cell", np.int16, _ROSTER),
            ("r_group", np.int8, _ROSTER),
            ("r_goal1_kind", np.int8, _ROSTER),
            ("r_goal2_door", np.int8, _ROSTER),
            ("r_leg", np.int8, _ROSTER),
            ("r_holder", np.uint8, _ROSTER),
        ],
        align=True,
    )
)
"""One row of the batch; every byte of it belongs to a field."""

ROSTER_FIELDS = (
    "delay",
    "start",
    "goal1_cell",
    "group",
    "goal1_kind",
    "goal2_door",
    "leg",
    "holder",
)
"""Fields of a person; the row keeps them with the prefix `r_`."""

MAX_LAYERS = NUM_CELLS + 1
"""Longest shortest path in moves, plus one."""

SCRATCH_DTYPE = np.dtype(
    [
        ("board", np.uint64, (3,)),  # cells on which others stand or are predicted
        ("goals", np.uint64, (MAX_SLOTS, 3)),  # cells that complete a person's present goal
        ("masks", np.uint64, (MAX_SLOTS, 2, _MOVES, 3)),  # its permissible moves, by memory bit
        ("zone", np.int8, _N),  # zone whose visit sets the memory bit; 0 none, -1 no move now
        ("has_gate", np.uint8, _N),  # a norm about time binds it
        ("can_relax", np.uint8, _N),  # part of a norm that binds it depends on others
        ("deluded", np.uint8),  # slot 0 is planned by what it believes
        ("standing", np.int8, (NUM_CELLS,)),  # slot on a cell before the step, -1 nobody
        ("touch", np.uint64, (2, MAX_LAYERS, 7)),  # occupied cells a wave reached: layer, 2 boards
        ("ways", np.int64, (NUM_CELLS,)),  # shortest chains from a cell
        ("depth", np.int16, (NUM_CELLS,)),  # chain search
        ("found", np.int16, (NUM_CELLS,)),  # chain search, cells as found
        ("count", np.int8, (NUM_CELLS,)),  # persons whose target is a cell
        ("at", np.int8, (NUM_CELLS,)),  # slot that holds a cell, -1 free
        ("target", np.int16, _N),  # cell aimed at
        ("final", np.int16, _N),  # cell after conflicts
        ("aim", np.int16, _N),  # predicted cell
        ("contested", np.int16, _N),  # contested cells, ascending
        ("ties", np.uint8, _N),  # bit per action that starts a cheapest path
        ("chosen", np.int8, _N),  # action chosen for the step
        ("wait_courtesy", np.uint8, _N),  # waits by courtesy alone
        ("auto", np.uint8, _N),  # WAIT is played for it
        ("mover", np.uint8, _N),  # aims at another cell
        ("lost", np.uint8, _N),  # did not get the cell it was on or aimed at
        ("shoved", np.uint8, _N),  # was displaced or pushed
        ("charged", np.uint8, _N),  # moved into a contested cell by its own choice
    ],
    align=True,
)
"""Working memory of one thread; its content means nothing between calls."""


def allocate_states(num_rows: int) -> np.ndarray:
    """Return rows in which nobody is present and nothing runs.

    Args:
        num_rows: B, number of rows.

    Returns:
        (B,) STATE_DTYPE.
    """
    states = np.zeros(num_rows, STATE_DTYPE)
    for field in (
        "norms",
        "norms_after",
        "believed",
        "pos",
        "prev",
        "person",
        "action",
        "change_turn",
    ):
        states[field] = -1
    return states
