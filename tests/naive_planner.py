"""The scripted agents' planner, restated plainly: A*, predictions, courtesy.

Second of three files of the slow restatement; see `naive.py`. Every search is a textbook A* over
(cell, phase of the turn, own moves in a row, zone Q visited), with the norms asked about each
transition; there are no short cuts for any kind of norm.
"""

import heapq
from math import lcm
from typing import NamedTuple

from naive_world import (
    ANY_CHAIR,
    ANY_ZONE_R,
    COUNTER,
    EXTERNAL,
    NORM_BLIND,
    WAIT,
    WIDTH,
    NaiveSlot,
    NaiveWorld,
    Row,
    choose,
    forbids,
    neighbour,
    violates,
)

COLLISION_STEPS = 50  # cost of entering a cell where another is expected, in steps
HESITATION = 4  # stream of random draws; index: the cell on which the person stands
PATIENCE = 2  # courteous waits after which a person on its way out pushes

Node = tuple[int, int, int, bool]
"""Cell, turns from now modulo the norms' period, own moves in a row, zone Q visited."""


class Plan(NamedTuple):
    """What every slot would do, and what the agents foresee."""

    actions: list[int]  # (N,); -1 for an outside-driven slot that was not asked for
    ties: list[set[int]]  # (N,) equally good first actions
    predicted: list[int]  # (N,) cells after the step, -1 for an empty slot
    courtesy: list[bool]  # (N,) waits only to let another pass


def goal_cells(world: NaiveWorld, person: NaiveSlot) -> set[int]:
    """Return the cells at which the person's present goal is reached."""
    layout = world.layout
    if person.leg == 1:
        if person.goal2_door >= 0:
            return {layout.doors[person.goal2_door]}
        return {door for door in layout.doors if door >= 0}
    if person.goal1_kind == COUNTER:
        return {layout.service}
    if person.goal1_kind == ANY_CHAIR:
        return set(layout.chairs)
    if person.goal1_kind == ANY_ZONE_R:
        return {cell for cell, zone in enumerate(layout.zones) if zone == "R"}
    return {person.goal1_cell}


def search(
    world: NaiveWorld, slot: int, norms: list[Row], occupied: set[int], relaxed: bool = False
) -> set[int]:
    """Find every first action of a cheapest path to the person's goal by A*.

    Each turn costs 1, entering an occupied cell 50 more; moves the norms forbid are left out.
    Others are judged where they are now, times and the person's own memory as they will be.

    Args:
        world: state before the step.
        slot: the person's slot.
        norms: rows to obey; none for a norm-blind person.
        occupied: cells where others are expected.
        relaxed: leave out what in the norms depends on others.

    Returns:
        set of actions; {WAIT} at the goal; empty when it cannot be reached.
    """
    person, layout = world.slots[slot], world.layout
    goals = goal_cells(world, person)
    if person.pos in goals:
        return {WAIT}
    period = lcm(*(n["parameters"]["modulus"] for n in norms if n["kind"] == "turn_residues"))
    longest = max((n["parameters"]["moves"] for n in norms if n["kind"] == "move_wait"), default=0)
    needs_visit = any(n["kind"] == "visit_first" for n in norms)

    def distance(cell: int) -> int:
        row, column = divmod(cell, WIDTH)
        return min(abs(row - goal // WIDTH) + abs(column - goal % WIDTH) for goal in goals)

    def successors(node: Node) -> list[tuple[int, int, Node]]:
        cell, phase, streak, visited = node
        later = (phase + 1) % period
        found = [(WAIT, 1, (cell, later, 0, visited))]
        for action in range(4):
            target = neighbour(cell, action)
            if not layout.enterable(target):
                continue
            if any(
                forbids(
                    world,
                    norm,
                    slot,
                    cell,
                    target,
                    turn=world.turn + phase,
                    streak=streak,
                    visited=visited,
                    relaxed=relaxed,
                )
                for norm in norms
            ):
                continue
            cost = 1 + (COLLISION_STEPS if target in occupied else 0)
            seen = visited or (needs_visit and layout.zones[target] == "Q")
            found.append((action, cost, (target, later, min(streak + 1, longest), seen)))
        return found

    start: Node = (person.pos, 0, min(person.streak, longest), needs_visit and person.visited)
    costs: dict[Node, int] = {start: 0}
    firsts: dict[Node, set[int]] = {start: set()}
    # Among equal estimates the lower cost comes first: then every cheapest way to a node is
    # known before the node is taken up, and its set of first actions is complete.
    heap: list[tuple[int, int, Node]] = [(distance(person.pos), 0, start)]
    closed: set[Node] = set()
    best: int | None = None
    ties: set[int] = set()
    while heap:
        estimate, cost, node = heapq.heappop(heap)
        if best is not None and estimate > best:
            break
        if node in closed:
            continue
        closed.add(node)
        if node[0] in goals:
            best = cost
            ties |= firsts[node]
            continue
        for action, price, following in successors(node):
            reached = cost + price
            first = {action} if node == start else firsts[node]
            if following not in costs or reached < costs[following]:
                costs[following] = reached
                firsts[following] = set(first)
                heapq.heappush(heap, (reached + distance(following[0]), reached, following))
            elif reached == costs[following]:
                firsts[following] |= first
    return ties


def best_actions(world: NaiveWorld, slot: int, occupied: set[int]) -> set[int]:
    """Return the equally good first actions of a person of its own type, before courtesy.

    When no path is permitted, the path that ignores the others is asked; of its first actions
    those remain that are permitted now, or WAIT alone.
    """
    person = world.slots[slot]
    kind = person.predicted if person.driver == EXTERNAL else person.driver
    norms = [] if kind == NORM_BLIND else world.norms_in_force()
    ties = search(world, slot, norms, occupied)
    if ties:
        return ties
    for action in search(world, slot, norms, occupied, relaxed=True):
        target = person.pos if action == WAIT else neighbour(person.pos, action)
        if not violates(world, slot, person.pos, target):
            ties.add(action)
    return ties or {WAIT}


def intended_cells(world: NaiveWorld) -> list[int]:
    """Return the cell each person would enter if all the others stood still."""
    intents = []
    for slot, person in enumerate(world.slots):
        if not person.present or person.held:
            intents.append(person.pos if person.present else -1)
            continue
        occupied = {other.pos for other in world.others(slot)}
        action = min(best_actions(world, slot, occupied))
        intents.append(person.pos if action == WAIT else neighbour(person.pos, action))
    return intents


def joint_prediction(world: NaiveWorld, intents: list[int]) -> list[int]:
    """Turn the intents into one joint move without conflicts.

    Args:
        world: state before the step.
        intents: (N,) cells aimed at, -1 for an empty slot.

    Returns:
        (N,) cells, -1 for an empty slot.
    """
    slots = world.slots
    cells = list(intents)
    holder = {person.pos: slot for slot, person in enumerate(slots) if person.present}
    changed = True
    while changed:
        changed = False
        for cell in sorted(set(cells)):
            rivals = [i for i, p in enumerate(slots) if p.present and cells[i] == cell != p.pos]
            there = holder.get(cell)
            stays = there is not None and cells[there] == cell
            swaps = [i for i in rivals if there is not None and cells[there] == slots[i].pos]
            ranked = swaps + sorted(set(rivals) - set(swaps), key=lambda i: slots[i].priority)
            for i in rivals if stays else ranked[1:]:
                cells[i] = slots[i].pos
                changed = True
    return cells


def plan(world: NaiveWorld, shared: bool = False, external: bool = False) -> Plan:
    """Choose the action of every scripted slot.

    Source: NG Algorithm 1; the joint prediction and courtesy are not in NG.

    Args:
        world: state before the step; not changed.
        shared: compute the predictions once for all instead of once per planning agent, which
            changes the time and nothing else.
        external: plan for outside-driven slots too, as the type the others take them for.

    Returns:
        Plan.
    """
    actions, ties, courtesy = [], [], []
    predicted = joint_prediction(world, intended_cells(world)) if shared else []
    for slot, person in enumerate(world.slots):
        courteous = False
        if not person.present or person.held:
            options, action = {WAIT}, WAIT
        elif person.driver == EXTERNAL and not external:
            options, action = set(), -1
        else:
            if not shared:
                predicted = joint_prediction(world, intended_cells(world))
            occupied = {c for i, c in enumerate(predicted) if i != slot and c >= 0}
            options = best_actions(world, slot, occupied)
            action = min(options)
            if action != WAIT and neighbour(person.pos, action) in occupied:
                courteous = person.leg == 0 or person.courtesy < PATIENCE
                if courteous:
                    options, action = {WAIT}, WAIT
            elif (
                person.driver != EXTERNAL
                and action != WAIT
                and neighbour(person.pos, action) == person.came_from
            ):
                # hesitate to walk straight back
                if choose(world, HESITATION, person.pos, 2) == 0:
                    options, action = options | {WAIT}, WAIT
        actions.append(action)
        ties.append(options)
        courtesy.append(courteous)
    predicted = predicted or joint_prediction(world, intended_cells(world))
    return Plan(actions, ties, predicted, courtesy)
