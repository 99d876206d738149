"""Flat observations as bytes: a tenth of their size, and decoded to the last bit.

Every number of the flat observation is a small whole number divided by a constant, and its three
planes have few entries. A code is one byte each for

    1               whether the layout is seen (it is the same in every observation)
    1               the learner's cell, NOBODY for none
    N - 1           cells of the plane of others, ascending, NOBODY for none
    N - 1           the values there, in thirds
    D               the numbers behind the planes: own features, others' features, action mask

so 70, 90 or 110 bytes for N = 6, 8, 10 instead of 2,212 to 2,340. The numbers alone take part in
dense products; the planes are rows to look up.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import NUM_ACTIONS, NUM_CELLS
from normgym_envs.errors import ConfigError, StateError
from normgym_envs.observations.flat import FEATURES, OTHER_FEATURES, flat_size
from training.stacked.encoding import NOBODY, encode_rows
from training.stacked.kernels import Coding

Codes = npt.NDArray[np.uint8]

MAX_EPISODE_STEPS: Final = 255
"""The share of time left has one byte."""
_SIGNED: Final = 64
_THIRD: Final = np.float32(3)
_SCALES: Final = {
    "goal_row": (_SIGNED, 10),
    "goal_column": (_SIGNED, 14),
    "goal_distance": (0, 64),
    "moved_row": (_SIGNED, 2),
    "moved_column": (_SIGNED, 2),
    "service": (0, 4),
    "row": (_SIGNED, 10),
    "column": (_SIGNED, 14),
    "previous_row": (_SIGNED, 10),
    "previous_column": (_SIGNED, 14),
    "group": (0, 3),
}
"""Offset and divisor of the features of `observations.flat`; what is not here is a flag."""


@dataclass(frozen=True)
class Codec:
    """Turns flat observations into bytes and back, for one population, layout and length."""

    num_slots: int  # N
    episode_steps: int  # the limit of every episode, 1 to 255
    layout: npt.NDArray[np.float32]  # (165,), the plane of the layout

    def __post_init__(self) -> None:
        """Check the length of episodes.

        Raises:
            ConfigError: time left would not fit into a byte.
        """
        if not 1 <= self.episode_steps <= MAX_EPISODE_STEPS:
            raise ConfigError(
                f"episode_steps is {self.episode_steps}; expected 1 to {MAX_EPISODE_STEPS}, as "
                "the stacked learner keeps time in one byte; the learner 'sb3' has no such limit"
            )

    @property
    def observation_size(self) -> int:
        """Numbers of a flat observation."""
        return flat_size(self.num_slots)

    @property
    def num_numbers(self) -> int:
        """D, the numbers behind the planes."""
        return self.observation_size - 3 * NUM_CELLS

    @property
    def num_others(self) -> int:
        """Entries of the plane of others, at most."""
        return self.num_slots - 1

    @property
    def size(self) -> int:
        """Bytes of a code."""
        return 2 + 2 * self.num_others + self.num_numbers

    @cached_property
    def _scales(self) -> npt.NDArray[np.float32]:
        scales = {**_SCALES, "time_left": (0, self.episode_steps)}
        names = (*FEATURES, *OTHER_FEATURES * self.num_others, *[""] * NUM_ACTIONS)
        return np.array([scales.get(name, (0, 1)) for name in names], np.float32)

    @cached_property
    def offsets(self) -> npt.NDArray[np.float32]:
        """What is taken from each byte behind the planes, (D,) float32."""
        return np.ascontiguousarray(self._scales[:, 0])

    @cached_property
    def divisors(self) -> npt.NDArray[np.float32]:
        """What the rest is divided by, (D,) float32."""
        return np.ascontiguousarray(self._scales[:, 1])

    def encode(self, flat: npt.NDArray[np.float32], out: Codes | None = None) -> Codes:
        """Return flat observations as bytes.

        Args:
            flat: (B, size) float32.
            out: (B, code size) uint8 to write to, or None.

        Raises:
            StateError: a number that no byte stands for; nothing is rounded.
        """
        if out is None:
            out = np.empty((len(flat), self.size), np.uint8)
        wrong = encode_rows(flat, self.layout, self.offsets, self.divisors, self.num_others, out)
        if wrong >= 0:
            row, column = divmod(wrong, self.observation_size)
            raise StateError(
                f"number {column} of observation {row} is {flat[row, column]}, which no byte "
                "stands for; the stacked learner needs the flat observation of one layout"
            )
        return out

    def decode(self, codes: Codes) -> npt.NDArray[np.float32]:
        """Return the flat observations that `encode` was given, bit for bit, (B, size) float32."""
        others, rows = self.num_others, np.arange(len(codes))[:, None]
        # the byte for nobody is a column that is cut off again
        planes = np.zeros((2, len(codes), NOBODY + 1), np.float32)
        planes[0][rows, codes[:, 1:2]] = 1
        planes[1][rows, codes[:, 2 : 2 + others]] = codes[:, 2 + others : 2 + 2 * others] / _THIRD
        numbers = (codes[:, 2 + 2 * others :] - self.offsets) / self.divisors
        seen = codes[:, :1] * self.layout
        return np.concatenate([seen, *planes[:, :, :NUM_CELLS], numbers], axis=1)

    @cached_property
    def coding(self) -> Coding:
        """What compiled loops read."""
        return Coding(
            self.observation_size, self.num_others, self.layout, self.offsets, self.divisors
        )


__all__ = ["MAX_EPISODE_STEPS", "NOBODY", "Codec", "Codes"]
