"""The algorithm: DQN for several norms in lockstep; none influences another.

Each norm has its own worlds, coins, batches, weights and files, drawn from the same seeds as its
run with Stable-Baselines3, so that which norms share a stack changes nothing, and both learners
begin with equal experience. Turns, updates and target copies come in the order of that library:
`train_every` turns of all worlds, then as many updates as there are worlds.
Source: NG App. "Algorithm and settings".
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import NUM_ACTIONS
from normgym_envs.errors import ConfigError
from training.config import DQNConfig
from training.stacked.codes import Codec
from training.stacked.compiled import CompiledNetworks
from training.stacked.extra import torch
from training.stacked.networks import (
    StackedNetworks,
    initial_params,
    start_state,
)
from training.stacked.replay import Replay
from training.stacked.torch_backend import TorchNetworks
from training.stacked.worlds import StackedCurve, StackedWorlds
from training.worlds import Floats

STREAMS: Final = {"weights": 0, "explore": 1, "sample": 2}
"""Random streams of a run, as in `training.dqn`."""


class Stack:
    """Runs of one condition whose norms have the same population, all at the same step.

    Attributes:
        configs: one a run.
        networks: what learns.
        replay: what is learnt from.
        steps: transitions done, a norm.
    """

    def __init__(
        self, configs: Sequence[DQNConfig], device: str = "cpu", backend: str = "auto"
    ) -> None:
        """Make learners that have seen nothing.

        Args:
            configs: M runs, equal but for their norms.
            device: as torch names it.
            backend: "compiled" (MLP on a CPU), "torch", or "auto" for the faster one.

        Raises:
            ConfigError: runs that cannot share a stack, no such device or backend.
        """
        self.configs = tuple(configs)
        self.worlds = StackedWorlds(configs)
        config = self.worlds.config
        self._shape = len(configs), config.num_envs
        layout = np.ascontiguousarray(self.worlds.engine.tables[0][0]["plane"], np.float32)
        self._codec = Codec(self.worlds.num_slots, config.episode_steps, layout)
        self.device = check_device(device)
        size = config.buffer_size
        self.replay = Replay(self._codec, len(configs), config.num_envs, size, self.device)
        self.networks = self._make_networks(backend)
        self.curve = StackedCurve(len(configs), config.num_envs)
        self.steps = 0
        self.explore_rngs = [np.random.default_rng(_seed(c, "explore")) for c in configs]
        self.sample_rngs = [np.random.default_rng(_seed(c, "sample")) for c in configs]
        seeds = [int(np.random.default_rng(_seed(c, "weights")).integers(2**63)) for c in configs]
        params = initial_params(config.encoder, self.worlds.num_slots, seeds)
        self.networks.restore(start_state(params), 0)
        self._codes = self._encode(self.worlds.reset())
        self.replay.begin(self._codes)

    def play_round(self) -> npt.NDArray[np.uint8]:
        """Play `train_every` turns in all worlds and do the updates that are due.

        Returns:
            (turns, M, E) uint8, the actions given.
        """
        config = self.worlds.config
        played = np.empty((config.train_every, *self._shape), np.uint8)
        for turn in range(config.train_every):
            actions = self._choose()
            played[turn] = actions
            self.play_turn(actions)
            if self.replay.steps % max(config.target_every // config.num_envs, 1) == 0:
                self.networks.copy_targets()
        if self.steps > config.learning_starts:
            size = (config.num_envs, config.batch_size)
            stored = self.replay.stored
            drawn = np.stack([rng.integers(stored, size=size) for rng in self.sample_rngs])
            ages = self.replay.to_ages(drawn)
            losses = self.networks.learn(self.replay, ages).mean(dim=1)
            self.curve.add_losses(losses.cpu().numpy())
        return played

    def play_turn(self, actions: npt.NDArray[np.int8]) -> None:
        """Play one turn in all worlds, store and count it.

        Args:
            actions: (M, E) int8.
        """
        turn = self.worlds.step(actions.ravel())
        self._codes = self._encode(turn.observations)
        cut = turn.ended.any()
        self.replay.add(
            turn.executed.astype(np.int8).reshape(self._shape),
            turn.rewards.reshape(self._shape),
            np.zeros(self._shape, np.bool_),
            turn.ended.reshape(self._shape),
            self._encode(turn.successors) if cut else None,
            self._codes,
        )
        self.curve.add(turn)
        self.steps += self.worlds.config.num_envs

    def _choose(self) -> npt.NDArray[np.int8]:
        """Return actions, (M, E): each world explores by a coin of its own."""
        config = self.worlds.config
        is_warming_up = self.steps < config.learning_starts
        rate = 1.0 if is_warming_up else config.epsilon(self.steps)
        coins, drawn = np.empty(self._shape), np.empty(self._shape, np.int8)
        for norm, rng in enumerate(self.explore_rngs):
            coins[norm] = rng.random(config.num_envs)
            drawn[norm] = rng.integers(NUM_ACTIONS, size=config.num_envs)
        actions = np.where(coins < rate, drawn, np.int8(-1))
        self.networks.choose_greedy(self._codes, actions)
        return actions

    def _encode(self, observations: Floats) -> npt.NDArray[np.uint8]:
        return self._codec.encode(observations).reshape(*self._shape, -1)

    def _make_networks(self, backend: str) -> StackedNetworks:
        config = self.worlds.config
        fits = config.encoder == "mlp" and self.device.type == "cpu"
        if backend == "auto":
            backend = "compiled" if fits else "torch"
        rates = (config.learning_rate, config.gamma, config.max_grad_norm)
        if backend == "compiled" and fits:
            return CompiledNetworks(self._codec, len(self.configs), *rates)
        if backend == "torch":
            return TorchNetworks(self._codec, config.encoder, *rates, self.device)
        raise ConfigError(
            f"backend {backend!r} cannot train encoder {config.encoder!r} on {self.device}; "
            "expected 'torch', or 'compiled' for 'mlp' on cpu"
        )


def check_device(name: str) -> torch.device:
    """Return a device that can be used; "auto" is a GPU when there is one.

    Raises:
        ConfigError: no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise ConfigError(f"device {name!r} cannot be used: {first}") from None
    return device


def _seed(config: DQNConfig, stream: str) -> list[int]:
    """Return the seed of one of a run's random streams."""
    return [config.norm_index, config.seed, STREAMS[stream]]
