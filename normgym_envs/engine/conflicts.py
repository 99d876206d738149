"""Who ends up where when persons move at once: contested cells, displacements, chains of pushes.

Source: NG App. "Collisions"; open points as docs/rules.md settles them. Apart from the newcomer
(slot 0), who is never pushed to make room for others, no slot number matters here.
"""

import numpy as np

from normgym_envs.kernels import draw, njit, uniform

KEEP_STREAM = 1  # who keeps a contested cell; index: the cell
PLACE_STREAM = 2  # where a displaced person goes; index: the cell it came from
CHAIN_STREAM = 3  # which of several shortest chains; index: as PLACE_STREAM
_ATTEMPT = 1000  # index offset per re-resolution of a step


@njit
def resolve_conflicts(row: np.void, layout: np.void, pad: np.void) -> None:
    """Settle a step's moves.

    Reads `pad["target"]` (cell each present person aims at; its own when it stays). Writes
    `final` (cell it ends on), `mover`, `shoved` and `charged`, and may reset targets.

    Args:
        row: STATE_DTYPE record, the state before the step; only read.
        layout: LAYOUT_DTYPE record.
        pad: SCRATCH_DTYPE record.
    """
    for slot in range(row["num_slots"]):
        pad["mover"][slot] = row["present"][slot] and pad["target"][slot] != row["pos"][slot]
        pad["charged"][slot] = False
    attempt = np.int64(0)
    while not settle_moves(row, layout, pad, attempt):
        attempt += 1
    for slot in range(row["num_slots"]):
        if pad["mover"][slot] and pad["count"][pad["target"][slot]] > 1:
            pad["charged"][slot] = True


@njit
def settle_moves(row: np.void, layout: np.void, pad: np.void, attempt: int) -> bool:
    """Place everybody, or fix the movers into a cell that cannot be cleared and return False."""
    num_slots = row["num_slots"]
    target, final, at = pad["target"], pad["final"], pad["at"]
    num_contested = list_contested(row, pad)
    for slot in range(num_slots):
        final[slot] = target[slot]
        pad["shoved"][slot] = False
        pad["lost"][slot] = False
    if num_contested == 0:
        return True

    at[:] = -1
    for place in range(num_contested):
        cell = pad["contested"][place]
        winner = pick_winner(row, pad, cell, attempt)
        for slot in range(num_slots):
            if row["present"][slot] and target[slot] == cell and slot != winner:
                pad["lost"][slot] = True
    for slot in range(num_slots):
        if row["present"][slot] and not pad["lost"][slot]:
            at[target[slot]] = slot

    for place in range(num_contested):
        cell = pad["contested"][place]
        while True:
            slot = next_displaced(row, pad, cell)
            if slot < 0:
                break
            pad["lost"][slot] = False
            pad["shoved"][slot] = True
            if not place_displaced(row, layout, pad, slot, attempt):
                for other in range(num_slots):
                    if pad["mover"][other] and target[other] == cell:
                        pad["charged"][other] = True
                        pad["mover"][other] = False
                        target[other] = row["pos"][other]
                return False
    return True


@njit
def list_contested(row: np.void, pad: np.void) -> int:
    """Write the cells at which two or more aim, ascending, and the counts; return how many."""
    count, contested = pad["count"], pad["contested"]
    count[:] = 0
    found = 0
    for slot in range(row["num_slots"]):
        if not row["present"][slot]:
            continue
        cell = pad["target"][slot]
        count[cell] += 1
        if count[cell] == 2:
            place = found
            while place > 0 and contested[place - 1] > cell:
                contested[place] = contested[place - 1]
                place -= 1
            contested[place] = cell
            found += 1
    return found


@njit
def pick_winner(row: np.void, pad: np.void, cell: int, attempt: int) -> int:
    """Return the mover that keeps a contested cell: uniform, in order of the cells of origin."""
    num_movers = 0
    for slot in range(row["num_slots"]):
        if pad["mover"][slot] and pad["target"][slot] == cell:
            num_movers += 1
    chosen = uniform(
        draw(row["seed"], row["turn"], KEEP_STREAM, cell + _ATTEMPT * attempt), num_movers
    )
    for slot in range(row["num_slots"]):
        if pad["mover"][slot] and pad["target"][slot] == cell:
            rank = 0
            for other in range(row["num_slots"]):
                if (
                    pad["mover"][other]
                    and pad["target"][other] == cell
                    and row["pos"][other] < row["pos"][slot]
                ):
                    rank += 1
            if rank == chosen:
                return slot
    return -1


@njit
def next_displaced(row: np.void, pad: np.void, cell: int) -> int:
    """Return who lost a cell and is not placed yet, lowest cell of origin first; -1 if nobody."""
    slot = -1
    for other in range(row["num_slots"]):
        if pad["lost"][other] and pad["target"][other] == cell:
            if slot < 0 or row["pos"][other] < row["pos"][slot]:
                slot = other
    return slot


@njit
def place_displaced(row: np.void, layout: np.void, pad: np.void, slot: int, attempt: int) -> bool:
    """Put a displaced person on a free neighbour of its target, or push others to make room.

    Returns:
        bool, False when neither is possible.
    """
    at = pad["at"]
    cell = pad["target"][slot]
    index = row["pos"][slot] + _ATTEMPT * attempt
    num_free = 0
    for action in range(4):
        beside = layout["neighbour"][cell, action]
        if beside != cell and layout["door_of"][beside] < 0 and at[beside] < 0:
            num_free += 1
    if num_free > 0:
        chosen = uniform(draw(row["seed"], row["turn"], PLACE_STREAM, index), num_free)
        for action in range(4):
            beside = layout["neighbour"][cell, action]
            if beside != cell and layout["door_of"][beside] < 0 and at[beside] < 0:
                if chosen == 0:
                    at[beside] = slot
                    pad["final"][slot] = beside
                    break
                chosen -= 1
        return True
    return push_chain(row, layout, pad, slot, index)


@njit
def push_chain(row: np.void, layout: np.void, pad: np.void, slot: int, index: int) -> bool:
    """Make room by the shortest chain of pushes; equal ones are drawn uniformly.

    A chain runs over neighbouring cells held by persons other than the newcomer to a free cell,
    and touches no door.

    Returns:
        bool, False when there is no chain.
    """
    at, depth, ways, found = pad["at"], pad["depth"], pad["ways"], pad["found"]
    start = pad["target"][slot]
    depth[:] = -1
    depth[start] = 0
    found[0] = start
    num_found = 1
    head = 0
    length = np.int64(-1)  # pushes of the shortest chains
    while head < num_found:
        cell = found[head]
        head += 1
        if length >= 0 and depth[cell] >= length:
            break
        for action in range(4):
            beside = layout["neighbour"][cell, action]
            if beside == cell or layout["door_of"][beside] >= 0:
                continue
            if at[beside] < 0:
                if length < 0:
                    length = depth[cell]
            elif at[beside] != 0 and depth[beside] < 0:
                depth[beside] = depth[cell] + 1
                found[num_found] = beside
                num_found += 1
    if length < 0:
        return False

    for place in range(num_found - 1, -1, -1):
        cell = found[place]
        ways[cell] = 0
        if depth[cell] > length:
            continue
        for action in range(4):
            ways[cell] += count_ways(layout, pad, cell, action, length)
    chosen = uniform(draw(row["seed"], row["turn"], CHAIN_STREAM, index), ways[start])

    cell = start
    pushed = slot
    while True:
        for action in range(4):
            through = count_ways(layout, pad, cell, action, length)
            if chosen < through:
                cell = layout["neighbour"][cell, action]
                break
            chosen -= through
        holder = at[cell]
        at[cell] = pushed
        pad["final"][pushed] = cell
        pad["shoved"][pushed] = True
        if holder < 0:
            return True
        pushed = holder


@njit
def count_ways(layout: np.void, pad: np.void, cell: int, action: int, length: int) -> int:
    """Return how many shortest chains go on from a cell in one direction."""
    at, depth = pad["at"], pad["depth"]
    beside = layout["neighbour"][cell, action]
    if beside == cell or layout["door_of"][beside] >= 0:
        return 0
    if at[beside] < 0:
        return 1 if depth[cell] == length else 0
    if depth[beside] == depth[cell] + 1 and depth[beside] <= length:
        return pad["ways"][beside]
    return 0
