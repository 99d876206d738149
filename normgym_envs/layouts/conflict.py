"""Does a layout bring a norm into conflict with the shortest way of one person alone?

A norm that never costs a detour on some map cannot be tested there. The search is a plain
restatement for maps without other people; the verdicts of episodes are those of `norms/kinds.py`.
"""

from collections import deque
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from normgym_envs.constants import PLACE_SERVICE_STEPS, Door, Goal1, Region, Zone
from normgym_envs.layouts.routes import UNREACHABLE, list_neighbours, measure_distances
from normgym_envs.norms.geometry import SEAT_ORDERS, seat_order
from normgym_envs.norms.library import goal_kinds
from normgym_envs.types import Layout, Norm


class Triple(NamedTuple):
    """A trip of one person: where it appears, where goal 1 lies, by which door it leaves."""

    entrance: int  # cell
    goal1: int  # cell, -1 any chair
    exit: int  # cell, -1 any door


class _Walker(NamedTuple):
    """What a verdict can depend on when nobody else is about."""

    cell: int
    turn: int
    streak: int  # own moves in a row
    visited: bool  # has stood in zone Q


def needs_company(norm: Norm) -> bool:
    """Return whether a norm forbids nothing to a person who is alone (queues, zone R)."""
    return goal_kinds(norm)[0] in (Goal1.COUNTER, Goal1.ANY_ZONE_R)


def find_conflicts(layout: Layout, norm: Norm, group: str) -> Iterator[Triple]:
    """Yield every trip on which obeying the norm takes longer than the plain way.

    Source: not specified; chosen because a test whose direct way obeys the norm shows nothing.

    Args:
        layout: the place.
        norm: one for which `needs_company` is false.
        group: name of the person's group.
    """
    goal1, any_door = goal_kinds(norm)
    doors = [int(door) for door in layout.doors]
    chairs = {int(cell) for cell in layout.chairs}
    places = [cell for cell, _ in layout.destinations]
    if norm.kind == "visit_first":
        places = sorted(chairs)
    for entrance in doors:
        plain = measure_distances(layout, entrance)
        for goal in places if goal1 == Goal1.PLACE else [-1]:
            goals = chairs if goal < 0 else {goal}
            first = _measure(layout, norm, group, _start(layout, entrance, 0), goals)
            if first == UNREACHABLE:
                continue
            longer = first > min(plain[cell] for cell in goals)
            for door in [-1] if any_door else doors:
                if goal < 0:
                    # On the way out of a chair, norms about seats bind nobody.
                    if longer:
                        yield Triple(entrance, goal, door)
                    continue
                exits = set(doors) if door < 0 else {door}
                walker = _start(layout, goal, first + PLACE_SERVICE_STEPS - 1)
                second = _measure(layout, norm, group, walker._replace(visited=True), exits)
                direct = measure_distances(layout, goal)
                if second != UNREACHABLE and (
                    longer or second > min(direct[cell] for cell in exits)
                ):
                    yield Triple(entrance, goal, door)


def has_conflict_triple(layout: Layout, norm: Norm, group: str) -> bool:
    """Return whether there is a trip on which obeying the norm takes longer than the plain way.

    Args:
        layout: the place.
        norm: one for which `needs_company` is false.
        group: name of the person's group.
    """
    return next(find_conflicts(layout, norm, group), None) is not None


def _start(layout: Layout, cell: int, turn: int) -> _Walker:
    """Return a person who has not moved yet."""
    return _Walker(cell, turn, 0, layout.zones.flat[cell] == Zone.Q)


def _measure(layout: Layout, norm: Norm, group: str, start: _Walker, goals: Collection[int]) -> int:
    """Return the turns a lone person needs to a goal without breaking the norm."""
    facts = _gather_facts(layout)
    cycle = int(norm.parameters.get("modulus", 1))
    longest = int(norm.parameters.get("moves", 0))
    first = start._replace(turn=start.turn % cycle)
    seen = {first}
    queue = deque([(first, 0)])
    while queue:
        walker, turns = queue.popleft()
        if walker.cell in goals:
            return turns
        turn = (walker.turn + 1) % cycle
        following = [walker._replace(turn=turn, streak=0)]
        for cell in facts.neighbours[walker.cell]:
            if _is_permitted(facts, norm, group, walker, cell):
                visited = walker.visited or facts.zone_of[cell] == "Q"
                streak = min(walker.streak + 1, longest)
                following.append(_Walker(cell, turn, streak, visited))
        for state in following:
            if state not in seen:
                seen.add(state)
                queue.append((state, turns + 1))
    return UNREACHABLE


class _Facts(NamedTuple):
    """What stands on the cells of a layout, by cell."""

    neighbours: dict[int, tuple[int, ...]]
    zone_of: list[str]
    door_of: dict[int, str]
    region_of: dict[int, str]
    ring_place: dict[int, int]
    first_seats: dict[str, int]  # by order


@lru_cache(maxsize=8)
def _gather_facts(layout: Layout) -> _Facts:
    """Return a layout's cells as plain tables."""
    cells = range(layout.cells.size)
    return _Facts(
        {cell: tuple(list_neighbours(layout, cell)) for cell in cells},
        [Zone(int(zone)).name for zone in layout.zones.flat],
        {int(layout.doors[door]): door.name for door in Door},
        {
            int(chair): Region(int(region)).name
            for chair, region in zip(layout.chairs, layout.regions, strict=True)
        },
        {int(cell): place for place, cell in enumerate(layout.ring)},
        {order: int(seat_order(layout, order)[0]) for order in SEAT_ORDERS},
    )


def _is_permitted(facts: _Facts, norm: Norm, group: str, walker: _Walker, cell: int) -> bool:
    """Return the verdict on a move of a lone person.

    Source: NG Table A2.
    """
    asked = norm.parameters
    door, region = facts.door_of.get(cell), facts.region_of.get(cell)
    match norm.kind:
        case "zone_forbidden":
            return facts.zone_of[cell] != str(asked["zone"])
        case "exit_doors":
            return door is None or door in asked["doors"]
        case "group_doors":
            return door is None or door == str(asked[group])
        case "seat_regions":
            return region is None or region in asked["regions"]
        case "group_seats":
            return region is None or region == str(asked[group])
        case "seat_order":
            return region is None or cell == facts.first_seats[asked["order"]]
        case "visit_first":
            return region is None or walker.visited
        case "turn_residues":
            return walker.turn in asked["residues"]
        case "move_wait":
            return walker.streak < int(asked["moves"])
        case "ring_direction":
            here, there = facts.ring_place.get(walker.cell), facts.ring_place.get(cell)
            if here is None or there is None:
                return True
            direction = "clockwise" if (there - here) % len(facts.ring_place) == 1 else "counter"
            return str(asked["direction"]).startswith(direction)
    raise NotImplementedError(norm.kind)
