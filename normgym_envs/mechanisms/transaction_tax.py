"""The transaction tax: a share of an interaction's estimated surplus, or of its transfer."""

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

SURPLUS_GOOD = 2.0
"""Surplus of a good outcome in the tax base, whatever the payoffs. Source: the released runs."""
SURPLUS_BAD = 1.0
"""Loss of a bad outcome in the tax base. Source: the released runs."""


@dataclass(frozen=True)
class TransactionTaxConfig(LeverConfig):
    """Settings of the tax. Source: SW section 4, lever 1; Table 2."""

    rate: float = 0.0  # share of the base, [0, 1]
    initiator_share: float = 0.5  # the initiator's part of the tax, [0, 1]
    on_transfer: bool = False  # True: base is the transfer alone, as SW words it

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_probability("rate", self.rate)
        check_probability("initiator_share", self.initiator_share)


@njit
def tax_base(p: float, transfer: float, on_transfer: bool) -> float:
    """Return what is taxed, payoff points.

    Source: SW section 4 taxes the transfer; the released runs tax max(0, 3p - 1) + |transfer|.
    """
    if on_transfer:
        return abs(transfer)
    return max(0.0, p * SURPLUS_GOOD - (1.0 - p) * SURPLUS_BAD) + abs(transfer)


class TransactionTax(Lever):
    """Tax accepted interactions; the revenue leaves the market."""

    name: ClassVar[str] = "transaction_tax"

    def __init__(self, config: TransactionTaxConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None for a tax of zero.
        """
        self.config = config or TransactionTaxConfig()

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return both sides' tax; see `Lever.apply`."""
        del state
        config, effects = (
            self.config,
            no_effects(len(interactions.p), interactions.p.shape[1], num_agents),
        )
        _tax_all(
            config.rate,
            config.initiator_share,
            config.on_transfer,
            interactions.initiator,
            interactions.accepted,
            interactions.p,
            interactions.transfer,
            effects.cost_initiator,
            effects.cost_counterparty,
        )
        return effects


@njit
def split_tax(
    rate: float, share: float, on_transfer: bool, p: float, transfer: float
) -> tuple[float, float]:
    """Return initiator's and counterparty's tax on one accepted interaction, payoff points."""
    tax = rate * tax_base(p, transfer, on_transfer)
    return tax * share, tax * (1.0 - share)


@njit
def _tax_all(
    rate: float,
    share: float,
    on_transfer: bool,
    initiator: np.ndarray,
    accepted: np.ndarray,
    p: np.ndarray,
    transfer: np.ndarray,
    out_initiator: np.ndarray,
    out_counterparty: np.ndarray,
) -> None:
    """Tax every interaction of a batch."""
    for b in range(p.shape[0]):
        for i in range(p.shape[1]):
            if initiator[b, i] >= 0 and accepted[b, i]:
                out_initiator[b, i], out_counterparty[b, i] = split_tax(
                    rate, share, on_transfer, p[b, i], transfer[b, i]
                )
