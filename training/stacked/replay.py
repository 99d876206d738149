"""The replay memory of a stack: a ring of positions in which all worlds of all norms move together.

An observation is kept once, as a code; what followed it is the next position of the same world, or,
where an episode was cut, the last observation of that episode, kept apart. Arrays are tensors on
the learner's device.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from training.stacked.codes import Codec, Codes
from training.stacked.extra import torch

_FIELDS: Final = ("codes", "finals", "final_of", "num_finals", "actions", "rewards", "terminated")


class Replay:
    """Transitions of M norms with E worlds each.

    Attributes:
        codes: (M, S, E, C) uint8, observations; S is one more than the positions kept.
        finals: (M, E, G, C) uint8, last observations of episodes that were cut.
        final_of: (M, S, E) int32, place in `finals` of what followed, -1 for the next position.
        num_finals: (M, E) int32, episodes cut so far.
        actions: (M, S, E) int8, executed.
        rewards: (M, S, E) float32, reward points.
        terminated: (M, S, E) bool, nothing followed.
        steps: transitions added so far, a world.
    """

    def __init__(
        self,
        codec: Codec,
        num_norms: int,
        num_envs: int,
        buffer_size: int,
        device: str | torch.device = "cpu",
    ) -> None:
        """Allocate an empty memory.

        Args:
            codec: of the observations.
            num_norms: M.
            num_envs: E, worlds a norm.
            buffer_size: transitions a norm; E divides what is kept.
            device: where the arrays lie.
        """
        self.codec = codec
        self.num_envs = num_envs
        self.positions = max(buffer_size // num_envs, 1)
        ring, place = self.positions + 1, torch.device(device)
        cut = self.positions // codec.episode_steps + 2

        def empty(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
            return torch.zeros(shape, dtype=dtype, device=place)

        self.codes = empty((num_norms, ring, num_envs, codec.size), torch.uint8)
        self.finals = empty((num_norms, num_envs, cut, codec.size), torch.uint8)
        self.final_of = empty((num_norms, ring, num_envs), torch.int32)
        self.num_finals = empty((num_norms, num_envs), torch.int32)
        self.actions = empty((num_norms, ring, num_envs), torch.int8)
        self.rewards = empty((num_norms, ring, num_envs), torch.float32)
        self.terminated = empty((num_norms, ring, num_envs), torch.bool)
        self.steps = 0

    @property
    def oldest(self) -> int:
        """Ring position of the oldest transition."""
        return max(self.steps - self.positions, 0) % (self.positions + 1)

    @property
    def stored(self) -> int:
        """Transitions kept, a norm."""
        return min(self.steps, self.positions) * self.num_envs

    def begin(self, codes: Codes) -> None:
        """Set the first observations.

        Args:
            codes: (M, E, C) uint8.
        """
        self.codes[:, 0] = self._move(codes)

    def add(
        self,
        actions: npt.NDArray[np.int8],
        rewards: npt.NDArray[np.float32],
        terminated: npt.NDArray[np.bool_],
        truncated: npt.NDArray[np.bool_],
        finals: Codes | None,
        codes: Codes,
    ) -> None:
        """Add a transition of every world.

        Args:
            actions: (M, E), executed.
            rewards: (M, E), reward points.
            terminated: (M, E), nothing follows.
            truncated: (M, E), the episode was cut, `finals` followed.
            finals: (M, E, C) uint8, read where an episode was cut; None when none was.
            codes: (M, E, C) uint8, observations to act on next.
        """
        ring = self.positions + 1
        slot = self.steps % ring
        self.actions[:, slot] = self._move(actions)
        self.rewards[:, slot] = self._move(rewards)
        self.terminated[:, slot] = self._move(terminated)
        self.final_of[:, slot] = -1
        if finals is not None:
            norms, worlds = torch.nonzero(self._move(truncated), as_tuple=True)
            count = self.num_finals[norms, worlds]
            place = count % self.finals.shape[2]
            self.finals[norms, worlds, place.long()] = self._move(finals)[norms, worlds]
            self.final_of[norms, slot, worlds] = place
            self.num_finals[norms, worlds] = count + 1
        self.steps += 1
        self.codes[:, self.steps % ring] = self._move(codes)

    def to_ages(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return places in a ring without the extra position as places from the oldest one on.

        Stable-Baselines3 draws the former; so equal draws are equal transitions.

        Args:
            places: any shape, position times E plus world.
        """
        if self.steps <= self.positions:
            return places
        rows, worlds = np.divmod(places, self.num_envs)
        return (rows - self.steps) % self.positions * self.num_envs + worlds

    def state(self, norm: int) -> dict[str, Any]:
        """Return one norm's part, for `restore`.

        Args:
            norm: place in the stack.
        """
        tensors = {name: getattr(self, name)[norm].cpu().clone() for name in _FIELDS}
        return {**tensors, "steps": self.steps}

    def restore(self, norm: int, state: Mapping[str, Any]) -> None:
        """Put one norm's part back."""
        for name in _FIELDS:
            getattr(self, name)[norm] = state[name].to(self.codes.device)
        self.steps = int(state["steps"])

    def _move(self, array: npt.NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.codes.device)
