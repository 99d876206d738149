"""Reputation decay: between two epochs every reputation shrinks by a factor."""

from dataclasses import dataclass
from typing import Any, ClassVar

from normgym_envs.mechanisms.base import (
    Effects,
    Lever,
    LeverConfig,
    Standing,
    check_probability,
    no_effects,
)


@dataclass(frozen=True)
class ReputationDecayConfig(LeverConfig):
    """Settings of the decay. Source: SW section 4, lever 3; Table 2."""

    factor: float = 1.0  # lambda, [0, 1]; 1 keeps reputations as they are

    def __post_init__(self) -> None:
        """Check the range."""
        check_probability("factor", self.factor)


class ReputationDecay(Lever):
    """Multiply reputations by lambda at every boundary of epochs."""

    name: ClassVar[str] = "reputation_decay"

    def __init__(self, config: ReputationDecayConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None keeps reputations.
        """
        self.config = config or ReputationDecayConfig()

    def end_epoch(self, state: Any, standing: Standing, next_epoch: int) -> Effects:
        """Return the loss of reputation; see `Lever.end_epoch`."""
        del state, next_epoch
        rows, agents = standing.reputation.shape
        change = standing.reputation * self.config.factor - standing.reputation
        return no_effects(rows, 0, agents)._replace(reputation=change)
