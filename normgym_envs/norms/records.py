"""Layouts and norms as the compiled code reads them: one fixed record each.

What a norm's kind does with its fields stands in `kinds.py`; how the records are filled in
`placement.py`.
"""

import numpy as np

from normgym_envs.constants import MAX_PATH, NUM_ACTIONS, NUM_CELLS

MAX_CHAIRS = 40
"""Chairs that a layout may have. Source: not specified; a limit of the record."""

LAYOUT_DTYPE = np.dtype(
    [
        ("distance", np.uint8, (NUM_CELLS, NUM_CELLS)),  # steps from, to; 255 unreachable
        ("plane", np.float32, (NUM_CELLS,)),  # cell kind in [0, 1]
        (
            "neighbour",
            np.int16,
            (NUM_CELLS, NUM_ACTIONS),
        ),  # cell an action leads to, own if blocked
        ("zones", np.int8, (NUM_CELLS,)),  # constants.Zone
        ("door_of", np.int8, (NUM_CELLS,)),  # constants.Door, -1 no door
        ("region_of", np.int8, (NUM_CELLS,)),  # constants.Region of a chair, -1 no chair
        ("ring_next", np.int16, (NUM_CELLS,)),  # next ring cell clockwise, -1 off the ring
        ("ring_previous", np.int16, (NUM_CELLS,)),  # next ring cell counterclockwise
        ("enterable", np.uint8, (NUM_CELLS,)),
        ("near_zone_r", np.uint8, (NUM_CELLS,)),  # outside zone R, 4-adjacent to it
        ("doors", np.int16, (3,)),  # cells
        ("service", np.int16),  # cell
        ("moves", np.uint64, (NUM_ACTIONS - 1, 3)),  # boards of cells an action may start from
        ("chair_board", np.uint64, (3,)),
        ("door_board", np.uint64, (3,)),
        ("zone_board", np.uint64, (3, 3)),  # by constants.Zone
    ],
    align=True,
)
"""One layout, as the kernels read it. A board is 3 words of 64 bits: bit 16 * row + column."""

NORM_DTYPE = np.dtype(
    [
        ("kind", np.int16),  # kinds.KIND_CODES
        ("groups", np.uint8),  # bit per constants.Group that the norm binds
        ("turn_from", np.int32),  # binds on turns in [turn_from, turn_to)
        ("turn_to", np.int32),
        ("first_mask", np.int32),  # index of variant 0 in the table of masks
        ("num_variants", np.int16),
        ("zone", np.int8),  # constants.Zone of the zone kinds and of visit_first
        ("capacity", np.int16),  # zone_capacity
        ("modulus", np.int16),  # turn_residues
        ("residues", np.uint64),  # turn_residues: bit per residue on which moving is permitted
        ("moves", np.int16),  # move_wait
        ("clockwise", np.bool_),  # ring_direction
        ("door_sets", np.uint8, (3,)),  # by group: bit per permitted door
        ("region_sets", np.uint8, (3,)),  # by group: bit per permitted region
        ("path_length", np.int16),  # queue_path: P
        ("path", np.int16, (MAX_PATH,)),  # queue_path: cells from the head, -1 pads
        ("path_position", np.int8, (NUM_CELLS,)),  # queue_path: 1..P, 0 off the path
        ("num_seats", np.int16),  # seat_order
        ("seats", np.int16, (MAX_CHAIRS,)),  # seat_order: chairs in order, -1 pads
        ("seat_rank", np.int8, (NUM_CELLS,)),  # seat_order: place in the order, -1 no chair
    ],
    align=True,
)
"""One norm on one layout."""
