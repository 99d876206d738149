"""Externality internalisation: each side bears a share of the harm done to third parties."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import (
    Effects,
    Interactions,
    Lever,
    LeverConfig,
    check_probability,
    no_effects,
)


@dataclass(frozen=True)
class ExternalityConfig(LeverConfig):
    """Settings of the internalisation. Source: SW section 4, lever 5."""

    initiator: float = 0.0  # rho_a, [0, 1]
    counterparty: float = 0.0  # rho_b, [0, 1]

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_probability("initiator", self.initiator)
        check_probability("counterparty", self.counterparty)


@njit
def bear_harm(rho: float, harm: float) -> float:
    """Return one side's part of the expected harm, payoff points. Source: SW eq. 6 and 7."""
    return rho * harm


class Externality(Lever):
    """Charge both sides of accepted interactions for expected harm."""

    name: ClassVar[str] = "externality"

    def __init__(self, config: ExternalityConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None charges nothing.
        """
        self.config = config or ExternalityConfig()

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return both sides' part; see `Lever.apply`."""
        del state
        counts = interactions.accepted & (interactions.initiator >= 0)
        harm = np.where(counts, interactions.harm, 0.0)
        return no_effects(len(harm), harm.shape[1], num_agents)._replace(
            cost_initiator=self.config.initiator * harm,
            cost_counterparty=self.config.counterparty * harm,
        )
