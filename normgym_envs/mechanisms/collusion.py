"""Collusion detection: pairs that meet often and agree always are fined.

The rule runs on the whole history between two epochs. It sees every settled proposal, accepted or
not. As released it flags honest pairs: with no transfers the correlation term is 1 for every pair
whose only costs are a tax in a fixed ratio.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import (
    Effects,
    Interactions,
    Lever,
    LeverConfig,
    Standing,
    check_probability,
    check_range,
    no_effects,
)

RESOURCES_PER_REPUTATION = 10.0
"""Payoff points that go with one point of reputation in a fine. Source: the released runs."""
WEIGHTS = (0.25, 0.30, 0.20, 0.25)
"""Of frequency, correlation, acceptance and low quality in a pair's score. Source: the same."""

PAIR_DTYPE = np.dtype(
    [
        ("first", np.int32),  # agent slots, first < second
        ("second", np.int32),
        ("number", np.int64),  # settled proposals in either direction
        ("accepted", np.int64),
        ("number_first", np.int64),  # of them initiated by `first`
        ("p_first", np.float64),  # sum of p of those
        ("p_second", np.float64),  # sum of p of the others
        ("mean_first", np.float64),  # running means and co-moments of both sides' benefits
        ("mean_second", np.float64),
        ("square_first", np.float64),
        ("square_second", np.float64),
        ("product", np.float64),
        ("score", np.float64),  # of the latest analysis, [0, 1]
    ],
    align=True,
)
"""What is remembered of an unordered pair."""


@dataclass(frozen=True)
class CollusionConfig(LeverConfig):
    """Settings of the detector. Source: SW section 4, lever 7, gives none; the released runs do."""

    frequency: float = 2.0  # z0: standard deviations above the mean count, > 0
    correlation: float = 0.7  # never read by the released detector; kept as a row of its settings
    minimum: int = 3  # settled proposals before a pair is looked at, >= 1
    score: float = 0.5  # flagged from here on, (0, 1]
    multiplier: float = 1.0  # fine: risk times this, reputation, >= 0
    live_rate: float = 0.0  # cost to both flagged sides: rate times their mean risk, >= 0
    frequency_only: bool = False  # True: nothing but the pair's frequency counts, as SW words it

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_range("frequency", self.frequency, 1e-9)
        check_probability("correlation", self.correlation)
        check_range("minimum", self.minimum, 1)
        check_range("score", self.score, 1e-9, 1.0)
        check_range("multiplier", self.multiplier, 0.0)
        check_range("live_rate", self.live_rate, 0.0)


class Report(NamedTuple):
    """Outcome of one analysis of one row."""

    ran: bool  # there was enough history
    flagged_pairs: int
    flagged_groups: int
    ecosystem_risk: float  # [0, 1]


@njit
def remember(
    pair: Any,
    initiator: int,
    accepted: bool,
    p: float,
    transfer: float,
    cost_initiator: float,
    cost_counterparty: float,
) -> None:
    """Add one settled proposal to its pair, which is changed in place.

    Args:
        pair: PAIR_DTYPE.
        initiator: agent slot.
        accepted: whether the counterparty agreed.
        p: soft label.
        transfer: payoff points from initiator to counterparty.
        cost_initiator: all governance costs of the initiator, payoff points.
        cost_counterparty: of the counterparty.
    """
    gain_first, gain_second = -transfer - cost_initiator, transfer - cost_counterparty
    if initiator == pair["first"]:
        pair["number_first"] += 1
        pair["p_first"] += p
    else:
        gain_first, gain_second = gain_second, gain_first
        pair["p_second"] += p
    pair["number"] += 1
    if accepted:
        pair["accepted"] += 1
    # Welford's update: equal values leave a variance of exactly 0
    off_first = gain_first - pair["mean_first"]
    off_second = gain_second - pair["mean_second"]
    pair["mean_first"] += off_first / pair["number"]
    pair["mean_second"] += off_second / pair["number"]
    pair["square_first"] += off_first * (gain_first - pair["mean_first"])
    pair["square_second"] += off_second * (gain_second - pair["mean_second"])
    pair["product"] += off_first * (gain_second - pair["mean_second"])


@njit
def score_pair(pair: Any, z: float, frequency: float, frequency_only: bool) -> float:
    """Return how suspicious a pair is, [0, 1].

    Source: the released detector. With `frequency_only`, SW section 4 to the letter: the share of
    z0 that the pair's frequency reaches.

    Args:
        pair: PAIR_DTYPE with at least one settled proposal.
        z: standard deviations by which its number exceeds the mean of all pairs that met.
        frequency: z0.
        frequency_only: which reading.
    """
    often = min(1.0, max(0.0, z / frequency))
    if frequency_only:
        return often
    correlation = 0.0
    if pair["number"] >= 2 and pair["square_first"] > 0.0 and pair["square_second"] > 0.0:
        spread = np.sqrt(pair["square_first"]) * np.sqrt(pair["square_second"])
        correlation = max(0.0, pair["product"] / spread) if spread > 0.0 else 0.0
    acceptance = pair["accepted"] / pair["number"]
    number_second = pair["number"] - pair["number_first"]
    mean_first = pair["p_first"] / pair["number_first"] if pair["number_first"] > 0 else 0.5
    mean_second = pair["p_second"] / number_second if number_second > 0 else 0.5
    poor = 0.0
    if acceptance > 0.5:
        poor = max(0.0, (0.5 - (mean_first + mean_second) / 2.0) * 2.0)
    total = (
        WEIGHTS[0] * often
        + WEIGHTS[1] * correlation
        + WEIGHTS[2] * max(0.0, (acceptance - 0.5) * 2.0)
        + WEIGHTS[3] * poor
    )
    return total * min(1.0, pair["number"] / 10.0)


@njit
def analyse(
    pairs: np.ndarray,
    num_pairs: int,
    num_agents: int,
    frequency: float,
    minimum: int,
    threshold: float,
    frequency_only: bool,
    out_risk: np.ndarray,
) -> tuple[bool, int, int, float]:
    """Look at the whole history of one row.

    Args:
        pairs: (P,) PAIR_DTYPE; their scores are written.
        num_pairs: how many of them are real.
        num_agents: N.
        frequency: z0.
        minimum: settled proposals before a pair, or the row, is looked at.
        threshold: score from which pairs and groups are flagged.
        frequency_only: see `score_pair`.
        out_risk: (N,) float64, the highest score an agent takes part in, [0, 1]; left alone when
            there is too little history.

    Returns:
        The fields of `Report`.
    """
    total, met, squares = 0, 0, 0.0
    for i in range(num_pairs):
        total += pairs[i]["number"]
        if pairs[i]["number"] > 0:
            met += 1
    if total < minimum or met == 0:
        return False, 0, 0, 0.0
    mean = total / met
    for i in range(num_pairs):
        if pairs[i]["number"] > 0:
            squares += (pairs[i]["number"] - mean) ** 2
    spread = np.sqrt(squares / met)
    out_risk[:num_agents] = 0.0
    group = np.full(num_agents, -1, np.int32)  # root of the tree a flagged agent is in
    flagged = 0
    for i in range(num_pairs):
        pairs[i]["score"] = 0.0
        if pairs[i]["number"] < minimum:
            continue
        z = (pairs[i]["number"] - mean) / spread if met >= 2 and spread > 0.0 else 0.0
        score = score_pair(pairs[i], z, frequency, frequency_only)
        pairs[i]["score"] = score
        a, b = pairs[i]["first"], pairs[i]["second"]
        out_risk[a] = max(out_risk[a], score)
        out_risk[b] = max(out_risk[b], score)
        if score >= threshold:
            flagged += 1
            _join(group, a, b)
    groups, members, top = _score_groups(pairs, num_pairs, num_agents, group, threshold, out_risk)
    possible = num_agents * (num_agents - 1) / 2.0
    risk = 0.3 * flagged / possible + 0.3 * members / num_agents + 0.4 * top
    return True, flagged, groups, min(1.0, risk)


@njit
def _find(group: np.ndarray, agent: int) -> int:
    """Return the root of an agent's tree."""
    while group[agent] != agent:
        agent = group[agent]
    return agent


@njit
def _join(group: np.ndarray, a: int, b: int) -> None:
    """Put two flagged agents into one tree."""
    for agent in (a, b):
        if group[agent] < 0:
            group[agent] = agent
    root_a, root_b = _find(group, a), _find(group, b)
    group[max(root_a, root_b)] = min(root_a, root_b)


@njit
def _score_groups(
    pairs: np.ndarray,
    num_pairs: int,
    num_agents: int,
    group: np.ndarray,
    threshold: float,
    out_risk: np.ndarray,
) -> tuple[int, int, float]:
    """Score connected flagged agents; return flagged groups, their members and the top score."""
    inside = np.zeros((num_agents, 2))  # by root: number and sum of p within the group
    outside = np.zeros((num_agents, 2))
    size = np.zeros(num_agents)
    for agent in range(num_agents):
        if group[agent] >= 0:
            group[agent] = _find(group, agent)
            size[group[agent]] += 1
    for i in range(num_pairs):
        a, b = group[pairs[i]["first"]], group[pairs[i]["second"]]
        p = pairs[i]["p_first"] + pairs[i]["p_second"]
        if a >= 0 and a == b:
            inside[a, 0] += pairs[i]["number"]
            inside[a, 1] += p
            continue
        for root in (a, b):
            if root >= 0:
                outside[root, 0] += pairs[i]["number"]
                outside[root, 1] += p
    groups, members, top = 0, 0, 0.0
    for root in range(num_agents):
        if size[root] < 2:
            continue
        total = inside[root, 0] + outside[root, 0]
        bias = max(0.0, inside[root, 0] / total - 0.5) * 2.0 if total > 0 else 0.0
        p_inside = inside[root, 1] / inside[root, 0] if inside[root, 0] > 0 else 0.5
        p_outside = outside[root, 1] / outside[root, 0] if outside[root, 0] > 0 else 0.5
        score = 0.4 * bias + 0.6 * max(0.0, p_inside - p_outside)
        score *= 0.5 + 0.5 * min(1.0, size[root] / 5.0)
        if score < threshold:
            continue
        groups += 1
        members += int(size[root])
        top = max(top, score)
        for agent in range(num_agents):
            if group[agent] == root:
                out_risk[agent] = max(out_risk[agent], score)
    return groups, members, top


@njit
def price_flagged(risk_a: float, risk_b: float, threshold: float, rate: float) -> float:
    """Return what each of two flagged agents pays on an interaction, payoff points."""
    if risk_a >= threshold and risk_b >= threshold:
        return rate * (risk_a + risk_b) / 2.0
    return 0.0


class CollusionState(NamedTuple):
    """State of the lever, apart from the market."""

    pairs: np.ndarray  # (B, N * (N - 1) / 2) PAIR_DTYPE
    risk: np.ndarray  # (B, N) float64, of the latest analysis


class Collusion(Lever):
    """Fine agents of flagged pairs and groups. Apart from the market it sees no other costs."""

    name: ClassVar[str] = "collusion"

    def __init__(self, config: CollusionConfig | None = None) -> None:
        """Build the lever.

        Args:
            config: settings; None for the defaults.
        """
        self.config = config or CollusionConfig()

    def start(self, num_rows: int, num_agents: int, seeds: Any = 0) -> CollusionState:
        """Return an empty history; see `Lever.start`."""
        del seeds
        first, second = np.triu_indices(num_agents, 1)
        pairs = np.zeros((num_rows, len(first)), PAIR_DTYPE)
        pairs["first"], pairs["second"] = first, second
        return CollusionState(pairs, np.zeros((num_rows, num_agents)))

    def apply(self, state: Any, interactions: Interactions, num_agents: int) -> Effects:
        """Return the live costs and remember the interactions; see `Lever.apply`."""
        effects = no_effects(len(interactions.p), interactions.p.shape[1], num_agents)
        _remember_all(
            state.pairs,
            state.risk,
            self.config.score,
            self.config.live_rate,
            interactions.initiator,
            interactions.counterparty,
            interactions.accepted,
            interactions.p,
            interactions.transfer,
            effects.cost_initiator,
            effects.cost_counterparty,
        )
        return effects

    def end_epoch(self, state: Any, standing: Standing, next_epoch: int) -> Effects:
        """Return the fines; see `Lever.end_epoch`."""
        del next_epoch
        config = self.config
        rows, agents = standing.reputation.shape
        for row in range(rows):
            analyse(
                state.pairs[row],
                state.pairs.shape[1],
                agents,
                config.frequency,
                config.minimum,
                config.score,
                config.frequency_only,
                state.risk[row],
            )
        fine = np.where(state.risk >= config.score, state.risk * config.multiplier, 0.0)
        return no_effects(rows, 0, agents)._replace(
            reputation=-fine, resources=-fine * RESOURCES_PER_REPUTATION
        )


@njit
def _remember_all(
    pairs: np.ndarray,
    risk: np.ndarray,
    threshold: float,
    rate: float,
    initiator: np.ndarray,
    counterparty: np.ndarray,
    accepted: np.ndarray,
    p: np.ndarray,
    transfer: np.ndarray,
    out_initiator: np.ndarray,
    out_counterparty: np.ndarray,
) -> None:
    """Price and remember a batch."""
    num_agents = risk.shape[1]
    for b in range(p.shape[0]):
        for i in range(p.shape[1]):
            a, c = initiator[b, i], counterparty[b, i]
            if a < 0 or c < 0:
                continue
            cost = price_flagged(risk[b, a], risk[b, c], threshold, rate)
            out_initiator[b, i] = cost
            out_counterparty[b, i] = cost
            low, high = min(a, c), max(a, c)
            index = low * num_agents - low * (low + 1) // 2 + high - low - 1
            remember(pairs[b, index], a, accepted[b, i], p[b, i], transfer[b, i], cost, cost)
