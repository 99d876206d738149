"""The exact shortest-path search of the planner, on boards.

The wave runs backward from the goal. A path costs one unit per step and `COLLISION_STEPS` more for
each entered cell where somebody else is predicted; norms about time add waits. Paths are found
level by level, a level being the number of such cells entered: level 0 is a plain breadth-first
wave, and the occupied cells that it touches seed level 1. Levels that cannot be cheaper are never
run.

The answer is the set of first actions that start a cheapest path, which depends on costs-to-go
alone, so any correct algorithm agrees with it (`tests/engine` holds it against A*).
"""

import numpy as np

from normgym_envs.constants import COLLISION_STEPS
from normgym_envs.engine.boards import locate
from normgym_envs.kernels import njit
from normgym_envs.norms.kinds import binds, is_gate, is_gate_open

MAX_LAYERS = 166  # engine.state.MAX_LAYERS
NEVER = 1_000_000  # more than any path costs
_WAIT_BIT = 16
_LONGEST_IDLE = 64 * 63  # period of the two longest norms about turns that a row may combine
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_S16 = np.uint64(16)
_S48 = np.uint64(48)


@njit
def norm_in_force(row: np.void, place: int) -> int:
    """Return the index of the norm at one of the row's places at the present turn, -1 if none."""
    if row["change_turn"] >= 0 and row["turn"] >= row["change_turn"]:
        return row["norms_after"][place]
    return row["norms"][place]


@njit
def norm_followed(row: np.void, pad: np.void, place: int, slot: int) -> int:
    """Return the index of the norm at one of the places that a person plans by, -1 if none."""
    if pad["deluded"] and slot == 0:
        return row["believed"][place]
    return norm_in_force(row, place)


@njit
def count_turns(
    row: np.void, placed: np.ndarray, pad: np.void, slot: int, num_moves: int, wait_first: bool
) -> int:
    """Return the turns until a person has made its moves, as early as norms about time permit.

    Moving whenever it is permissible is never later than any other schedule.

    Args:
        row: STATE_DTYPE record.
        placed: (n,) NORM_DTYPE of the row's layout.
        pad: SCRATCH_DTYPE record.
        slot: who moves.
        num_moves: own moves to make.
        wait_first: begin with a wait.

    Returns:
        int, turns; `NEVER` when the clock does not permit the moves.
    """
    turn = np.int64(row["turn"])
    streak = np.int64(row["streak"][slot])
    elapsed = 0
    made = 0
    idle = 0
    if wait_first:
        elapsed = 1
        streak = 0
    while made < num_moves:
        is_open = True
        for place in range(4):
            index = norm_followed(row, pad, place, slot)
            if index < 0:
                break
            norm = placed[index]
            if binds(row, norm, slot) and is_gate(norm):
                is_open = is_open and is_gate_open(norm, turn + elapsed, streak)
        elapsed += 1
        if is_open:
            made += 1
            streak += 1
            idle = 0
        else:
            streak = 0
            idle += 1
            if idle > _LONGEST_IDLE:
                return NEVER
    return elapsed


@njit
def find_ties(
    row: np.void,
    placed: np.ndarray,
    pad: np.void,
    zone: np.ndarray,
    slot: int,
    has_gate: bool,
    has_memory: bool,
) -> int:
    """Return the first actions that start a cheapest path to the goal, as bits.

    Reads the slot's `masks` (permissible moves; [0] before, [1] after the zone was visited) and
    `goals` of the pad, and `board` (others). The person must not stand on the goal, and must be
    free to move this turn. Writes `touch`.

    Args:
        row: STATE_DTYPE record.
        placed: (n,) NORM_DTYPE of the row's layout.
        pad: SCRATCH_DTYPE record.
        zone: (3,) uint64, zone that changes the memory bit; used with `has_memory`.
        slot: who plans.
        has_gate: a norm about time binds the person.
        has_memory: what is permissible depends on having visited the zone, and it was not yet.

    Returns:
        int, bit a set when action a is in the set; 0 when no path exists.
    """
    masks = pad["masks"][slot]
    goal = pad["goals"][slot]
    touch = pad["touch"]
    start_word, start_bit = locate(row["pos"][slot])
    o0, o1, o2 = pad["board"][0], pad["board"][1], pad["board"][2]
    z0, z1, z2 = zone[0], zone[1], zone[2]
    best = NEVER
    ties = 0
    num_touched = 0
    for level in range(11):
        if COLLISION_STEPS * level + 1 > best:
            break
        old, new = level & 1, (level + 1) & 1
        # f: frontier before the visit, h: after it (unused without memory)
        f0 = f1 = f2 = h0 = h1 = h2 = _ZERO
        if level == 0:
            f0, f1, f2 = goal[0], goal[1], goal[2]
            if has_memory:
                h0, h1, h2 = f0, f1, f2
        v0, v1, v2, w0, w1, w2 = f0, f1, f2, h0, h1, h2
        num_waiting = num_touched
        next_touch = 0
        num_touched = 0
        for layer in range(MAX_LAYERS - 1):
            if COLLISION_STEPS * level + layer + 1 > best:
                break
            # occupied cells of the frontier wait for the next level
            t0, t1, t2 = f0 & o0, f1 & o1, f2 & o2
            s0, s1, s2 = f0 ^ t0, f1 ^ t1, f2 ^ t2
            u0 = u1 = u2 = q0 = q1 = q2 = _ZERO
            if has_memory:
                # entering the zone changes the memory bit, so no path enters it with bit 0
                t0, t1, t2 = t0 & ~z0, t1 & ~z1, t2 & ~z2
                s0, s1, s2 = s0 & ~z0, s1 & ~z1, s2 & ~z2
                u0, u1, u2 = h0 & o0, h1 & o1, h2 & o2
                q0, q1, q2 = h0 ^ u0, h1 ^ u1, h2 ^ u2
            if t0 | t1 | t2 | u0 | u1 | u2 != _ZERO:
                entry = touch[new, num_touched]
                entry[0] = np.uint64(layer)
                entry[1], entry[2], entry[3] = t0, t1, t2
                entry[4], entry[5], entry[6] = u0, u1, u2
                num_touched += 1
            if next_touch < num_waiting and touch[old, next_touch, 0] == np.uint64(layer):
                entry = touch[old, next_touch]
                s0, s1, s2 = s0 | entry[1], s1 | entry[2], s2 | entry[3]
                q0, q1, q2 = q0 | entry[4], q1 | entry[5], q2 | entry[6]
                next_touch += 1
            if has_memory:
                h0, h1, h2 = spread(masks, np.int64(1), q0, q1, q2)
                h0, h1, h2 = h0 & ~w0, h1 & ~w1, h2 & ~w2
                w0, w1, w2 = w0 | h0, w1 | h1, w2 | h2
                s0, s1, s2 = s0 | (q0 & z0), s1 | (q1 & z1), s2 | (q2 & z2)
            f0, f1, f2 = spread(masks, np.int64(0), s0, s1, s2)
            f0, f1, f2 = f0 & ~v0, f1 & ~v1, f2 & ~v2
            v0, v1, v2 = v0 | f0, v1 | f1, v2 | f2
            reached = f0 if start_word == 0 else (f1 if start_word == 1 else f2)
            if reached & start_bit != _ZERO:
                first = first_moves(masks, start_word, start_bit, s0, s1, s2)
                cost = layer + 1
                wait_cost = NEVER
                if has_gate:
                    cost = count_turns(row, placed, pad, slot, layer + 1, np.bool_(False))
                    wait_cost = count_turns(row, placed, pad, slot, layer + 1, np.bool_(True))
                if wait_cost == cost:
                    first |= _WAIT_BIT
                cost += COLLISION_STEPS * level
                if cost < best:
                    best = cost
                    ties = first
                elif cost == best:
                    ties |= first
                break
            if f0 | f1 | f2 | h0 | h1 | h2 == _ZERO and next_touch == num_waiting:
                break
        if num_touched == 0:
            break
    return ties


@njit
def spread(
    masks: np.ndarray, memory: int, s0: np.uint64, s1: np.uint64, s2: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the cells from which one permissible move leads into a set of cells.

    Args:
        masks: (2, 4, 3) uint64, cells from which a move may start.
        memory: which of the two.
        s0: first word of the set.
        s1: second word.
        s2: third word.
    """
    n0 = (s0 << _S16) & masks[memory, 0, 0]
    n1 = ((s1 << _S16) | (s0 >> _S48)) & masks[memory, 0, 1]
    n2 = ((s2 << _S16) | (s1 >> _S48)) & masks[memory, 0, 2]
    n0 |= ((s0 >> _S16) | (s1 << _S48)) & masks[memory, 1, 0]
    n1 |= ((s1 >> _S16) | (s2 << _S48)) & masks[memory, 1, 1]
    n2 |= (s2 >> _S16) & masks[memory, 1, 2]
    n0 |= ((s0 << _ONE) & masks[memory, 2, 0]) | ((s0 >> _ONE) & masks[memory, 3, 0])
    n1 |= ((s1 << _ONE) & masks[memory, 2, 1]) | ((s1 >> _ONE) & masks[memory, 3, 1])
    n2 |= ((s2 << _ONE) & masks[memory, 2, 2]) | ((s2 >> _ONE) & masks[memory, 3, 2])
    return n0, n1, n2


@njit
def first_moves(
    masks: np.ndarray,
    word: int,
    bit: np.uint64,
    s0: np.uint64,
    s1: np.uint64,
    s2: np.uint64,
) -> int:
    """Return the moves, as bits, that lead from one cell into a set of cells."""
    moves = 0
    up = (s0 << _S16, (s1 << _S16) | (s0 >> _S48), (s2 << _S16) | (s1 >> _S48))
    down = ((s0 >> _S16) | (s1 << _S48), (s1 >> _S16) | (s2 << _S48), s2 >> _S16)
    left = (s0 << _ONE, s1 << _ONE, s2 << _ONE)
    right = (s0 >> _ONE, s1 >> _ONE, s2 >> _ONE)
    if up[word] & masks[0, 0, word] & bit != _ZERO:
        moves |= 1
    if down[word] & masks[0, 1, word] & bit != _ZERO:
        moves |= 2
    if left[word] & masks[0, 2, word] & bit != _ZERO:
        moves |= 4
    if right[word] & masks[0, 3, word] & bit != _ZERO:
        moves |= 8
    return moves
