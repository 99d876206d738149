"""The engine against the results worked out by hand in `tests/worked`."""

from functools import cache
from pathlib import Path

import naive
import numpy as np
import pytest
from norm_rows import make_norm
from strategies import PERSON_FIELDS, from_naive, to_naive
from worked import EXAMPLES, MAPS, PLANS, Example, PlanExample
from worked.form import LETTERS, Situation, find_persons, read_columns

from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import parse_layout
from normgym_envs.norms.library import get_norm
from normgym_envs.types import Layout

LIBRARY = Path(naive.__file__).parent.parent / "normgym_envs" / "norms" / "library.toml"
ROWS = naive.load_norms(LIBRARY)
NUM_SEEDS = 40


def make_engine(example: Situation, num_rows: int) -> BatchEngine:
    """Return an engine that has an example's map and norms and nothing else."""
    own = {str(row["id"]): make_norm(dict(row)) for row in example.rows}
    ids = dict.fromkeys(example.norms + example.norms_after)
    norms = [own[name] if name in own else get_norm(name) for name in ids]
    return BatchEngine([read_map(example.layout)], norms, num_rows)


@cache
def read_map(name: str) -> Layout:
    """Return an example's map, whether or not it meets the conditions of shipped ones."""
    return parse_layout(MAPS[name], name, name)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_worked_example(example: Example) -> None:
    engine = make_engine(example, NUM_SEEDS)
    for seed in range(NUM_SEEDS):
        engine.states[seed] = from_naive(engine, example.world(ROWS, seed))[0]
    actions = np.full((NUM_SEEDS, 10), naive.WAIT, np.int8)
    for slot, action in example.chosen_actions().items():
        actions[:, slot] = action
    engine.step(actions)
    seen = set()
    for seed in range(NUM_SEEDS):
        row = engine.states[seed]
        outcome = example.due_outcome(seed)
        seen.add(outcome)
        for slot, facts in example.expected(outcome).items():
            assert row["reward"][slot] == pytest.approx(facts.pop("reward"), abs=1e-5)
            found = {name: int(row[name][slot]) for name in facts}
            assert found == facts, f"slot {slot}, seed {seed}"
    assert seen == set(range(len(example.paths))), "some outcome never came up"


@pytest.mark.parametrize("example", PLANS, ids=lambda example: example.name)
def test_worked_plan(example: PlanExample) -> None:
    engine = make_engine(example, 1)
    engine.states[:] = from_naive(engine, example.world(ROWS))
    actions, ties = engine.plan()
    pad = engine._pads[0]
    for slot, letters in example.ties.items():
        options = [LETTERS.index(letter) for letter in letters]
        assert ties[0, slot] == sum(1 << action for action in options)
        assert actions[0, slot] == min(options)
    slots = range(engine.states["num_slots"][0])
    assert tuple(slot for slot in slots if pad["wait_courtesy"][slot]) == example.courtesy
    predicted = find_persons(read_columns(example.drawing)[1], example.at)
    assert {slot: int(pad["aim"][slot]) for slot in predicted} == predicted


def test_the_bridge_loses_nothing() -> None:
    for example in (*EXAMPLES, *PLANS):
        engine = make_engine(example, 1)
        world = example.world(ROWS, seed=5)
        engine.states[:] = from_naive(engine, world)
        back = to_naive(engine, 0, world.layout, world.norm_rows)
        for name in ("norms", "norms_after", "change_turn", "turn", "limit", "seed", "released"):
            assert getattr(back, name) == getattr(world, name), name
        for there, here in zip(world.slots, back.slots, strict=True):
            assert here.present == there.present
            assert here.priority == there.priority
            assert here.driver == there.driver
            for name in PERSON_FIELDS if there.present else ():
                assert getattr(here, name) == getattr(there, name), name
