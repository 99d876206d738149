"""The worlds a DQN learns in: NG's training episodes in one engine batch, no learning library.

Both learners, probes and tests step these; `sb3_env.py` translates them for Stable-Baselines3.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import NUM_ACTIONS, NUM_CELLS, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ActionError, ConfigError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, num_slots
from normgym_envs.observations.flat import FEATURES, flat_size, observe_flat
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.types import BoolArray
from training.config import DQNConfig

Floats = npt.NDArray[np.float32]

_OWN: Final = 3 * NUM_CELLS
_DISTANCE: Final = _OWN + FEATURES.index("goal_distance")
_UNREACHABLE: Final = _OWN + FEATURES.index("goal_unreachable")
_ACTIVE: Final = _OWN + FEATURES.index("active")
_LEG: Final = _OWN + FEATURES.index("leg")


class Turn(NamedTuple):
    """What one step of all worlds gave; B rows."""

    observations: Floats  # (B, size), to act on next; of a new episode where one has ended
    successors: Floats  # (B, size), what the step led to, also where the episode has ended
    rewards: Floats  # (B,), reward points, shaping included
    executed: npt.NDArray[np.int64]  # (B,), WAIT on automatic turns, else the action given
    chosen: BoolArray  # (B,), the learner had a choice: present, not in service, not holding
    waited: BoolArray  # (B,), chose WAIT or a blocked move
    collided: BoolArray  # (B,), was charged with a collision
    ended: BoolArray  # (B,), cut by the limit; never a terminal state


class TrainingWorlds:
    """Open-ended episodes with turnover, one a row, with the seeds of a block in order.

    A row that ends begins the next episode at once. A learner's departure ends nothing: its slot
    is empty for some turns and goes to the next person.
    Source: NG App. "Algorithm and settings".
    """

    render_mode = None  # asked for by Stable-Baselines3

    def __init__(
        self, config: DQNConfig, layout: str, seeds: Iterable[int], num_envs: int | None = None
    ) -> None:
        """Make the worlds; `reset` begins.

        Args:
            config: norm, reward condition and length of episodes.
            layout: where they take place.
            seeds: of the episodes, in the order in which they begin.
            num_envs: B; the configuration's if left out.
        """
        self.config = config
        self.num_envs = config.num_envs if num_envs is None else num_envs
        self._layout = get_layout(layout)
        self._norm = get_norm(config.norm)
        self.num_slots = num_slots(self._norm)
        self.observation_size = flat_size(self.num_slots)
        self.engine = BatchEngine([self._layout], [self._norm], self.num_envs)
        self._seeds = iter(seeds)
        self._observations: Floats | None = None

    def reset(self) -> Floats:
        """Begin an episode in every row and return the observations, (B, size) float32."""
        for row in range(self.num_envs):
            self._load(row)
        self._observations = self._observe()
        return self._observations

    def step(self, actions: npt.NDArray[np.integer]) -> Turn:
        """Play one turn in every row.

        Args:
            actions: (B,) integers in [0, 5).

        Raises:
            ActionError: wrong type, shape or range, or before `reset`.
        """
        before = self._observations
        if before is None:
            raise ActionError("step was called before reset; call reset first")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,):
            raise ActionError(f"actions have shape {given.shape}; expected ({self.num_envs},)")
        self.engine.step(given[:, None])
        states = self.engine.states
        masks = before[:, -NUM_ACTIONS:] > 0
        chosen = np.asarray(masks[:, : Action.WAIT].any(axis=1), np.bool_)
        executed = np.where(chosen, given, int(Action.WAIT)).astype(np.int64)
        is_open = masks[np.arange(self.num_envs), executed]
        successors = self._observe()
        rewards = states["reward"][:, 0].astype(np.float32)
        if self.config.shaping:
            own_move = states["own_move"][:, 0].astype(np.bool_) & chosen
            rewards = rewards + self.config.shaping * measure_progress(before, successors, own_move)
        collided = states["collided"][:, 0].astype(np.bool_) & (before[:, _ACTIVE] > 0)
        ended = states["ending"] != Ending.RUNNING
        observations = successors
        if ended.any():
            for row in np.flatnonzero(ended):
                self._load(int(row))
            observations = self._observe()
        self._observations = observations
        return Turn(
            observations=observations,
            successors=successors,
            rewards=rewards,
            executed=executed,
            chosen=chosen,
            waited=chosen & ((executed == Action.WAIT) | ~is_open),
            collided=collided,
            ended=ended,
        )

    def _load(self, row: int) -> None:
        """Begin the next episode of the block in a row."""
        seed = next(self._seeds, None)
        if seed is None:
            raise ConfigError("the block of episode seeds is used up; train fewer steps")
        spec = draw_episode(
            self._layout,
            self._norm,
            seed,
            num_norm_blind=self.config.num_norm_blind,
            limit=self.config.episode_steps,
        )
        drivers = (int(Driver.EXTERNAL), *spec.drivers[1:])
        self.engine.load(row, spec, reward_terms=self.config.reward_terms, drivers=drivers)

    def _observe(self) -> Floats:
        """Return fresh observations of all rows."""
        return observe_flat(self.engine, 0, self.num_slots)


def measure_progress(before: Floats, after: Floats, own_move: BoolArray) -> Floats:
    """Return whether own moves led nearer to the goal that was pursued before the step.

    The distance is that of the observation: steps to the nearest cell that the goal's visible
    category accepts, others left aside. Leaving through the right door is a step nearer; a goal
    that is reached by standing still changes nothing.
    Source: NG App. "Reward-Shaping Ablation".

    Args:
        before: (B, size) float32, flat observations before the step.
        after: (B, size) float32, after it, in the same episode.
        own_move: (B,) bool, the learner moved by its own action and was not displaced.

    Returns:
        (B,) float32: 1 nearer, -1 farther, 0 unchanged or unknown.
    """
    left = (before[:, _ACTIVE] > 0) & (after[:, _ACTIVE] == 0)
    distance = np.where(left, np.float32(0), after[:, _DISTANCE])
    known = (before[:, _UNREACHABLE] == 0) & (left | (after[:, _UNREACHABLE] == 0))
    same_goal = left | (before[:, _LEG] == after[:, _LEG])
    progress = np.sign(before[:, _DISTANCE] - distance)
    return np.where(own_move & known & same_goal, progress, 0).astype(np.float32)


class Curve:
    """Sums up training by bins of transitions.

    Source: NG App. "Training and Validation Diagnostics" (20k transitions).
    """

    def __init__(self, num_envs: int) -> None:
        """Begin with empty episodes."""
        self._returns = np.zeros(num_envs)
        self._choices = np.zeros(num_envs, np.int64)
        self._waits = np.zeros(num_envs, np.int64)
        self._has_collided = np.zeros(num_envs, np.bool_)
        self.clear()

    def clear(self) -> None:
        """Begin a bin; running episodes go on."""
        self._episodes: list[tuple[float, bool, bool]] = []  # return, all waits, a collision
        self._losses: list[float] = []
        self._bin_choices = 0
        self._bin_waits = 0

    def add(self, turn: Turn) -> None:
        """Count a turn of all worlds."""
        self._returns += turn.rewards
        self._choices += turn.chosen
        self._waits += turn.waited
        self._has_collided |= turn.collided
        self._bin_choices += int(turn.chosen.sum())
        self._bin_waits += int(turn.waited.sum())
        for row in np.flatnonzero(turn.ended):
            only_waits = self._choices[row] > 0 and self._choices[row] == self._waits[row]
            self._episodes.append(
                (float(self._returns[row]), bool(only_waits), bool(self._has_collided[row]))
            )
        for sums in (self._returns, self._choices, self._waits, self._has_collided):
            sums[turn.ended] = 0

    def add_losses(self, losses: Sequence[float]) -> None:
        """Count the losses of updates."""
        self._losses.extend(losses)

    def summarize(self) -> dict[str, float | int | None]:
        """Return the bin: numbers of episodes, reward points, shares in [0, 1]."""
        returns = [episode[0] for episode in self._episodes]
        return {
            "episodes": len(returns),
            "return_mean": float(np.mean(returns)) if returns else None,
            "return_median": float(np.median(returns)) if returns else None,
            "loss_mean": float(np.mean(self._losses)) if self._losses else None,
            "wait_share": self._bin_waits / self._bin_choices if self._bin_choices else None,
            "all_wait_episodes": sum(episode[1] for episode in self._episodes),
            "collision_episodes": sum(episode[2] for episode in self._episodes),
        }
