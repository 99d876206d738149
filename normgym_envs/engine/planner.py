"""The one-step predictive planner: what each scripted person does next.

Source: NG App. "Community Agents", Algorithm 1, as docs/rules.md settles it. All persons'
intents are computed once per step and shared, instead of once per pair of persons.
"""

import numpy as np

from normgym_envs.constants import COURTESY_PATIENCE, Driver, Goal1, Zone
from normgym_envs.engine.boards import (
    add_bit,
    clear_board,
    copy_board,
    copy_boards,
    has_bit,
    locate,
    remove_bit,
)
from normgym_envs.engine.search import find_ties, norm_followed
from normgym_envs.kernels import draw, njit, uniform
from normgym_envs.norms.kinds import (
    VISIT_FIRST,
    binds,
    find_variant,
    is_gate,
    is_gate_open,
    is_relaxable,
    list_holders,
    relax_variant,
)

_WAIT = 4
_WAIT_ONLY = 16  # the tie set {WAIT}
_EXTERNAL, _NORM_BLIND = int(Driver.EXTERNAL), int(Driver.NORM_BLIND)
_COUNTER, _PLACE, _ANY_CHAIR = int(Goal1.COUNTER), int(Goal1.PLACE), int(Goal1.ANY_CHAIR)
_ZONE_R = int(Zone.R)

HESITATE_STREAM = 4  # whether a person hesitates to walk back; index: the cell it stands on


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

    pad["deluded"] = False
    list_holders(row, pad["standing"])
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
            set_goal(row, layout, pad, slot)
            blind = row["predicted"][slot] == _NORM_BLIND
            load_masks(row, layout, placed, masks, pad, slot, blind, np.bool_(False))
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
        blind = driver == _NORM_BLIND
        pad["deluded"] = slot == 0 and row["believed"][0] >= 0
        if pad["deluded"] or blind != (row["predicted"][slot] == _NORM_BLIND):
            load_masks(row, layout, placed, masks, pad, slot, blind, np.bool_(False))
        remove_bit(board, pad["aim"][slot])
        ties = choose_ties(row, layout, placed, masks, pad, slot, blind)
        action = lowest_action(ties)
        target = layout["neighbour"][row["pos"][slot], action]
        if action != _WAIT and has_bit(board, target):
            if row["leg"][slot] == 0 or row["courtesy"][slot] < COURTESY_PATIENCE:
                action = _WAIT
                ties = _WAIT_ONLY
                pad["wait_courtesy"][slot] = True
        elif driver != _EXTERNAL and action != _WAIT and target == row["came_from"][slot]:
            # two who keep stepping out of each other's way would do so for ever
            if (
                uniform(
                    draw(row["seed"], row["turn"], HESITATE_STREAM, np.int64(row["pos"][slot])), 2
                )
                == 0
            ):
                action = _WAIT
                ties |= _WAIT_ONLY
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

    Others stand where `pad["board"]` says; the slot's goals and masks are set. Without a
    permissible path the search is made again without the part of the norms that depends on others;
    of its first steps those remain that are permissible now.

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
    zone = pad["zone"][slot]
    if zone < 0 or has_bit(pad["goals"][slot], row["pos"][slot]):
        return _WAIT_ONLY
    board = layout["zone_board"][zone]
    has_gate = pad["has_gate"][slot] != 0
    ties = find_ties(row, placed, pad, board, slot, has_gate, zone > 0)
    if ties == 0 and pad["can_relax"][slot]:
        load_masks(row, layout, placed, masks, pad, slot, blind, np.bool_(True))
        ties = find_ties(row, placed, pad, board, slot, has_gate, zone > 0)
        load_masks(row, layout, placed, masks, pad, slot, blind, np.bool_(False))
        for action in range(4):
            if not is_open(pad, slot, row["pos"][slot], action):
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
) -> None:
    """Write what a person may do in the present state: the slot's masks, zone, gate and relaxation.

    Reads `pad["standing"]`.

    Args:
        row: STATE_DTYPE record.
        layout: LAYOUT_DTYPE record.
        placed: (n,) NORM_DTYPE of that layout.
        masks: (M, 4, 3) uint64.
        pad: SCRATCH_DTYPE record.
        slot: who plans.
        blind: no norm binds.
        relaxed: leave out the part of norms that depends on others.
    """
    permitted = pad["masks"][slot]
    pad["zone"][slot] = 0
    pad["has_gate"][slot] = False
    pad["can_relax"][slot] = False
    copy_boards(permitted[0], layout["moves"])
    if blind:
        return
    for place in range(4):
        index = norm_followed(row, pad, place, slot)
        if index < 0:
            break
        norm = placed[index]
        if not binds(row, norm, slot):
            continue
        if is_gate(norm):
            pad["has_gate"][slot] = True
            if not is_gate_open(norm, np.int64(row["turn"]), np.int64(row["streak"][slot])):
                pad["zone"][slot] = -1
                return
        elif norm["kind"] == VISIT_FIRST and not row["visited"][slot]:
            pad["zone"][slot] = norm["zone"]
    has_memory = pad["zone"][slot] > 0
    if has_memory:
        copy_boards(permitted[1], layout["moves"])
    for place in range(4):
        index = norm_followed(row, pad, place, slot)
        if index < 0:
            break
        norm = placed[index]
        if is_gate(norm) or not binds(row, norm, slot):
            continue
        variant = find_variant(row, layout, norm, slot, pad["standing"])
        if is_relaxable(norm):
            pad["can_relax"][slot] = True
            if relaxed:
                variant = relax_variant(norm, variant)
        table = masks[norm["first_mask"] + variant]
        for action in range(4):
            for word in range(3):
                permitted[0, action, word] &= table[action, word]
                if has_memory and norm["kind"] != VISIT_FIRST:
                    permitted[1, action, word] &= table[action, word]


@njit
def is_open(pad: np.void, slot: int, cell: int, action: int) -> bool:
    """Return whether the slot's masks permit a move from a cell."""
    word, bit = locate(cell)
    return pad["masks"][slot, 0, action, word] & bit != np.uint64(0)


@njit
def set_goal(row: np.void, layout: np.void, pad: np.void, slot: int) -> None:
    """Write the cells that complete a person's present goal to the slot's `goals`."""
    goal = pad["goals"][slot]
    clear_board(goal)
    if row["leg"][slot] != 0:
        door = row["goal2_door"][slot]
        if door >= 0:
            add_bit(goal, layout["doors"][door])
        else:
            copy_board(goal, layout["door_board"])
        return
    kind = row["goal1_kind"][slot]
    if kind == _COUNTER:
        add_bit(goal, layout["service"])
    elif kind == _PLACE:
        add_bit(goal, row["goal1_cell"][slot])
    elif kind == _ANY_CHAIR:
        copy_board(goal, layout["chair_board"])
    else:
        copy_board(goal, layout["zone_board"][_ZONE_R])


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
