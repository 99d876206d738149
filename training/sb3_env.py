"""The training worlds in the conventions of Stable-Baselines3."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import NUM_ACTIONS
from normgym_envs.errors import ActionError, MissingExtraError
from normgym_envs.observations.flat import flat_space
from training.worlds import Floats, TrainingWorlds, Turn

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as error:
    raise MissingExtraError(
        "training with Stable-Baselines3 needs the extra: pip install 'normgym[rl]'"
    ) from error

Indices = int | Iterable[int] | None


class TrainingVecEnv(VecEnv):
    """`TrainingWorlds` as a vector environment with same-step reset.

    Attributes:
        worlds: what is stepped.
        turn: what the last step gave.
    """

    def __init__(self, worlds: TrainingWorlds) -> None:
        """Wrap worlds."""
        self.worlds = worlds
        self.turn: Turn | None = None
        self.render_mode = None
        super().__init__(
            worlds.num_envs, flat_space(worlds.num_slots), spaces.Discrete(NUM_ACTIONS)
        )
        self._actions: npt.NDArray[np.integer[Any]] | None = None
        self._running: dict[str, Any] = {"TimeLimit.truncated": False}

    def reset(self) -> Floats:
        """Begin an episode in every row."""
        self.turn = None
        return self.worlds.reset()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions)

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

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the worlds, once for each row asked for."""
        return [getattr(self.worlds, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the worlds; it is one for all rows."""
        setattr(self.worlds, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method of the worlds once for each row asked for."""
        method = getattr(self.worlds, method_name)
        return [method(*args, **kwargs) for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False for each row: nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]
