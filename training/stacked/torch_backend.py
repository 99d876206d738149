"""The torch backend: every network, every device; nothing leaves the device but chosen actions."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from agents.dqn.networks import CLOSED, QNetwork
from normgym_envs.constants import NUM_ACTIONS, NUM_CELLS
from training.stacked.codes import Codec, Codes
from training.stacked.encoding import NOBODY
from training.stacked.extra import torch
from training.stacked.networks import Stacked
from training.stacked.replay import Replay


class TorchNetworks:
    """Stacked Q-networks as one batched module.

    Attributes:
        updates: made so far, of every network.
    """

    def __init__(
        self,
        codec: Codec,
        encoder: str,
        learning_rate: float,
        gamma: float,
        max_grad_norm: float,
        device: str | torch.device = "cpu",
    ) -> None:
        """Prepare; `restore` fills in.

        Args:
            codec: of the observations.
            encoder: "mlp" or "cnn".
            learning_rate: of Adam.
            gamma: discount.
            max_grad_norm: of one network's gradient.
            device: where everything lies.
        """
        self.updates = 0
        self._device = torch.device(device)
        self._gamma, self._max_norm = gamma, max_grad_norm
        self._learning_rate = learning_rate
        self._params: Stacked = {}
        self._targets: Stacked = {}
        self._codec = codec
        self._layout = torch.from_numpy(codec.layout).to(self._device)
        self._offsets = torch.from_numpy(codec.offsets).to(self._device)
        self._divisors = torch.from_numpy(codec.divisors).to(self._device)
        with torch.device("meta"):
            base = QNetwork(encoder, codec.num_slots)

        def evaluate(params: Stacked, observations: torch.Tensor) -> torch.Tensor:
            values: torch.Tensor = torch.func.functional_call(base, params, (observations,))
            return values

        self._evaluate = torch.func.vmap(evaluate)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Return flat observations, bit for bit those that were encoded.

        Args:
            codes: (..., C) uint8.

        Returns:
            (..., F) float32.
        """
        others = self._codec.num_others
        cells, thirds = codes[..., 2 : 2 + others], codes[..., 2 + others : 2 + 2 * others]
        # the byte for nobody is a column that is cut off again
        planes = torch.zeros((*codes.shape[:-1], 2, NOBODY + 1), device=self._device)
        planes[..., 0, :].scatter_(-1, codes[..., 1:2].long(), 1.0)
        planes[..., 1, :].scatter_(-1, cells.long(), thirds.float() / 3.0)
        numbers = (codes[..., 2 + 2 * others :].float() - self._offsets) / self._divisors
        seen = codes[..., :1].float() * self._layout
        return torch.cat([seen, planes[..., :NUM_CELLS].flatten(-2), numbers], dim=-1)

    def choose_greedy(self, codes: Codes, actions: npt.NDArray[np.int8]) -> None:
        """Replace every -1 by the greedy open action, in place; as `StackedNetworks`."""
        if (actions >= 0).all():
            return
        with torch.no_grad():
            observations = self.decode(torch.from_numpy(codes).to(self._device))
            values = self._evaluate(self._params, observations)
            best = _mask(values, observations).argmax(dim=-1).cpu().numpy()
        np.copyto(actions, best.astype(np.int8), where=actions < 0)

    def learn(self, replay: Replay, indices: npt.NDArray[np.int64]) -> torch.Tensor:
        """Make updates of every network; as `StackedNetworks`."""
        chosen = torch.from_numpy(indices).to(self._device)
        norm = torch.arange(len(indices), device=self._device)[:, None]
        losses = []
        for update in range(indices.shape[1]):
            index = chosen[:, update]
            world = index % replay.num_envs
            slot = (replay.oldest + index // replay.num_envs) % (replay.positions + 1)
            end = replay.final_of[norm, slot, world].long()
            after = replay.codes[norm, (slot + 1) % (replay.positions + 1), world]
            last = replay.finals[norm, world, end.clamp(min=0)]
            losses.append(
                self._update(
                    self.decode(replay.codes[norm, slot, world]),
                    self.decode(torch.where((end >= 0)[..., None], last, after)),
                    replay.actions[norm, slot, world].long(),
                    replay.rewards[norm, slot, world],
                    replay.terminated[norm, slot, world],
                )
            )
        return torch.stack(losses, dim=1)

    def _update(
        self,
        observations: torch.Tensor,
        following: torch.Tensor,
        actions: torch.Tensor,
        rewards: torch.Tensor,
        terminated: torch.Tensor,
    ) -> torch.Tensor:
        """Make one update of every network and return the losses, (M,)."""
        with torch.no_grad():
            ahead = _mask(self._evaluate(self._targets, following), following).amax(dim=-1)
            goals = rewards + (~terminated) * self._gamma * ahead
        values = self._evaluate(self._params, observations)
        taken = values.gather(-1, actions[..., None]).squeeze(-1)
        losses = torch.nn.functional.smooth_l1_loss(taken, goals, reduction="none").mean(dim=1)
        self._optimizer.zero_grad()
        losses.sum().backward()  # type: ignore[no-untyped-call]
        grads = [value.grad for value in self._params.values() if value.grad is not None]
        norms = torch.stack([grad.flatten(1).norm(dim=1) for grad in grads]).norm(dim=0)
        clip = (self._max_norm / (norms + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(clip.view(-1, *[1] * (grad.dim() - 1)))
        self._optimizer.step()
        self.updates += 1
        return losses.detach()

    def copy_targets(self) -> None:
        """Set the target networks equal to the networks."""
        self._targets = {name: value.detach().clone() for name, value in self._params.items()}

    def export(self) -> dict[str, Stacked]:
        """Return copies on the CPU; as `StackedNetworks`."""
        moments = self._optimizer.state
        parts: dict[str, Stacked] = {"params": self._params, "targets": self._targets}
        for part, key in (("moments_1", "exp_avg"), ("moments_2", "exp_avg_sq")):
            parts[part] = {
                name: moments[value][key] if value in moments else torch.zeros_like(value)
                for name, value in self._params.items()
            }
        return {
            part: {name: value.detach().cpu().clone() for name, value in stacked.items()}
            for part, stacked in parts.items()
        }

    def restore(self, state: Mapping[str, Stacked], updates: int) -> None:
        """Continue from what `export` gave; as `StackedNetworks`."""

        def move(stacked: Stacked) -> Stacked:
            return {name: value.to(self._device).clone() for name, value in stacked.items()}

        self._params = {name: v.requires_grad_() for name, v in move(state["params"]).items()}
        self._targets = move(state["targets"])
        self._optimizer = torch.optim.Adam(
            self._params.values(), lr=self._learning_rate, fused=True
        )
        first, second = move(state["moments_1"]), move(state["moments_2"])
        for name, value in self._params.items():
            self._optimizer.state[value] = {
                "step": torch.tensor(float(updates), device=self._device),
                "exp_avg": first[name],
                "exp_avg_sq": second[name],
            }
        self.updates = updates


def _mask(values: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
    """Return action values with closed actions out of reach."""
    return values.masked_fill(observations[..., -NUM_ACTIONS:] == 0, CLOSED)
