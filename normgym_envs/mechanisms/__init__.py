"""Governance levers: the table of them, and how several act together.

Source: SW section 4, "Governance Engine".
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.mechanisms.base import (
    Bools,
    Effects,
    Interactions,
    Lever,
    LeverConfig,
    Standing,
    add_effects,
    make_interactions,
    no_effects,
)
from normgym_envs.mechanisms.circuit_breaker import CircuitBreaker, CircuitBreakerConfig
from normgym_envs.mechanisms.collusion import Collusion, CollusionConfig
from normgym_envs.mechanisms.controller import Controller, ControllerConfig
from normgym_envs.mechanisms.externality import Externality, ExternalityConfig
from normgym_envs.mechanisms.random_audit import RandomAudit, RandomAuditConfig
from normgym_envs.mechanisms.reputation_decay import ReputationDecay, ReputationDecayConfig
from normgym_envs.mechanisms.staking import Staking, StakingConfig
from normgym_envs.mechanisms.transaction_tax import TransactionTax, TransactionTaxConfig

__all__ = [
    "LEVERS",
    "CircuitBreaker",
    "CircuitBreakerConfig",
    "Collusion",
    "CollusionConfig",
    "Composition",
    "Controller",
    "ControllerConfig",
    "Effects",
    "Externality",
    "ExternalityConfig",
    "Interactions",
    "Lever",
    "LeverConfig",
    "RandomAudit",
    "RandomAuditConfig",
    "ReputationDecay",
    "ReputationDecayConfig",
    "Staking",
    "StakingConfig",
    "Standing",
    "TransactionTax",
    "TransactionTaxConfig",
    "compose",
    "find_lever",
    "make_interactions",
]

LEVERS: Final[dict[str, tuple[type[Lever], type[LeverConfig]]]] = {
    "transaction_tax": (TransactionTax, TransactionTaxConfig),
    "reputation_decay": (ReputationDecay, ReputationDecayConfig),
    "staking": (Staking, StakingConfig),
    "circuit_breaker": (CircuitBreaker, CircuitBreakerConfig),
    "random_audit": (RandomAudit, RandomAuditConfig),
    "collusion": (Collusion, CollusionConfig),
    "externality": (Externality, ExternalityConfig),
}
"""Name -> lever and settings, in the order in which they act."""


class Composition(Lever):
    """Several levers as one: effects add up, and who may act must be let by all of them."""

    name = "composition"

    def __init__(self, levers: Sequence[Lever]) -> None:
        """Build the composition.

        Args:
            levers: in the order in which they act.

        Raises:
            ConfigError: a lever is there twice.
        """
        names = [lever.name for lever in levers]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(
                    f"lever {name!r} is given {names.count(name)} times; once at most"
                )
        self.levers = tuple(levers)

    def start(self, num_rows: int, num_agents: int, seeds: Any = 0) -> tuple[Any, ...]:
        """Return one state a lever; see `Lever.start`."""
        return tuple(lever.start(num_rows, num_agents, seeds) for lever in self.levers)

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return the sum of all effects; see `Lever.apply`."""
        total = no_effects(len(interactions.p), interactions.p.shape[1], num_agents)
        for lever, own in zip(self.levers, state, strict=True):
            total = add_effects(total, lever.apply(own, interactions, num_agents))
        return total

    def end_epoch(self, state: Any, standing: Standing, next_epoch: int) -> Effects:
        """Return the sum of all effects; see `Lever.end_epoch`."""
        rows, agents = standing.reputation.shape
        total = no_effects(rows, 0, agents)
        for lever, own in zip(self.levers, state, strict=True):
            total = add_effects(total, lever.end_epoch(own, standing, next_epoch))
        return total

    def access(self, state: Any, standing: Standing) -> Bools:
        """Return who may act: (B, N) bool."""
        allowed = np.ones(standing.reputation.shape, np.bool_)
        for lever, own in zip(self.levers, state, strict=True):
            allowed &= lever.access(own, standing)
        return allowed


def compose(levers: Iterable[Lever]) -> Composition:
    """Return levers as one, in the table's order; levers of the user's own come last.

    Args:
        levers: any order; each at most once.

    Raises:
        ConfigError: a lever is there twice.

    Example:
        >>> tax = TransactionTax(TransactionTaxConfig(rate=0.1))
        >>> both = compose([Staking(StakingConfig(minimum=10)), tax])
        >>> [lever.name for lever in both.levers]
        ['transaction_tax', 'staking']
    """
    order = list(LEVERS)
    given = list(levers)
    return Composition(
        sorted(given, key=lambda one: order.index(one.name) if one.name in order else len(order))
    )


def find_lever(name: str) -> tuple[type[Lever], type[LeverConfig]]:
    """Return a lever and its settings by name.

    Raises:
        UnknownNameError: no such lever.
    """
    if name not in LEVERS:
        raise UnknownNameError("lever", name, LEVERS)
    return LEVERS[name]
