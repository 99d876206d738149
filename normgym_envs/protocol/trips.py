"""Trips of one person alone, and on which of them a norm stands in the way.

A trip is an entrance, a first goal and an exit. It conflicts with a norm when the planner that
does not know the norm breaks it and the one that does gets through without breaking it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from normgym_envs.constants import TEST_STEPS, Driver, Goal1, Group
from normgym_envs.engine import BatchEngine
from normgym_envs.norms.library import bound_groups, goal_kinds
from normgym_envs.protocol.newcomers import Outcome, play_newcomers
from normgym_envs.protocol.places import list_places
from normgym_envs.types import PERSON_DTYPE, EpisodeSpec, Layout, Norm


class Trip(NamedTuple):
    """Where a person appears and goes."""

    start: int  # cell of the entrance
    goal1_cell: int  # cell of a given place, -1 when the person may choose
    goal2_door: int  # constants.Door, -1 when the person may choose


def list_trips(layout: Layout, norm: Norm) -> list[Trip]:
    """Return every trip that the norm's kinds of goals allow, in a fixed order."""
    kind, any_door = goal_kinds(norm)
    places = list_places(layout, norm).tolist() if kind == Goal1.PLACE else [-1]
    doors = [-1] if any_door else list(range(len(layout.doors)))
    return [
        Trip(int(start), int(place), door)
        for start in layout.doors
        for place in places
        for door in doors
    ]


def find_conflict_trips(layout: Layout, norm: Norm, group: int) -> list[Trip]:
    """Return the trips on which a lone person of a group runs into the norm.

    Queue norms and norms about who else is in zone R forbid nothing to a lone person: all trips.
    Source: NG App. "Test scenario construction", entrance and goals placed relative to the norm.

    Args:
        layout: the place.
        norm: the norm.
        group: constants.Group of the person.

    Returns:
        list, possibly empty.
    """
    return list(_conflicts(_Key(layout, norm), group))


def list_detour_problems(layout: Layout, norms: Sequence[Norm]) -> list[str]:
    """Return, in words, which norms never cost somebody on a layout a detour.

    Norms that forbid nothing to a lone person are left out.
    Source: docs/rules.md, last condition of maps.

    Args:
        layout: the place.
        norms: norms to try.

    Returns:
        list of one line each; empty when every norm can be tested for every group.
    """
    problems = []
    for norm in norms:
        if goal_kinds(norm)[0] in (Goal1.COUNTER, Goal1.ANY_ZONE_R):
            continue
        trips = list_trips(layout, norm)
        for group in map(Group, bound_groups(norm)):
            aware = walk_alone(layout, norm, group, trips, Driver.NORM_AWARE)
            blind = walk_alone(layout, norm, group, trips, Driver.NORM_BLIND)
            if not any(
                finished and slow > fast
                for finished, slow, fast in zip(
                    aware.finished, aware.turns, blind.turns, strict=True
                )
            ):
                problems.append(
                    f"conflict: {norm.id} never costs a person of group {group.name.lower()} "
                    "a detour"
                )
    return problems


class _Key:
    """A layout and a norm as a cache key; both are frozen but hold arrays or dicts."""

    def __init__(self, layout: Layout, norm: Norm) -> None:
        self.layout = layout
        self.norm = norm

    def __hash__(self) -> int:
        return hash((self.layout.name, self.norm.id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.layout is other.layout and self.norm == other.norm


@lru_cache(maxsize=4096)
def _conflicts(key: _Key, group: int) -> tuple[Trip, ...]:
    trips = list_trips(key.layout, key.norm)
    if goal_kinds(key.norm)[0] in (Goal1.COUNTER, Goal1.ANY_ZONE_R):
        return tuple(trips)
    aware = walk_alone(key.layout, key.norm, group, trips, Driver.NORM_AWARE)
    blind = walk_alone(key.layout, key.norm, group, trips, Driver.NORM_BLIND)
    return tuple(
        trip
        for i, trip in enumerate(trips)
        if aware.finished[i] and not aware.violations[i] and blind.violations[i]
    )


def walk_alone(
    layout: Layout, norm: Norm, group: int, trips: Sequence[Trip], driver: Driver
) -> Outcome:
    """Let the planner walk each trip with nobody else about.

    Args:
        layout: the place.
        norm: the norm in force.
        group: constants.Group of the person.
        trips: at least one.
        driver: norm-aware or norm-blind.

    Returns:
        What became of each trip, one entry a trip.
    """
    engine = BatchEngine([layout], [norm], len(trips))
    kind = goal_kinds(norm)[0]
    for row, trip in enumerate(trips):
        person = np.zeros((1, 1), PERSON_DTYPE)
        person["start"], person["group"] = trip.start, Group(group)
        person["goal1_kind"], person["goal1_cell"] = kind, trip.goal1_cell
        person["goal2_door"] = trip.goal2_door
        spec = EpisodeSpec(
            name=f"{norm.id}/alone-{row}",
            layout=layout.name,
            norms=(norm.id,),
            phase="seen",
            seed=0,
            limit=TEST_STEPS,
            drivers=(int(driver),),
            priority=(0,),
            persons=person,
        )
        engine.load(row, spec)
    return play_newcomers(engine)
