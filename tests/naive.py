"""The world's rules restated slowly in plain Python; the compiled engine is tested against it.

Clear before fast: one function per stage of a step, no arrays, no compiled code, nothing of the
project imported. This file holds the random draws, the step and turnover; `naive_world.py` the
facts and norm verdicts, `naive_planner.py` the planner. Their names can be had from here.

Source: NG Sec. "NormGym" and App. "Environment Details"; what NG leaves open is decided in the
project's page on the rules of the world.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from naive_planner import Plan, joint_prediction, plan, search
from naive_world import (
    ANY_CHAIR,
    ANY_ZONE_R,
    COUNTER,
    DOORS,
    DOWN,
    EXTERNAL,
    GROUPS,
    LEFT,
    NORM_AWARE,
    NORM_BLIND,
    PLACE,
    RIGHT,
    RUNNING,
    TERMINATED,
    TEST_PHASES,
    TRUNCATED,
    UP,
    WAIT,
    WIDTH,
    NaiveLayout,
    NaiveSlot,
    NaiveWorld,
    Row,
    choose,
    draw,
    load_map,
    load_norms,
    make_layout,
    neighbour,
    neighbours,
    queue_path,
    splitmix64,
    violates,
)

__all__ = [
    "ANY_CHAIR",
    "ANY_ZONE_R",
    "COUNTER",
    "DOORS",
    "DOWN",
    "EXTERNAL",
    "GROUPS",
    "LEFT",
    "NORM_AWARE",
    "NORM_BLIND",
    "PLACE",
    "RIGHT",
    "RUNNING",
    "TERMINATED",
    "TRUNCATED",
    "UP",
    "WAIT",
    "WIDTH",
    "NaiveLayout",
    "NaiveSlot",
    "NaiveWorld",
    "Plan",
    "Resolution",
    "Row",
    "choose",
    "draw",
    "joint_prediction",
    "load_episode",
    "load_map",
    "load_norms",
    "make_layout",
    "neighbour",
    "plan",
    "queue_path",
    "resolve",
    "search",
    "shortest_chains",
    "splitmix64",
    "step",
    "violates",
]

KEEP, PLACEMENT, CHAIN = 1, 2, 3  # streams of random draws
ROUND = 1000  # added to a draw's index for every new resolution of the same step
COUNTER_TURNS, PLACE_TURNS = 4, 3  # turns of service
STEP_REWARD, GOAL_REWARD, COLLISION_REWARD, SANCTION_REWARD = -0.1, 10.0, -5.0, -20.0


class Resolution(NamedTuple):
    """Where everybody ends up, by slot; -1 for an empty slot."""

    cells: list[int]
    own_move: list[bool]
    displaced: list[bool]
    collided: list[bool]


def shortest_chains(layout: NaiveLayout, cell: int, held: Mapping[int, int]) -> list[list[int]]:
    """List the shortest chains of pushes that make room beside a crowded cell.

    Args:
        layout: the place.
        cell: the contested cell, from which somebody must go.
        held: cell -> slot of those whose place is settled so far.

    Returns:
        chains in the order of their directions; each is the cells taken by the displaced person
        (first) and by each person pushed in turn; empty when there is none.
    """

    def extend(chain: list[int], length: int) -> Iterator[list[int]]:
        for target in neighbours(chain[-1]):
            if not layout.enterable(target) or layout.is_door(target) or target in chain:
                continue
            if len(chain) == length:
                if target not in held:
                    yield [*chain[1:], target]
            elif held.get(target, 0) != 0:  # somebody, and not the newcomer
                yield from extend([*chain, target], length)

    for length in range(1, len(held) + 2):
        chains = list(extend([cell], length))
        if chains:
            return chains
    return []


def resolve(world: NaiveWorld, targets: list[int]) -> Resolution:
    """Resolve the intended cells of all persons into one person per cell.

    Source: NG App. "Collisions".

    Args:
        world: state before the step; not changed.
        targets: (N,) intended cells, the own cell for one who waits, -1 for an empty slot.

    Returns:
        Resolution.
    """
    slots = world.slots
    present = [i for i, person in enumerate(slots) if person.present]
    fixed: set[int] = set()  # movers that must stay, because nobody could make room
    attempt = 0
    while True:
        aims = {i: slots[i].pos if i in fixed else targets[i] for i in present}
        result = settle(world, aims, attempt)
        if isinstance(result, int):
            fixed |= {i for i in present if aims[i] == result and slots[i].pos != result}
            attempt += 1
            continue
        cells, displaced = result
        crowded = {cell for cell in aims.values() if list(aims.values()).count(cell) > 1}
        movers = {i for i in present if aims[i] != slots[i].pos}
        charged = fixed | {i for i in movers if aims[i] in crowded}
        return Resolution(
            cells=[cells.get(i, -1) for i in range(len(slots))],
            own_move=[i in movers and i not in displaced for i in range(len(slots))],
            displaced=[i in displaced for i in range(len(slots))],
            collided=[i in charged for i in range(len(slots))],
        )


def settle(
    world: NaiveWorld, aims: dict[int, int], attempt: int
) -> tuple[dict[int, int], set[int]] | int:
    """Settle every contested cell once.

    Args:
        world: state before the step.
        aims: slot -> cell it would occupy.
        attempt: how often this step has been resolved before.

    Returns:
        the cell of each slot and the slots that were displaced or pushed; or, when nobody can
        make room beside a contested cell, that cell.
    """
    layout, slots = world.layout, world.slots
    shift = ROUND * attempt
    crowds: dict[int, list[int]] = {}
    for cell in sorted(set(aims.values())):
        crowd = sorted((i for i in aims if aims[i] == cell), key=lambda i: slots[i].pos)
        if len(crowd) > 1:
            crowds[cell] = crowd
    cells = dict(aims)
    displaced: set[int] = set()
    for cell, crowd in crowds.items():
        movers = [i for i in crowd if slots[i].pos != cell]
        crowd.remove(movers[choose(world, KEEP, cell + shift, len(movers))])
        displaced |= set(crowd)
    held = {cell: i for i, cell in cells.items() if i not in displaced}
    for cell, crowd in crowds.items():
        for i in crowd:
            index = slots[i].pos + shift
            chains = shortest_chains(layout, cell, held)
            if not chains:
                return cell
            stream = PLACEMENT if len(chains[0]) == 1 else CHAIN
            chain = chains[choose(world, stream, index, len(chains))]
            moving = [i] + [held[target] for target in chain[:-1]]
            for person, target in zip(moving, chain, strict=True):
                cells[person] = target
                held[target] = person
                displaced.add(person)
    return cells, displaced


def appear(world: NaiveWorld, slot: int) -> None:
    """Put the next person of a slot's roster on its start cell."""
    roster, person = world.rosters[slot], world.slots[slot]
    entry = roster[person.person % len(roster)]
    person.present = person.new = True
    person.pos = person.prev = int(entry["start"])
    person.group = int(entry["group"])
    person.goal1_kind = int(entry["goal1_kind"])
    person.goal1_cell = int(entry["goal1_cell"])
    person.goal2_door = int(entry["goal2_door"])
    person.leg = int(entry["leg"])
    person.holder = bool(entry["holder"]) and not world.released
    person.timer = person.streak = person.courtesy = 0
    person.came_from = -1
    person.visited = world.layout.zones[person.pos] == "Q"
    person.action = -1
    person.auto = False


def arrive(world: NaiveWorld) -> None:
    """Let everybody appear who is due and whose start cell is free."""
    due = []
    for slot, roster in enumerate(world.rosters):
        person = world.slots[slot]
        gone = slot == 0 and world.ended == TERMINATED
        if roster and not person.present and not gone and person.arrival <= world.turn:
            due.append((person.arrival, person.priority, slot))
    for _, _, slot in sorted(due):
        person = world.slots[slot]
        start = int(world.rosters[slot][person.person % len(world.rosters[slot])]["start"])
        if all(other.pos != start for other in world.others(slot)):
            appear(world, slot)


def depart(world: NaiveWorld, slot: int) -> None:
    """Take a finished person out and say when the next one is due."""
    person = world.slots[slot]
    person.present = False
    if slot == 0 and world.phase in TEST_PHASES:
        world.ended = TERMINATED
        return
    person.person += 1
    if world.rosters and world.rosters[slot]:
        roster = world.rosters[slot]
        person.arrival = world.turn + 1 + int(roster[person.person % len(roster)]["delay"])


def release_holders(world: NaiveWorld) -> None:
    """Let the holders of zone R go once the newcomer has come near enough."""
    layout, newcomer = world.layout, world.slots[0]
    if not newcomer.present:
        return

    def beside_r(cell: int) -> bool:
        return any(layout.zones[n] == "R" for n in neighbours(cell))

    near = layout.zones[newcomer.pos] == "R" or beside_r(newcomer.pos)
    for other in world.others(0):
        outside = layout.zones[other.pos] != "R" and beside_r(other.pos)
        near = near or (outside and other.pos in neighbours(newcomer.pos))
    if near:
        world.released = True
        for person in world.slots:
            person.holder = False


def pursue_goals(world: NaiveWorld, slot: int) -> None:
    """Advance service and goals of a person that has just taken its new cell."""
    layout, person = world.layout, world.slots[slot]
    if person.leg == 1:
        door = layout.is_door(person.pos)
        if person.goal2_door >= 0:
            door = person.pos == layout.doors[person.goal2_door]
        if person.own_move and door:
            person.goals = 1
            depart(world, slot)
        return
    there = {
        COUNTER: person.pos == layout.service,
        PLACE: person.pos == person.goal1_cell,
        ANY_CHAIR: layout.cells[person.pos] == "h",
        ANY_ZONE_R: layout.zones[person.pos] == "R",
    }[person.goal1_kind]
    person.timer = person.timer + 1 if there else 0
    if person.timer == (COUNTER_TURNS if person.goal1_kind == COUNTER else PLACE_TURNS):
        person.leg, person.timer, person.goals = 1, 0, 1
        person.came_from = -1


def step(world: NaiveWorld, actions: Mapping[int, int], shared: bool = True) -> list[float]:
    """Advance the world by one turn, in place.

    Args:
        world: the episode; must be running.
        actions: slot -> action of the outside-driven slots; WAIT where none is given.
        shared: compute predictions once for all; see `plan`.

    Returns:
        (N,) rewards, reward points.
    """
    if world.ended != RUNNING:
        raise RuntimeError("the episode has ended; make a new world")
    slots = world.slots
    at_start = [person.present for person in slots]
    # Intended cells.
    chosen = plan(world, shared)
    targets = []
    for slot, person in enumerate(slots):
        person.auto = not person.present or person.held
        person.action = chosen.actions[slot]
        if not person.auto and person.driver == EXTERNAL:
            person.action = int(actions.get(slot, WAIT))
        target = person.pos if person.action == WAIT else neighbour(person.pos, person.action)
        targets.append(target if world.layout.enterable(target) else person.pos)
        if not person.present:
            targets[slot] = -1
    # Conflicts and pushes.
    result = resolve(world, targets)
    # Verdicts, on the state before the step.
    verdicts = [
        result.own_move[slot] and violates(world, slot, person.pos, result.cells[slot])
        for slot, person in enumerate(slots)
    ]
    # Everybody takes the new cell.
    for slot, person in enumerate(slots):
        person.own_move = result.own_move[slot]
        person.displaced = result.displaced[slot]
        person.collided = result.collided[slot]
        person.violated = verdicts[slot]
        person.goals = 0
        person.new = False
        if not person.present:
            continue
        person.prev, person.pos = person.pos, result.cells[slot]
        person.streak = person.streak + 1 if person.own_move else 0
        person.visited = person.visited or world.layout.zones[person.pos] == "Q"
        if person.own_move:
            person.came_from = person.prev
        elif person.displaced:
            person.came_from = -1
        if person.own_move:
            person.courtesy = 0
        elif chosen.courtesy[slot]:
            person.courtesy += 1
    # Goals, service, departures.
    for slot in range(len(slots)):
        if slots[slot].present:
            pursue_goals(world, slot)
    release_holders(world)
    # Arrivals, and the end of the episode.
    world.turn += 1
    arrive(world)
    if world.ended == RUNNING and world.turn >= world.limit:
        world.ended = TRUNCATED
    # Rewards.
    for slot, person in enumerate(slots):
        person.reward = 0.0
        if at_start[slot]:
            person.reward = STEP_REWARD + GOAL_REWARD * person.goals
            person.reward += COLLISION_REWARD * person.collided + SANCTION_REWARD * person.violated
    return [person.reward for person in slots]


def load_episode(spec: Any, layout: NaiveLayout, norm_rows: dict[str, Row]) -> NaiveWorld:
    """Start an episode from its specification.

    Args:
        spec: an object with the attributes of the project's `EpisodeSpec`.
        layout: the place; the specification's layout name is not looked up.
        norm_rows: norm rows by id.

    Returns:
        NaiveWorld, before turn 0.
    """
    fields = ("delay", "group", "start", "goal1_kind", "goal1_cell", "goal2_door", "leg", "holder")
    ranks = {int(slot): rank for rank, slot in enumerate(spec.priority)}
    foreseen = {"norm_aware": NORM_AWARE, "norm_blind": NORM_BLIND}[spec.predict_newcomer]
    world = NaiveWorld(
        layout,
        norm_rows,
        norms=list(spec.norms),
        norms_after=list(spec.norms_after),
        change_turn=int(spec.change_turn),
        limit=int(spec.limit),
        seed=int(spec.seed),
        phase=spec.phase,
    )
    for slot, driver in enumerate(spec.drivers):
        roster = [{name: entry[name] for name in fields} for entry in spec.persons[slot]]
        world.rosters.append(roster)
        world.slots.append(
            NaiveSlot(
                driver=int(driver),
                predicted=foreseen,
                priority=ranks[slot],
                arrival=int(roster[0]["delay"]),
            )
        )
    arrive(world)
    release_holders(world)
    return world
