"""The circuit breaker: initiators whose recent interactions are too toxic are frozen."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import (
    Bools,
    Effects,
    Interactions,
    Lever,
    LeverConfig,
    Standing,
    check_probability,
    check_range,
    no_effects,
)

WINDOW = 10
"""Interactions that count as recent. Source: the released runs; SW does not say."""

TRACKER_DTYPE = np.dtype(
    [
        ("window", np.float64, (WINDOW,)),  # toxicity 1 - p of the last interactions, a ring
        ("length", np.int32),  # how many of them are filled
        ("position", np.int32),  # where the next one goes
        ("violations", np.int32),  # since the last release
        ("frozen_until", np.int32),  # first epoch that may release; -1 not frozen
    ],
    align=True,
)
"""What the breaker remembers of one agent."""


@dataclass(frozen=True)
class CircuitBreakerConfig(LeverConfig):
    """Settings of the breaker. Source: SW section 4, lever 2; Table 2."""

    threshold: float = 0.7  # running toxicity at which a violation is counted, [0, 1]
    violations: int = 3  # violations that freeze, >= 1
    freeze_epochs: int = 2  # >= 1
    either: bool = False  # True: toxicity alone freezes too, as SW words it

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_probability("threshold", self.threshold)
        check_range("violations", self.violations, 1)
        check_range("freeze_epochs", self.freeze_epochs, 1)


@njit
def running_toxicity(tracker: Any) -> float:
    """Return the mean toxicity of the recent interactions; 0 before the first."""
    if tracker["length"] == 0:
        return 0.0
    total = 0.0
    for i in range(tracker["length"]):
        total += tracker["window"][i]
    return total / tracker["length"]


@njit
def watch(
    tracker: Any,
    toxicity: float,
    epoch: int,
    threshold: float,
    violations: int,
    freeze_epochs: int,
    either: bool,
) -> bool:
    """Take in one interaction of an initiator; return whether it freezes it.

    Source: in the released runs a violation is a crossing of the running mean, the freeze comes at
    the limit, and rejected proposals count. With `either`, SW section 4 to the letter: frozen when
    the running mean exceeds the threshold or more than the limit of single interactions did.

    Args:
        tracker: TRACKER_DTYPE; changed in place.
        toxicity: 1 - p.
        epoch: now.
        threshold: [0, 1].
        violations: limit.
        freeze_epochs: length of a freeze.
        either: which reading.
    """
    tracker["window"][tracker["position"]] = toxicity
    tracker["position"] = (tracker["position"] + 1) % WINDOW
    tracker["length"] = min(tracker["length"] + 1, WINDOW)
    mean = running_toxicity(tracker)
    freezes = False
    if either:
        if toxicity > threshold:
            tracker["violations"] += 1
        freezes = mean > threshold or tracker["violations"] > violations
    elif mean >= threshold:
        tracker["violations"] += 1
        freezes = tracker["violations"] >= violations
    if freezes:
        tracker["frozen_until"] = epoch + freeze_epochs
    return freezes


@njit
def release_due(tracker: Any, epoch: int) -> bool:
    """End a freeze that has been served; the window of recent interactions is kept."""
    if 0 <= tracker["frozen_until"] <= epoch:
        tracker["frozen_until"] = -1
        tracker["violations"] = 0
        return True
    return False


class CircuitBreaker(Lever):
    """Freeze toxic initiators; state: (B, N) TRACKER_DTYPE and (1,) int64, the present epoch."""

    name: ClassVar[str] = "circuit_breaker"

    def __init__(self, config: CircuitBreakerConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None for the defaults.
        """
        self.config = config or CircuitBreakerConfig()

    def start(
        self, num_rows: int, num_agents: int, seeds: Any = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return empty trackers; see `Lever.start`."""
        del seeds
        return make_trackers(num_rows, num_agents), np.zeros(1, np.int64)

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return whom to freeze; see `Lever.apply`."""
        config, effects = (
            self.config,
            no_effects(len(interactions.p), interactions.p.shape[1], num_agents),
        )
        _watch_all(
            state[0],
            int(state[1][0]),
            config.threshold,
            config.violations,
            config.freeze_epochs,
            config.either,
            interactions.initiator,
            interactions.p,
            effects.freeze,
        )
        return effects

    def end_epoch(self, state: Any, standing: Standing, next_epoch: int) -> Effects:
        """Return whom to release; see `Lever.end_epoch`."""
        rows, agents = standing.reputation.shape
        effects = no_effects(rows, 0, agents)
        state[1][0] = next_epoch
        _release_all(state[0], next_epoch, effects.release)
        return effects

    def access(self, state: Any, standing: Standing) -> Bools:
        """Return who is not frozen: (B, N) bool."""
        del standing
        allowed: Bools = state[0]["frozen_until"] < 0
        return allowed


def make_trackers(num_rows: int, num_agents: int) -> np.ndarray:
    """Return (B, N) TRACKER_DTYPE of agents that did nothing yet."""
    trackers = np.zeros((num_rows, num_agents), TRACKER_DTYPE)
    trackers["frozen_until"] = -1
    return trackers


@njit
def _watch_all(
    trackers: np.ndarray,
    epoch: int,
    threshold: float,
    violations: int,
    freeze_epochs: int,
    either: bool,
    initiator: np.ndarray,
    p: np.ndarray,
    out_freeze: np.ndarray,
) -> None:
    """Take in a batch."""
    for b in range(p.shape[0]):
        for i in range(p.shape[1]):
            agent = initiator[b, i]
            if agent >= 0 and watch(
                trackers[b, agent],
                1.0 - p[b, i],
                epoch,
                threshold,
                violations,
                freeze_epochs,
                either,
            ):
                out_freeze[b, agent] = True


@njit
def _release_all(trackers: np.ndarray, epoch: int, out_release: np.ndarray) -> None:
    """Release everybody whose time has come."""
    for b in range(trackers.shape[0]):
        for agent in range(trackers.shape[1]):
            out_release[b, agent] = release_due(trackers[b, agent], epoch)
