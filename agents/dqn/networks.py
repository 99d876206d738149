"""The two Q-networks, and the physical mask at the end of every observation.

Both take the flat observation of `normgym_envs.observations.flat`, mask included.
Source: NG App. "Network Architectures".
"""

from typing import Final

from agents.dqn.checkpoints import ENCODERS
from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, NUM_ACTIONS, NUM_CELLS
from normgym_envs.errors import MissingExtraError, UnknownNameError
from normgym_envs.observations.flat import flat_size

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtraError("DQN needs torch; install the extra: pip install 'normgym[rl]'") from (
        error
    )

HIDDEN: Final = 64
"""Units of each of the two hidden layers. Source: NG App. "Network Architectures"."""
CHANNELS: Final = (16, 32)
"""Of the two 3 x 3 convolutions. Source: as `HIDDEN`."""
PROJECTION: Final = 256
"""Units between the convolutions and the hidden layers. Source: as `HIDDEN`."""
CLOSED: Final = -1e9
"""Q-value of a closed action: finite, because infinity times zero is no number in a target."""

_NUM_PLANES = 3
_MAP = _NUM_PLANES * NUM_CELLS


class QNetwork(nn.Module):
    """Action values of one observation; not masked.

    The names of the parameters are those of a checkpoint's `state_dict`:
    `layers.*` for the MLP, `convolutions.*`, `projection.*` and `layers.*` for the CNN.
    """

    def __init__(self, encoder: str, num_slots: int) -> None:
        """Make the layers with torch's own initialisation.

        Args:
            encoder: "mlp" or "cnn".
            num_slots: N, which decides the length of the observation.

        Raises:
            UnknownNameError: no such encoder.
        """
        super().__init__()
        if encoder not in ENCODERS:
            raise UnknownNameError("encoder", encoder, ENCODERS)
        self.encoder = encoder
        self.observation_size = size = flat_size(num_slots)
        if encoder == "cnn":
            first, second = CHANNELS
            self.convolutions = nn.Sequential(
                nn.Conv2d(_NUM_PLANES, first, 3, padding=1),
                nn.ReLU(),
                nn.Conv2d(first, second, 3, padding=1),
                nn.ReLU(),
            )
            self.projection = nn.Linear(second * NUM_CELLS + size - _MAP, PROJECTION)
            size = PROJECTION
        self.layers = nn.Sequential(
            nn.Linear(size, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, NUM_ACTIONS),
        )

    def forward(self, observations: Tensor) -> Tensor:
        """Return the action values.

        Args:
            observations: (B, size) float32.

        Returns:
            (B, 5) float32, reward points.
        """
        features = observations
        if self.encoder == "cnn":
            planes = observations[:, :_MAP].reshape(-1, _NUM_PLANES, GRID_HEIGHT, GRID_WIDTH)
            seen = self.convolutions(planes).flatten(1)
            features = torch.cat([seen, observations[:, _MAP:]], dim=1)
            features = torch.relu(self.projection(features))
        values: Tensor = self.layers(features)
        return values


def mask_values(values: Tensor, observations: Tensor) -> Tensor:
    """Return action values with closed actions at `CLOSED`.

    Args:
        values: (B, 5) float32.
        observations: (B, size) float32, the mask in the last five entries.
    """
    return values.masked_fill(observations[:, -NUM_ACTIONS:] == 0, CLOSED)


def choose_greedy(values: Tensor, observations: Tensor) -> Tensor:
    """Return the open action of the highest value, (B,) int64; the first of equal ones."""
    return mask_values(values, observations).argmax(dim=1)
