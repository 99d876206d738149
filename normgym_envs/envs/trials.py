"""Trials for meta-learning: several episodes in a row with one hidden norm.

Source: not in NG; the form of RL2 (Duan et al. 2016): what was done and what came of it is part of
the observation, and the ends of episodes inside a trial are no ends for the learner's memory.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import INTERACTION_STEPS, NUM_ACTIONS
from normgym_envs.engine.batch_engine import DEFAULT_REWARD_TERMS
from normgym_envs.envs.gym_env import NormGymEnv
from normgym_envs.envs.stream import check_reward_terms, to_norm
from normgym_envs.errors import ConfigError, check_integer, check_seed
from normgym_envs.norms.library import num_slots
from normgym_envs.observations import flat_size
from normgym_envs.protocol.generator import generate_norms
from normgym_envs.types import Layout, Norm

MEMORY: Final = (
    *(f"last_action_{action}" for action in range(NUM_ACTIONS)),  # 1 for the one chosen last
    "last_reward",  # as a share of the largest reward or loss of a step
    "last_sanctioned",  # the newcomer's own last move was sanctioned
    "new_episode",  # this is the first view of an episode
)
"""Numbers behind the flat vector, in order."""

HELD_OUT_SHARE: Final = 0.2
"""Share of drawn norms that are kept for tests. Source: not specified; chosen as the library's
split, 10 of 50 norms (NG Table A4)."""


class Tasks(NamedTuple):
    """Norms to learn from, and others to be tested on."""

    train: tuple[Norm, ...]
    held_out: tuple[Norm, ...]


def draw_tasks(
    seed: int,
    count: int,
    *,
    kinds: Sequence[str] | None = None,
    held_out_share: float = HELD_OUT_SHARE,
) -> Tasks:
    """Draw norms as tasks of meta-learning, and split them.

    No two are equivalent, within and across the parts, and none is equivalent to one of the
    library, so that the library's 50 norms remain a test of their own.

    Args:
        seed: of the draws, [0, 2**63]; equal seeds give equal tasks.
        count: norms in all, at least 2.
        kinds: kinds to draw from, all by default.
        held_out_share: share that is kept for tests, in (0, 1); at least one norm in each part.

    Raises:
        ConfigError: fewer than 2 norms, more than exist, or no such share.
        UnknownNameError: no such kind.
    """
    if count < 2:
        raise ConfigError(f"count is {count}; expected at least 2, one for each part")
    if not 0 < held_out_share < 1:
        raise ConfigError(f"held_out_share is {held_out_share}; expected between 0 and 1")
    norms = generate_norms(seed, count, kinds)
    order = np.random.default_rng(check_seed(seed)).permutation(count).tolist()
    kept = min(max(round(count * held_out_share), 1), count - 1)
    chosen = set(order[:kept])
    return Tasks(
        tuple(norm for place, norm in enumerate(norms) if place not in chosen),
        tuple(norm for place, norm in enumerate(norms) if place in chosen),
    )


class NormGymTrialEnv(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One hidden norm, several episodes: an environment of a trial for each task.

    Description:
        A reset draws a task, a norm from those given, and begins its first episode. After
        `max_episode_steps` the next episode begins with other people and goals under the same norm;
        nothing tells the learner but `new_episode`. `truncated` marks the end of the trial alone,
        which is where a learner's memory is to be cleared.

    Observation:
        Box of the flat vector followed by the eight numbers named in `MEMORY`.

    Action:
        Discrete(5), as `NormGymEnv`.

    Reward:
        As `NormGymEnv`.

    Seeding:
        `reset(seed=s)` starts a stream of trials, later resets continue it.

    Version history:
        v0: first version.

    Source: as the module.

    Example:
        >>> env = NormGymTrialEnv(["all-exit-left", "all-exit-right"], episodes_per_trial=3)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, info["episode"]
        ((561,), 0)
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared as a plain attribute by Gymnasium
        "render_modes": NormGymEnv.metadata["render_modes"],
        "render_fps": NormGymEnv.metadata["render_fps"],
    }

    def __init__(
        self,
        tasks: Sequence[str | Norm],
        layout: str | Layout = "cafe",
        *,
        episodes_per_trial: int = 4,
        num_agents_total: int | None = None,
        num_norm_blind: int = 1,
        max_episode_steps: int = INTERACTION_STEPS,
        predict_newcomer: str = "norm_aware",
        reward_terms: tuple[float, float, float, float] = DEFAULT_REWARD_TERMS,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment.

        Args:
            tasks: norms or their ids, at least one; every trial has one of them.
            layout: layout or its name.
            episodes_per_trial: at least 1.
            num_agents_total: population of all trials; by default the largest of the tasks' own.
            num_norm_blind: scripted slots that ignore the norm.
            max_episode_steps: steps of an episode.
            predict_newcomer: how others foresee the newcomer.
            reward_terms: goal, step cost, collision, sanction; reward points.
            render_mode: as `NormGymEnv`.

        Raises:
            UnknownNameError: no such layout or norm.
            ConfigError: no task, or a number outside its range.
        """
        if isinstance(tasks, str) or not tasks:
            raise ConfigError(f"tasks is {tasks!r}; expected a list of at least one norm")
        self.tasks = tuple(to_norm(task) for task in tasks)
        self.episodes_per_trial = check_integer("episodes_per_trial", episodes_per_trial, 1)
        population = num_agents_total
        if population is None:
            population = max(num_slots(norm) for norm in self.tasks)
        self._world = NormGymEnv(
            layout,
            self.tasks[0],
            num_agents_total=population,
            num_norm_blind=num_norm_blind,
            max_episode_steps=max_episode_steps,
            predict_newcomer=predict_newcomer,
            reward_terms=reward_terms,
            render_mode=render_mode,
        )
        goal, cost, collision, sanction = check_reward_terms(reward_terms)
        self._largest = max(goal, cost + collision + sanction, 1e-6)
        size = flat_size(population) + len(MEMORY)
        self.observation_space = spaces.Box(-1.0, 1.0, (size,), np.float32)
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self.render_mode = render_mode
        self._rng = np.random.default_rng()
        self._episode = 0
        self._task = self.tasks[0]

    @property
    def task(self) -> Norm:
        """The hidden norm of the present trial; for evaluation, not for the learner."""
        return self._task

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin a trial.

        Args:
            seed: starts the stream of trials, [0, 2**63]; None continues it.
            options: `task`, a norm or its id, instead of drawing one of those given.

        Returns:
            The newcomer's observation and info; `info["episode"]` counts from 0.

        Raises:
            SeedError: no valid seed.
            UnknownNameError: no such norm.
        """
        super().reset(seed=None if seed is None else check_seed(seed))
        if seed is not None:
            self._rng = np.random.default_rng([check_seed(seed), 1])
        given = (options or {}).get("task")
        if given is None:
            given = self.tasks[int(self._rng.integers(len(self.tasks)))]
        self._task = to_norm(given)
        self._episode = 0
        view, info = self._world.reset(seed=seed, options={"norm": self._task})
        memory = np.zeros(len(MEMORY), np.float32)
        memory[-1] = 1
        return np.concatenate([view, memory]), {**info, "episode": 0}

    def step(
        self, action: Any
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Advance by one turn; the next episode of the trial begins where one ends.

        Args:
            action: integer in [0, 5).

        Returns:
            observation, reward (reward points), terminated, truncated, info. Where an episode ends
            the view is that of the next one; the reward and the memory are those of the last turn.

        Raises:
            StateError: before the first reset or after the end of the trial.
            ActionError: no such action.
        """
        view, reward, terminated, truncated, info = self._world.step(action)
        memory = np.zeros(len(MEMORY), np.float32)
        memory[int(action)] = 1
        memory[NUM_ACTIONS] = reward / self._largest
        memory[NUM_ACTIONS + 1] = info["sanctioned"]
        over = False
        if terminated or truncated:
            over = self._episode + 1 == self.episodes_per_trial
            if not over:
                self._episode += 1
                view, begun = self._world.reset()
                info = {**info, **{key: begun[key] for key in ("action_mask", "person", "present")}}
                memory[-1] = 1
        memory = np.clip(memory, -1, 1)
        return (
            np.concatenate([view, memory]),
            reward,
            False,
            over,
            {**info, "episode": self._episode},
        )

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are open, (5,) bool."""
        return self._world.action_masks()

    def render(self) -> Any:
        """Return or show a frame, as `render_mode` says."""
        return self._world.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._world.close()
