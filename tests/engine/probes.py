"""Compiled helpers that let tests ask single functions of the engine about many rows."""

import numpy as np

from normgym_envs.engine.boards import add_bit, clear_board
from normgym_envs.engine.planner import choose_ties, load_masks, set_goal
from normgym_envs.kernels import njit
from normgym_envs.norms.kinds import list_holders


@njit
def ask_ties(
    states: np.ndarray,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    pads: np.ndarray,
    rows: np.ndarray,
    slots: np.ndarray,
    occupied: np.ndarray,
    blind: np.ndarray,
    out_ties: np.ndarray,
) -> None:
    """Write the tie sets of the planner's search for queries (row, slot, occupied cells).

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        masks: (M, 4, 3) uint64.
        pads: (1,) SCRATCH_DTYPE.
        rows: (q,) int64.
        slots: (q,) int64.
        occupied: (q, 10) int64, cells, -1 pads.
        blind: (q,) bool, plan with no norm.
        out_ties: (q,) int64, bit per action.
    """
    pad = pads[0]
    for query in range(len(rows)):
        row = states[rows[query]]
        clear_board(pad["board"])
        for cell in occupied[query]:
            if cell >= 0:
                add_bit(pad["board"], cell)
        layout = layouts[row["layout"]]
        placed = norms[row["layout"]]
        slot = slots[query]
        list_holders(row, pad["standing"])
        set_goal(row, layout, pad, slot)
        load_masks(row, layout, placed, masks, pad, slot, blind[query], False)
        out_ties[query] = choose_ties(row, layout, placed, masks, pad, slot, blind[query])
