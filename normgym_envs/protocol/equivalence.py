"""Which norms come to the same thing on a layout, and what a record of behaviour rules out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_SLOTS, Goal1, Group
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.state import STATE_DTYPE, allocate_states
from normgym_envs.types import BoolArray, Layout, RecordArray

NUM_TRANSITIONS = 10_000
"""Transitions of one person each. Source: docs/rules.md, "Equivalent norms"."""


class Transitions(NamedTuple):
    """Moves as everybody could see them."""

    states: RecordArray  # (T,) STATE_DTYPE, before the moves
    new_cells: npt.NDArray[np.int16]  # (T, 10), cell reached by an own move, -1 none


def draw_transitions(
    engine: BatchEngine, layout: Layout, num_slots: int, seed: int = 0
) -> Transitions:
    """Draw random own moves of crowds in random states.

    Args:
        engine: one that has the layout.
        layout: where.
        num_slots: N, persons in each state.
        seed: of the draws.

    Returns:
        At least `NUM_TRANSITIONS` moves of one person each.
    """
    rng = np.random.default_rng(seed)
    count = -(-NUM_TRANSITIONS // num_slots) * 3  # blocked moves fall out
    index = engine.layouts.index(layout)
    packed = engine.tables[0][index]
    states = allocate_states(count)
    states["layout"] = index
    states["num_slots"] = num_slots
    states["turn"] = rng.integers(200, size=count)
    cells = np.flatnonzero(packed["enterable"])
    shape = (count, num_slots)
    # a third anywhere, a third crowded about some cell, a third crowded before the counter
    focus = rng.choice(cells, count)
    focus[: count // 3] = layout.service
    far = packed["distance"][focus[:, None], cells].astype(float)
    spread = np.where(np.arange(count) < 2 * count // 3, 3.0, 1000.0)[:, None]
    order = (far + spread * rng.random(far.shape)).argsort(axis=1)[:, :num_slots]
    states["present"][:, :num_slots] = 1
    states["pos"][:, :num_slots] = cells[order]
    states["group"][:, :num_slots] = rng.integers(len(Group), size=shape)
    # everybody waits at the counter or nobody does, as in an episode
    kinds = rng.integers(2, size=(count, 1)) * np.ones(shape, int)
    states["goal1_kind"][:, :num_slots] = np.where(kinds == 0, Goal1.COUNTER, Goal1.PLACE)
    states["leg"][:, :num_slots] = rng.random(shape) < 0.25
    states["streak"][:, :num_slots] = rng.integers(5, size=shape)
    states["visited"][:, :num_slots] = rng.integers(2, size=shape)
    new_cells = np.full((count, MAX_SLOTS), -1, np.int16)
    pos = states["pos"][:, :num_slots].astype(int)
    moved = packed["neighbour"][pos, rng.integers(4, size=shape)]
    new_cells[:, :num_slots] = np.where(moved == pos, -1, moved)
    return Transitions(states, new_cells)


def find_equivalent_norms(
    engine: BatchEngine, layout: Layout, num_slots: int, seed: int = 0
) -> BoolArray:
    """Return which of the engine's norms give the same verdict on every drawn transition.

    Args:
        engine: one that has the layout.
        layout: where.
        num_slots: N.
        seed: of the drawn transitions.

    Returns:
        (n, n) bool, symmetric.
    """
    moves = draw_transitions(engine, layout, num_slots, seed)
    verdicts = engine.judge(moves.states, moves.new_cells)
    columns = verdicts.transpose(1, 0, 2).reshape(len(engine.norms), -1)
    return np.array([(columns == column).all(axis=1) for column in columns])


def find_implied_norms(
    engine: BatchEngine, layout: Layout, num_slots: int, seed: int = 0
) -> BoolArray:
    """Return which norms forbid all that others forbid, on every drawn transition.

    Args:
        engine: one that has the layout.
        layout: where.
        num_slots: N.
        seed: of the drawn transitions.

    Returns:
        (n, n) bool, [i, j]: whoever keeps norm i keeps norm j.
    """
    moves = draw_transitions(engine, layout, num_slots, seed)
    verdicts = engine.judge(moves.states, moves.new_cells)
    columns = verdicts.transpose(1, 0, 2).reshape(len(engine.norms), -1)
    return np.array([~(columns & ~column).any(axis=1) for column in columns])


def explain_moves(
    engine: BatchEngine, moves: Transitions, sanctioned: npt.NDArray[np.integer]
) -> BoolArray:
    """Return which of the engine's norms explain that a move was sanctioned, or that it was not.

    Args:
        engine: one that has the states' layouts.
        moves: T turns.
        sanctioned: (T, 10), nonzero where a person was sanctioned.

    Returns:
        (T, n, 10) bool; true where nobody moved.
    """
    verdicts = engine.judge(moves.states, moves.new_cells)
    shown = np.asarray(sanctioned) != 0
    return np.asarray((verdicts == shown[:, None, :]) | (moves.new_cells < 0)[:, None, :])


def find_consistent_norms(
    engine: BatchEngine, moves: Transitions, sanctioned: npt.NDArray[np.integer]
) -> BoolArray:
    """Return which of the engine's norms explain every seen sanction and every seen acceptance.

    Args:
        engine: one that has the states' layouts.
        moves: T turns.
        sanctioned: (T, 10), nonzero where a person was sanctioned.

    Returns:
        (n,) bool.
    """
    return np.asarray(explain_moves(engine, moves, sanctioned).all(axis=(0, 2)))


def read_moves(before: RecordArray, after: RecordArray, layouts: RecordArray) -> Transitions:
    """Return the own moves between states and those one step later.

    Args:
        before: (T,) STATE_DTYPE.
        after: (T,) STATE_DTYPE, one step later.
        layouts: (L,) LAYOUT_DTYPE of their engine.
    """
    if before.dtype != STATE_DTYPE or after.dtype != STATE_DTYPE:
        raise TypeError("before and after must be rows of an engine's states")
    pos = before["pos"].astype(int)
    action = np.clip(after["action"], 0, 4)
    aimed = layouts["neighbour"][before["layout"][:, None], np.maximum(pos, 0), action]
    new_cells = np.where(after["own_move"] != 0, aimed, -1).astype(np.int16)
    return Transitions(before, new_cells)
