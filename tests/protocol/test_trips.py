"""Trips of lone persons, held against the plain restatement walking them."""

from pathlib import Path

import naive
import pytest

from normgym_envs.constants import Driver, Goal1, Group
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, goal_kinds, load_norms
from normgym_envs.protocol.trips import (
    Trip,
    find_conflict_trips,
    list_detour_problems,
    list_trips,
    walk_alone,
)

PACKAGE = Path(naive.__file__).parent.parent / "normgym_envs"
CAFE = get_layout("cafe")
NAIVE_CAFE = naive.load_map(PACKAGE / "layouts" / "maps" / "cafe.toml")
ROWS = naive.load_norms(PACKAGE / "norms" / "library.toml")
LONE = (
    "forbidden-zone-q",
    "all-exit-right",
    "group-doors-bca",
    "bottom-left-seats-only",
    "group-seating-2",
    "clockwise-circulation",
    "no-turns-1-mod-3",
    "move-2-wait-1",
    "visit-zone-q-first",
    "seats-right-to-left",
)
"""A norm of every kind that can stand in the way of somebody who is alone."""


def walk(norm: str, trip: Trip, group: int, driver: int) -> tuple[bool, int, int]:
    """Walk a trip in the plain restatement: finished, violations, turns."""
    person = {
        "delay": 0,
        "start": trip.start,
        "goal1_cell": trip.goal1_cell,
        "group": group,
        "goal1_kind": int(goal_kinds(get_norm(norm))[0]),
        "goal2_door": trip.goal2_door,
        "leg": 0,
        "holder": False,
    }
    world = naive.NaiveWorld(NAIVE_CAFE, ROWS, norms=[norm], limit=100, phase="seen")
    world.slots = [naive.NaiveSlot(driver=driver)]
    world.rosters = [[person]]
    naive.arrive(world)
    violations = 0
    while world.ended == naive.RUNNING:
        naive.step(world, {})
        violations += world.slots[0].violated
    return world.ended == naive.TERMINATED, violations, world.turn


@pytest.mark.parametrize("norm", LONE)
def test_trips_against_the_plain_restatement(norm: str) -> None:
    group = LONE.index(norm) % 3
    trips = list_trips(CAFE, get_norm(norm))
    conflicts = find_conflict_trips(CAFE, get_norm(norm), group)
    assert conflicts
    assert set(conflicts) <= set(trips)
    sample = trips[:: max(1, len(trips) // 12)]
    walks = {
        driver: walk_alone(CAFE, get_norm(norm), group, sample, driver)
        for driver in (Driver.NORM_AWARE, Driver.NORM_BLIND)
    }
    for i, trip in enumerate(sample):
        aware, blind = (walk(norm, trip, group, driver) for driver in (1, 2))
        for driver, expected in ((Driver.NORM_AWARE, aware), (Driver.NORM_BLIND, blind)):
            found = walks[driver]
            assert (found.finished[i], found.violations[i], found.turns[i]) == expected
        assert aware[1] == 0
        assert (trip in conflicts) == (aware[0] and blind[1] > 0)


def test_all_trips_are_listed() -> None:
    chairs, places = len(CAFE.chairs), len(CAFE.destinations)
    counts = {
        "all-exit-left": 3 * places,
        "group-doors-abc": 3 * places,
        "forbidden-zone-q": 3 * places * 3,
        "visit-zone-q-first": 3 * chairs * 3,
        "bottom-left-seats-only": 9,
        "zigzag-left-2": 9,
        "zone-r-capacity-1": 9,
    }
    for norm, count in counts.items():
        trips = list_trips(CAFE, get_norm(norm))
        assert len(trips) == len(set(trips)) == count, norm


def test_norms_about_others_leave_every_trip_open() -> None:
    for norm in load_norms():
        if goal_kinds(norm)[0] in (Goal1.COUNTER, Goal1.ANY_ZONE_R):
            assert find_conflict_trips(CAFE, norm, Group.BLUE) == list_trips(CAFE, norm)


def test_every_norm_conflicts_with_somebody_of_every_group() -> None:
    for norm in load_norms():
        for group in Group:
            assert find_conflict_trips(CAFE, norm, group), (norm.id, group)


def test_every_norm_costs_a_detour_on_the_cafe() -> None:
    assert list_detour_problems(CAFE, load_norms()) == []


def test_the_list_can_be_changed_without_harm() -> None:
    norm = get_norm("all-exit-left")
    find_conflict_trips(CAFE, norm, 0).clear()
    assert find_conflict_trips(CAFE, norm, 0)
