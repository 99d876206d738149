"""The two floors that look at nothing: random moves, and no move at all."""

from typing import ClassVar

import numpy as np

from agents.base import AgentContext, Observation
from normgym_envs.constants import Action


class RandomAgent:
    """Uniform over the actions that are physically open.

    Source: not in NG; chosen as a floor.
    """

    privileged: ClassVar[bool] = False

    def reset(self, context: AgentContext) -> None:
        """Take up the episode's random stream."""
        self._rng = context.rng

    def act(self, observation: Observation) -> int:
        """Return one of the open actions."""
        return int(self._rng.choice(np.flatnonzero(observation["action_mask"])))


class WaitAgent:
    """Never moves.

    Source: not in NG; chosen as the floor that breaks no norm.
    """

    privileged: ClassVar[bool] = False

    def reset(self, context: AgentContext) -> None:
        """Begin an episode; nothing to prepare."""

    def act(self, observation: Observation) -> int:
        """Return WAIT."""
        return int(Action.WAIT)
