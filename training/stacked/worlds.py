"""The training worlds of a stack: those of each norm, as in `training.worlds`, in one batch.

A norm's worlds get the seeds of its own block in the order in which their episodes begin, so they
are the worlds of a run of its own, row for row.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, num_slots
from normgym_envs.observations.flat import flat_size
from training.config import TRAIN_LAYOUT, DQNConfig
from training.worlds import Curve, Floats, TrainingWorlds, Turn

_OWN_FIELDS: Final = ("norm",)
"""In which the runs of a stack may differ."""


class StackedWorlds(TrainingWorlds):
    """M times E worlds, the worlds of a norm side by side."""

    def __init__(self, configs: Sequence[DQNConfig]) -> None:
        """Make the worlds; `reset` begins.

        Args:
            configs: M runs, equal but for norms of the same population.

        Raises:
            ConfigError: no run, the same norm twice, or runs that differ in something else.
        """
        if not configs:
            raise ConfigError("no run to stack; expected at least one")
        check_alike(configs)
        first = configs[0]
        norms = [get_norm(config.norm) for config in configs]
        sizes = {num_slots(norm): norm.id for norm in norms}
        if len(sizes) > 1:
            raise ConfigError(f"norms with different populations ({sizes}); expected equal ones")
        self.config = first
        self.configs = tuple(configs)
        self.num_envs = len(configs) * first.num_envs
        self.num_slots = next(iter(sizes))
        self.observation_size = flat_size(self.num_slots)
        self._layout = get_layout(TRAIN_LAYOUT)
        self._norms = norms
        self.engine = BatchEngine([self._layout], norms, self.num_envs)
        self._blocks = [iter(config.episode_seeds.train) for config in configs]
        self._observations: Floats | None = None

    def _load(self, row: int) -> None:
        """Begin the next episode of the norm's block in a row."""
        place = row // self.config.num_envs
        self._norm, self._seeds = self._norms[place], self._blocks[place]
        super()._load(row)


def check_alike(configs: Sequence[DQNConfig]) -> None:
    """Refuse runs that cannot share a stack, whatever their populations.

    Raises:
        ConfigError: the same norm twice, or runs that differ in anything but the norm.
    """
    seen: set[str] = set()
    expected = configs[0].to_json()
    for config in configs:
        if config.norm in seen:
            raise ConfigError(f"norm {config.norm!r} is given twice; expected norms once each")
        seen.add(config.norm)
        for name, value in config.to_json().items():
            if name not in _OWN_FIELDS and value != expected[name]:
                raise ConfigError(
                    f"runs with different {name} ({expected[name]!r}, {value!r}); expected runs "
                    "of one condition"
                )


class StackedCurve:
    """The curves of all norms of a stack, as `training.worlds.Curve` sums them up."""

    def __init__(self, num_norms: int, num_envs: int) -> None:
        """Begin with empty episodes.

        Args:
            num_norms: M.
            num_envs: E, worlds a norm.
        """
        self._shape = (num_norms, num_envs)
        worlds = num_norms * num_envs
        self._returns = np.zeros(worlds)
        self._choices = np.zeros(worlds, np.int64)
        self._waits = np.zeros(worlds, np.int64)
        self._has_collided = np.zeros(worlds, np.bool_)
        self.clear()

    def clear(self) -> None:
        """Begin a bin; running episodes go on."""
        # return, all waits, a collision
        self._episodes: list[list[tuple[float, bool, bool]]] = [[] for _ in range(self._shape[0])]
        self._losses: list[npt.NDArray[np.float32]] = []
        self._bin_choices = np.zeros_like(self._choices)
        self._bin_waits = np.zeros_like(self._waits)

    def add(self, turn: Turn) -> None:
        """Count a turn of all worlds."""
        self._returns += turn.rewards
        self._choices += turn.chosen
        self._waits += turn.waited
        self._has_collided |= turn.collided
        self._bin_choices += turn.chosen
        self._bin_waits += turn.waited
        if not turn.ended.any():
            return
        for row in np.flatnonzero(turn.ended):
            only_waits = self._choices[row] > 0 and self._choices[row] == self._waits[row]
            self._episodes[row // self._shape[1]].append(
                (float(self._returns[row]), bool(only_waits), bool(self._has_collided[row]))
            )
        for sums in (self._returns, self._choices, self._waits, self._has_collided):
            sums[turn.ended] = 0

    def add_losses(self, losses: npt.NDArray[np.float32]) -> None:
        """Count a mean loss of every norm, (M,)."""
        self._losses.append(losses)

    def summarize(self, norm: int) -> dict[str, float | int | None]:
        """Return the bin of one norm: numbers of episodes, reward points, shares in [0, 1]."""
        own = Curve(0)
        own._episodes = self._episodes[norm]
        own._losses = [float(losses[norm]) for losses in self._losses]
        own._bin_choices = int(self._bin_choices.reshape(self._shape)[norm].sum())
        own._bin_waits = int(self._bin_waits.reshape(self._shape)[norm].sum())
        return own.summarize()
