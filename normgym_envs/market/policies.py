"""What agents do: whom they ask on their turn, and what they answer.

Source: the released runs, unless a function says otherwise. Feed posts and votes matter only in
that they use up turns, so a counter of posts stands in for the feed.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.market.archetypes import Face, Policy
from normgym_envs.market.draws import ANSWER, TURN, unit

POSTING, NOBODY = -2, -1


class Phase(IntEnum):
    """Where a dancer stands with one partner."""

    COOPERATE = 0
    EXPLOIT = 1
    RECOVER = 2


TARGET, ALLY = 1, 2

_HONEST, _OPPORTUNISTIC = int(Policy.HONEST), int(Policy.OPPORTUNISTIC)
_DECEPTIVE, _ADVERSARIAL = int(Policy.DECEPTIVE), int(Policy.ADVERSARIAL)
_DORMANT, _CAUTIOUS, _LEDGER = int(Policy.DORMANT), int(Policy.CAUTIOUS), int(Policy.LEDGER)
_DANCER, _UNBLEMISHED = int(Policy.DANCER), int(Policy.UNBLEMISHED)
_TIT_FOR_TAT, _OPEN = int(Policy.TIT_FOR_TAT), int(Policy.OPEN)
_FACE_HONEST, _FACE_ADVERSARIAL = int(Face.HONEST), int(Face.ADVERSARIAL)
_COOPERATE, _EXPLOIT, _RECOVER = int(Phase.COOPERATE), int(Phase.EXPLOIT), int(Phase.RECOVER)

LEDGER_FLOOR = -1.5
"""A dancer's estimate of a partner's ledger at which it stops: the blacklist at -2 plus .5."""
EXPLOIT_ROOM = 0.6


@njit
def sees(edges: np.ndarray, agents: np.ndarray, edge: int) -> bool:
    """Return whether an edge's owner can see its target: connected, and not frozen."""
    return edges[edge]["active"] and not agents[edges[edge]["target"]]["frozen"]


@njit
def is_acceptable(edge: Any) -> bool:
    """Return whether a cautious reciprocator would deal with a partner."""
    if edge["barred"]:
        return False
    if edge["number"] >= 8 and edge["ledger"] < 0.0:
        return False
    needed = 0.55
    if edge["ledger"] > 1.0:
        needed -= 0.15
    elif edge["ledger"] < -0.5:
        needed += 0.2
    return edge["trust"] >= needed


@njit
def move_phase(edge: Any) -> None:
    """Move a dancer's phase with one partner, at most one step; changes the edge."""
    if edge["phase"] == _COOPERATE:
        if edge["number"] >= 3 and edge["ledger"] > 0.2:
            edge["phase"] = _EXPLOIT
            edge["exploits"] = 0
    elif edge["phase"] == _EXPLOIT:
        if edge["ledger"] - LEDGER_FLOOR < EXPLOIT_ROOM or edge["exploits"] >= 2:
            edge["phase"] = _RECOVER
    elif edge["ledger"] > 0.0:
        edge["phase"] = _COOPERATE


@njit
def cooperates(edge: Any) -> bool:
    """Return whether a dancer accepts a partner's proposal; moves the phase."""
    move_phase(edge)
    return edge["phase"] != _EXPLOIT or edge["ledger"] - LEDGER_FLOOR < EXPLOIT_ROOM


@njit
def answer_on_turn(
    agents: np.ndarray, edges: np.ndarray, back: int, seed: np.uint64, ordinal: int
) -> bool:
    """Return whether an agent that spends its turn on a waiting proposal accepts it.

    Args:
        agents: (N,) AGENT_DTYPE.
        edges: (E,) EDGE_DTYPE.
        back: edge from the asked agent to the initiator.
        seed: of the row.
        ordinal: the interaction's.
    """
    edge = edges[back]
    policy = agents[edge["owner"]]["policy"]
    u = unit(seed, ordinal, ANSWER, 0)
    if policy == _HONEST:
        return edge["trust"] >= 0.4 - 0.1
    if policy == _OPPORTUNISTIC:
        seen = sees(edges, agents, back) and agents[edge["target"]]["reputation"] > 0.0
        return seen or u < 0.4
    if policy == _DECEPTIVE:
        return u < (0.9 if edge["requests"] < 5 else 0.6)
    if policy == _ADVERSARIAL:
        return edge["marked"] > 0 or u < 0.4
    return _answer_as_ever(policy, edge)


@njit
def answer_at_end(
    agents: np.ndarray, edges: np.ndarray, back: int, trade: bool, seed: np.uint64, ordinal: int
) -> bool:
    """Return whether an agent accepts a proposal still open at the end of a step.

    Args:
        agents: (N,) AGENT_DTYPE; a deceptive agent counts the request.
        edges: (E,) EDGE_DTYPE; likewise.
        back: edge from the asked agent to the initiator.
        trade: whether a trade was proposed.
        seed: of the row.
        ordinal: the interaction's.
    """
    edge = edges[back]
    agent = agents[edge["owner"]]
    policy = agent["policy"]
    u = unit(seed, ordinal, ANSWER, 0)
    if policy == _HONEST:
        # written as it was run: at trust .5 a trade is exactly good enough
        return edge["trust"] * 0.3 + 0.5 * (1.0 - 0.3) >= (0.4 + 0.1 if trade else 0.4 - 0.1)
    if policy == _OPPORTUNISTIC:
        if edge["number"] > 0:
            return edge["p_sum"] / edge["number"] > 0.5
        return u < 0.6
    if policy == _DECEPTIVE:
        asked = edge["requests"]
        edge["requests"] += 1
        agent["requests"] += 1
        if asked < 5:
            return u < 0.8
        return edge["accepted"] >= 2
    if policy == _ADVERSARIAL:
        return edge["marked"] > 0 or trade or u < 0.3
    return _answer_as_ever(policy, edge)


@njit
def _answer_as_ever(policy: int, edge: Any) -> bool:
    """Answer for policies that know no difference between the two ways of answering."""
    if policy == _CAUTIOUS:
        return edge["trust"] >= 0.7
    if policy == _LEDGER:
        return is_acceptable(edge)
    if policy == _DANCER:
        return cooperates(edge)
    if policy == _UNBLEMISHED:
        return not edge["barred"] and edge["trust"] >= 0.5
    if policy == _TIT_FOR_TAT:
        return edge["partner_move"] >= 0
    return True  # dormant and open agents


@njit
def choose_partner(
    agents: np.ndarray,
    edges: np.ndarray,
    start: int,
    stop: int,
    agent: int,
    posts: int,
    has_posts: bool,
    seed: np.uint64,
    turn: int,
) -> tuple[int, bool]:
    """Return what an agent with no proposal waiting does with its turn.

    Args:
        agents: (N,) AGENT_DTYPE; an attacker's cooldown is set.
        edges: (E,) EDGE_DTYPE.
        start: first edge of the agent.
        stop: one behind its last.
        agent: whose turn it is.
        posts: feed posts allowed per epoch.
        has_posts: anybody ever posted, so there is something to vote on.
        seed: of the row.
        turn: number of the turn.

    Returns:
        The edge to propose along, POSTING or NOBODY; and whether it is a trade.
    """
    own = agents[agent]
    policy = own["policy"]
    may_post = own["posts"] < posts
    first = unit(seed, turn, TURN, 1)
    if policy == _HONEST:
        if own["resources"] > 20.0 and unit(seed, turn, TURN, 0) < 0.15:
            return NOBODY, False  # a bounty that nobody can take
        if may_post and first < 0.3:
            return POSTING, False
        if has_posts and unit(seed, turn, TURN, 2) < 0.5:
            return NOBODY, False
        if unit(seed, turn, TURN, 3) < 0.4:
            return find_most_trusted(agents, edges, start, stop, 0.3), False
        return NOBODY, False
    if policy == _OPPORTUNISTIC:
        if may_post and first < 0.4:
            return POSTING, False
        if has_posts and unit(seed, turn, TURN, 2) < 0.6:
            return NOBODY, False
        return pick_rich(agents, edges, start, stop, unit(seed, turn, TURN, 4)), True
    if policy == _DECEPTIVE:
        return _deceive(agents, edges, start, stop, agent, may_post, has_posts, seed, turn)
    if policy == _ADVERSARIAL:
        return _attack(agents, edges, start, stop, agent, may_post, has_posts, seed, turn)
    if policy == _DORMANT:
        return (POSTING if first < 0.3 else NOBODY), False
    if policy == _OPEN or policy == _DANCER:
        if may_post and first < 0.2:
            return POSTING, False
        if policy == _DANCER:
            return find_most_room(agents, edges, start, stop), False
        return pick_any(agents, edges, start, stop, 0, unit(seed, turn, TURN, 4)), False
    found = NOBODY
    if policy == _CAUTIOUS:
        found = find_most_trusted(agents, edges, start, stop, 0.7)
    elif policy == _LEDGER:
        found = find_best_ledger(agents, edges, start, stop)
    elif unit(seed, turn, TURN, 3) < 0.4:
        found = _find_clean(agents, edges, start, stop, policy)
    if found >= 0:
        return found, False
    return (POSTING if may_post and first < 0.2 else NOBODY), False


@njit
def _deceive(
    agents: np.ndarray,
    edges: np.ndarray,
    start: int,
    stop: int,
    agent: int,
    may_post: bool,
    has_posts: bool,
    seed: np.uint64,
    turn: int,
) -> tuple[int, bool]:
    """Exploit partners that trust, or keep up appearances; see `choose_partner`."""
    own = agents[agent]
    if own["trusted"] >= 2 and own["requests"] > 10:
        best, most = NOBODY, 2
        for e in range(start, stop):
            known = min(edges[e]["accepted"], 5)  # trust .5 + .1 each, at most 1
            rich = agents[edges[e]["target"]]["resources"] > 50.0
            if known > most and rich and sees(edges, agents, e):
                best, most = e, known
        if best >= 0:
            return best, True
    if may_post and unit(seed, turn, TURN, 1) < 0.35:
        return POSTING, False
    if has_posts:
        return NOBODY, False
    count = 0
    for e in range(start, stop):
        if edges[e]["requests"] < 5 and sees(edges, agents, e):
            count += 1
    wanted = int(unit(seed, turn, TURN, 4) * count)
    for e in range(start, stop):
        if edges[e]["requests"] < 5 and sees(edges, agents, e):
            if wanted == 0:
                return e, False
            wanted -= 1
    return NOBODY, False


@njit
def mark_targets(agents: np.ndarray, edges: np.ndarray, start: int, stop: int) -> None:
    """Let an attacker note whom it sees: targets and allies stay noted."""
    for e in range(start, stop):
        if edges[e]["marked"] == 0 and sees(edges, agents, e):
            other = agents[edges[e]["target"]]
            if other["face"] == _FACE_ADVERSARIAL:
                edges[e]["marked"] = ALLY
            elif other["face"] == _FACE_HONEST and (
                other["resources"] > 50.0 or other["reputation"] > 0.0
            ):
                edges[e]["marked"] = TARGET


@njit
def _attack(
    agents: np.ndarray,
    edges: np.ndarray,
    start: int,
    stop: int,
    agent: int,
    may_post: bool,
    has_posts: bool,
    seed: np.uint64,
    turn: int,
) -> tuple[int, bool]:
    """Attack a target, or disturb; see `choose_partner`."""
    own = agents[agent]
    target = pick_any(agents, edges, start, stop, TARGET, unit(seed, turn, TURN, 4))
    if own["cooldown"] == 0 and unit(seed, turn, TURN, 5) < 0.6:
        if target >= 0:
            own["cooldown"] = 2
            return target, True
        if may_post:
            own["cooldown"] = 2
            return POSTING, False
    if may_post and unit(seed, turn, TURN, 1) < 0.5:
        return POSTING, False
    if has_posts:
        return NOBODY, False
    if target >= 0:
        return target, True
    return pick_any(agents, edges, start, stop, 0, unit(seed, turn, TURN, 4)), True


@njit
def find_most_trusted(
    agents: np.ndarray, edges: np.ndarray, start: int, stop: int, least: float
) -> int:
    """Return the edge to the most trusted visible partner with at least `least`, first on ties."""
    best, most = NOBODY, -1.0
    for e in range(start, stop):
        trust = edges[e]["trust"]
        if trust >= least and trust > most and sees(edges, agents, e):
            best, most = e, trust
    return best


@njit
def find_best_ledger(agents: np.ndarray, edges: np.ndarray, start: int, stop: int) -> int:
    """Return the edge to the partner with the highest ledger, then trust, if it is acceptable."""
    best = NOBODY
    for e in range(start, stop):
        if edges[e]["barred"] or not sees(edges, agents, e):
            continue
        if (
            best < 0
            or edges[e]["ledger"] > edges[best]["ledger"]
            or (
                edges[e]["ledger"] == edges[best]["ledger"]
                and edges[e]["trust"] > edges[best]["trust"]
            )
        ):
            best = e
    if best >= 0 and is_acceptable(edges[best]):
        return best
    return NOBODY


@njit
def find_most_room(agents: np.ndarray, edges: np.ndarray, start: int, stop: int) -> int:
    """Return a dancer's edge with the most room; a partner never met counts one more."""
    best, most = NOBODY, -np.inf
    for e in range(start, stop):
        room = edges[e]["ledger"] - LEDGER_FLOOR + (1.0 if edges[e]["number"] == 0 else 0.0)
        if room > most and sees(edges, agents, e):
            best, most = e, room
    return best


@njit
def _find_clean(agents: np.ndarray, edges: np.ndarray, start: int, stop: int, policy: int) -> int:
    """Return the most trusted visible partner that an as-written careful agent deals with."""
    best, most = NOBODY, -1.0
    for e in range(start, stop):
        trust = edges[e]["trust"]
        if trust > most and sees(edges, agents, e) and _answer_as_ever(policy, edges[e]):
            best, most = e, trust
    return best


@njit
def pick_rich(agents: np.ndarray, edges: np.ndarray, start: int, stop: int, u: float) -> int:
    """Return a random visible partner with resources over 80 or reputation over .5."""
    count = 0
    for e in range(start, stop):
        other = agents[edges[e]["target"]]
        if (other["resources"] > 80.0 or other["reputation"] > 0.5) and sees(edges, agents, e):
            count += 1
    wanted = int(u * count)
    for e in range(start, stop):
        other = agents[edges[e]["target"]]
        if (other["resources"] > 80.0 or other["reputation"] > 0.5) and sees(edges, agents, e):
            if wanted == 0:
                return e
            wanted -= 1
    return NOBODY


@njit
def pick_any(
    agents: np.ndarray, edges: np.ndarray, start: int, stop: int, mark: int, u: float
) -> int:
    """Return a random visible partner, among all (mark 0) or those with that mark."""
    count = 0
    for e in range(start, stop):
        if (mark == 0 or edges[e]["marked"] == mark) and sees(edges, agents, e):
            count += 1
    wanted = int(u * count)
    for e in range(start, stop):
        if (mark == 0 or edges[e]["marked"] == mark) and sees(edges, agents, e):
            if wanted == 0:
                return e
            wanted -= 1
    return NOBODY
