"""The networks of a stack, their targets and their optimiser: what a backend must do.

Two backends: `torch_backend` for every network and device, `compiled` for the MLP on a CPU.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agents.dqn.networks import QNetwork
from training.stacked.codes import Codes
from training.stacked.extra import torch
from training.stacked.replay import Replay

Stacked = dict[str, torch.Tensor]
"""Tensors by parameter name, as in `QNetwork.state_dict`, with a leading axis of norms."""


class StackedNetworks(Protocol):
    """M Q-networks that learn side by side; none sees another."""

    updates: int
    """Updates made so far, of every network."""

    def choose_greedy(self, codes: Codes, actions: npt.NDArray[np.int8]) -> None:
        """Replace every -1 by the greedy open action, in place.

        Args:
            codes: (M, E, C) uint8.
            actions: (M, E) int8.
        """

    def learn(self, replay: Replay, indices: npt.NDArray[np.int64]) -> torch.Tensor:
        """Make updates of every network.

        Args:
            replay: memory.
            indices: (M, U, n), transitions of each update, 0 for the oldest one kept.

        Returns:
            (M, U) float32 mean Huber losses.
        """

    def copy_targets(self) -> None:
        """Set the target networks equal to the networks."""

    def export(self) -> dict[str, Stacked]:
        """Return copies on the CPU: "params", "targets", "moments_1" and "moments_2"."""

    def restore(self, state: Mapping[str, Stacked], updates: int) -> None:
        """Continue from what `export` gave, whatever backend it was."""


def initial_params(encoder: str, num_slots: int, seeds: Sequence[int]) -> Stacked:
    """Return freshly drawn networks.

    Args:
        encoder: "mlp" or "cnn".
        num_slots: N.
        seeds: of each network's weights.

    Returns:
        (M, ...) tensors on the CPU.
    """
    drawn: list[dict[str, Any]] = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            drawn.append(QNetwork(encoder, num_slots).state_dict())
    return {name: torch.stack([one[name] for one in drawn]) for name in drawn[0]}


def start_state(params: Stacked) -> dict[str, Stacked]:
    """Return the state of networks that have learnt nothing yet, as `StackedNetworks.export`."""
    return {
        "params": params,
        "targets": params,
        "moments_1": {name: torch.zeros_like(value) for name, value in params.items()},
        "moments_2": {name: torch.zeros_like(value) for name, value in params.items()},
    }
