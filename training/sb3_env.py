"""The training worlds in the conventions of Stable-Baselines3."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import NUM_ACTIONS
from normgym_envs.envs.sb3_vec_env import RowsVecEnv
from normgym_envs.errors import ActionError
from normgym_envs.observations.flat import flat_space
from training.worlds import Floats, TrainingWorlds, Turn


class TrainingVecEnv(RowsVecEnv):
    """`TrainingWorlds` as a vector environment with same-step reset.

    Attributes:
        worlds: what is stepped.
        turn: what the last step gave.
    """

    worlds: TrainingWorlds

    def __init__(self, worlds: TrainingWorlds) -> None:
        """Wrap worlds."""
        self.worlds = worlds
        self.turn: Turn | None = None
        self.render_mode = None
        super().__init__(
            worlds.num_envs, flat_space(worlds.num_slots), spaces.Discrete(NUM_ACTIONS)
        )
        self._running: dict[str, Any] = {"TimeLimit.truncated": False}

    def reset(self) -> Floats:
        """Begin an episode in every row."""
        self.turn = None
        return self.worlds.reset()

    def step_wait(self) -> tuple[Floats, Floats, npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions.

        Returns:
            observations (B, size) float32, rewards (B,) float32, ends (B,) bool, infos.

        Raises:
            ActionError: no actions were given.
        """
        if self._actions is None:
            raise ActionError("step_wait was called without step_async")
        self.turn = turn = self.worlds.step(self._actions)
        self._actions = None
        infos = [self._running] * self.num_envs
        for row in np.flatnonzero(turn.ended):
            infos[row] = {
                "terminal_observation": turn.successors[row],
                "TimeLimit.truncated": True,
            }
        return turn.observations, turn.rewards, turn.ended, infos

    def close(self) -> None:
        """Do nothing: the worlds hold no resources."""
