"""The market's epoch: what happens at its start, in each step, and at its end.

Source: the released runs for the order of events. Rows are independent; a row's bytes depend on
its seed and settings alone.
"""

from typing import Any

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.market.archetypes import Policy
from normgym_envs.market.draws import TURN, unit
from normgym_envs.market.policies import (
    POSTING,
    answer_at_end,
    answer_on_turn,
    choose_partner,
    mark_targets,
)
from normgym_envs.market.settle import settle
from normgym_envs.market.state import ANALYSIS, CUT, STANDING
from normgym_envs.mechanisms.circuit_breaker import release_due
from normgym_envs.mechanisms.collusion import RESOURCES_PER_REPUTATION, analyse
from normgym_envs.mechanisms.staking import has_stake

_ADVERSARIAL, _DORMANT = int(Policy.ADVERSARIAL), int(Policy.DORMANT)


@njit
def play_epoch(
    settings: np.ndarray,
    rows: np.ndarray,
    agents: np.ndarray,
    trackers: np.ndarray,
    edges: np.ndarray,
    offsets: np.ndarray,
    pairs: np.ndarray,
    risk: np.ndarray,
    waiting: np.ndarray,
    profiles: np.ndarray,
    records: np.ndarray,
    events: np.ndarray,
    first: int,
    stop: int,
) -> None:
    """Play one epoch of rows first to stop; every array leads with B and changes in place.

    Args:
        settings: (B,) SETTINGS_DTYPE.
        rows: (B,) ROW_DTYPE.
        agents: (B, N) AGENT_DTYPE.
        trackers: (B, N) TRACKER_DTYPE.
        edges: (B, E) EDGE_DTYPE.
        offsets: (B, N + 1) int64.
        pairs: (B, P) PAIR_DTYPE.
        risk: (B, N) float64.
        waiting: (B, E + N) WAITING_DTYPE.
        profiles: table of PROFILE_DTYPE.
        records: (B, R) RECORD_DTYPE with room for one epoch more.
        events: (B, V) EVENT_DTYPE, likewise.
        first: first row.
        stop: one behind the last.
    """
    num_agents = agents.shape[1]
    for b in range(first, stop):
        start_epoch(
            settings[b], rows[b], agents[b], trackers[b], pairs[b], risk[b], events[b], num_agents
        )
        for step in range(settings[b]["steps"]):
            for i in range(num_agents):
                agents[b, i]["may_act"] = not agents[b, i]["frozen"] and (
                    not settings[b]["staking"]
                    or has_stake(agents[b, i]["resources"], settings[b]["stake"])
                )
            for i in range(num_agents):
                if agents[b, i]["may_act"]:
                    take_turn(
                        settings[b],
                        rows[b],
                        agents[b],
                        trackers[b],
                        edges[b],
                        offsets[b],
                        pairs[b],
                        risk[b],
                        waiting[b],
                        profiles,
                        records[b],
                        step,
                        i,
                    )
            answer_waiting(
                settings[b],
                rows[b],
                agents[b],
                trackers[b],
                edges[b],
                pairs[b],
                risk[b],
                waiting[b],
                profiles,
                records[b],
                step,
            )
        end_epoch(settings[b], rows[b], agents[b], edges[b], offsets[b], events[b])


@njit
def start_epoch(
    settings: Any,
    row: Any,
    agents: np.ndarray,
    trackers: np.ndarray,
    pairs: np.ndarray,
    risk: np.ndarray,
    events: np.ndarray,
    num_agents: int,
) -> None:
    """Decay reputations, end served freezes, look for collusion and fine it."""
    count = row["num_events"]
    reported, flagged, groups, ecosystem = False, 0, 0, 0.0
    if settings["collusion"]:
        reported, flagged, groups, ecosystem = analyse(
            pairs,
            row["num_pairs"],
            num_agents,
            settings["collusion_frequency"],
            settings["collusion_minimum"],
            settings["collusion_score"],
            settings["collusion_plain"],
            risk,
        )
    for i in range(num_agents):
        agent, event = agents[i], events[count + i]
        event["epoch"], event["kind"], event["agent"] = row["epoch"], STANDING, i
        event["reputation_before"], event["resources_before"] = (
            agent["reputation"],
            agent["resources"],
        )
        agent["posts"] = 0
        agent["recovering"] = False
        released = settings["breaker"] and release_due(trackers[i], row["epoch"])
        if released:
            agent["frozen"] = False
            agent["recovering"] = agent["rehabilitation"] >= 0
        agent["reputation"] = agent["reputation"] * settings["decay"]
        fined = reported and risk[i] >= settings["collusion_score"]
        if fined:
            fine = risk[i] * settings["collusion_multiplier"]
            agent["reputation"] -= fine
            agent["resources"] -= fine * RESOURCES_PER_REPUTATION
        event["released"], event["fined"], event["risk"] = released, fined, risk[i]
        event["reputation_after"], event["resources_after"] = (
            agent["reputation"],
            agent["resources"],
        )
    count += num_agents
    if reported:
        event = events[count]
        event["epoch"], event["kind"], event["agent"] = row["epoch"], ANALYSIS, -1
        event["flagged"], event["other"], event["risk"] = flagged, groups, ecosystem
        count += 1
    row["num_events"] = count


@njit
def take_turn(
    settings: Any,
    row: Any,
    agents: np.ndarray,
    trackers: np.ndarray,
    edges: np.ndarray,
    offsets: np.ndarray,
    pairs: np.ndarray,
    risk: np.ndarray,
    waiting: np.ndarray,
    profiles: np.ndarray,
    records: np.ndarray,
    step: int,
    agent: int,
) -> None:
    """Let one agent answer its oldest waiting proposal, or do what its policy does."""
    own = agents[agent]
    turn = (row["epoch"] * settings["steps"] + step) * len(agents) + agent
    start, stop = offsets[agent], offsets[agent + 1]
    if own["policy"] == _ADVERSARIAL:
        own["cooldown"] = max(own["cooldown"] - 1, 0)
        mark_targets(agents, edges, start, stop)
        if own["resources"] > 10.0 and unit(row["seed"], turn, TURN, 0) < 0.2:
            return  # a bait that nobody can take
    oldest = own["waiting_first"]
    if oldest >= 0 and own["policy"] != _DORMANT:
        own["waiting_first"] = waiting[oldest]["next"]
        waiting[oldest]["open"] = False
        edge = waiting[oldest]["edge"]
        accepted = answer_on_turn(
            agents, edges, edges[edge]["reverse"], row["seed"], row["num_records"]
        )
        settle(
            settings,
            row,
            agents,
            trackers,
            edges,
            pairs,
            risk,
            profiles,
            edge,
            waiting[oldest]["trade"],
            accepted,
            True,
            step,
            records,
        )
        return
    edge, trade = choose_partner(
        agents,
        edges,
        start,
        stop,
        agent,
        settings["posts"],
        row["has_posts"],
        row["seed"],
        turn,
    )
    if edge == POSTING:
        own["posts"] += 1
        row["has_posts"] = True
    elif edge >= 0:
        enqueue(row, agents, edges, waiting, edge, trade)


@njit
def enqueue(
    row: Any, agents: np.ndarray, edges: np.ndarray, waiting: np.ndarray, edge: int, trade: bool
) -> None:
    """Put a proposal at the end of the row's queue and of its counterparty's."""
    place = row["num_waiting"]
    item, other = waiting[place], agents[edges[edge]["target"]]
    item["edge"], item["trade"], item["open"], item["next"] = edge, trade, True, -1
    if other["waiting_first"] < 0:
        other["waiting_first"] = place
    else:
        waiting[other["waiting_last"]]["next"] = place
    other["waiting_last"] = place
    row["num_waiting"] = place + 1


@njit
def answer_waiting(
    settings: Any,
    row: Any,
    agents: np.ndarray,
    trackers: np.ndarray,
    edges: np.ndarray,
    pairs: np.ndarray,
    risk: np.ndarray,
    waiting: np.ndarray,
    profiles: np.ndarray,
    records: np.ndarray,
    step: int,
) -> None:
    """Answer all waiting proposals in order, at the end of a step; frozen agents let them wait."""
    number = row["num_waiting"]
    row["num_waiting"] = 0
    for place in range(number):
        agents[edges[waiting[place]["edge"]]["target"]]["waiting_first"] = -1
    for place in range(number):
        if not waiting[place]["open"]:
            continue
        edge, trade = waiting[place]["edge"], waiting[place]["trade"]
        if agents[edges[edge]["target"]]["frozen"]:
            enqueue(row, agents, edges, waiting, edge, trade)  # never overtakes `place`
            continue
        back = edges[edge]["reverse"]
        accepted = answer_at_end(agents, edges, back, trade, row["seed"], row["num_records"])
        settle(
            settings,
            row,
            agents,
            trackers,
            edges,
            pairs,
            risk,
            profiles,
            edge,
            trade,
            accepted,
            False,
            step,
            records,
        )


@njit
def end_epoch(
    settings: Any,
    row: Any,
    agents: np.ndarray,
    edges: np.ndarray,
    offsets: np.ndarray,
    events: np.ndarray,
) -> None:
    """Let edges fade and cut the weak ones; count the epoch."""
    if settings["dynamic"]:
        for e in range(offsets[len(agents)]):
            edge = edges[e]
            if not edge["active"]:
                continue
            edge["weight"] *= 1.0 - settings["edge_decay"]
            if edge["weight"] < settings["edge_minimum"]:
                edge["active"] = False
                edge["weight"] = 0.0
                if edge["owner"] < edge["target"]:
                    event = events[row["num_events"]]
                    event["epoch"], event["kind"] = row["epoch"], CUT
                    event["agent"], event["other"] = edge["owner"], edge["target"]
                    row["num_events"] += 1
    row["epoch"] += 1
