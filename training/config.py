"""What decides a DQN run: hyper-parameters, seeds of every episode, and when it is validated.

Defaults are the paper's ("NG" in the sources below); the learners of this package read nothing
else, so that two of them with equal configurations learn from equal episodes.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents.dqn.runs import ENCODERS, REWARDS
from normgym_envs.constants import (
    COLLISION_PENALTY,
    GOAL_REWARD,
    INTERACTION_STEPS,
    STEP_COST,
    VIOLATION_PENALTY,
)
from normgym_envs.errors import ConfigError, UnknownNameError, nearest
from normgym_envs.norms.library import get_norm, list_norms

REWARD_TERMS: Final[dict[str, tuple[float, float, float, float]]] = {
    "sparse": (GOAL_REWARD, STEP_COST, COLLISION_PENALTY, VIOLATION_PENALTY),
    "none": (GOAL_REWARD, STEP_COST, 0.0, 0.0),
    "dense": (GOAL_REWARD, STEP_COST, COLLISION_PENALTY, VIOLATION_PENALTY),
}
"""Goal, step cost, collision and sanction of each condition, reward points. Sources: NG App.
"Reward and optimization", "Penalty Ablation" and "Reward-Shaping Ablation"."""
SHAPING: Final = {"sparse": 0.0, "none": 0.0, "dense": 6.0}
"""Reward points for a step nearer to the present goal, lost for a step away from it. Source: NG
App. "Reward-Shaping Ablation"."""

TRAIN_LAYOUT: Final = "cafe"
"""Source: NG "Deep RL"."""
VALIDATION_LAYOUTS: Final = ("cafe", "cafe_variant_1", "cafe_variant_2")
"""Source: NG App. "Algorithm and settings" (the café and two modified ones)."""
VALIDATION_SHARES: Final = (0.1, 0.25, 0.5, 0.75, 1.0)
"""When a run is validated and a checkpoint kept, as shares of its steps. Source: as above, 100k,
250k, 500k, 750k and 1M of 1M."""

_BLOCK_START: Final = 1_000_000
_BLOCK: Final = 100_000
"""Training episodes of norm i have the seeds from 10^6 + 10^5 i on. Source: as above."""
_REPLICATE: Final = 10_000_000
_VALIDATION_START: Final = 1_000_000_000
_PROBE_START: Final = 1_100_000_000
"""Not specified but that they are disjoint; chosen above every training block."""
MAX_REPLICATE: Final = 90
"""Blocks of higher replicates would reach those of validation."""


@dataclass(frozen=True)
class EpisodeSeeds:
    """Seeds of the episodes of a run; the same in all reward conditions and encoders."""

    train: range  # of training episodes, in the order in which they begin
    validation: dict[str, range]  # by layout; the same at every checkpoint and replicate
    probe_train: range  # of random-policy episodes on the training layout
    probe_validation: dict[str, range]  # of random-policy episodes, by layout


@dataclass(frozen=True)
class DQNConfig:
    """One DQN run. Source of all defaults: NG App. "Algorithm and settings" and the next three."""

    norm: str  # norm id
    encoder: str = "mlp"  # ENCODERS; NG "Network Architectures"
    reward: str = "sparse"  # REWARDS; NG "Reward and optimization"
    steps: int = 1_000_000  # transitions; NG "Algorithm and settings"
    seed: int = 0  # replicate, [0, 90]; NG has one
    learning_rate: float = 1e-4  # of Adam, constant; NG "Reward and optimization"
    gamma: float = 0.99  # discount; NG "Reward and optimization"
    buffer_size: int = 100_000  # transitions; NG "Reward and optimization"
    learning_starts: int = 1_000  # transitions; NG "Reward and optimization"
    batch_size: int = 32  # transitions; NG "Reward and optimization"
    train_every: int = 4  # transitions per update; NG "Reward and optimization"
    target_every: int = 10_000  # transitions per copy of the target; NG "Reward and optimization"
    epsilon_start: float = 1.0  # NG "Reward and optimization"
    epsilon_end: float = 0.05  # NG "Reward and optimization"
    epsilon_share: float = 0.3  # of the steps, linear decay; NG "Reward and optimization"
    max_grad_norm: float = 10.0  # NG "Reward and optimization"
    episode_steps: int = INTERACTION_STEPS  # NG "Algorithm and settings" (200, with turnover)
    num_norm_blind: int = 1  # scripted slots; not specified, chosen as in NG's interactions
    validation_episodes: int = 12  # per layout; NG "Algorithm and settings"
    probe_transitions: int = 1_024  # per set; not specified, chosen for a standard error of 3 %
    bin_steps: int = 20_000  # transitions per entry of the curve; NG "Training ... Diagnostics"
    num_envs: int = 4  # worlds side by side; not specified, chosen by measurement (docs/dqn.md)

    def __post_init__(self) -> None:
        """Check every field.

        Raises:
            UnknownNameError: no such norm, encoder or reward.
            ConfigError: a number outside its range.
        """
        get_norm(self.norm)
        if self.encoder not in ENCODERS:
            raise UnknownNameError("encoder", self.encoder, ENCODERS)
        if self.reward not in REWARDS:
            raise UnknownNameError("reward", self.reward, REWARDS)
        for name in _WHOLE:
            value = getattr(self, name)
            if type(value) is not int or value < _LEAST.get(name, 1):
                raise ConfigError(
                    f"{name} is {value!r}; expected a whole number from {_LEAST.get(name, 1)}"
                )
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if type(value) not in (int, float) or not low <= value <= high:
                raise ConfigError(f"{name} is {value!r}; expected a number from {low} to {high}")
        if self.seed > MAX_REPLICATE:
            raise ConfigError(f"seed is {self.seed}; expected 0 to {MAX_REPLICATE}")
        if self.learning_starts >= self.buffer_size:
            raise ConfigError(
                f"learning_starts is {self.learning_starts}; expected less than the buffer's "
                f"{self.buffer_size}"
            )
        shortest = self.learning_starts + self.train_every * self.num_envs
        if self.steps < shortest:
            raise ConfigError(
                f"steps is {self.steps}; expected at least {shortest}, as learning starts after "
                f"{self.learning_starts} transitions"
            )
        if self.num_episodes > _BLOCK:
            raise ConfigError(
                f"steps is {self.steps}; expected at most {_BLOCK * self.episode_steps}, as the "
                f"block of a norm has {_BLOCK} episode seeds"
            )

    @property
    def norm_index(self) -> int:
        """Place of the norm in the library, from 0."""
        return list_norms().index(self.norm)

    @property
    def num_episodes(self) -> int:
        """Episodes that may begin in the run."""
        return -(-self.steps // self.episode_steps) + 2 * self.num_envs

    @property
    def reward_terms(self) -> tuple[float, float, float, float]:
        """Goal, step cost, collision, sanction; reward points."""
        return REWARD_TERMS[self.reward]

    @property
    def shaping(self) -> float:
        """Reward points for a step nearer to the goal."""
        return SHAPING[self.reward]

    @property
    def validation_at(self) -> tuple[int, ...]:
        """Transitions after which the run is validated, the last being `steps`."""
        return tuple(dict.fromkeys(max(1, round(s * self.steps)) for s in VALIDATION_SHARES))

    @property
    def episode_seeds(self) -> EpisodeSeeds:
        """Seeds of every episode of the run."""
        index = self.norm_index
        first = _BLOCK_START + _BLOCK * index + _REPLICATE * self.seed
        layouts = range(len(VALIDATION_LAYOUTS))

        def block(start: int, part: int) -> range:
            own = start + _BLOCK * index + 10_000 * part
            return range(own, own + 10_000)

        return EpisodeSeeds(
            train=range(first, first + _BLOCK),
            validation={VALIDATION_LAYOUTS[i]: block(_VALIDATION_START, i) for i in layouts},
            probe_train=block(_PROBE_START, len(VALIDATION_LAYOUTS)),
            probe_validation={VALIDATION_LAYOUTS[i]: block(_PROBE_START, i) for i in layouts},
        )

    def epsilon(self, steps: int) -> float:
        """Return the exploration rate after some transitions, [0, 1]."""
        share = min(steps / (self.epsilon_share * self.steps), 1.0)
        return self.epsilon_start + share * (self.epsilon_end - self.epsilon_start)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "DQNConfig":
        """Return the configuration that `to_json` gave.

        Raises:
            ConfigError: a field is unknown or missing, or has no allowed value.
            UnknownNameError: no such norm, encoder or reward.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        for name in data:
            if name not in names:
                raise ConfigError(f"unknown field {name!r} of a DQN run{nearest(name, names)}")
        if "norm" not in data:
            raise ConfigError("DQN run without a norm")
        return cls(**data)


def run_name(config: DQNConfig) -> str:
    """Return the name of a run's folder in a sweep."""
    return f"{config.norm}_{config.encoder}_{config.reward}_{config.seed}"


_WHOLE: Final = (
    "steps",
    "seed",
    "buffer_size",
    "learning_starts",
    "batch_size",
    "train_every",
    "target_every",
    "episode_steps",
    "num_norm_blind",
    "validation_episodes",
    "probe_transitions",
    "bin_steps",
    "num_envs",
)
_LEAST: Final = {"seed": 0, "num_norm_blind": 0, "learning_starts": 0}
_RANGES: Final = {
    "learning_rate": (0.0, 1.0),
    "gamma": (0.0, 1.0),
    "epsilon_start": (0.0, 1.0),
    "epsilon_end": (0.0, 1.0),
    "epsilon_share": (1e-9, 1.0),
    "max_grad_norm": (1e-9, 1e9),
}
