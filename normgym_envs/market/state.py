"""The records of the market's state and output: every field's shape, unit and meaning.

All arrays lead with the batch axis B, one row a seed. What is known about a partner is stored per
directed edge, so memory grows with edges, never with the square of the agents.
"""

from typing import Any, Final

import numpy as np

from normgym_envs.mechanisms.collusion import PAIR_DTYPE

CHANNELS: Final = ("task", "rework", "rejections", "misuse", "engagement")
"""Observables in the order of their draws. Source: SW section 4, components of eq. 1."""

# Aligned records: the layout that compiled code reads fastest and caches best.
SETTINGS_DTYPE = np.dtype(
    [
        ("steps", np.int32),  # per epoch
        ("posts", np.int32),  # feed posts an agent may make per epoch
        ("weights", np.float64, (4,)),  # of the proxy
        ("sharpness", np.float64),  # k
        ("surplus_good", np.float64),
        ("surplus_bad", np.float64),
        ("harm", np.float64),
        ("share", np.float64),  # theta
        ("reputation_weight", np.float64),  # w_rep; 0 where reputation earns nothing
        ("rho_initiator", np.float64),
        ("rho_counterparty", np.float64),
        ("tax_rate", np.float64),
        ("tax_share", np.float64),
        ("tax_transfer", np.bool_),
        ("decay", np.float64),  # lambda
        ("breaker", np.bool_),
        ("breaker_threshold", np.float64),
        ("breaker_violations", np.int32),
        ("breaker_epochs", np.int32),
        ("breaker_either", np.bool_),
        ("audit", np.bool_),
        ("audit_probability", np.float64),
        ("audit_multiplier", np.float64),
        ("audit_threshold", np.float64),
        ("staking", np.bool_),
        ("stake", np.float64),
        ("slash_rate", np.float64),
        ("slashing", np.bool_),
        ("collusion", np.bool_),
        ("collusion_frequency", np.float64),
        ("collusion_minimum", np.int32),
        ("collusion_score", np.float64),
        ("collusion_multiplier", np.float64),
        ("collusion_live", np.float64),
        ("collusion_plain", np.bool_),  # frequency only
        ("dynamic", np.bool_),  # edges change
        ("edge_strengthen", np.float64),  # per accepted interaction
        ("edge_decay", np.float64),  # per epoch
        ("edge_minimum", np.float64),  # cut below
        ("feedback", np.bool_),  # reputation scales the initiator's task progress and engagement
        ("engagement_cap", np.bool_),  # a rejected proposal has no positive engagement
    ],
    align=True,
)
"""One row's rules. A record per row, so that a controller can move one row's levers."""

ROW_DTYPE = np.dtype(
    [
        ("seed", np.uint64),
        ("epoch", np.int32),  # epochs played
        ("has_posts", np.bool_),  # anybody ever posted
        ("num_pairs", np.int32),  # unordered pairs with an edge
        ("num_waiting", np.int32),  # proposals in the queue, answered ones included
        ("num_records", np.int64),
        ("num_events", np.int64),
    ],
    align=True,
)

AGENT_DTYPE = np.dtype(
    [
        ("policy", np.int8),  # policies.Policy
        ("profile", np.int16),  # row of the table of profiles
        ("rehabilitation", np.int16),  # profile right after a freeze; -1 none
        ("face", np.int8),  # registered as: archetypes.Face
        ("reputation", np.float64),
        ("resources", np.float64),  # payoff points
        ("frozen", np.bool_),
        ("recovering", np.bool_),  # was released at the start of this epoch
        ("may_act", np.bool_),  # in the present step
        ("posts", np.int32),  # in the present epoch
        ("cooldown", np.int32),  # turns until the next attack
        ("requests", np.int64),  # step-end requests counted, over all partners
        ("trusted", np.int32),  # partners that accepted three times
        ("payoff", np.float64),  # over accepted interactions
        ("waiting_first", np.int32),  # oldest proposal to this agent; -1 none
        ("waiting_last", np.int32),
    ],
    align=True,
)

EDGE_DTYPE = np.dtype(
    [
        ("owner", np.int32),  # who knows this about whom
        ("target", np.int32),
        ("reverse", np.int32),  # the same edge the other way
        ("pair", np.int32),  # index of the unordered pair
        ("active", np.bool_),  # not cut
        ("weight", np.float64),  # [0, 1]
        ("trust", np.float64),  # [0, 1], starts at .5
        ("p_sum", np.float64),  # over all settled proposals between the two
        ("number", np.int64),  # settled proposals between the two
        ("accepted", np.int64),  # of them accepted
        ("ledger", np.float64),  # sum of own payoffs, or an estimate of the partner's
        ("requests", np.int64),  # step-end requests counted
        ("phase", np.int8),  # policies.Phase
        ("exploits", np.int32),  # outcomes in a row in the exploit phase
        ("marked", np.int8),  # 1 target, 2 ally
        ("barred", np.bool_),  # blacklisted, or once seen with p < .5
        ("partner_move", np.int8),  # the partner's last move: 1 friendly, -1 not, 0 none yet
    ],
    align=True,
)

WAITING_DTYPE = np.dtype(
    [("edge", np.int32), ("trade", np.bool_), ("open", np.bool_), ("next", np.int32)], align=True
)
"""A proposal that waits for an answer; `next` is the next one to the same agent."""

PROFILE_DTYPE = np.dtype(
    [
        ("kind", np.int8, (5,)),  # draws.Kind by channel
        ("first", np.float64, (5,)),
        ("second", np.float64, (5,)),
        ("aims", np.bool_),  # scales its draws to a wanted p
        ("wanted", np.float64),  # that p
        ("transfer_trade", np.float64),  # offered, payoff points
        ("transfer_collaboration", np.float64),
    ],
    align=True,
)

RECORD_DTYPE = np.dtype(
    [
        ("epoch", np.int32),
        ("step", np.int32),
        ("initiator", np.int32),
        ("counterparty", np.int32),
        ("trade", np.bool_),  # else a collaboration
        ("on_turn", np.bool_),  # answered on the counterparty's turn, else at the end of the step
        ("accepted", np.bool_),
        ("task", np.float64),
        ("rework", np.int32),
        ("rejections", np.int32),
        ("misuse", np.int32),
        ("engagement", np.float64),
        ("score", np.float64),  # proxy score v
        ("p", np.float64),
        ("transfer", np.float64),
        ("tax_initiator", np.float64),
        ("tax_counterparty", np.float64),
        ("audited", np.bool_),
        ("penalty", np.float64),
        ("live", np.float64),  # collusion cost to either side
        ("slashed", np.float64),  # taken off the initiator's resources
        ("cost_initiator", np.float64),  # sum of the levers' costs
        ("cost_counterparty", np.float64),
        ("payoff_initiator", np.float64),  # of a rejected proposal: what it would have been
        ("payoff_counterparty", np.float64),
        ("reputation_before", np.float64),  # the initiator's
        ("reputation_after", np.float64),
        ("reputation_counterparty", np.float64),
        ("resources_before", np.float64),  # the initiator's
        ("resources_after", np.float64),
        ("trust_initiator_before", np.float64),  # of the initiator in the counterparty
        ("trust_initiator_after", np.float64),
        ("trust_counterparty_before", np.float64),
        ("trust_counterparty_after", np.float64),
        ("toxicity", np.float64),  # the breaker's running mean, after
        ("violations", np.int32),  # after
        ("froze", np.bool_),  # this interaction froze its initiator
        ("frozen_until", np.int32),  # epoch; -1
        ("weight", np.float64),  # of the edge, after
    ],
    align=True,
)
"""One settled proposal; the number of the record is the interaction's ordinal."""

STANDING, ANALYSIS, CUT = 1, 2, 3
EVENT_DTYPE = np.dtype(
    [
        ("epoch", np.int32),  # about to start, or for CUT just ended
        ("kind", np.int8),  # STANDING, ANALYSIS or CUT
        ("agent", np.int32),
        ("other", np.int32),  # CUT: the other end; ANALYSIS: flagged groups
        ("released", np.bool_),
        ("reputation_before", np.float64),
        ("reputation_after", np.float64),
        ("resources_before", np.float64),
        ("resources_after", np.float64),
        ("risk", np.float64),  # STANDING: of the agent; ANALYSIS: of the ecosystem
        ("fined", np.bool_),
        ("flagged", np.int32),  # ANALYSIS: flagged pairs
    ],
    align=True,
)
"""What happens between epochs: each agent's standing, the collusion report, edges that are cut."""

START_TRUST: Final = 0.5
"""Trust in a stranger. Source: the released runs; SW does not say."""


def allocate_edges(rows: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return edges, offsets and pairs of a batch from its networks.

    Args:
        rows: one (N, sorted (M, 2) int64 array of unordered edges) a row.

    Returns:
        edges: (B, E) EDGE_DTYPE, the edges of agent i at offsets i to i + 1, by target.
        offsets: (B, N + 1) int64.
        pairs: (B, P) PAIR_DTYPE.
    """
    num_agents = rows[0][0]
    most = max(len(pairs) for _, pairs in rows)
    edges = np.zeros((len(rows), max(2 * most, 1)), EDGE_DTYPE)
    offsets = np.zeros((len(rows), num_agents + 1), np.int64)
    pairs_out = np.zeros((len(rows), max(most, 1)), PAIR_DTYPE)
    for row, (_, pairs) in enumerate(rows):
        number = len(pairs)
        owner = np.concatenate([pairs[:, 0], pairs[:, 1]])
        target = np.concatenate([pairs[:, 1], pairs[:, 0]])
        order = np.lexsort((target, owner))
        place = np.empty(2 * number, np.int64)
        place[order] = np.arange(2 * number)
        used = edges[row, : 2 * number]
        used["owner"], used["target"] = owner[order], target[order]
        used["pair"] = (order % max(number, 1)).astype(np.int32)
        used["reverse"] = place[(order + number) % max(2 * number, 1)]
        used["active"], used["weight"], used["trust"] = True, 1.0, START_TRUST
        np.cumsum(np.bincount(owner, minlength=num_agents), out=offsets[row, 1:])
        pairs_out["first"][row, :number] = pairs[:, 0]
        pairs_out["second"][row, :number] = pairs[:, 1]
    return edges, offsets, pairs_out


def grow(array: np.ndarray, needed: int) -> np.ndarray:
    """Return an array whose second axis has at least `needed` places; doubles when it must."""
    if array.shape[1] >= needed:
        return array
    larger = np.zeros((array.shape[0], max(needed, 2 * array.shape[1])), array.dtype)
    larger[:, : array.shape[1]] = array
    return larger
