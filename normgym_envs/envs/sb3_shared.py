"""Several learnt people a world for Stable-Baselines3: one policy, one lane a slot."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import INTERACTION_STEPS, NUM_ACTIONS, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.batch_engine import DEFAULT_REWARD_TERMS
from normgym_envs.envs.sb3_vec_env import NormGymSB3VecEnv
from normgym_envs.envs.stream import EpisodeStream, check_reward_terms
from normgym_envs.errors import ActionError, check_integer
from normgym_envs.observations import flat_space
from normgym_envs.observations.views import FACTS, Views, look
from normgym_envs.types import Layout, Norm


class NormGymSB3SharedVecEnv(NormGymSB3VecEnv):
    """The learnt slots of many worlds as lanes, so that all of them share one policy.

    Lane `row * num_learners + slot` is a slot of a world; `infos[lane]["slot"]` names it. Lanes of
    a world end and begin together. An empty slot is zeros, earns nothing and can only wait.
    """

    def __init__(
        self,
        num_envs: int = 1,
        num_learners: int = 2,
        layout: str | Layout = "cafe",
        norm: str | Norm = "forbidden-zone-q",
        *,
        num_agents_total: int | None = None,
        num_norm_blind: int = 1,
        max_episode_steps: int = INTERACTION_STEPS,
        predict_newcomer: str = "norm_aware",
        reward_terms: tuple[float, float, float, float] = DEFAULT_REWARD_TERMS,
        num_threads: int = 1,
    ) -> None:
        """Make the worlds; arguments as of `NormGymVectorEnv` and `NormGymParallelEnv`.

        Raises:
            UnknownNameError: no such layout or norm.
            ConfigError: a number outside its range.
        """
        num_envs = check_integer("num_envs", num_envs, 1)
        self._streams = [
            EpisodeStream(
                layout,
                norm,
                num_agents=num_agents_total,
                num_learners=num_learners,
                num_norm_blind=num_norm_blind,
                limit=max_episode_steps,
                predict_newcomer=predict_newcomer,
            )
            for _ in range(num_envs)
        ]
        first = self._streams[0]
        self.num_slots, self.num_learners = first.num_slots, num_learners
        self.worlds = self  # attributes are asked of it
        self.engine = BatchEngine([first.layout], [first.norm], num_envs, num_threads=num_threads)
        self._reward_terms = check_reward_terms(reward_terms)
        self.render_mode = None
        super(NormGymSB3VecEnv, self).__init__(
            num_envs * num_learners, flat_space(first.num_slots), spaces.Discrete(NUM_ACTIONS)
        )
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)

    def reset(self) -> npt.NDArray[np.float32]:
        """Begin an episode in every world, with the seeds given to `seed` if there are any."""
        for row, stream in enumerate(self._streams):
            stream.seed(self._seeds[row * self.num_learners])
            self._load(row)
        self._reset_seeds()
        self._reset_options()
        views = self._look()
        self.reset_infos = self._list_infos(views)
        self._returns[:] = 0
        self._lengths[:] = 0
        return self._flatten(views)

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
            observations (B * L, size) float32, rewards (B * L,) float32, dones (B * L,) bool,
            infos.

        Raises:
            ActionError: no actions were given, or of another shape.
        """
        if self._actions is None:
            raise ActionError("step_wait was called without step_async")
        if self._actions.shape != (self.num_envs,):
            raise ActionError(
                f"actions have shape {self._actions.shape}; expected ({self.num_envs},)"
            )
        self.engine.step(self._actions.reshape(len(self._streams), self.num_learners))
        self._actions = None
        views = self._look()
        observations, infos = self._flatten(views), self._list_infos(views)
        rewards = views.rewards.reshape(-1)
        self._returns += rewards
        self._lengths += 1
        ending = self.engine.states["ending"].copy()
        dones = np.repeat(ending != Ending.RUNNING, self.num_learners)
        if dones.any():
            for lane in np.flatnonzero(dones).tolist():
                self._close(infos[lane], observations[lane], lane, ending)
            for row in np.flatnonzero(ending != Ending.RUNNING):
                self._load(int(row))
            observations = self._flatten(self._look())
        return observations, rewards.astype(np.float32), dones, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are open, (B * L, 5) bool."""
        masks = self.engine.action_masks()[:, : self.num_learners]
        return np.asarray(masks.reshape(-1, NUM_ACTIONS) != 0)

    def close(self) -> None:
        """Release nothing."""

    def _close(
        self,
        info: dict[str, Any],
        last: npt.NDArray[np.float32],
        lane: int,
        ending: npt.NDArray[np.int8],
    ) -> None:
        """Say in a lane's last info how and with what its episode ended."""
        info["terminal_observation"] = last.copy()
        info["TimeLimit.truncated"] = bool(ending[lane // self.num_learners] == Ending.TRUNCATED)
        info["episode"] = {"r": float(self._returns[lane]), "l": int(self._lengths[lane])}
        self._returns[lane] = 0
        self._lengths[lane] = 0

    def _load(self, row: int) -> None:
        spec = self._streams[row].draw()
        learnt = (int(Driver.EXTERNAL),) * self.num_learners
        drivers = (*learnt, *spec.drivers[self.num_learners :])
        self.engine.load(row, spec, reward_terms=self._reward_terms, drivers=drivers)

    def _look(self) -> Views:
        return look(self.engine, self.num_slots, self.num_learners)

    def _flatten(self, views: Views) -> npt.NDArray[np.float32]:
        return views.flat.reshape(self.num_envs, -1)

    def _list_infos(self, views: Views) -> list[dict[str, Any]]:
        """Return an info for each lane."""
        facts = views.facts.reshape(self.num_envs, -1).tolist()
        masks = views.masks.reshape(self.num_envs, -1)
        return [
            {
                **dict(zip(FACTS, facts[lane], strict=True)),
                "action_mask": masks[lane].copy(),
                "slot": lane % self.num_learners,
            }
            for lane in range(self.num_envs)
        ]
