"""The kinds of norms: what a norm forbids, as compiled predicates with one flat dispatch.

Each kind is split in three, so that the verdict and the planner's search share one text:

* `find_variant`: what the norm's words come to for one person in the present state, as a small
  integer (the tail of the queue, whether the zone is full, the person's group, ...);
* `allows`: whether an own move from one cell to another is permissible under a variant;
* `is_gate_open`: whether any own move is permissible at a turn, for norms about time.

A transition is permissible if its gate is open and its variant allows it. The search reads
`allows` as boards made once per variant (`placement.py`).
"""

import numpy as np

from normgym_envs.constants import Goal1
from normgym_envs.kernels import njit

KIND_CODES = {
    "zone_forbidden": 0,
    "exit_doors": 1,
    "group_doors": 2,
    "seat_regions": 3,
    "group_seats": 4,
    "ring_direction": 5,
    "turn_residues": 6,
    "move_wait": 7,
    "visit_first": 8,
    "queue_path": 9,
    "zone_capacity": 10,
    "zone_single_group": 11,
    "seat_order": 12,
}
"""Kind name to the integer stored in `NORM_DTYPE`."""

ZONE_FORBIDDEN = KIND_CODES["zone_forbidden"]
EXIT_DOORS = KIND_CODES["exit_doors"]
GROUP_DOORS = KIND_CODES["group_doors"]
SEAT_REGIONS = KIND_CODES["seat_regions"]
GROUP_SEATS = KIND_CODES["group_seats"]
RING_DIRECTION = KIND_CODES["ring_direction"]
TURN_RESIDUES = KIND_CODES["turn_residues"]
MOVE_WAIT = KIND_CODES["move_wait"]
VISIT_FIRST = KIND_CODES["visit_first"]
QUEUE_PATH = KIND_CODES["queue_path"]
ZONE_CAPACITY = KIND_CODES["zone_capacity"]
ZONE_SINGLE_GROUP = KIND_CODES["zone_single_group"]
SEAT_ORDER = KIND_CODES["seat_order"]

_COUNTER = int(Goal1.COUNTER)


@njit
def count_variants(norm: np.void) -> int:
    """Return how many variants a norm has on its layout.

    Args:
        norm: NORM_DTYPE record.

    Returns:
        int, at least 1.
    """
    kind = norm["kind"]
    if kind == EXIT_DOORS or kind == GROUP_DOORS or kind == SEAT_REGIONS or kind == GROUP_SEATS:
        return 3  # by group
    if kind == VISIT_FIRST or kind == ZONE_CAPACITY or kind == ZONE_SINGLE_GROUP:
        return 2
    if kind == QUEUE_PATH or kind == SEAT_ORDER:
        return max(norm["path_length"], norm["num_seats"]) + 2
    return 1


@njit
def allows(layout: np.void, norm: np.void, variant: int, cell: int, new_cell: int) -> bool:
    """Return whether an own move is permissible under a variant, the clock left aside.

    Source: NG Table A2; deviations in docs/rules.md.

    Args:
        layout: LAYOUT_DTYPE record.
        norm: NORM_DTYPE record.
        variant: int from `find_variant`.
        cell: int, where the person stands.
        new_cell: int, the neighbouring cell it moves to.
    """
    kind = norm["kind"]
    if kind == ZONE_FORBIDDEN:
        return layout["zones"][new_cell] != norm["zone"]
    if kind == EXIT_DOORS or kind == GROUP_DOORS:
        door = layout["door_of"][new_cell]
        return door < 0 or (norm["door_sets"][variant] >> door) & 1 == 1
    if kind == SEAT_REGIONS or kind == GROUP_SEATS:
        region = layout["region_of"][new_cell]
        return region < 0 or (norm["region_sets"][variant] >> region) & 1 == 1
    if kind == RING_DIRECTION:
        wrong = layout["ring_previous"] if norm["clockwise"] else layout["ring_next"]
        return wrong[cell] != new_cell
    if kind == VISIT_FIRST:
        return variant == 1 or layout["region_of"][new_cell] < 0
    if kind == QUEUE_PATH:
        length = norm["path_length"]
        position = norm["path_position"][new_cell]
        if position == 0 or variant == length + 1:
            return True
        if position < length and norm["path"][position] == cell:
            return True
        return position >= variant + 1
    if kind == ZONE_CAPACITY or kind == ZONE_SINGLE_GROUP:
        zone = norm["zone"]
        return variant == 0 or layout["zones"][new_cell] != zone or layout["zones"][cell] == zone
    if kind == SEAT_ORDER:
        rank = norm["seat_rank"][new_cell]
        return rank < 0 or variant == norm["num_seats"] + 1 or rank == variant
    return True


@njit
def find_variant(row: np.void, layout: np.void, norm: np.void, slot: int, at: np.ndarray) -> int:
    """Return what the norm comes to for one person in the present state.

    By group: the group. visit_first: 1 once the zone was visited. queue_path: tail - 1 for a
    waiting person, P + 1 (free) for any other. Zones: 1 when shut. seat_order: place in the order
    of the permitted seat, or the number of seats when none is free.

    Args:
        row: STATE_DTYPE record.
        layout: LAYOUT_DTYPE record.
        norm: NORM_DTYPE record.
        slot: int, who asks.
        at: (NUM_CELLS,) int8 from `list_holders`.
    """
    kind = norm["kind"]
    if kind == EXIT_DOORS or kind == GROUP_DOORS or kind == SEAT_REGIONS or kind == GROUP_SEATS:
        return np.int64(row["group"][slot])
    if kind == VISIT_FIRST:
        return 1 if row["visited"][slot] else 0
    if kind == QUEUE_PATH:
        if not _is_waiting(row, np.int64(slot)):
            return np.int64(norm["path_length"]) + 1
        return find_tail(row, norm, slot, at) - 1
    if kind == ZONE_CAPACITY:
        inside = 0
        for other in range(row["num_slots"]):
            if other != slot and _is_in_zone(row, layout, norm, other):
                inside += 1
        return 1 if inside >= norm["capacity"] else 0
    if kind == ZONE_SINGLE_GROUP:
        for other in range(row["num_slots"]):
            if (
                other != slot
                and _is_in_zone(row, layout, norm, other)
                and row["group"][other] != row["group"][slot]
            ):
                return 1
        return 0
    if kind == SEAT_ORDER:
        return _find_free_seat(norm, slot, at)
    return 0


@njit
def relax_variant(norm: np.void, variant: int) -> int:
    """Return the variant without the part that depends on others, for a person that is shut out.

    Queue: the last path cell counts as the tail. Zones and seat order: no restriction.
    """
    kind = norm["kind"]
    if kind == QUEUE_PATH:
        length = np.int64(norm["path_length"])
        return variant if variant == length + 1 else length - 1
    if kind == ZONE_CAPACITY or kind == ZONE_SINGLE_GROUP:
        return 0
    if kind == SEAT_ORDER:
        return np.int64(norm["num_seats"]) + 1
    return variant


@njit
def is_relaxable(norm: np.void) -> bool:
    """Return whether `relax_variant` can change anything for norms of this kind."""
    kind = norm["kind"]
    return (
        kind == QUEUE_PATH
        or kind == ZONE_CAPACITY
        or kind == ZONE_SINGLE_GROUP
        or kind == SEAT_ORDER
    )


@njit
def is_gate(norm: np.void) -> bool:
    """Return whether a norm is about time alone."""
    return norm["kind"] == TURN_RESIDUES or norm["kind"] == MOVE_WAIT


@njit
def is_gate_open(norm: np.void, turn: int, streak: int) -> bool:
    """Return whether own moves are permissible at a turn.

    Source: NG Table A2, turn and rhythm norms.

    Args:
        norm: NORM_DTYPE record.
        turn: turn index.
        streak: own moves on the turns just before, without a break.
    """
    if norm["kind"] == TURN_RESIDUES:
        residue = np.uint64(turn % norm["modulus"])
        return (norm["residues"] >> residue) & np.uint64(1) == np.uint64(1)
    if norm["kind"] == MOVE_WAIT:
        return streak < norm["moves"]
    return True


@njit
def binds(row: np.void, norm: np.void, slot: int) -> bool:
    """Return whether a norm's scope covers a person at the present turn."""
    in_group = (norm["groups"] >> row["group"][slot]) & 1 == 1
    return in_group and norm["turn_from"] <= row["turn"] and row["turn"] < norm["turn_to"]


@njit
def list_holders(row: np.void, at: np.ndarray) -> None:
    """Write which slot's person stands on each cell.

    Args:
        row: STATE_DTYPE record.
        at: (NUM_CELLS,) int8, overwritten: slot, -1 for nobody.
    """
    at[:] = -1
    for slot in range(row["num_slots"]):
        if row["present"][slot]:
            at[row["pos"][slot]] = slot


@njit
def forbids(
    row: np.void, layout: np.void, norm: np.void, slot: int, new_cell: int, at: np.ndarray
) -> bool:
    """Return whether a norm forbids a person's own move in the present state.

    Args:
        row: STATE_DTYPE record, the state before the step.
        layout: LAYOUT_DTYPE record.
        norm: NORM_DTYPE record, placed on that layout.
        slot: int, who moves.
        new_cell: int, the cell reached by its own move.
        at: (NUM_CELLS,) int8 from `list_holders`.
    """
    if not binds(row, norm, slot):
        return False
    if not is_gate_open(norm, np.int64(row["turn"]), np.int64(row["streak"][slot])):
        return True
    variant = find_variant(row, layout, norm, slot, at)
    return not allows(layout, norm, variant, np.int64(row["pos"][slot]), np.int64(new_cell))


@njit
def find_tail(row: np.void, norm: np.void, slot: int, at: np.ndarray) -> int:
    """Return the first path position behind the others who queue.

    A waiting person on position 1 or 2 belongs to the queue, and so does one with a belonging
    person on one of the two positions before it.
    Source: not specified in NG; chosen so that a gap of one cell does not break the queue.

    Returns:
        int in [1, P + 1].
    """
    last = 0
    belonged_1 = False  # on the position before
    belonged_2 = False  # on the one before that
    for k in range(norm["path_length"]):
        holder = at[norm["path"][k]]
        belongs = (
            holder >= 0
            and _is_waiting(row, np.int64(holder))
            and (k < 2 or belonged_1 or belonged_2)
        )
        if belongs and holder != slot:
            last = k + 1
        belonged_2 = belonged_1
        belonged_1 = belongs
    return last + 1


@njit
def _is_waiting(row: np.void, slot: int) -> bool:
    return row["present"][slot] and row["leg"][slot] == 0 and row["goal1_kind"][slot] == _COUNTER


@njit
def _is_in_zone(row: np.void, layout: np.void, norm: np.void, slot: int) -> bool:
    return row["present"][slot] and layout["zones"][row["pos"][slot]] == norm["zone"]


@njit
def _find_free_seat(norm: np.void, slot: int, at: np.ndarray) -> int:
    for rank in range(norm["num_seats"]):
        holder = at[norm["seats"][rank]]
        if holder < 0 or holder == slot:
            return rank
    return np.int64(norm["num_seats"])
