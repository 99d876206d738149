"""DQN of Stable-Baselines3 with the physical mask where NG puts it.

The greedy action and the maximum in the target see open actions only. Exploration draws from all
five, with a coin of its own for every world, and a blocked move is stored as it was drawn. On turns
that leave no choice WAIT is stored, because WAIT is what was played.
Source: NG App. "Observation Representation", last paragraph.

The online network is not masked: a blocked move that was drawn has a target like any other.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.dqn.networks import QNetwork, choose_greedy, mask_values
from normgym_envs.constants import NUM_ACTIONS, Action
from normgym_envs.errors import MissingExtraError

try:
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.buffers import ReplayBuffer
    from stable_baselines3.common.type_aliases import ReplayBufferSamples
    from stable_baselines3.dqn.policies import DQNPolicy
except ImportError as error:
    raise MissingExtraError(
        "MaskedDQN needs Stable-Baselines3; install the extra: pip install 'normgym[rl]'"
    ) from error

_OPEN: Final = slice(-NUM_ACTIONS, -1)
"""Mask entries of the four moves."""


class MaskedQNetwork(QNetwork):
    """A Q-network in the form that DQNPolicy wants; the target's values are masked."""

    def __init__(self, encoder: str, num_slots: int, *, is_target: bool) -> None:
        """Make the layers.

        Args:
            encoder: "mlp" or "cnn".
            num_slots: N.
            is_target: whether `forward` masks.
        """
        super().__init__(encoder, num_slots)
        self.is_target = is_target

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return (B, 5) action values, closed ones at -1e9 in a target network."""
        values = super().forward(observations)
        return mask_values(values, observations) if self.is_target else values

    def _predict(self, observation: torch.Tensor, deterministic: bool = True) -> torch.Tensor:
        """Return the greedy open actions, (B,) int64."""
        return choose_greedy(super().forward(observation), observation)

    def set_training_mode(self, mode: bool) -> None:
        """Do as torch's `train`."""
        self.train(mode)


class MaskedDQNPolicy(DQNPolicy):
    """Online and target network of one encoder."""

    def __init__(self, *args: Any, encoder: str, num_slots: int, **kwargs: Any) -> None:
        """Make both networks with equal weights.

        Args:
            *args: as DQNPolicy.
            encoder: "mlp" or "cnn".
            num_slots: N.
            **kwargs: as DQNPolicy.
        """
        self._encoder = encoder
        self._num_slots = num_slots
        self._made = 0
        super().__init__(*args, **kwargs)

    def make_q_net(self) -> Any:
        """Return a network: the online one at the first call, the target at the second."""
        self._made += 1
        network = MaskedQNetwork(self._encoder, self._num_slots, is_target=self._made > 1)
        return network.to(self.device)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        """Return what `load` needs to make the policy again."""
        return {
            **super()._get_constructor_parameters(),
            "encoder": self._encoder,
            "num_slots": self._num_slots,
        }


class SeededReplayBuffer(ReplayBuffer):
    """A replay buffer that draws from a generator of its own."""

    def __init__(self, *args: Any, rng: np.random.Generator, **kwargs: Any) -> None:
        """Make the arrays.

        Args:
            *args: as ReplayBuffer.
            rng: draws batches.
            **kwargs: as ReplayBuffer.
        """
        super().__init__(*args, **kwargs)
        self.rng = rng

    def sample(self, batch_size: int, env: Any = None) -> ReplayBufferSamples:
        """Return transitions drawn uniformly with replacement.

        Args:
            batch_size: how many.
            env: not used; observations are not normalised.
        """
        stored = self.buffer_size if self.full else self.pos
        places = self.rng.integers(stored * self.n_envs, size=batch_size)
        rows, worlds = np.divmod(places, self.n_envs)
        terminal = self.dones[rows, worlds] * (1 - self.timeouts[rows, worlds])
        return ReplayBufferSamples(
            self.to_torch(self.observations[rows, worlds]),
            self.to_torch(self.actions[rows, worlds]),
            self.to_torch(self.next_observations[rows, worlds]),
            self.to_torch(terminal.reshape(-1, 1)),
            self.to_torch(self.rewards[rows, worlds].reshape(-1, 1)),
        )


class MaskedDQN(DQN):
    """DQN over observations that end in the physical mask; see the module.

    Attributes:
        explore_rng: tosses the coins and draws exploring actions.
        last_loss: mean Huber loss of the last call of `train`.
    """

    def __init__(self, *args: Any, explore_seed: Any = None, **kwargs: Any) -> None:
        """Make the learner.

        Args:
            *args: as DQN.
            explore_seed: of exploration, as `numpy.random.default_rng` takes it.
            **kwargs: as DQN.
        """
        self.explore_rng = np.random.default_rng(explore_seed)
        self.last_loss = float("nan")
        super().__init__(*args, **kwargs)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[npt.NDArray[Any], Any]:
        """Return actions; unless deterministic, each world explores by a coin of its own."""
        if deterministic:
            return self.policy.predict(observation, state, episode_start, deterministic=True)
        single = np.ndim(observation) == 1
        actions = self._explore(np.atleast_2d(observation), self.exploration_rate)
        return (actions[0] if single else actions), state

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Do some updates and keep their mean loss."""
        super().train(gradient_steps, batch_size)
        self.last_loss = float(self.logger.name_to_value["train/loss"])

    def _explore(self, observations: npt.NDArray[Any], rate: float) -> npt.NDArray[np.int64]:
        """Return actions, (B,) int64; random ones come from all five."""
        number = len(observations)
        coins = self.explore_rng.random(number)
        drawn = self.explore_rng.integers(NUM_ACTIONS, size=number)
        explores = coins < rate
        if explores.all():
            return drawn
        with torch.no_grad():
            tensor = torch.as_tensor(observations, device=self.device)
            greedy = self.policy._predict(tensor).cpu().numpy()
        return np.where(explores, drawn, greedy)

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return actions, twice as the base class wants them; all random before learning starts."""
        rate = 1.0 if self.num_timesteps < learning_starts else self.exploration_rate
        actions = self._explore(np.asarray(self._last_obs), rate)
        return actions, actions

    def _store_transition(
        self,
        replay_buffer: ReplayBuffer,
        buffer_action: npt.NDArray[Any],
        new_obs: Any,
        reward: npt.NDArray[Any],
        dones: npt.NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Store what was executed: WAIT where the mask left no move."""
        is_asked = np.asarray(self._last_obs)[:, _OPEN].any(axis=1)
        executed = np.where(is_asked, buffer_action, int(Action.WAIT))
        super()._store_transition(replay_buffer, executed, new_obs, reward, dones, infos)
