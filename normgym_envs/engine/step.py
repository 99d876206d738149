"""One step of the world: its stages in the order of docs/rules.md, one function each.

Source: NG App. "Environment Details" and "Evaluation Protocol".
"""

import numpy as np

from normgym_envs.constants import (
    COUNTER_SERVICE_STEPS,
    PLACE_SERVICE_STEPS,
    Driver,
    Ending,
    Goal1,
    Zone,
)
from normgym_envs.engine.conflicts import resolve_conflicts
from normgym_envs.engine.planner import is_free, is_held, plan_row
from normgym_envs.engine.search import norm_in_force
from normgym_envs.kernels import njit
from normgym_envs.norms.kinds import forbids, list_holders

_WAIT = 4
_EXTERNAL = int(Driver.EXTERNAL)
_COUNTER, _PLACE, _ANY_CHAIR = int(Goal1.COUNTER), int(Goal1.PLACE), int(Goal1.ANY_CHAIR)
_ZONE_Q, _ZONE_R = int(Zone.Q), int(Zone.R)
_RUNNING, _TERMINATED, _TRUNCATED = (int(ending) for ending in Ending)


@njit
def step_rows(
    states: np.ndarray,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    pads: np.ndarray,
) -> None:
    """Advance every running row by one turn, in place; ended rows stay as they are.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        masks: (M, 4, 3) uint64.
        actions: (B, N) int8; only outside-driven slots are read.
        pads: (1,) SCRATCH_DTYPE.
    """
    pad = pads[0]
    for index in range(states.shape[0]):
        if states[index]["ending"] == _RUNNING:
            step_row(states[index], layouts, norms, masks, actions[index], pad)
        else:
            states[index]["reward"][:] = 0


@njit
def step_row(
    row: np.void,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    pad: np.void,
) -> None:
    """Advance one row by one turn, in place.

    Args:
        row: STATE_DTYPE record.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        masks: (M, 4, 3) uint64.
        actions: (N,) int8.
        pad: SCRATCH_DTYPE record.
    """
    layout = layouts[row["layout"]]
    placed = norms[row["layout"]]
    plan_row(row, layouts, norms, masks, pad, False)
    choose_targets(row, layout, actions, pad)
    resolve_conflicts(row, layout, pad)
    judge_moves(row, layout, placed, pad)
    move_persons(row, layout, pad)
    complete_goals(row, layout)
    give_rewards(row, pad)
    depart(row)
    release_holders(row, layout)
    row["turn"] += 1
    admit_arrivals(row, layout)
    end_episode(row)


@njit
def choose_targets(row: np.void, layout: np.void, actions: np.ndarray, pad: np.void) -> None:
    """Write who acts, what it plays and the cell it aims at."""
    for slot in range(row["num_slots"]):
        action = pad["chosen"][slot]
        free = is_free(row, slot)
        if not free:
            action = _WAIT
        elif row["driver"][slot] == _EXTERNAL:
            action = actions[slot]
        row["action"][slot] = action
        row["auto"][slot] = not free
        row["is_new"][slot] = False
        if row["present"][slot]:
            pad["target"][slot] = layout["neighbour"][row["pos"][slot], action]
        else:
            pad["target"][slot] = -1


@njit
def judge_moves(row: np.void, layout: np.void, placed: np.ndarray, pad: np.void) -> None:
    """Write own moves, displacements, charges and violations, from the state before the step."""
    for slot in range(row["num_slots"]):
        own_move = (
            pad["mover"][slot]
            and not pad["shoved"][slot]
            and pad["final"][slot] == pad["target"][slot]
        )
        violated = False
        if own_move:
            cell = pad["final"][slot]
            for place in range(4):
                index = norm_in_force(row, place)
                if index < 0:
                    break
                if forbids(row, layout, placed[index], slot, cell, pad["standing"]):
                    violated = True
        row["own_move"][slot] = own_move
        row["displaced"][slot] = pad["shoved"][slot]
        row["collided"][slot] = pad["charged"][slot]
        row["violated"][slot] = violated
        row["sanctioned"][slot] = violated


@njit
def move_persons(row: np.void, layout: np.void, pad: np.void) -> None:
    """Put everybody on its new cell and update what is remembered of it."""
    for slot in range(row["num_slots"]):
        if not row["present"][slot]:
            row["prev"][slot] = -1
            continue
        row["prev"][slot] = row["pos"][slot]
        row["pos"][slot] = pad["final"][slot]
        if row["own_move"][slot]:
            row["streak"][slot] += 1
            row["courtesy"][slot] = 0
            row["came_from"][slot] = row["prev"][slot]
        else:
            row["streak"][slot] = 0
            if row["displaced"][slot]:
                row["came_from"][slot] = -1
            if pad["wait_courtesy"][slot]:
                row["courtesy"][slot] += 1
        if layout["zones"][row["pos"][slot]] == _ZONE_Q:
            row["visited"][slot] = True


@njit
def complete_goals(row: np.void, layout: np.void) -> None:
    """Serve persons on their first goal and notice who goes out by the right door."""
    for slot in range(row["num_slots"]):
        row["goals"][slot] = 0
        if not row["present"][slot]:
            continue
        cell = row["pos"][slot]
        if row["leg"][slot] == 1:
            door = layout["door_of"][cell]
            right = row["goal2_door"][slot] < 0 or row["goal2_door"][slot] == door
            if row["own_move"][slot] and door >= 0 and right:
                row["goals"][slot] = 1
                row["leg"][slot] = 2
            continue
        if not is_on_goal(row, layout, slot, np.int64(cell)):
            row["timer"][slot] = 0
            continue
        row["timer"][slot] += 1
        needed = (
            COUNTER_SERVICE_STEPS if row["goal1_kind"][slot] == _COUNTER else PLACE_SERVICE_STEPS
        )
        if row["timer"][slot] >= needed:
            row["goals"][slot] = 1
            row["leg"][slot] = 1
            row["timer"][slot] = 0
            row["came_from"][slot] = -1


@njit
def is_on_goal(row: np.void, layout: np.void, slot: int, cell: int) -> bool:
    """Return whether a cell satisfies a person's first goal."""
    kind = row["goal1_kind"][slot]
    if kind == _COUNTER:
        return cell == layout["service"]
    if kind == _PLACE:
        return cell == row["goal1_cell"][slot]
    if kind == _ANY_CHAIR:
        return layout["region_of"][cell] >= 0
    return layout["zones"][cell] == _ZONE_R


@njit
def give_rewards(row: np.void, pad: np.void) -> None:
    """Add up each person's four reward terms. Source: NG App. "Reward"."""
    terms = row["reward_terms"]
    for slot in range(row["num_slots"]):
        reward = np.float32(0.0)
        if row["present"][slot]:
            reward = terms[0] * row["goals"][slot] - terms[1]
            if row["collided"][slot]:
                reward -= terms[2]
            if row["sanctioned"][slot]:
                reward -= terms[3]
        row["reward"][slot] = reward


@njit
def depart(row: np.void) -> None:
    """Empty the slots of those who left, and fix when the next person of the slot arrives."""
    for slot in range(row["num_slots"]):
        if row["present"][slot] and row["leg"][slot] == 2:
            row["present"][slot] = False
            row["pos"][slot] = -1
            row["leg"][slot] = 0
            following = (row["person"][slot] + 1) % row["num_persons"][slot]
            row["arrival"][slot] = row["turn"] + 1 + row["r_delay"][slot, following]


@njit
def admit_arrivals(row: np.void, layout: np.void) -> None:
    """Let everybody appear whose time has come and whose cell is free."""
    num_slots = row["num_slots"]
    while True:
        first = np.int64(-1)
        for slot in range(num_slots):
            if row["present"][slot] or row["arrival"][slot] > row["turn"]:
                continue
            if slot == 0 and row["is_test"] and row["person"][0] >= 0:
                continue
            cell = row["r_start"][slot, (row["person"][slot] + 1) % row["num_persons"][slot]]
            free = True
            for other in range(num_slots):
                if row["present"][other] and row["pos"][other] == cell:
                    free = False
            if not free:
                continue
            if (
                first < 0
                or row["arrival"][slot] < row["arrival"][first]
                or (
                    row["arrival"][slot] == row["arrival"][first]
                    and row["priority"][slot] < row["priority"][first]
                )
            ):
                first = slot
        if first < 0:
            return
        admit_person(row, layout, first)


@njit
def admit_person(row: np.void, layout: np.void, slot: int) -> None:
    """Let the next person of a slot's roster appear on its start cell."""
    row["person"][slot] += 1
    person = row["person"][slot] % row["num_persons"][slot]
    cell = row["r_start"][slot, person]
    row["present"][slot] = True
    row["is_new"][slot] = True
    row["pos"][slot] = cell
    row["prev"][slot] = cell
    row["came_from"][slot] = -1
    row["group"][slot] = row["r_group"][slot, person]
    row["goal1_kind"][slot] = row["r_goal1_kind"][slot, person]
    row["goal1_cell"][slot] = row["r_goal1_cell"][slot, person]
    row["goal2_door"][slot] = row["r_goal2_door"][slot, person]
    row["leg"][slot] = row["r_leg"][slot, person]
    row["holder"][slot] = row["holding"] and row["r_holder"][slot, person]
    row["timer"][slot] = 0
    row["streak"][slot] = 0
    row["courtesy"][slot] = 0
    row["visited"][slot] = layout["zones"][cell] == _ZONE_Q
    row["action"][slot] = -1
    row["auto"][slot] = False
    row["own_move"][slot] = False
    row["displaced"][slot] = False
    row["collided"][slot] = False
    row["violated"][slot] = False
    row["sanctioned"][slot] = False


@njit
def release_holders(row: np.void, layout: np.void) -> None:
    """Free those who hold places in zone R once the newcomer has come near.

    Near is: in R, next to R, or next to a person who stands outside R and next to it.
    Source: NG App. "Test scenario construction"; the queue before R is not specified there.
    """
    if not row["holding"] or not row["present"][0]:
        return
    cell = row["pos"][0]
    near = layout["zones"][cell] == _ZONE_R or layout["near_zone_r"][cell]
    for action in range(4):
        beside = layout["neighbour"][cell, action]
        if beside == cell or not layout["near_zone_r"][beside]:
            continue
        for other in range(1, row["num_slots"]):
            near = near or (row["present"][other] and row["pos"][other] == beside)
    if near:
        row["holding"] = False
        row["holder"][:] = False


@njit
def end_episode(row: np.void) -> None:
    """End a test when its newcomer has left, any episode at its limit."""
    if row["is_test"] and row["person"][0] >= 0 and not row["present"][0]:
        row["ending"] = _TERMINATED
    elif row["turn"] >= row["limit"]:
        row["ending"] = _TRUNCATED


@njit
def plan_rows(
    states: np.ndarray,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    pads: np.ndarray,
    out_actions: np.ndarray,
    out_ties: np.ndarray,
) -> None:
    """Write what the planner would do in every slot, outside-driven ones as norm-aware persons.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        masks: (M, 4, 3) uint64.
        pads: (1,) SCRATCH_DTYPE.
        out_actions: (B, N) int8.
        out_ties: (B, N) uint8, bit a set when action a starts a cheapest path.
    """
    pad = pads[0]
    for index in range(states.shape[0]):
        plan_row(states[index], layouts, norms, masks, pad, True)
        for slot in range(out_actions.shape[1]):
            used = slot < states[index]["num_slots"]
            out_actions[index, slot] = pad["chosen"][slot] if used else _WAIT
            out_ties[index, slot] = pad["ties"][slot] if used else 1 << _WAIT


@njit
def judge_transitions(
    states: np.ndarray,
    layouts: np.ndarray,
    norms: np.ndarray,
    new_cells: np.ndarray,
    out_forbidden: np.ndarray,
) -> None:
    """Write which of all norms would forbid which own move, whatever norms a row holds.

    Args:
        states: (B,) STATE_DTYPE, states before the moves.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        new_cells: (B, N) int16, cell reached by an own move, -1 for none.
        out_forbidden: (B, n, N) bool.
    """
    at = np.empty(165, np.int8)
    for index in range(states.shape[0]):
        row = states[index]
        layout = layouts[row["layout"]]
        placed = norms[row["layout"]]
        list_holders(row, at)
        for norm_index in range(placed.shape[0]):
            for slot in range(new_cells.shape[1]):
                cell = new_cells[index, slot]
                verdict = False
                if cell >= 0 and slot < row["num_slots"]:
                    verdict = forbids(row, layout, placed[norm_index], slot, cell, at)
                out_forbidden[index, norm_index, slot] = verdict


@njit
def write_masks(states: np.ndarray, layouts: np.ndarray, out_masks: np.ndarray) -> None:
    """Write which actions are physically open to each slot.

    Walls shut a move; held persons and empty slots may only wait.
    Source: NG App. "Observation Representation", action mask.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        out_masks: (B, N, 5) int8, 1 open.
    """
    for index in range(states.shape[0]):
        row = states[index]
        layout = layouts[row["layout"]]
        for slot in range(out_masks.shape[1]):
            out_masks[index, slot, _WAIT] = 1
            free = slot < row["num_slots"] and row["present"][slot] and not is_held(row, slot)
            for action in range(4):
                is_open = False
                if free:
                    is_open = layout["neighbour"][row["pos"][slot], action] != row["pos"][slot]
                out_masks[index, slot, action] = 1 if is_open else 0
