"""Staking: who holds less than the minimum may not act; violations cost a part of the stake."""

from dataclasses import dataclass
from typing import Any, ClassVar

from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import (
    Bools,
    Lever,
    LeverConfig,
    Standing,
    check_probability,
    check_range,
)


@dataclass(frozen=True)
class StakingConfig(LeverConfig):
    """Settings of the stake. Source: SW section 4, lever 6."""

    minimum: float = 0.0  # resources needed to act, payoff points, >= 0
    slash_rate: float = 0.0  # part of the minimum lost per violation, [0, 1]
    slashing: bool = False  # the released runs define slashing and never trigger it

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_range("minimum", self.minimum, 0.0)
        check_probability("slash_rate", self.slash_rate)


@njit
def has_stake(resources: float, minimum: float) -> bool:
    """Return whether an agent may act; it can still be asked, and accept, when it may not."""
    return resources >= minimum


@njit
def slash(minimum: float, rate: float) -> float:
    """Return what one violation costs, payoff points.

    Source: SW names a rate; of what is not specified; chosen: of the minimum, so that the fine
    does not depend on wealth.
    """
    return rate * minimum


class Staking(Lever):
    """Keep agents without the minimum from acting."""

    name: ClassVar[str] = "staking"

    def __init__(self, config: StakingConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None asks for nothing.
        """
        self.config = config or StakingConfig()

    def access(self, state: Any, standing: Standing) -> Bools:
        """Return who holds the stake: (B, N) bool."""
        del state
        return standing.resources >= self.config.minimum
