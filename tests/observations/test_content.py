"""Public facts are in every observation, hidden ones in none."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import fill_random_states

from normgym_envs import BatchEngine, draw_episode, get_layout, load_norms
from normgym_envs.constants import Driver
from normgym_envs.observations import (
    flat_size,
    flat_space,
    observe_flat,
    observe_symbolic,
    observe_text,
    symbolic_space,
    text_space,
)
from normgym_envs.observations.flat import FEATURES, OTHER_FEATURES

PUBLIC = (
    "pos",
    "prev",
    "group",
    "leg",
    "timer",
    "is_new",
    "action",
    "displaced",
    "collided",
    "sanctioned",
)
"""Facts of any person that everybody sees."""
OWN = ("goal1_kind", "goal1_cell", "goal2_door")
HIDDEN = (
    "streak",
    "visited",
    "courtesy",
    "came_from",
    "holder",
    "driver",
    "predicted",
    "priority",
    "arrival",
)
"""Facts of others that follow from history or from the episode's plan alone."""


@pytest.fixture(scope="module")
def engine() -> BatchEngine:
    return BatchEngine([get_layout("cafe")], load_norms(), 200)


def fill(engine: BatchEngine, seed: int) -> np.random.Generator:
    rng = np.random.default_rng(seed)
    fill_random_states(engine, rng, crowd=0.8)
    states = engine.states
    slots = states["present"].shape[1]
    for name, high in (("action", 5), ("displaced", 2), ("collided", 2), ("sanctioned", 2)):
        states[name] = rng.integers(high, size=(engine.num_rows, slots))
    states["is_new"] = rng.integers(2, size=states["is_new"].shape) * states["present"]
    states["holder"] = 0
    return rng


@pytest.mark.parametrize("size", [(6, 553), (8, 569), (10, 585)])
def test_the_flat_vector_has_the_papers_length(size: tuple[int, int]) -> None:
    assert flat_size(size[0]) == size[1]
    assert len(FEATURES) == 13
    assert len(OTHER_FEATURES) == 8


def test_observations_lie_in_their_spaces(engine: BatchEngine) -> None:
    fill(engine, 0)
    flat, space, words = flat_space(10), symbolic_space(10), text_space()
    for slot in (0, 3):
        vectors = observe_flat(engine, slot, 10)
        for row in range(engine.num_rows):
            assert flat.contains(vectors[row])
            assert space.contains(observe_symbolic(engine, row, slot))
            assert words.contains(observe_text(engine, row, slot))


def see(engine: BatchEngine, row: int, slot: int) -> tuple[str, bytes]:
    """Return the text and the bytes of the symbolic observation."""
    seen = observe_symbolic(engine, row, slot)
    return observe_text(engine, row, slot), b"".join(seen[name].tobytes() for name in sorted(seen))


def change(engine: BatchEngine, rng: np.random.Generator, row: int, slot: int, name: str) -> bool:
    """Change one fact of one slot to another legal value; False if there is none."""
    state = engine.states[row]
    old = int(state[name][slot])
    cells = np.flatnonzero(engine.tables[0]["enterable"][0])
    options = {
        "pos": [c for c in cells if c not in state["pos"]],
        "prev": list(cells),
        "group": range(3),
        "leg": range(2),
        "timer": range(4),
        "action": range(5),
        "goal1_kind": range(4),
        "goal1_cell": list(cells),
        "goal2_door": range(-1, 3),
    }.get(name, range(2))
    others = [int(value) for value in options if value != old]
    state[name][slot] = rng.choice(others)
    return True


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_fact_of_anybody_shows_in_text_and_dict(
    engine: BatchEngine, name: str
) -> None:
    rng = fill(engine, 1)
    tried = 0
    for row in range(engine.num_rows):
        state = engine.states[row]
        slot = int(rng.integers(10))
        if not state["present"][slot]:
            continue
        before = see(engine, row, 0)
        change(engine, rng, row, slot, name)
        after = see(engine, row, 0)
        assert before[0] != after[0], f"{name} of slot {slot} does not show in the text"
        assert before[1] != after[1], f"{name} of slot {slot} does not show in the dict"
        tried += 1
    assert tried > 100


@pytest.mark.parametrize("name", OWN)
def test_own_goals_show_and_others_do_not(engine: BatchEngine, name: str) -> None:
    rng = fill(engine, 2)
    shown = hidden = 0
    for row in range(engine.num_rows):
        state = engine.states[row]
        state["goal1_kind"][0] = 1  # a given place, so that its cell matters
        state["goal1_cell"][0] = state["goal1_cell"][0] if state["goal1_cell"][0] >= 0 else 32
        if not state["present"][0] or not state["present"][4]:
            continue
        before = see(engine, row, 0)
        change(engine, rng, row, 4, name)
        assert see(engine, row, 0) == before
        hidden += 1
        change(engine, rng, row, 0, name)
        after = see(engine, row, 0)
        assert after[0] != before[0]
        assert after[1] != before[1]
        shown += 1
    assert shown > 50
    assert hidden > 50


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_facts_show_nowhere(engine: BatchEngine, name: str) -> None:
    fill(engine, 3)
    slots = slice(1, 10)
    before = [see(engine, row, 0) for row in range(engine.num_rows)]
    flat = observe_flat(engine, 0, 10).copy()
    engine.states[name][:, slots] = engine.states[name][:, slots] + 1
    assert [see(engine, row, 0) for row in range(engine.num_rows)] == before
    assert (observe_flat(engine, 0, 10) == flat).all()


def test_a_departure_is_seen_with_its_sanction(engine: BatchEngine) -> None:
    state = engine.states[0]
    fill(engine, 4)
    door = int(engine.layouts[0].doors[0])
    state["present"][3], state["pos"][3] = False, -1
    state["prev"][3], state["action"][3], state["sanctioned"][3] = door + 1, 2, True
    state["displaced"][3] = state["collided"][3] = False
    seen = observe_symbolic(engine, 0, 0)
    assert seen["left"][3]
    assert not seen["present"][3]
    assert seen["sanctioned"][3]
    assert seen["positions"][3].tolist() == list(divmod(door, 15))
    assert "has left by the door at (5, 0), was at (5, 1), chose LEFT" in observe_text(engine, 0, 0)


def test_swapping_the_norm_changes_no_first_observation() -> None:
    norms = load_norms()
    engine = BatchEngine([get_layout("cafe")], norms, 1)
    spec = draw_episode("cafe", "all-exit-left", 5, num_norm_blind=1)
    same_goals = [norm.id for norm in norms if norm.kind in ("exit_doors",)]
    seen = set()
    for norm_id in same_goals:
        engine.load(0, replace(spec, norms=(norm_id,)))
        seen.add((*see(engine, 0, 0), observe_flat(engine, 0, 6).tobytes()))
    assert len(same_goals) == 6
    assert len(seen) == 1


def test_no_norm_id_or_sentence_is_in_a_text() -> None:
    engine = BatchEngine([get_layout("cafe")], load_norms(), 50)
    for row, norm in enumerate(engine.norms):
        engine.load(row, draw_episode("cafe", norm, row, num_agents=10, num_norm_blind=1))
    rng = np.random.default_rng(0)
    for _ in range(30):
        engine.step(rng.integers(0, 5, (50, 10)))
        for row, norm in enumerate(engine.norms):
            text = observe_text(engine, row, 0)
            assert norm.id not in text
            assert norm.sentence.strip() not in text
            assert norm.kind not in text


def test_the_mask_agrees_with_what_the_world_does(engine: BatchEngine) -> None:
    rng = fill(engine, 6)
    engine.states["driver"] = Driver.EXTERNAL
    masks = engine.action_masks()
    flat = observe_flat(engine, 0, 10)
    assert (flat[:, -5:] == masks[:, 0]).all()
    assert masks[:, :, 4].all()
    actions = rng.integers(0, 5, (engine.num_rows, 10)).astype(np.int8)
    before = engine.states["pos"].copy()
    engine.step(actions)
    rows, slots = np.indices(actions.shape)
    shut = masks[rows, slots, actions] == 0
    assert shut.sum() > 100
    assert not engine.states["own_move"][shut].any()
    still = shut & (engine.states["displaced"] == 0) & (before >= 0)
    assert (engine.states["prev"][still] == before[still]).all()
