"""The Stable-Baselines3 face: the vector environment in that library's conventions."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from normgym_envs.envs.vector_env import INFO_FIELDS, NormGymVectorEnv
from normgym_envs.errors import ActionError, MissingExtraError

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as error:
    raise MissingExtraError(
        "NormGymSB3VecEnv needs Stable-Baselines3; install the extra: pip install 'normgym[rl]'"
    ) from error

Indices = int | Iterable[int] | None


class RowsVecEnv(VecEnv):
    """What Stable-Baselines3 asks of any vector environment whose rows share one object.

    Attributes:
        worlds: that object.
    """

    worlds: Any
    _actions: npt.NDArray[np.integer[Any]] | None = None

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the worlds, once for each row asked for."""
        return [getattr(self.worlds, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the worlds; it is one for all rows."""
        setattr(self.worlds, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method of the worlds; `action_masks` gives each row asked for its own."""
        rows = list(self._get_indices(indices))
        result = getattr(self.worlds, method_name)(*args, **kwargs)
        if isinstance(result, Sequence | np.ndarray) and len(result) == self.num_envs:
            return [result[row] for row in rows]
        return [result for _ in rows]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False for each row: nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]


class NormGymSB3VecEnv(RowsVecEnv):
    """Newcomers in many worlds for Stable-Baselines3.

    A row that ends begins anew in the same step: `infos[i]["terminal_observation"]` holds its last
    observation, and `infos[i]["TimeLimit.truncated"]` says that it was cut, so that learners
    bootstrap. Episode returns are in `infos[i]["episode"]`.

    Args are those of `NormGymVectorEnv`.
    """

    def __init__(self, num_envs: int = 1, **settings: Any) -> None:
        """Make the worlds; see `NormGymVectorEnv`."""
        self.worlds = NormGymVectorEnv(num_envs, **settings)
        self.render_mode = None
        super().__init__(
            num_envs, self.worlds.single_observation_space, self.worlds.single_action_space
        )
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)

    def reset(self) -> npt.NDArray[np.float32]:
        """Begin an episode in every row, with the seeds given to `seed` if there are any."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observations: npt.NDArray[np.float32]
        observations, infos = self.worlds.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [self._info(infos, row) for row in range(self.num_envs)]
        self._returns[:] = 0
        self._lengths[:] = 0
        return observations

    def step_wait(
        self,
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        list[dict[str, Any]],
    ]:
        """Play the actions.

        Returns:
            observations (B, size) float32, rewards (B,) float32, dones (B,) bool, infos.

        Raises:
            ActionError: no actions were given.
        """
        if self._actions is None:
            raise ActionError("step_wait was called without step_async")
        observations, rewards, terminations, truncations, batch = self.worlds.step(self._actions)
        self._actions = None
        self._returns += rewards
        self._lengths += 1
        dones = terminations | truncations
        infos = [self._info(batch, row) for row in range(self.num_envs)]
        for row in np.flatnonzero(dones):
            info = infos[row]
            info["terminal_observation"] = batch["final_obs"][row]
            info["TimeLimit.truncated"] = bool(truncations[row])
            info["episode"] = {"r": float(self._returns[row]), "l": int(self._lengths[row])}
            self._returns[row] = 0
            self._lengths[row] = 0
        return observations, rewards.astype(np.float32), dones, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are open, (B, 5) bool: what maskable learners ask for."""
        return np.asarray(self.worlds.action_masks() != 0)

    def close(self) -> None:
        """Close the worlds."""
        self.worlds.close()

    def _info(self, batch: dict[str, Any], row: int) -> dict[str, Any]:
        source = batch
        if "final_info" in batch and batch["_final_info"][row]:
            source = batch["final_info"]
        info: dict[str, Any] = {name: int(source[name][row]) for name in INFO_FIELDS}
        info["action_mask"] = source["action_mask"][row].copy()
        return info
