"""The compiled backend: multilayer perceptrons on a CPU, a whole update in one loop."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import NUM_ACTIONS, NUM_CELLS
from training.stacked import kernels
from training.stacked.codes import Codec, Codes
from training.stacked.extra import torch
from training.stacked.kernels import HIDDEN, Memory, Weights
from training.stacked.networks import Stacked
from training.stacked.replay import Replay

Floats = npt.NDArray[np.float32]

_PARTS: Final = ("params", "targets", "moments_1", "moments_2")
_LAYERS: Final = ("layers.0", "layers.2", "layers.4")


class CompiledNetworks:
    """Stacked multilayer perceptrons, a flat row each; see `kernels`.

    Attributes:
        updates: made so far, of every network.
    """

    def __init__(
        self, codec: Codec, num_norms: int, learning_rate: float, gamma: float, max_grad_norm: float
    ) -> None:
        """Allocate; `restore` fills in.

        Args:
            codec: of the observations.
            num_norms: M.
            learning_rate: of Adam.
            gamma: discount.
            max_grad_norm: of one network's gradient.
        """
        self.updates = 0
        self._codec = codec
        self._learning_rate, self._gamma, self._max_norm = learning_rate, gamma, max_grad_norm
        inputs = codec.observation_size
        size = (inputs + 1 + HIDDEN + 1) * HIDDEN + NUM_ACTIONS * (HIDDEN + 1)
        self._arrays: dict[str, Floats] = {
            part: np.zeros((num_norms, size), np.float32) for part in _PARTS
        }
        self._touched = np.zeros((num_norms, 2 * NUM_CELLS), np.bool_)

    def choose_greedy(self, codes: Codes, actions: npt.NDArray[np.int8]) -> None:
        """Replace every -1 by the greedy open action, in place; as `StackedNetworks`."""
        kernels.choose_actions(self._arrays["params"], self._codec.coding, codes, actions)

    def learn(self, replay: Replay, indices: npt.NDArray[np.int64]) -> torch.Tensor:
        """Make updates of every network; as `StackedNetworks`."""
        losses = np.empty(indices.shape[:2], np.float32)
        memory = Memory(
            replay.codes.numpy(),
            replay.finals.numpy(),
            replay.final_of.numpy(),
            replay.actions.numpy(),
            replay.rewards.numpy(),
            replay.terminated.numpy(),
        )
        weights = Weights(
            self._arrays["params"],
            self._arrays["targets"],
            self._arrays["moments_1"],
            self._arrays["moments_2"],
            self._touched,
        )
        kernels.learn(
            weights,
            memory,
            self._codec.coding,
            replay.oldest,
            indices,
            self.updates,
            self._learning_rate,
            self._gamma,
            self._max_norm,
            losses,
        )
        self.updates += indices.shape[1]
        return torch.from_numpy(losses)

    def copy_targets(self) -> None:
        """Set the target networks equal to the networks."""
        self._arrays["targets"][:] = self._arrays["params"]

    def export(self) -> dict[str, Stacked]:
        """Return copies; as `StackedNetworks`."""
        return {part: self._unpack(self._arrays[part]) for part in _PARTS}

    def restore(self, state: Mapping[str, Stacked], updates: int) -> None:
        """Continue from what `export` gave; as `StackedNetworks`."""
        for part in _PARTS:
            for name, tensor in self._views(self._arrays[part]).items():
                tensor.copy_(state[part][name])
        self.updates = updates
        ever = (self._arrays["moments_1"] != 0) | (self._arrays["moments_2"] != 0)
        rows = ever[:, NUM_CELLS * HIDDEN : 3 * NUM_CELLS * HIDDEN]
        self._touched[:] = rows.reshape(len(rows), 2 * NUM_CELLS, HIDDEN).any(axis=2)

    def _unpack(self, rows: Floats) -> Stacked:
        return {name: view.contiguous().clone() for name, view in self._views(rows).items()}

    def _views(self, rows: Floats) -> Stacked:
        """Return windows on flat rows, each parameter in torch's orientation."""
        flat = torch.from_numpy(rows)
        inputs = self._codec.observation_size
        shapes = ((inputs, HIDDEN), (HIDDEN, HIDDEN), (NUM_ACTIONS, HIDDEN))
        views: Stacked = {}
        start = 0
        for layer, shape in zip(_LAYERS, shapes, strict=True):
            weights = flat[:, start : start + shape[0] * shape[1]].view(-1, *shape)
            start += shape[0] * shape[1]
            last = layer == _LAYERS[-1]
            views[f"{layer}.weight"] = weights if last else weights.transpose(1, 2)
            units = NUM_ACTIONS if last else HIDDEN
            views[f"{layer}.bias"] = flat[:, start : start + units]
            start += units
        return views
