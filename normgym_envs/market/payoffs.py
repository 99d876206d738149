"""Soft label to surplus, harm and payoffs. Governance costs come in as numbers: `mechanisms`."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import LeverConfig, check_probability, check_range


@dataclass(frozen=True)
class Payoffs(LeverConfig):
    """What outcomes are worth. Source: SW Table 3, with the baseline's row as defaults."""

    surplus_good: float = 2.0  # s+, payoff points, >= 0
    surplus_bad: float = 1.0  # s-, payoff points, >= 0
    harm: float = 2.0  # h, payoff points, >= 0
    initiator_share: float = 0.5  # theta, [0, 1]
    reputation_weight: float = 1.0  # w_rep, payoff points; without effect in the released runs

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("surplus_good", "surplus_bad", "harm"):
            check_range(name, getattr(self, name), 0.0)
        check_probability("initiator_share", self.initiator_share)
        check_range("reputation_weight", self.reputation_weight, -np.inf)


class BothPayoffs(NamedTuple):
    """Payoffs of both sides, payoff points."""

    initiator: NDArray[np.float64]
    counterparty: NDArray[np.float64]


@njit
def surplus_one(p: float, good: float, bad: float) -> float:
    """Return expected surplus, payoff points. Source: SW eq. 4."""
    return p * good - (1.0 - p) * bad


@njit
def harm_one(p: float, harm: float) -> float:
    """Return expected harm to third parties, payoff points. Source: SW eq. 5."""
    return (1.0 - p) * harm


@njit
def payoff_one(
    share: float, surplus: float, paid: float, cost: float, borne: float, income: float
) -> float:
    """Return one side's payoff, payoff points. Source: SW eq. 6 and 7.

    Args:
        share: of the surplus, theta or 1 - theta.
        surplus: of the interaction.
        paid: transfer to the other side; negative when received.
        cost: governance costs.
        borne: part of the expected harm.
        income: reputation times its weight.
    """
    return share * surplus - paid - cost - borne + income


def compute_surplus(p: ArrayLike, payoffs: Payoffs) -> NDArray[np.float64]:
    """Return expected surplus, payoff points, of the shape of `p`. Source: SW eq. 4.

    Raises:
        ConfigError: p outside [0, 1].
    """
    return _map(p, payoffs.surplus_good, payoffs.surplus_bad, True)


def compute_harm(p: ArrayLike, payoffs: Payoffs) -> NDArray[np.float64]:
    """Return expected harm, payoff points, of the shape of `p`. Source: SW eq. 5.

    Raises:
        ConfigError: p outside [0, 1].
    """
    return _map(p, payoffs.harm, 0.0, False)


def compute_payoffs(
    p: ArrayLike,
    payoffs: Payoffs,
    *,
    transfer: ArrayLike = 0.0,
    cost_initiator: ArrayLike = 0.0,
    cost_counterparty: ArrayLike = 0.0,
    rho_initiator: ArrayLike = 0.0,
    rho_counterparty: ArrayLike = 0.0,
    reputation_initiator: ArrayLike = 0.0,
    reputation_counterparty: ArrayLike = 0.0,
) -> BothPayoffs:
    """Return both sides' payoffs; array arguments broadcast.

    Source: SW eq. 6 and 7.

    Args:
        p: soft labels, [0, 1].
        payoffs: what outcomes are worth.
        transfer: from initiator to counterparty, payoff points.
        cost_initiator: governance costs, payoff points.
        cost_counterparty: likewise.
        rho_initiator: part of the harm borne, [0, 1].
        rho_counterparty: likewise.
        reputation_initiator: r_a, dimensionless.
        reputation_counterparty: r_b.

    Raises:
        ConfigError: p or rho outside [0, 1].

    Example:
        >>> round(compute_payoffs(0.8, Payoffs()).initiator.item(), 12)
        0.7
    """
    check_probability("rho_initiator", rho_initiator)
    check_probability("rho_counterparty", rho_counterparty)
    surplus, harm = compute_surplus(p, payoffs), compute_harm(p, payoffs)
    share, weight = payoffs.initiator_share, payoffs.reputation_weight
    transfer = np.asarray(transfer, np.float64)
    initiator = (
        share * surplus
        - transfer
        - np.asarray(cost_initiator)
        - np.asarray(rho_initiator) * harm
        + weight * np.asarray(reputation_initiator)
    )
    counterparty = (
        (1.0 - share) * surplus
        + transfer
        - np.asarray(cost_counterparty)
        - np.asarray(rho_counterparty) * harm
        + weight * np.asarray(reputation_counterparty)
    )
    return BothPayoffs(np.asarray(initiator), np.asarray(counterparty))


def break_even(payoffs: Payoffs, *, with_harm: bool = False) -> float | None:
    """Return the p at which an interaction is worth nothing; None when every p is.

    Args:
        payoffs: what outcomes are worth.
        with_harm: count harm to third parties too.
    """
    lost = payoffs.surplus_bad + (payoffs.harm if with_harm else 0.0)
    total = payoffs.surplus_good + lost
    return None if total == 0 else lost / total


def _map(p: ArrayLike, first: float, second: float, is_surplus: bool) -> NDArray[np.float64]:
    """Apply eq. 4 or eq. 5."""
    check_probability("p", p)
    array = np.ascontiguousarray(p, np.float64)
    out = np.empty(array.shape)
    _map_flat(array.reshape(-1), first, second, is_surplus, out.reshape(-1))
    return out


@njit
def _map_flat(
    p: np.ndarray, first: float, second: float, is_surplus: bool, out: np.ndarray
) -> None:
    """Apply eq. 4 or eq. 5 to a flat array."""
    for i in range(len(out)):
        out[i] = surplus_one(p[i], first, second) if is_surplus else harm_one(p[i], first)
