"""Which norms come to the same, and what a record of moves rules out."""

from dataclasses import replace

import numpy as np
import pytest

from normgym_envs.constants import MAX_SLOTS
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, load_norms
from normgym_envs.protocol import draw_episode
from normgym_envs.protocol.equivalence import (
    NUM_TRANSITIONS,
    draw_transitions,
    find_consistent_norms,
    find_equivalent_norms,
    read_moves,
)

CAFE = get_layout("cafe")


@pytest.fixture(scope="module")
def engine() -> BatchEngine:
    return BatchEngine([CAFE], load_norms(), 1)


@pytest.mark.parametrize("num_slots", [6, 8, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_two_norms_of_the_library_are_equivalent(
    engine: BatchEngine, num_slots: int, seed: int
) -> None:
    same = find_equivalent_norms(engine, CAFE, num_slots, seed)
    pairs = [(engine.norms[i].id, engine.norms[j].id) for i, j in np.argwhere(same) if i < j]
    assert pairs == []
    assert same.diagonal().all()


def test_a_norm_under_another_name_is_equivalent() -> None:
    norms = [*load_norms()[:40], *(replace(norm, id=f"{norm.id}-too") for norm in load_norms())]
    same = find_equivalent_norms(BatchEngine([CAFE], norms, 1), CAFE, 6)
    ids = [norm.id for norm in norms]
    for i, name in enumerate(ids[:40]):
        assert [ids[j] for j in np.flatnonzero(same[i])] == [name, f"{name}-too"]


def test_paths_that_part_far_from_the_counter_are_told_apart() -> None:
    norms = [get_norm("bend-left-2"), get_norm("zigzag-left-2")]
    for num_slots in (6, 8, 10):
        same = find_equivalent_norms(BatchEngine([CAFE], norms, 1), CAFE, num_slots)
        assert not same[0, 1]


@pytest.mark.parametrize("num_slots", [6, 8, 10])
def test_enough_moves_are_drawn(engine: BatchEngine, num_slots: int) -> None:
    moves = draw_transitions(engine, CAFE, num_slots, seed=4)
    moved = moves.new_cells >= 0
    assert moved.sum() >= NUM_TRANSITIONS
    assert not moved[:, num_slots:].any()
    pos = moves.states["pos"][:, :num_slots].astype(int)
    assert all(len(set(cells)) == num_slots for cells in pos)
    rows = np.abs(moves.new_cells[:, :num_slots] // 15 - pos // 15)
    columns = np.abs(moves.new_cells[:, :num_slots] % 15 - pos % 15)
    assert ((rows + columns)[moved[:, :num_slots]] == 1).all()
    again = draw_transitions(engine, CAFE, num_slots, seed=4)
    assert again.states.tobytes() == moves.states.tobytes()
    assert (again.new_cells == moves.new_cells).all()


def test_a_record_keeps_the_true_norm_and_loses_others(engine: BatchEngine) -> None:
    spec = draw_episode("cafe", "zone-r-capacity-1", 5, num_learners=0, num_norm_blind=4)
    engine.load(0, spec)
    rows = [engine.states[0].copy()]
    for _ in range(150):
        engine.step(np.full((1, MAX_SLOTS), 4))
        rows.append(engine.states[0].copy())
    states = np.array(rows)
    before, after = states[:-1], states[1:]
    moves = read_moves(before, after, engine.tables[0])
    moved = after["own_move"] != 0
    assert ((moves.new_cells >= 0) == moved).all()
    stayed_in = moved & (after["present"] == 1) & (after["is_new"] == 0)
    assert (moves.new_cells[stayed_in] == after["pos"][stayed_in]).all()
    consistent = find_consistent_norms(engine, moves, after["sanctioned"])
    left = [engine.norms[i].id for i in np.flatnonzero(consistent)]
    assert left == ["zone-r-capacity-1"]
    wrong = after["sanctioned"].copy()
    wrong[tuple(np.argwhere(moved)[0])] ^= 1
    assert not find_consistent_norms(engine, moves, wrong)[engine.norms.index(engine.norms[39])]


def test_moves_are_read_from_rows_of_states_only(engine: BatchEngine) -> None:
    with pytest.raises(TypeError, match="rows of an engine's states"):
        read_moves(np.zeros(3), np.zeros(3), engine.tables[0])
