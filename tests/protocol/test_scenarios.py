"""Scenarios do what they promise, replayed by the plain restatement."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import naive
import naive_world
import numpy as np
import pytest

from normgym_envs.constants import Driver, Goal1, Zone
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ScenarioError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.geometry import queue_path
from normgym_envs.norms.library import KINDS, get_norm, load_norms
from normgym_envs.protocol import build_interaction, scenarios, spec_to_json
from normgym_envs.types import EpisodeSpec, Scope

PACKAGE = Path(naive.__file__).parent.parent / "normgym_envs"
CAFE = get_layout("cafe")
NAIVE_CAFE = naive.load_map(PACKAGE / "layouts" / "maps" / "cafe.toml")
ROWS = naive.load_norms(PACKAGE / "norms" / "library.toml")
ZONE_R = np.flatnonzero(CAFE.zones.reshape(-1) == Zone.R)
FAST = ("all-exit-left", "zigzag-left-2", "zone-r-capacity-1")
NEVER = Scope(turns=(10_000, 10_001))


def some_norms() -> list[object]:
    """Return the first and the last norm of every kind, most of them for the slow run."""
    of_kind = [[norm.id for norm in load_norms() if norm.kind == kind] for kind in KINDS]
    ids = dict.fromkeys((*FAST, *(ids[end] for ids in of_kind for end in (0, -1))))
    return [
        pytest.param(name, marks=() if name in FAST else pytest.mark.slow, id=name) for name in ids
    ]


@cache
def build(norm: str, group: int, seed: int) -> EpisodeSpec:
    """Return a test of a norm."""
    builder = scenarios.TestBuilder(CAFE, get_norm(norm), [])
    return builder.build("seen", 4, group, seed).spec


def start(spec: EpisodeSpec, newcomer: int) -> naive.NaiveWorld:
    """Return an episode in the plain restatement with a scripted newcomer."""
    world = naive.load_episode(spec, NAIVE_CAFE, ROWS)
    world.slots[0].driver = newcomer
    return world


@pytest.mark.parametrize("norm", some_norms())
def test_tests_ask_for_the_norm(norm: str) -> None:
    group = len(norm) % 3
    spec = build(norm, group, 11)
    assert spec.name == f"{norm}/seen-4"
    assert (spec.phase, spec.limit, spec.norms) == ("seen", 100, (norm,))
    assert spec.priority[0] == 0
    assert spec.drivers[0] == Driver.EXTERNAL
    assert set(spec.drivers[1:]) == {Driver.NORM_AWARE}
    assert (spec.persons["group"][0] == group).all()
    assert spec.persons["delay"][0, 0] == 0
    aware = start(spec, naive.NORM_AWARE)
    blind = start(replace(spec, predict_newcomer="norm_blind"), naive.NORM_BLIND)
    for world, must_break in ((aware, False), (blind, True)):
        broken = goals = 0
        while world.ended == naive.RUNNING:
            naive.step(world, {})
            broken += world.slots[0].violated
            goals += world.slots[0].goals
            assert not any(person.violated for person in world.slots[1:])
        assert world.ended == naive.TERMINATED
        assert world.turn <= 100
        assert goals == 2
        assert (broken > 0) == must_break


@pytest.mark.parametrize(
    "norm", ["zigzag-left-2", "bend-right-1", "edge-queue-right", "square-left"]
)
def test_queues_stand_at_the_start(norm: str) -> None:
    path = queue_path(CAFE, get_norm(norm).parameters)
    for seed in range(3):
        spec = build(norm, seed, seed)
        engine = BatchEngine([CAFE], [get_norm(norm)], 1)
        engine.load(0, spec)
        row = engine.states[0]
        there = [int(cell) for cell in row["pos"][1:] if cell in path]
        length = len(there)
        assert length >= min(2, len(path))
        assert length <= min(len(path), len(spec.drivers) - 2)
        assert set(there) == {int(cell) for cell in path[:length]}  # from the head, without a gap
        inside = row["present"][1:] == 1
        assert (row["goal1_kind"][1:][inside] == Goal1.COUNTER).all()
        assert not row["leg"][1:][inside].any()
        assert inside.sum() >= round(0.6 * (len(spec.drivers) - 1))
        later = spec.persons["delay"][1:, 0]
        assert later.max() <= 20


@pytest.mark.parametrize("norm", ["zone-r-capacity-1", "zone-r-capacity-2", "single-group-zone-r"])
def test_zone_holders_wait_for_the_newcomer(norm: str) -> None:
    for seed in range(2):
        spec = build(norm, seed, seed)
        world = start(spec, naive.NORM_AWARE)
        holders = [slot for slot, person in enumerate(world.slots) if person.holder]
        assert holders
        assert 0 not in holders
        assert all(world.slots[slot].pos in ZONE_R for slot in holders)
        assert all(world.slots[slot].leg == 1 for slot in holders)
        outside = next(c for c in range(165) if NAIVE_CAFE.enterable(c) and c not in ZONE_R)
        assert naive.violates(world, 0, outside, int(ZONE_R[0]))  # shut to the newcomer
        while any(person.holder for person in world.slots):
            cells = [world.slots[slot].pos for slot in holders]
            naive.step(world, {})
            assert all(cell in ZONE_R for cell in cells)
            assert world.ended == naive.RUNNING
        assert world.slots[0].pos not in ZONE_R
        while world.slots[0].pos not in ZONE_R:
            naive.step(world, {})
            assert world.ended == naive.RUNNING


@pytest.mark.parametrize(
    ("norm", "least"),
    [
        ("zone-r-capacity-2", 2),
        pytest.param("even-turns-only", 3, marks=pytest.mark.slow),
        pytest.param("zigzag-left-2", 3, marks=pytest.mark.slow),
        pytest.param("group-doors-abc", 3, marks=pytest.mark.slow),
        pytest.param("clockwise-circulation", 3, marks=pytest.mark.slow),
    ],
)
def test_interactions_leave_the_true_norm_alone(norm: str, least: int) -> None:
    spec = build_interaction(CAFE, get_norm(norm), load_norms(), 1, seed=5).spec
    assert (spec.name, spec.phase, spec.limit) == (f"{norm}/interaction-1", "interaction", 200)
    assert spec.drivers[0] == Driver.EXTERNAL
    assert spec.drivers[-1] == Driver.NORM_BLIND
    assert set(spec.drivers[1:-1]) == {Driver.NORM_AWARE}
    assert spec.priority[0] == len(spec.drivers) - 1
    world = start(spec, naive.NORM_AWARE)
    left = dict(ROWS)
    violations = 0
    while world.ended == naive.RUNNING:
        before = [(person.pos, person.streak, person.visited) for person in world.slots]
        snapshot = start_from(world)
        naive.step(world, {})
        assert not any(person.violated for person in world.slots[:-1])
        violations += world.slots[-1].violated
        for slot, person in enumerate(world.slots):
            if not person.own_move:
                continue
            cell, streak, visited = before[slot]
            reached = naive.neighbour(cell, person.action)
            for name in list(left):
                verdict = forbids(snapshot, left[name], slot, cell, reached, streak, visited)
                if verdict != person.violated:
                    del left[name]
    assert world.turn == 200
    assert violations >= least
    assert list(left) == [norm]


def start_from(world: naive.NaiveWorld) -> naive.NaiveWorld:
    """Return a copy of a world that later steps do not change."""
    slots = [replace(person) for person in world.slots]
    return replace(world, slots=slots, rosters=[], paths=world.paths)


def forbids(
    world: naive.NaiveWorld,
    row: naive.Row,
    slot: int,
    cell: int,
    reached: int,
    streak: int,
    visited: bool,
) -> bool:
    """Return the verdict of any norm on a move, whatever norm was in force."""
    return naive_world.forbids(
        world, row, slot, cell, reached, turn=world.turn, streak=streak, visited=visited
    )


def test_equal_seeds_build_equal_scenarios() -> None:
    norm = get_norm("all-exit-left")
    for seeds in ((3, 3), (3, 4)):
        built = [scenarios.TestBuilder(CAFE, norm, []).build("unseen", 1, 2, s) for s in seeds]
        equal = spec_to_json(built[0].spec) == spec_to_json(built[1].spec)
        assert equal == (seeds[0] == seeds[1])


@pytest.mark.parametrize("norm", ["all-exit-left", "zone-r-capacity-1", "zigzag-left-2"])
def test_the_norm_of_a_spec_shows_in_nothing_but_itself(norm: str) -> None:
    engine = BatchEngine([CAFE], load_norms(), 2)
    spec = build(norm, 0, 0)
    engine.load(0, spec)
    engine.load(1, replace(spec, norms=("move-2-wait-1",)))
    assert (engine.states["norms"][0] != engine.states["norms"][1]).any()
    engine.states["norms"] = -1
    assert engine.states[0].tobytes() == engine.states[1].tobytes()
    assert (engine.action_masks()[0] == engine.action_masks()[1]).all()


def test_impossible_scenarios_are_named() -> None:
    lazy = replace(get_norm("all-exit-left"), scope=NEVER)
    with pytest.raises(ScenarioError, match="'cafe' conflicts with norm 'all-exit-left'"):
        scenarios.TestBuilder(CAFE, lazy, []).build("seen", 1, 0, 1)
    with pytest.raises(ScenarioError, match=r"norm .all-exit-left.*0 background"):
        build_interaction(CAFE, lazy, [lazy], 1, seed=1)
    queue = replace(get_norm("zigzag-left-2"), scope=NEVER)
    with pytest.raises(ScenarioError, match=r"norm .zigzag-left-2.*does not break"):
        scenarios.TestBuilder(CAFE, queue, []).build("seen", 1, 0, 1)
