"""Plays rows to their ends with the planner in every seat, and says how the newcomers fared."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_SLOTS, Action, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.types import BoolArray


class Outcome(NamedTuple):
    """How the newcomers of an engine's rows fared, one entry a row."""

    finished: BoolArray  # (B,) left by the right door, which ended a test
    goals: npt.NDArray[np.int64]  # (B,) goals completed
    violations: npt.NDArray[np.int64]  # (B,) turns on which it broke the norm
    turns: npt.NDArray[np.int64]  # (B,) turn index at the end

    @property
    def passed(self) -> BoolArray:
        """Joint success, (B,). Source: NG "Metrics"."""
        passed: BoolArray = self.finished & (self.violations == 0)
        return passed


def play_newcomers(engine: BatchEngine) -> Outcome:
    """Play planner-driven rows to their ends.

    Args:
        engine: rows loaded; those that have ended already count nothing.
    """
    finished = np.zeros(engine.num_rows, np.bool_)
    goals = np.zeros(engine.num_rows, np.int64)
    violations = np.zeros(engine.num_rows, np.int64)
    actions = np.full((engine.num_rows, MAX_SLOTS), Action.WAIT, np.int8)
    states = engine.states
    while (running := states["ending"] == Ending.RUNNING).any():
        engine.step(actions)
        goals += states["goals"][:, 0] * running
        violations += (states["violated"][:, 0] != 0) & running
        finished |= (states["ending"] == Ending.TERMINATED) & running
    return Outcome(finished, goals, violations, states["turn"].astype(np.int64))
