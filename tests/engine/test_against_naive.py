"""The engine against `tests/naive.py`: random states one step on, and whole episodes side by side.

Every person in a state is one person-turn; the slow tests together make more than 200,000.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from norm_rows import draw_norm, norm_row
from strategies import differences, fill_random_states, naive_step, to_naive
from worked import MAPS

from normgym_envs.constants import Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import get_layout, parse_layout
from normgym_envs.norms.library import KINDS, get_norm, list_norms, load_norms
from normgym_envs.protocol import draw_episode, scenarios
from normgym_envs.types import Norm

PACKAGE = Path(naive.__file__).parent.parent / "normgym_envs"
CAFE = naive.load_map(PACKAGE / "layouts" / "maps" / "cafe.toml")
ROWS = naive.load_norms(PACKAGE / "norms" / "library.toml")
EVENTS = ("own_move", "displaced", "collided", "violated", "goals", "auto")
STATES_PER_NORM = 450
PERSON_TURNS = 4000
"""Per norm; with 50 norms 200,000."""


@pytest.fixture
def no_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the naive world skip the planner, which only outside-driven persons can do without."""

    def plan(world: naive.NaiveWorld, shared: bool) -> SimpleNamespace:
        assert all(person.driver == naive.EXTERNAL for person in world.slots)
        free = [person.present and not person.held for person in world.slots]
        actions = [-1 if is_free else naive.WAIT for is_free in free]
        return SimpleNamespace(actions=actions, courtesy=[False] * len(actions))

    monkeypatch.setattr(naive, "plan", plan)


def step_both(
    engine: BatchEngine, layout: naive.NaiveLayout, rng: np.random.Generator
) -> Counter[str]:
    """Step all rows in both worlds, fail on any difference, and count what happened."""
    rows = {norm.id: norm_row(norm) for norm in engine.norms}
    before = engine.states.copy()
    worlds = [to_naive(engine, index, layout, rows) for index in range(engine.num_rows)]
    actions = rng.integers(0, 5, (engine.num_rows, 10)).astype(np.int8)
    engine.step(actions)
    for index, world in enumerate(worlds):
        naive_step(world, actions[index])
        found = differences(engine, index, world)
        assert not found, f"norms {world.norms}, state {before[index]}: {found}"
    counts = Counter({name: int((engine.states[name] != 0).sum()) for name in EVENTS})
    counts["person-turns"] = int(before["present"].sum())
    counts["departed"] = int(((before["present"] == 1) & (engine.states["pos"] < 0)).sum())
    counts["arrived"] = int((engine.states["is_new"] != 0).sum())
    counts["changed"] = int((before["change_turn"] >= 0).sum())
    return counts


def scoped_norms(seed: int) -> list[Norm]:
    """Return three random scoped norms of every kind."""
    rng = np.random.default_rng(seed)
    return [draw_norm(rng, kind, f"x-{n}-{i}") for n, kind in enumerate(KINDS) for i in range(3)]


@pytest.mark.usefixtures("no_planning")
def test_every_norm_once() -> None:
    rng = np.random.default_rng(1)
    engine = BatchEngine([get_layout("cafe")], load_norms(), 500)
    fill_random_states(engine, rng, external=1)
    engine.states["norms"][:, 0] = np.arange(500) % 50
    counts = step_both(engine, CAFE, rng)
    assert min(counts[name] for name in EVENTS) > 0, counts


@pytest.mark.slow
@pytest.mark.usefixtures("no_planning")
@pytest.mark.parametrize("norm", list_norms())
def test_outside_driven_persons(norm: str) -> None:
    rng = np.random.default_rng([2, list_norms().index(norm)])
    engine = BatchEngine([get_layout("cafe")], [get_norm(norm)], STATES_PER_NORM)
    num_slots = (6, 8, 10, 10)[rng.integers(4)]
    counts: Counter[str] = Counter()
    while counts["person-turns"] < PERSON_TURNS:
        fill_random_states(engine, rng, external=1, num_slots=num_slots)
        counts += step_both(engine, CAFE, rng)
    for name in ("own_move", "displaced", "collided", "violated", "auto", "arrived"):
        assert counts[name] > 0, counts


@pytest.mark.slow
@pytest.mark.usefixtures("no_planning")
@pytest.mark.parametrize("num_slots", [1, 6, 8, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_several_norms_with_scopes(seed: int, num_slots: int) -> None:
    rng = np.random.default_rng([3, seed, num_slots])
    norms = [*load_norms(), *scoped_norms(seed)]
    engine = BatchEngine([get_layout("cafe")], norms, 400)
    fill_random_states(engine, rng, external=1, max_norms=4, num_slots=num_slots, crowd=0.95)
    counts = step_both(engine, CAFE, rng)
    assert counts["violated"] > 0
    assert counts["changed"] > 0
    assert counts["departed"] > 0 or num_slots == 1


@pytest.mark.slow
@pytest.mark.usefixtures("no_planning")
@pytest.mark.parametrize("kind", KINDS)
def test_scoped_norms_of_a_kind(kind: str) -> None:
    rng = np.random.default_rng([4, list(KINDS).index(kind)])
    norms = [draw_norm(rng, kind, f"x-{i}") for i in range(20)]
    engine = BatchEngine([get_layout("cafe")], norms, 500)
    fill_random_states(engine, rng, external=1)
    assert step_both(engine, CAFE, rng)["violated"] > 0


@pytest.mark.usefixtures("no_planning")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_dense_crowds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events: Counter[str] = Counter()

    def count_chains(*arguments: object) -> list[list[int]]:
        chains = chains_of(*arguments)  # type: ignore[arg-type]
        events["chain"] += bool(chains) and len(chains[0]) > 1
        events["long chain"] += bool(chains) and len(chains[0]) > 2
        events["equal chains"] += len(chains) > 1 and len(chains[0]) > 1
        return chains

    def count_attempts(world: naive.NaiveWorld, aims: dict[int, int], attempt: int) -> object:
        events["resolved again"] += attempt > 0
        events["resolved twice again"] += attempt > 1
        return settle(world, aims, attempt)

    chains_of, settle = naive.shortest_chains, naive.settle
    monkeypatch.setattr(naive, "shortest_chains", count_chains)
    monkeypatch.setattr(naive, "settle", count_attempts)
    rng = np.random.default_rng([5, seed])
    nooks = naive.load_map(MAPS["nooks"])
    norms = [get_norm(name) for name in ("move-1-wait-1", "edge-queue-left", "all-exit-left")]
    engine = BatchEngine([parse_layout(MAPS["nooks"], "nooks", "nooks")], norms, 800)
    fill_random_states(engine, rng, external=1, crowd=1)
    for row in engine.states:  # in and about one of the nooks
        tables = engine.tables[0][0]
        centre = rng.choice([cell for cell in range(48, 130) if nooks.enterable(cell)])
        near = tables["distance"][centre].argsort(kind="stable")[:12]
        inside = [cell for cell in near if nooks.enterable(cell)]
        others = [c for c in range(165) if nooks.enterable(c) and c not in inside]
        cells = np.array([*rng.permutation(inside), *rng.permutation(others)])[:10]
        slots = np.flatnonzero(row["present"])
        row["pos"][slots] = cells[rng.permutation(10)][: len(slots)]
        row["timer"][:] = row["holder"][:] = 0
    counts = step_both(engine, nooks, rng)
    assert counts["displaced"] > 100
    expected = ("chain", "long chain", "equal chains", "resolved again", "resolved twice again")
    assert min(events[name] for name in expected) > 0, events


@pytest.mark.parametrize("max_norms", [1, 4])
@pytest.mark.parametrize(
    "share", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_scripted_persons(share: int, max_norms: int) -> None:
    rng = np.random.default_rng([6, share, max_norms])
    norms = [*load_norms(), *(scoped_norms(share) if max_norms > 1 else [])]
    engine = BatchEngine([get_layout("cafe")], norms, 150 if share else 50)
    fill_random_states(engine, rng, external=0.3, max_norms=max_norms)
    if max_norms == 1:
        engine.states["norms"][:, 0] = np.arange(engine.num_rows) % 50
    rows = {norm.id: norm_row(norm) for norm in norms}
    actions, ties = engine.plan()
    courtesies = 0
    for index in range(engine.num_rows):
        world = to_naive(engine, index, CAFE, rows)
        plan = naive.plan(world, shared=True)
        courtesies += sum(plan.courtesy)
        for slot, person in enumerate(world.slots):
            if person.driver != Driver.EXTERNAL:
                where = f"norms {world.norms}, turn {world.turn}, slot {slot}: {person}"
                assert ties[index, slot] == sum(1 << action for action in plan.ties[slot]), where
                assert actions[index, slot] == plan.actions[slot], where
    assert courtesies > 0
    step_both(engine, CAFE, rng)


def norms_by_kind() -> list[str]:
    """Return the first and the last norm of every kind."""
    of_kind = [[norm.id for norm in load_norms() if norm.kind == kind] for kind in KINDS]
    return list(dict.fromkeys(ids[end] for ids in of_kind for end in (0, -1)))


def play_both(engine: BatchEngine, world: naive.NaiveWorld, seed: int, turns: int) -> Counter[str]:
    """Play row 0 and a naive world side by side with random outside actions."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    assert not differences(engine, 0, world)
    while world.ended == naive.RUNNING and world.turn < turns:
        # mostly purposeful: what the planner would do, so that goals are met
        actions, _ = engine.plan()
        stray = rng.random(actions.shape) < 0.2
        actions[stray] = rng.integers(0, 5, stray.sum())
        engine.step(actions)
        naive_step(world, actions[0])
        found = differences(engine, 0, world)
        assert not found, f"after turn {world.turn - 1}: {found}"
        counts += Counter({name: int((engine.states[name] != 0).sum()) for name in EVENTS})
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("norm", norms_by_kind())
def test_whole_episodes(norm: str) -> None:
    names = dict.fromkeys((norm, "forbidden-zone-q"))
    engine = BatchEngine([get_layout("cafe")], [get_norm(name) for name in names], 1)
    spec = draw_episode("cafe", norm, seed=7, num_learners=2, num_norm_blind=1)
    if len(norm) % 2:
        spec = replace(spec, norms_after=("forbidden-zone-q",), change_turn=40)
    engine.load(0, spec)
    counts = play_both(engine, naive.load_episode(spec, CAFE, ROWS), seed=8, turns=70)
    assert min(counts[name] for name in ("own_move", "violated", "goals", "auto")) > 0, counts


@pytest.mark.slow
@pytest.mark.parametrize(
    "norm", ["zone-r-capacity-1", "single-group-zone-r", "zigzag-left-2", "seats-right-to-left"]
)
def test_whole_test_episodes(norm: str) -> None:
    layout = get_layout("cafe")
    spec = scenarios.TestBuilder(layout, get_norm(norm), []).build("seen", 1, 0, seed=3).spec
    engine = BatchEngine([layout], [get_norm(norm)], 1)
    engine.load(0, spec, drivers=(Driver.NORM_AWARE, *spec.drivers[1:]))
    world = naive.load_episode(spec, CAFE, ROWS)
    world.slots[0].driver = naive.NORM_AWARE
    counts = play_both(engine, world, seed=9, turns=200)
    assert engine.states["ending"][0] == Ending.TERMINATED
    assert counts["goals"] >= 2


def test_an_episode_of_both_worlds() -> None:
    engine = BatchEngine([get_layout("cafe")], [get_norm("zigzag-left-2")], 1)
    spec = draw_episode("cafe", "zigzag-left-2", seed=7, num_norm_blind=1)
    engine.load(0, spec)
    play_both(engine, naive.load_episode(spec, CAFE, ROWS), seed=8, turns=20)
