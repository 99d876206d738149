"""Chance favours nobody: who keeps a cell does not depend on the number of the slot."""

import itertools

import naive
import numpy as np
import pytest
from scipy.stats import binomtest
from worked import MAPS

from normgym_envs.constants import Action, Driver
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.state import allocate_states
from normgym_envs.layouts import parse_layout

NUM_SEEDS = 4000
CENTRE = 5 * 15 + 5
FROM = ((CENTRE - 15, Action.DOWN), (CENTRE + 15, Action.UP), (CENTRE - 1, Action.RIGHT))


def contest(slots: tuple[int, ...]) -> np.ndarray:
    """Let persons of some slots enter one cell from above, below and the left.

    Returns:
        (NUM_SEEDS, len(slots)) int, cell on which each ends.
    """
    hall = parse_layout(MAPS["hall"], "hall", "hall")
    engine = BatchEngine([hall], [], NUM_SEEDS)
    states = allocate_states(NUM_SEEDS)
    states["seed"] = np.arange(NUM_SEEDS)
    states["limit"], states["num_slots"] = 100, 10
    states["driver"] = Driver.EXTERNAL
    states["predicted"] = Driver.NORM_AWARE
    states["num_persons"] = 1
    states["arrival"] = 1000
    states["priority"] = np.arange(10)
    states["reward_terms"] = (10, 0.1, 5, 20)
    actions = np.full((NUM_SEEDS, 10), Action.WAIT, np.int8)
    for slot, (cell, action) in zip(slots, FROM, strict=False):
        states["present"][:, slot] = 1
        states["pos"][:, slot] = cell
        states["goal1_kind"][:, slot] = naive.PLACE
        states["goal1_cell"][:, slot] = 16
        states["leg"][:, slot] = 1
        actions[:, slot] = action
    engine.states[:] = states
    engine.step(actions)
    assert (engine.states["collided"][:, list(slots)] == 1).all()
    return engine.states["pos"][:, list(slots)].astype(int)


@pytest.mark.parametrize(
    "slots", [(0, 1), (1, 0), (9, 2), (0, 9), *itertools.permutations((0, 3, 6))]
)
def test_the_winner_is_uniform(slots: tuple[int, ...]) -> None:
    kept = contest(slots) == CENTRE
    assert (kept.sum(axis=1) == 1).all()
    for wins in kept.sum(axis=0):
        assert binomtest(int(wins), NUM_SEEDS, 1 / len(slots)).pvalue > 1e-4


def test_the_outcome_depends_on_places_not_on_slots() -> None:
    expected = contest((2, 5, 8))
    for slots in itertools.permutations((2, 5, 8)):
        assert (contest(slots) == expected).all()


def test_the_displaced_go_to_every_side() -> None:
    # Both have left their cells, so all four neighbours of the contested one are free.
    ends = contest((4, 7))
    for cell in (CENTRE - 15, CENTRE + 15, CENTRE - 1, CENTRE + 1):
        assert binomtest(int((ends == cell).sum()), NUM_SEEDS, 1 / 4).pvalue > 1e-4
