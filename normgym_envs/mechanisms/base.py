"""What every lever is: interactions and its own state in, costs and access out.

A lever knows interactions, not worlds, so the same units govern the market and the grid. Each file
of this package holds one lever: its settings, its state, and the compiled rule for one interaction
that both the batch form here and the market's loop call. Which levers exist is in `__init__.py`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from normgym_envs.errors import ConfigError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]


class Interactions(NamedTuple):
    """Settled interactions of a batch; along I they stand in the order they were settled."""

    initiator: Ints  # (B, I) agent slot in [0, N); -1 pads
    counterparty: Ints  # (B, I) agent slot in [0, N); -1 pads
    accepted: Bools  # (B, I)
    p: Floats  # (B, I) soft label, probability in [0, 1]
    transfer: Floats  # (B, I) paid by the initiator to the counterparty, payoff points
    harm: Floats  # (B, I) expected harm to third parties, payoff points


class Standing(NamedTuple):
    """What levers may know of the agents themselves."""

    reputation: Floats  # (B, N) dimensionless
    resources: Floats  # (B, N) payoff points


class Effects(NamedTuple):
    """What a lever asks for; effects of several levers add up."""

    cost_initiator: Floats  # (B, I) payoff points
    cost_counterparty: Floats  # (B, I) payoff points
    reputation: Floats  # (B, N) change, dimensionless
    resources: Floats  # (B, N) change, payoff points
    freeze: Bools  # (B, N) exclude this agent from now on
    release: Bools  # (B, N) end its exclusion


def make_interactions(
    initiator: Any,
    counterparty: Any,
    p: Any,
    *,
    accepted: Any = True,
    transfer: Any = 0.0,
    harm: Any = 0.0,
) -> Interactions:
    """Return interactions from anything that broadcasts to (B, I).

    Args:
        initiator: agent slots; -1 pads.
        counterparty: agent slots; -1 pads.
        p: soft labels, probability in [0, 1].
        accepted: whether the counterparty agreed.
        transfer: payoff points from initiator to counterparty.
        harm: expected harm to third parties, payoff points.

    Raises:
        ConfigError: p outside [0, 1], or shapes that do not fit together.

    Example:
        >>> make_interactions([[0, 1]], [[1, 0]], 0.7).p.shape
        (1, 2)
    """
    try:
        fields = np.broadcast_arrays(
            *(np.atleast_2d(np.asarray(one)) for one in (initiator, counterparty, accepted)),
            *(np.atleast_2d(np.asarray(one, np.float64)) for one in (p, transfer, harm)),
        )
    except ValueError as error:
        raise ConfigError(f"interactions: {error}") from None
    check_probability("p", fields[3])
    return Interactions(
        np.ascontiguousarray(fields[0], np.int32),
        np.ascontiguousarray(fields[1], np.int32),
        np.ascontiguousarray(fields[2], np.bool_),
        *(np.ascontiguousarray(field, np.float64) for field in fields[3:]),
    )


def no_effects(num_rows: int, num_interactions: int, num_agents: int) -> Effects:
    """Return effects that change nothing.

    Args:
        num_rows: B.
        num_interactions: I.
        num_agents: N.
    """
    each, agents = (num_rows, num_interactions), (num_rows, num_agents)
    return Effects(
        np.zeros(each),
        np.zeros(each),
        np.zeros(agents),
        np.zeros(agents),
        np.zeros(agents, np.bool_),
        np.zeros(agents, np.bool_),
    )


def add_effects(first: Effects, second: Effects) -> Effects:
    """Return the sum of two levers' effects.

    Source: SW section 4, "Governance Engine": levers compose additively.
    """
    return Effects(
        first.cost_initiator + second.cost_initiator,
        first.cost_counterparty + second.cost_counterparty,
        first.reputation + second.reputation,
        first.resources + second.resources,
        first.freeze | second.freeze,
        first.release | second.release,
    )


@dataclass(frozen=True)
class LeverConfig:
    """Base of every lever's settings; unknown keys in a scenario file are refused."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "strict": False}


class Lever:
    """A lever without effect: what a real one overrides.

    `apply` and `end_epoch` change the state in place and nothing else.
    """

    name: ClassVar[str]

    def start(self, num_rows: int, num_agents: int, seeds: Any = 0) -> Any:
        """Return a fresh state for B rows of N agents.

        Args:
            num_rows: B.
            num_agents: N.
            seeds: one integer, or (B,); only levers that draw use it.
        """
        del num_rows, num_agents, seeds
        return None

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return what settled interactions cost and cause.

        Args:
            state: of this lever; changed in place.
            interactions: (B, I).
            num_agents: N.
        """
        del state
        return no_effects(len(interactions.p), interactions.p.shape[1], num_agents)

    def end_epoch(self, state: Any, standing: Standing, next_epoch: int) -> Effects:
        """Return what happens between two epochs.

        Args:
            state: of this lever; changed in place.
            standing: (B, N).
            next_epoch: index of the epoch that is about to start.
        """
        del state, next_epoch
        rows, agents = standing.reputation.shape
        return no_effects(rows, 0, agents)

    def access(self, state: Any, standing: Standing) -> Bools:
        """Return who may act: (B, N) bool."""
        del state
        return np.ones(standing.reputation.shape, np.bool_)


def check_probability(name: str, value: Any) -> None:
    """Refuse numbers outside [0, 1].

    Raises:
        ConfigError: a number below 0, above 1 or not finite.
    """
    check_range(name, value, 0.0, 1.0)


def check_range(name: str, value: Any, low: float, high: float = np.inf) -> None:
    """Refuse numbers outside [low, high].

    Args:
        name: what the number is called, for the message.
        value: a number or an array.
        low: smallest accepted.
        high: largest accepted.

    Raises:
        ConfigError: a number outside, or not finite.
    """
    values = np.asarray(value, np.float64)
    bad = ~(np.isfinite(values) & (values >= low) & (values <= high))
    if bad.any():
        shown = values[bad].flat[0]
        words = f"at least {low:g}" if np.isinf(high) else f"{low:g} to {high:g}"
        raise ConfigError(f"{name} is {shown:g}; expected {words}")
