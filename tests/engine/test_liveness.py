"""Scripted crowds keep going: nobody breaks a norm, nobody is stuck, every slot turns over.

Two things are stricter here than they need to be: a turn on which a person is pushed about counts
as waiting, and so does one on which its goal is forbidden to it.
"""

from typing import NamedTuple

import numpy as np
import pytest

from normgym_envs.constants import Action
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import load_norms
from normgym_envs.protocol import draw_episode

TURNS = 2000
MAX_WAIT = 40
TURNS_PER_PERSON = 100
MAX_GAP = 250
"""Turns of a slot between two persons that finish: rhythm norms alone need up to 180."""


class Crowd(NamedTuple):
    """What became of every norm's crowd, one entry a norm."""

    violations: np.ndarray  # (n,)
    longest_wait: np.ndarray  # (n,) turns in a row without a move of one's own, service left out
    finished: np.ndarray  # (n,) persons of the slot with the fewest
    longest_gap: np.ndarray  # (n,) turns of a slot without anybody finishing


def watch_crowds(seed: int) -> Crowd:
    """Let the crowds of all norms play at once, everybody scripted and norm-aware."""
    norms = load_norms()
    engine = BatchEngine([get_layout("cafe")], norms, len(norms))
    for row, norm in enumerate(norms):
        engine.load(row, draw_episode("cafe", norm, seed, num_learners=0, limit=TURNS + 1))
    shape = engine.states["pos"].shape
    used = np.arange(shape[1]) < engine.states["num_slots"][:, None]
    waits, gaps, finished = np.zeros(shape, int), np.zeros(shape, int), np.zeros(shape, int)
    longest_wait, longest_gap = np.zeros(len(norms), int), np.zeros(len(norms), int)
    violations = np.zeros(len(norms), int)
    actions = np.full(shape, Action.WAIT, np.int8)
    for _ in range(TURNS):
        present, leg = engine.states["present"] == 1, engine.states["leg"].copy()
        engine.step(actions)
        states = engine.states
        violations += (states["violated"] != 0).sum(axis=1)
        left = present & (leg == 1) & (states["goals"] == 1)
        moved = states["own_move"] != 0
        waits = np.where(~present | moved, 0, waits + (states["auto"] == 0))
        gaps = np.where(left | ~used, 0, gaps + 1)
        finished += left
        longest_wait = np.maximum(longest_wait, waits.max(axis=1))
        longest_gap = np.maximum(longest_gap, gaps.max(axis=1))
    return Crowd(violations, longest_wait, np.where(used, finished, TURNS).min(axis=1), longest_gap)


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 5, 7, 15))]
)
def test_every_norm_lets_a_crowd_live(seed: int) -> None:
    crowd = watch_crowds(seed)
    found = []
    for row, norm in enumerate(load_norms()):
        wait, gap = int(crowd.longest_wait[row]), int(crowd.longest_gap[row])
        least, violations = int(crowd.finished[row]), int(crowd.violations[row])
        stuck = wait > MAX_WAIT or gap > MAX_GAP or least < TURNS / TURNS_PER_PERSON
        if violations or stuck:
            found.append(
                f"{norm.id}: {violations} violations, {wait} turns waited in a row, at least "
                f"{least} finished a slot, {gap} turns without"
            )
    assert not found, "\n".join(found)
