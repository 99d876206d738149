"""The random audit: some interactions are looked at, and bad ones cost their initiator."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normgym_envs.errors import check_seed
from normgym_envs.kernels import draw, njit
from normgym_envs.mechanisms.base import (
    Effects,
    Interactions,
    Lever,
    LeverConfig,
    check_probability,
    check_range,
    no_effects,
)

STREAM = 41
"""Number of this lever's stream of random draws."""
_UNIT = 2.0**-53


@dataclass(frozen=True)
class RandomAuditConfig(LeverConfig):
    """Settings of the audit. Source: SW section 4, lever 4; Table 2."""

    probability: float = 0.0  # of an interaction being audited, [0, 1]
    multiplier: float = 2.0  # penalty per unit of missing p, payoff points, >= 0
    threshold: float = 0.5  # interactions with p below it are violations, [0, 1]

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_probability("probability", self.probability)
        check_range("multiplier", self.multiplier, 0.0)
        check_probability("threshold", self.threshold)


@njit
def is_audited(seed: np.uint64, ordinal: int, probability: float) -> bool:
    """Return whether the interaction with this ordinal is audited; rejected ones may be too."""
    bits = draw(seed, ordinal, STREAM, 0)
    return (bits >> np.uint64(11)) * _UNIT < probability


@njit
def price_violation(p: float, threshold: float, multiplier: float) -> float:
    """Return the penalty of an audited interaction, payoff points; 0 when it is no violation.

    The same amount is taken off the initiator's reputation. Source: the released runs; SW only
    says that violations incur a multiplied penalty.
    """
    if p < threshold:
        return (threshold - p) * multiplier
    return 0.0


class RandomAudit(Lever):
    """Audit interactions at random; state: seeds and how many interactions were seen."""

    name: ClassVar[str] = "random_audit"

    def __init__(self, config: RandomAuditConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None audits nothing.
        """
        self.config = config or RandomAuditConfig()

    def start(
        self, num_rows: int, num_agents: int, seeds: Any = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return seeds (B,) uint64 and counters (B,) int64; see `Lever.start`."""
        del num_agents
        listed = np.broadcast_to(np.asarray(seeds, object), (num_rows,))
        checked = np.array([check_seed(one) for one in listed], np.uint64)
        return checked, np.zeros(num_rows, np.int64)

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return penalties and losses of reputation; see `Lever.apply`."""
        config, effects = (
            self.config,
            no_effects(len(interactions.p), interactions.p.shape[1], num_agents),
        )
        _audit_all(
            config.probability,
            config.threshold,
            config.multiplier,
            state[0],
            state[1],
            interactions.initiator,
            interactions.p,
            effects.cost_initiator,
            effects.reputation,
        )
        return effects


@njit
def _audit_all(
    probability: float,
    threshold: float,
    multiplier: float,
    seeds: np.ndarray,
    counters: np.ndarray,
    initiator: np.ndarray,
    p: np.ndarray,
    out_cost: np.ndarray,
    out_reputation: np.ndarray,
) -> None:
    """Audit a batch; `counters` moves on."""
    for b in range(p.shape[0]):
        for i in range(p.shape[1]):
            agent = initiator[b, i]
            if agent < 0:
                continue
            if is_audited(seeds[b], counters[b], probability):
                penalty = price_violation(p[b, i], threshold, multiplier)
                out_cost[b, i] = penalty
                out_reputation[b, agent] -= penalty
            counters[b] += 1
