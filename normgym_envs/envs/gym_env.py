"""The Gymnasium face of the world: the newcomer's seat."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import INTERACTION_STEPS, NUM_ACTIONS, Ending
from normgym_envs.engine.batch_engine import DEFAULT_REWARD_TERMS
from normgym_envs.envs.actions import read_action
from normgym_envs.envs.events import Event
from normgym_envs.envs.parallel_env import NormGymParallelEnv
from normgym_envs.errors import check_seed
from normgym_envs.observations.views import FACTS
from normgym_envs.types import Layout, Norm

_TERMINATED, _TRUNCATED = int(Ending.TERMINATED), int(Ending.TRUNCATED)

NEWCOMER = "newcomer"


class NormGymEnv(gymnasium.Env[Any, np.int64]):
    """The newcomer among planner-driven people, as a Gymnasium environment.

    Description:
        As `NormGymParallelEnv` with one learner. The newcomer's seat is refilled after its person
        has left; turns on which nobody sits there, and turns of service, leave only WAIT open.

    Observation:
        By name. `flat`: Box of 553 / 569 / 585 float32 for 6 / 8 / 10 slots, the action mask in
        the last five. `symbolic`: Dict of named integer arrays. `text`: Dict of text and mask.
        `image`: Box (132, 180, 3) uint8; needs pygame.

    Action:
        Discrete(5): UP, DOWN, LEFT, RIGHT, WAIT; `info["action_mask"]` says which are open.

    Reward:
        10 for each goal completed, -0.1 a step while somebody is in the seat, -5 for moving into a
        contested cell, -20 for a sanction.

    Episode end:
        Truncated at `max_episode_steps`; test episodes given as `options={"spec": ...}` end with
        termination when the newcomer has left.

    Arguments:
        As `NormGymParallelEnv`, without `num_learners`.

    Seeding:
        `reset(seed=s)` starts a stream of episodes, later resets continue it. The same seed and
        actions give the same trajectory in every environment class of this project.

    Version history:
        v0: first version.

    Source: NG "NormGym" and App. "Environment Details"; docs/rules.md.

    Example:
        >>> env = NormGymEnv(norm="even-turns-only")
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, info["action_mask"].tolist()
        ((553,), [1, 0, 0, 0, 1])
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared as a plain attribute by Gymnasium
        "render_modes": NormGymParallelEnv.metadata["render_modes"],
        "render_fps": NormGymParallelEnv.metadata["render_fps"],
    }

    def __init__(
        self,
        layout: str | Layout = "cafe",
        norm: str | Norm = "forbidden-zone-q",
        *,
        num_agents_total: int | None = None,
        num_norm_blind: int = 1,
        observation: str = "flat",
        max_episode_steps: int = INTERACTION_STEPS,
        predict_newcomer: str = "norm_aware",
        reward_terms: tuple[float, float, float, float] = DEFAULT_REWARD_TERMS,
        render_mode: str | None = None,
        render_style: str = "flat",
        render_width: int = 660,
    ) -> None:
        """Make an environment; arguments as in the class.

        Raises:
            UnknownNameError: no such layout, norm or observation.
            ConfigError: a number outside its range.
        """
        self._world = NormGymParallelEnv(
            layout,
            norm,
            num_agents_total=num_agents_total,
            num_learners=1,
            num_norm_blind=num_norm_blind,
            observation=observation,
            max_episode_steps=max_episode_steps,
            predict_newcomer=predict_newcomer,
            reward_terms=reward_terms,
            render_mode=render_mode,
            render_style=render_style,
            render_width=render_width,
        )
        self._is_flat = observation in ("flat", "box")
        self._is_plain = observation in ("flat", "image")
        space = self._world.observation_space(NEWCOMER)
        if self._is_plain:
            assert isinstance(space, spaces.Dict)
            space = space["observation"]
        self.observation_space = space
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self.render_mode = render_mode

    @property
    def num_slots(self) -> int:
        """Population N."""
        return self._world.num_slots

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: starts the stream of episodes, [0, 2**63]; None continues it.
            options: as `NormGymParallelEnv.reset`.

        Returns:
            The newcomer's observation and info.

        Raises:
            SeedError: no valid seed.
            UnknownNameError: no such layout or norm.
            SpecError: an episode that does not fit this environment.
        """
        check_seed(0 if seed is None else seed)
        super().reset(seed=seed)  # Gymnasium's generator; nothing here draws from it
        observations, infos = self._world.reset(seed, options)
        return self._unpack(observations[NEWCOMER]), infos[NEWCOMER]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Advance by one turn.

        Args:
            action: integer in [0, 5).

        Returns:
            observation, reward (reward points), terminated, truncated, info.

        Raises:
            StateError: before the first reset or after the end.
            ActionError: no such action.
        """
        if type(action) is not int or not 0 <= action < NUM_ACTIONS:
            action = read_action(action, f"agent {NEWCOMER!r}")
        world = self._world
        ending, views = world.play((action,))
        if self._is_flat:
            observation: Any = views.flat[0, 0]
        else:
            observation = self._unpack(world.view(views, 0))
        info = dict(zip(FACTS, views.facts[0, 0].tolist(), strict=True))
        mask = views.masks[0, 0]
        info["action_mask"] = mask if self._is_flat else mask.copy()
        return (
            observation,
            views.rewards.item(),
            ending == _TERMINATED,
            ending == _TRUNCATED,
            info,
        )

    def render(self) -> Any:
        """Return or show a frame, as `render_mode` says."""
        return self._world.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._world.close()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are open, (5,) bool: what maskable learners ask for."""
        return self._world.action_masks(NEWCOMER)

    def events(self) -> tuple[Event, ...]:
        """Return what happened to whom in the last turn; as `NormGymParallelEnv.events`."""
        return self._world.events()

    def _unpack(self, seen: Any) -> Any:
        """Return the array alone where the parallel environment puts a mask beside it."""
        return seen["observation"] if self._is_plain else seen
