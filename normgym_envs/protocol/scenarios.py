"""Builds and verifies the episodes of the evaluation protocol.

A test scenario is one in which the direct way breaks the norm; an interaction is one whose public
record tells the norm apart from all others. Candidates come from a seeded stream and are tried in
the engine; what was rejected is counted.

Source: NG App. "Evaluation Protocol" and "Test scenario construction"; docs/rules.md.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from normgym_envs.constants import (
    GRID_WIDTH,
    INTERACTION_STEPS,
    MAX_PERSONS,
    MIN_REFILL_DELAY,
    TEST_STEPS,
    Cell,
    Driver,
    Ending,
    Goal1,
    Group,
    Zone,
)
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ScenarioError
from normgym_envs.norms.geometry import queue_path
from normgym_envs.norms.library import goal_kinds, num_slots
from normgym_envs.protocol.equivalence import (
    find_equivalent_norms,
    find_implied_norms,
)
from normgym_envs.protocol.evidence import examine_interaction
from normgym_envs.protocol.newcomers import play_newcomers
from normgym_envs.protocol.places import draw_persons
from normgym_envs.protocol.trips import Trip, find_conflict_trips
from normgym_envs.types import BoolArray, EpisodeSpec, Layout, Norm, RecordArray

MAX_CANDIDATES = 100
"""Candidates tried for one scenario. Source: docs/rules.md."""
TEST_PERSONS = 12
"""Persons a slot's roster lists in a test: 100 steps leave no time for more."""
ARRIVAL_SPREAD = 20
"""First arrivals fall on turns 0 to this. Source: docs/rules.md (queue tests); used for all."""
INSIDE_SHARE = 0.7
"""Share of the others that start inside in queue tests. Source: docs/rules.md."""
MIN_INFORMATIVE = 5
"""Turns on which others visibly kept the norm (`evidence.py`). Source: docs/rules.md."""
MIN_BACKGROUND_VIOLATIONS = 3
"""Source: NG asks for one; chosen so that a single accident is no evidence."""


MAX_COMPARED = 20
"""Valid candidates on which all wrong beliefs are played; the most telling one is taken.
Source: not specified in NG; chosen because a test that a wrong belief passes measures little."""
IGNORANCE = "no norm at all"
"""Stands in `Built.passed_by` for a newcomer that ignores the norm but is foreseen to keep it."""


class Built(NamedTuple):
    """An accepted episode and what it took to find it."""

    spec: EpisodeSpec
    rejected: tuple[str, ...]  # reason of each rejected candidate, in order
    passed_over: int = 0  # valid candidates that tell fewer wrong beliefs apart
    passed_by: tuple[str, ...] = ()  # norms under whose belief the test is passed all the same


class TestBuilder:
    """Builds the test scenarios of one norm on one layout."""

    def __init__(self, layout: Layout, norm: Norm, library: Sequence[Norm]) -> None:
        """Prepare the engines.

        Args:
            layout: where the tests are played.
            norm: the norm in force.
            library: norms that a newcomer might believe in instead; may hold the norm itself.
        """
        self.layout, self.norm = layout, norm
        rivals = [rival for rival in library if rival.id != norm.id]
        self._pair = BatchEngine([layout], [norm], 3)
        engine = BatchEngine([layout], [norm, *rivals], max(len(rivals), 1))
        implies = find_implied_norms(engine, layout, num_slots(norm))[:, 0]
        self._rivals = [rival for i, rival in enumerate(rivals, 1) if not implies[i]]
        self._crowd = engine

    def build(
        self, phase: str, number: int, group: int, seed: int, *, compare: bool = True
    ) -> Built:
        """Build one test scenario.

        A candidate is valid when the norm-aware newcomer finishes without a violation and the
        norm-blind one finishes with one. A valid one is passed over when a newcomer that ignores
        the norm gets through by patience as long as the others foresee it to keep the norm; of the
        next `MAX_COMPARED` the one is taken that the fewest wrong beliefs pass. Norms that imply
        the true one do not count as wrong.

        Args:
            phase: "seen" or "unseen".
            number: counts the scenarios of the phase; part of the name.
            group: constants.Group of the newcomer.
            seed: of the stream of candidates.
            compare: choose among valid candidates; otherwise the first is taken.

        Raises:
            ScenarioError: no candidate of `MAX_CANDIDATES` is valid.
        """
        layout, norm = self.layout, self.norm
        trips = find_conflict_trips(layout, norm, group)
        if not trips:
            raise ScenarioError(
                f"no trip on layout {layout.name!r} conflicts with norm {norm.id!r} "
                f"for group {Group(group).name.lower()}"
            )
        rng = np.random.default_rng(seed)
        rejected: list[str] = []
        valid = compared = 0
        best: tuple[EpisodeSpec, tuple[str, ...]] | None = None
        for _ in range(MAX_CANDIDATES):
            spec = self._draw(rng, f"{norm.id}/{phase}-{number}", phase, group, trips)
            reason, ignorance_passes = _judge_test(self._pair, spec)
            if reason:
                rejected.append(reason)
                continue
            valid += 1
            if not compare:
                return Built(spec, tuple(rejected))
            if ignorance_passes:
                best = best or (spec, (IGNORANCE, *self._list_passing(spec)))
                continue
            compared += 1
            passed_by = self._list_passing(spec)
            if best is None or IGNORANCE in best[1] or len(passed_by) < len(best[1]):
                best = spec, passed_by
            if not best[1] or compared == MAX_COMPARED:
                break
        if best is None:
            raise ScenarioError(
                f"no test of norm {norm.id!r} on layout {layout.name!r} among {MAX_CANDIDATES} "
                f"candidates; last reason: {rejected[-1]}"
            )
        return Built(best[0], tuple(rejected), valid - 1, best[1])

    def _draw(
        self, rng: np.random.Generator, name: str, phase: str, group: int, trips: list[Trip]
    ) -> EpisodeSpec:
        """Return the next candidate."""
        persons = _draw_test_persons(rng, self.layout, self.norm, group, trips)
        others = len(persons) - 1
        return EpisodeSpec(
            name=name,
            layout=self.layout.name,
            norms=(self.norm.id,),
            phase=phase,
            seed=int(rng.integers(2**63)),
            limit=TEST_STEPS,
            drivers=(int(Driver.EXTERNAL),) + (int(Driver.NORM_AWARE),) * others,
            priority=(0, *(int(slot) for slot in 1 + rng.permutation(others))),
            persons=persons,
        )

    def _list_passing(self, spec: EpisodeSpec) -> tuple[str, ...]:
        """Return the rivals under whose belief a newcomer passes the test."""
        engine = self._crowd
        for row, rival in enumerate(self._rivals):
            drivers = (int(Driver.NORM_AWARE), *spec.drivers[1:])
            engine.load(row, spec, drivers=drivers, believed=(rival.id,))
        engine.states["ending"][len(self._rivals) :] = Ending.TRUNCATED
        passed = play_newcomers(engine).passed
        return tuple(rival.id for rival, fine in zip(self._rivals, passed, strict=False) if fine)


def build_interaction(
    layout: Layout, norm: Norm, library: Sequence[Norm], number: int, seed: int
) -> Built:
    """Build one interaction with turnover and one norm-blind slot, the last one.

    Args:
        layout: where it is played.
        norm: the norm in force, one of the library.
        library: norms that the record has to tell apart.
        number: part of the name.
        seed: of the stream of candidates.

    Returns:
        The first candidate that shows enough violations and rules out every norm that is not
        equivalent to the true one.

    Raises:
        ScenarioError: no candidate of `MAX_CANDIDATES` did.
    """
    rng = np.random.default_rng(seed)
    engine = BatchEngine([layout], library, 64)
    population = num_slots(norm)
    equivalent = find_equivalent_norms(engine, layout, population)
    clashes = [find_conflict_trips(layout, norm, group) for group in range(len(Group))]
    rejected: list[str] = []
    for _ in range(MAX_CANDIDATES):
        persons = draw_persons(rng, layout, norm, population, MAX_PERSONS)
        persons["delay"][:, 0] = rng.integers(0, ARRIVAL_SPREAD + 1, population)
        persons["delay"][0, 0] = 0
        for place in range(0, MAX_PERSONS, 2):
            person = persons[population - 1, place : place + 1]
            if trips := clashes[int(person["group"][0])]:
                _set_trip(person, trips[rng.integers(len(trips))])
        drivers = [int(Driver.NORM_AWARE)] * population
        drivers[0], drivers[-1] = int(Driver.EXTERNAL), int(Driver.NORM_BLIND)
        spec = EpisodeSpec(
            name=f"{norm.id}/interaction-{number}",
            layout=layout.name,
            norms=(norm.id,),
            phase="interaction",
            seed=int(rng.integers(2**63)),
            limit=INTERACTION_STEPS,
            drivers=tuple(drivers),
            priority=(population - 1, *(int(slot) for slot in rng.permutation(population - 1))),
            persons=persons,
        )
        reason = _judge_interaction(engine, spec, equivalent)
        if not reason:
            return Built(spec, tuple(rejected))
        rejected.append(reason)
    raise ScenarioError(
        f"no interaction for norm {norm.id!r} on layout {layout.name!r} among {MAX_CANDIDATES} "
        f"candidates; last reason: {rejected[-1]}"
    )


def _draw_test_persons(
    rng: np.random.Generator, layout: Layout, norm: Norm, group: int, trips: list[Trip]
) -> RecordArray:
    """Draw the rosters of a test; slot 0 is the newcomer, who comes once and at once."""
    population = num_slots(norm)
    persons = draw_persons(rng, layout, norm, population, TEST_PERSONS)
    persons["delay"][:, 0] = rng.integers(0, ARRIVAL_SPREAD + 1, population)
    persons["delay"][0, 0] = 0
    persons["group"][0] = group
    trip = trips[rng.integers(len(trips))]
    _set_trip(persons[0, :1], trip)
    persons[0, 1:] = persons[0, 0]
    persons["delay"][0, 1:] = 1
    if norm.kind == "queue_path":
        _fill_queue(rng, layout, norm, persons)
    elif goal_kinds(norm)[0] == Goal1.ANY_ZONE_R:
        _fill_zone(rng, layout, norm, persons)
    return persons


def _set_trip(person: RecordArray, trip: Trip) -> None:
    """Write a trip into a person, in place."""
    person["start"], person["goal1_cell"], person["goal2_door"] = trip


def _fill_queue(rng: np.random.Generator, layout: Layout, norm: Norm, persons: RecordArray) -> None:
    """Let others stand in the queue and about the room at the start, in place.

    The queue is so long that it is not yet served when the newcomer gets there.
    """
    path = queue_path(layout, norm.parameters)
    length = min(len(path), len(persons) - 2)
    inside = max(length, round(INSIDE_SHARE * (len(persons) - 1)))
    floor = np.flatnonzero(layout.cells.reshape(-1) == Cell.FLOOR)
    room = np.setdiff1d(floor, path)
    cells = [*path[:length], *rng.choice(room, inside - length, replace=False)]
    slots = 1 + rng.permutation(len(persons) - 1)
    persons["delay"][slots[:inside], 0] = 0
    persons["start"][slots[:inside], 0] = cells
    persons["delay"][slots[inside:], 0] = rng.integers(
        1, ARRIVAL_SPREAD + 1, len(persons) - 1 - inside
    )
    # the others come and go by the door nearest to the counter, so that the queue lasts
    nearest = int(np.argmin([_walk(layout, int(door)) for door in layout.doors]))
    persons["goal2_door"][1:] = nearest
    persons["delay"][1:, 1:] = MIN_REFILL_DELAY
    persons["start"][1:, 1:] = layout.doors[nearest]
    persons["start"][slots[inside:], 0] = layout.doors[nearest]


def _walk(layout: Layout, cell: int) -> int:
    """Return the number of steps from a cell to the counter if nothing stood between."""
    rows, columns = divmod(cell, GRID_WIDTH), divmod(layout.service, GRID_WIDTH)
    return abs(rows[0] - columns[0]) + abs(rows[1] - columns[1])


def _fill_zone(rng: np.random.Generator, layout: Layout, norm: Norm, persons: RecordArray) -> None:
    """Let others hold places in zone R so that the newcomer finds it shut, in place."""
    zone = np.flatnonzero(layout.zones.reshape(-1) == Zone.R)
    slots = 1 + rng.permutation(len(persons) - 1)
    newcomer = int(persons["group"][0, 0])
    if norm.kind == "zone_capacity":
        # of the newcomer's own group, so that a norm about groups would not shut the zone
        holders = slots[: norm.parameters["capacity"]]
        persons["group"][holders, 0] = newcomer
    else:
        # one person only, so that a norm about numbers would hardly shut it
        holders = slots[:1]
        persons["group"][holders, 0] = rng.choice([g for g in range(len(Group)) if g != newcomer])
    persons["delay"][holders, 0] = 0
    persons["start"][holders, 0] = rng.choice(zone, len(holders), replace=False)
    persons["leg"][holders, 0] = 1
    persons["holder"][holders, 0] = True


def _judge_test(engine: BatchEngine, spec: EpisodeSpec) -> tuple[str, bool]:
    """Return why a test candidate is refused, or nothing, and whether ignorance passes it."""
    others = spec.drivers[1:]
    blind = replace(spec, predict_newcomer="norm_blind")
    engine.load(0, spec, drivers=(Driver.NORM_AWARE, *others))
    engine.load(1, blind, drivers=(Driver.NORM_BLIND, *others))
    engine.load(2, spec, drivers=(Driver.NORM_BLIND, *others))
    engine.states["predicted"][2, 0] = Driver.NORM_AWARE
    outcome = play_newcomers(engine)
    finished, violated = outcome.finished, outcome.violations > 0
    reason = ""
    if violated[0]:
        reason = "the norm-aware newcomer breaks the norm"
    elif not finished[0]:
        reason = "the norm-aware newcomer does not finish"
    elif not finished[1]:
        reason = "the norm-blind newcomer does not finish"
    elif not violated[1]:
        reason = "the norm-blind newcomer does not break the norm"
    return reason, bool(finished[2] and not violated[2])


def _judge_interaction(engine: BatchEngine, spec: EpisodeSpec, equivalent: BoolArray) -> str:
    """Return why an interaction candidate is refused, or nothing."""
    seen = examine_interaction(engine, spec, equivalent)
    norm = next(norm for norm in engine.norms if norm.id == seen.norm)
    few = norm.kind == "zone_capacity" and norm.parameters["capacity"] > 1
    if seen.own_violations:
        return "the norm-aware newcomer breaks the norm"
    if seen.sanctioned < MIN_BACKGROUND_VIOLATIONS - few:
        return f"{seen.sanctioned} background violations"
    if seen.informative < MIN_INFORMATIVE:
        return f"{seen.informative} informative compliances"
    if seen.left_by_all:
        others = len(seen.left_by_all) - 1
        return f"the record leaves {seen.left_by_all[0]}" + (f" and {others} more" * (others > 0))
    return ""
