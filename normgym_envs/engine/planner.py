"""The one-step predictive planner: what each scripted person does next.

Source: NG App. "Community Agents", Algorithm 1, as docs/rules.md settles it. All persons'
intents are computed once per step and shared, instead of once per pair of persons.
"""

import numpy as np

from normgym_envs.engine.boards import add_bit, clear_board, has_bit, remove_bit
from normgym_envs.engine.search import find_ties, norm_in_force
from normgym_envs.kernels import njit
from normgym_envs.norms.kinds import (
    VISIT_FIRST,
    allows,
    binds,
    find_variant,
    is_gate,
    is_gate_open,
    is_relaxable,
    relax_variant,
)

_WAIT = 4
_WAIT_ONLY = 16  # the tie set {WAIT}
_EXTERNAL, _NORM_BLIND = 0, 2  # constants.Driver
_COUNTER, _PLACE, _ANY_CHAIR = 0, 1, 2  # constants.Goal1
_ZONE_R = 2  # constants.Zone
_PATIENCE = 2  # constants.COURTESY_PATIENCE


@njit
def plan_row(
    row: np.void,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    pad: np.void,
    plan_external: bool,
) -> None:
    """Choose the next action of every scripted person of a row.

    Writes `chosen`, `ties`, `aim` and `wait_courtesy` of the pad; the row is only read. Empty
    slots and held persons get WAIT.

    Args:
        row: STATE_DTYPE record.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        masks: (M, 4, 3) uint64, cells from which a permissible move may start.
        pad: SCRATCH_DTYPE record.
        plan_external: also choose for outside-driven slots, as norm-aware persons would.
    """
    layout = layouts[row["layout"]]
    placed = norms[row["layout"]]
    num_slots = row["num_slots"]
    board = pad["board"]

    clear_board(board)
    for slot in range(num_slots):
        if row["present"][slot]:
            add_bit(board, row["pos"][slot])
    for slot in range(num_slots):
        pad["aim"][slot] = row["pos"][slot]
        pad["chosen"][slot] = _WAIT
        pad["ties"][slot] = _WAIT_ONLY
        pad["wait_courtesy"][slot] = False
        if is_free(row, slot):
            blind = row["predicted"][slot] == _NORM_BLIND
            remove_bit(board, row["pos"][slot])
            ties = choose_ties(row, layout, placed, masks, pad, slot, blind)
            add_bit(board, row["pos"][slot])
            pad["aim"][slot] = layout["neighbour"][row["pos"][slot], lowest_action(ties)]

    agree_on_moves(row, pad)

    clear_board(board)
    for slot in range(num_slots):
        if row["present"][slot]:
            add_bit(board, pad["aim"][slot])
    for slot in range(num_slots):
        driver = row["driver"][slot]
        if not is_free(row, slot) or (driver == _EXTERNAL and not plan_external):
            continue
        remove_bit(board, pad["aim"][slot])
        ties = choose_ties(row, layout, placed, masks, pad, slot, driver == _NORM_BLIND)
        action = lowest_action(ties)
        if action != _WAIT and has_bit(board, layout["neighbour"][row["pos"][slot], action]):
            if row["leg"][slot] == 0 or row["courtesy"][slot] < _PATIENCE:
                action = _WAIT
                ties = _WAIT_ONLY
                pad["wait_courtesy"][slot] = True
        pad["chosen"][slot] = action
        pad["ties"][slot] = ties
        add_bit(board, pad["aim"][slot])


@njit
def choose_ties(
    row: np.void,
    layout: np.void,
    placed: np.ndarray,
    masks: np.ndarray,
    pad: np.void,
    slot: int,
    blind: bool,
) -> int:
    """Return the first actions that start a cheapest path of one person, as bits.

    Others stand where `pad["board"]` says. Without a permissible path the search is made again
    without the part of the norms that depends on others; of its first steps those remain that are
    permissible now.

    Args:
        row: STATE_DTYPE record.
        layout: LAYOUT_DTYPE record.
        placed: (n,) NORM_DTYPE of that layout.
        masks: (M, 4, 3) uint64.
        pad: SCRATCH_DTYPE record.
        slot: who plans.
        blind: plan with no norm.

    Returns:
        int, bit a set when action a is in the tie set; never 0.
    """
    set_goal(row, layout, pad, slot)
    if has_bit(pad["goal"], row["pos"][slot]):
        return _WAIT_ONLY
    zone, has_gate, can_relax = load_masks(row, layout, placed, masks, pad, slot, blind, False)
    if zone < 0:
        return _WAIT_ONLY
    board = layout["zone_board"][zone]
    ties = find_ties(row, placed, pad, board, slot, has_gate, zone > 0)
    if ties == 0 and can_relax:
        load_masks(row, layout, placed, masks, pad, slot, blind, True)
        ties = find_ties(row, placed, pad, board, slot, has_gate, zone > 0)
        for action in range(4):
            target = layout["neighbour"][row["pos"][slot], action]
            if (ties >> action) & 1 and not is_permissible(row, layout, placed, slot, target):
                ties &= ~(1 << action)
    return ties if ties != 0 else _WAIT_ONLY


@njit
def load_masks(
    row: np.void,
    layout: np.void,
    placed: np.ndarray,
    masks: np.ndarray,
    pad: np.void,
    slot: int,
    blind: bool,
    relaxed: bool,
) -> tuple[int, bool, bool]:
    """Write what one person may do in the present state to `pad["masks"]`.

    Returns:
        zone: constants.Zone whose visit changes what is permissible, 0 none; -1 when a norm about
            time forbids any own move now.
        has_gate: a norm about time binds.
        can_relax: part of a norm depends on others.
    """
    zone = 0
    has_gate = False
    can_relax = False
    pad["masks"][0] = layout["moves"]
    if blind:
        return zone, has_gate, can_relax
    for place in range(4):
        index = norm_in_force(row, place)
        if index < 0:
            break
        norm = placed[index]
        if not binds(row, norm, slot):
            continue
        if is_gate(norm):
            has_gate = True
            if not is_gate_open(norm, row["turn"], row["streak"][slot]):
                return -1, has_gate, can_relax
        elif norm["kind"] == VISIT_FIRST and not row["visited"][slot]:
            zone = np.int64(norm["zone"])
    if zone > 0:
        pad["masks"][1] = layout["moves"]
    for place in range(4):
        index = norm_in_force(row, place)
        if index < 0:
            break
        norm = placed[index]
        if is_gate(norm) or not binds(row, norm, slot):
            continue
        variant = find_variant(row, layout, norm, slot)
        can_relax = can_relax or is_relaxable(norm)
        if relaxed:
            variant = relax_variant(norm, variant)
        permitted = masks[norm["first_mask"] + variant]
        for action in range(4):
            for word in range(3):
                pad["masks"][0, action, word] &= permitted[action, word]
                if zone > 0 and norm["kind"] != VISIT_FIRST:
                    pad["masks"][1, action, word] &= permitted[action, word]
    return zone, has_gate, can_relax


@njit
def is_permissible(
    row: np.void, layout: np.void, placed: np.ndarray, slot: int, new_cell: int
) -> bool:
    """Return whether every norm in force permits an own move, the clock left aside."""
    for place in range(4):
        index = norm_in_force(row, place)
        if index < 0:
            break
        norm = placed[index]
        if binds(row, norm, slot):
            variant = find_variant(row, layout, norm, slot)
            if not allows(layout, norm, variant, row["pos"][slot], new_cell):
                return False
    return True


@njit
def set_goal(row: np.void, layout: np.void, pad: np.void, slot: int) -> None:
    """Write the cells that complete a person's present goal to `pad["goal"]`."""
    goal = pad["goal"]
    clear_board(goal)
    if row["leg"][slot] != 0:
        door = row["goal2_door"][slot]
        if door >= 0:
            add_bit(goal, layout["doors"][door])
        else:
            goal[:] = layout["door_board"]
        return
    kind = row["goal1_kind"][slot]
    if kind == _COUNTER:
        add_bit(goal, layout["service"])
    elif kind == _PLACE:
        add_bit(goal, row["goal1_cell"][slot])
    elif kind == _ANY_CHAIR:
        goal[:] = layout["chair_board"]
    else:
        goal[:] = layout["zone_board"][_ZONE_R]


@njit
def agree_on_moves(row: np.void, pad: np.void) -> None:
    """Turn single intents into one joint move without conflicts, in place in `pad["aim"]`.

    A cell at which several aim goes to the one that would change places with its holder, else to
    the first in priority; whoever aims at a cell whose holder stays, stays too.
    """
    num_slots = row["num_slots"]
    aim = pad["aim"]
    pos = row["pos"]
    changed = True
    while changed:
        changed = False
        for slot in range(num_slots):
            if not row["present"][slot] or aim[slot] == pos[slot]:
                continue
            cell = aim[slot]
            yields = False
            exchanges = False
            for other in range(num_slots):
                if other == slot or not row["present"][other]:
                    continue
                if pos[other] == cell:
                    if aim[other] == cell:
                        yields = True
                    exchanges = exchanges or aim[other] == pos[slot]
            if not yields:
                for other in range(num_slots):
                    if other == slot or not row["present"][other] or pos[other] == aim[other]:
                        continue
                    if aim[other] == cell and not exchanges:
                        earlier = row["priority"][other] < row["priority"][slot]
                        yields = yields or earlier or swaps_places(row, pad, other)
            if yields:
                aim[slot] = pos[slot]
                changed = True


@njit
def swaps_places(row: np.void, pad: np.void, slot: int) -> bool:
    """Return whether a person's aim is to change places with the one who holds its aim."""
    for other in range(row["num_slots"]):
        if other != slot and row["present"][other] and row["pos"][other] == pad["aim"][slot]:
            return pad["aim"][other] == row["pos"][slot]
    return False


@njit
def is_held(row: np.void, slot: int) -> bool:
    """Return whether a person is in service or holds a place, so that only WAIT is open to it."""
    return row["holder"][slot] or (row["leg"][slot] == 0 and row["timer"][slot] > 0)


@njit
def is_free(row: np.void, slot: int) -> bool:
    """Return whether somebody is in the slot who may choose an action."""
    return row["present"][slot] and not is_held(row, slot)


@njit
def lowest_action(ties: int) -> int:
    """Return the first action of a tie set."""
    for action in range(4):
        if (ties >> action) & 1 == 1:
            return action
    return _WAIT
