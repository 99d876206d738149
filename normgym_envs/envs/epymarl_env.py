"""The face that EPyMARL and its relatives expect: a Gymnasium environment with Tuple spaces."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.envs.parallel_env import NormGymParallelEnv
from normgym_envs.errors import ActionError

Observations = tuple[npt.NDArray[np.float32], ...]


class NormGymTupleEnv(gymnasium.Env[Observations, tuple[int, ...]]):
    """All learnt slots as one tuple, in the order of slots.

    Description:
        As `NormGymParallelEnv`; by default every slot is learnt. Registered as
        `NormGym/CommunityTuple-v0`, which is the `key` to give to EPyMARL's `gymma` environment.

    Observation:
        Tuple of the flat vectors, one a slot; the mask is in the last five numbers of each, and
        `get_avail_actions` gives it as lists.

    Action:
        Tuple of Discrete(5); any sequence of integers is taken.

    Reward:
        A list, one number a slot; sum it for a common reward.

    Episode end:
        One pair of flags for all.

    Version history:
        v0: first version.

    Source: NG "NormGym" and App. "Environment Details"; docs/rules.md.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared as a plain attribute by Gymnasium
        "render_modes": NormGymParallelEnv.metadata["render_modes"],
        "render_fps": NormGymParallelEnv.metadata["render_fps"],
    }

    def __init__(self, num_learners: int | None = None, **settings: Any) -> None:
        """Make an environment.

        Args:
            num_learners: slots that are learnt; all by default.
            settings: further arguments of `NormGymParallelEnv`, except `observation`.
        """
        if num_learners is None:
            num_learners = NormGymParallelEnv(**settings).num_slots
        self.world = NormGymParallelEnv(**settings, num_learners=num_learners, observation="box")
        agents = self.world.possible_agents
        self.n_agents = len(agents)
        self.observation_space = spaces.Tuple([self.world.observation_space(a) for a in agents])
        self.action_space = spaces.Tuple([self.world.action_space(a) for a in agents])
        self.state_size = int(self.world.state_space.shape[0])
        self.render_mode = self.world.render_mode

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode; as `NormGymParallelEnv.reset`."""
        super().reset(seed=seed)
        observations, infos = self.world.reset(seed, options)
        return tuple(observations.values()), self._flatten(infos)

    def step(  # type: ignore[override]  # a list of rewards is this interface's way
        self, action: Sequence[int]
    ) -> tuple[Observations, list[float], bool, bool, dict[str, Any]]:
        """Advance by one turn.

        Raises:
            StateError: before the first reset or after the end.
            ActionError: not one action a slot, or a malformed one.
        """
        agents = self.world.possible_agents
        if len(action) != len(agents):
            raise ActionError(f"{len(action)} actions; expected {len(agents)}, one a slot")
        tables = self.world.step(dict(zip(agents, action, strict=True)))
        observations, rewards, terminations, truncations, infos = tables
        return (
            tuple(observations.values()),
            list(rewards.values()),
            all(terminations.values()),
            all(truncations.values()),
            self._flatten(infos),
        )

    def get_avail_actions(self) -> list[list[int]]:
        """Return the masks of all learnt slots, 1 open."""
        return [
            self.world.action_masks(agent).astype(int).tolist()
            for agent in self.world.possible_agents
        ]

    def get_state(self) -> npt.NDArray[np.float32]:
        """Return all slots' views as one vector, (state_size,), for central critics."""
        return self.world.state()

    def render(self) -> Any:
        """Return or show a frame, as `render_mode` says."""
        return self.world.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.world.close()

    def _flatten(self, infos: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the numbers of all infos under one level of names."""
        return {
            f"{agent}_{name}": value
            for agent, info in infos.items()
            for name, value in info.items()
            if np.ndim(value) == 0
        }
