"""A floor that reasons without evidence: does what most norms of its task type would permit."""

from functools import lru_cache
from typing import ClassVar

import numpy as np

from agents.base import AgentContext, Observation
from agents.reasoning import make_reasoner
from normgym_envs.constants import NUM_ACTIONS, Goal1
from normgym_envs.norms.library import goal_kinds, load_norms, num_slots
from normgym_envs.observations.rebuild import StateTracker


class CautiousAgent:
    """Plays what most people would who each hold another norm of its task type.

    Own goals and population tell which norms of the library are possible; nothing that others do
    is taken as evidence. What it reaches is chance without evidence.

    Source: not in NG; chosen to show how far general caution goes.
    """

    privileged: ClassVar[bool] = False

    def reset(self, context: AgentContext) -> None:
        """Begin an episode."""
        self._tracker = StateTracker()

    def observe(self, observation: Observation) -> None:
        """Keep track of a turn on which there is nothing to choose."""
        self._tracker.update(observation)

    def act(self, observation: Observation) -> int:
        """Let every possible norm vote with the planner's action; the lower action wins a tie."""
        rows = self._tracker.update(observation)
        slot = int(observation["slot"][0])
        possible = list_possible_norms(
            Goal1(int(observation["goal1_kind"][0])),
            int(observation["goal2_door"][0]) < 0,
            len(observation["present"]),
        )
        assert self._tracker.layout is not None
        library = load_norms()
        reasoner = make_reasoner(self._tracker.layout, [library[i] for i in possible])
        votes = reasoner.plan_each(rows, slot)
        return int(np.bincount(votes, minlength=NUM_ACTIONS).argmax())


@lru_cache
def list_possible_norms(goal1: Goal1, any_door: bool, population: int) -> tuple[int, ...]:
    """Return the norms of the library whose episodes have such goals and so many slots.

    Args:
        goal1: kind of the first goal.
        any_door: the second goal is any door instead of a given one.
        population: N.

    Returns:
        Indices into the library; all of it when no norm fits.
    """
    library = load_norms()
    fitting = tuple(
        index
        for index, norm in enumerate(library)
        if goal_kinds(norm) == (goal1, any_door) and num_slots(norm) == population
    )
    return fitting or tuple(range(len(library)))
