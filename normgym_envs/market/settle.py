"""One proposal is settled: observables, soft label, levers, payoffs, and what both sides learn.

Source: the released runs for the order of events; SW eq. 1 to 7 for the numbers.
"""

from typing import Any

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.market.archetypes import Policy
from normgym_envs.market.draws import draw_observables
from normgym_envs.market.payoffs import harm_one, payoff_one, surplus_one
from normgym_envs.market.policies import Phase, move_phase
from normgym_envs.market.proxy import score_one
from normgym_envs.market.soft_label import label_one
from normgym_envs.mechanisms.circuit_breaker import running_toxicity, watch
from normgym_envs.mechanisms.collusion import price_flagged, remember
from normgym_envs.mechanisms.externality import bear_harm
from normgym_envs.mechanisms.random_audit import is_audited, price_violation
from normgym_envs.mechanisms.staking import slash
from normgym_envs.mechanisms.transaction_tax import split_tax

_LEDGER, _DANCER, _TIT_FOR_TAT = int(Policy.LEDGER), int(Policy.DANCER), int(Policy.TIT_FOR_TAT)
_UNBLEMISHED = int(Policy.UNBLEMISHED)
_EXPLOIT = int(Phase.EXPLOIT)
BLACKLIST = -2.0
"""Ledger under which a cautious reciprocator never deals with a partner again."""


@njit
def quality_factor(reputation: float) -> float:
    """Return what an initiator's reputation does to its task progress and engagement, [.5, 1]."""
    return 0.75 + 0.25 * max(min(reputation, 1.0), -1.0)


@njit
def settle(
    settings: Any,
    row: Any,
    agents: np.ndarray,
    trackers: np.ndarray,
    edges: np.ndarray,
    pairs: np.ndarray,
    risk: np.ndarray,
    profiles: np.ndarray,
    edge: int,
    trade: bool,
    accepted: bool,
    on_turn: bool,
    step: int,
    records: np.ndarray,
) -> None:
    """Settle a proposal; the row's state changes and its next record is written.

    Args:
        settings: SETTINGS_DTYPE.
        row: ROW_DTYPE.
        agents: (N,) AGENT_DTYPE.
        trackers: (N,) TRACKER_DTYPE.
        edges: (E,) EDGE_DTYPE.
        pairs: (P,) PAIR_DTYPE.
        risk: (N,) float64, of the latest collusion report.
        profiles: table of PROFILE_DTYPE.
        edge: from initiator to counterparty.
        trade: whether it is a trade.
        accepted: the answer.
        on_turn: whether the counterparty spent its turn on it.
        step: of the epoch.
        records: (R,) RECORD_DTYPE.
    """
    ordinal = row["num_records"]
    out = records[ordinal]
    forth = edges[edge]
    back = edges[forth["reverse"]]
    a, c = forth["owner"], forth["target"]
    initiator, counterparty = agents[a], agents[c]
    out["epoch"], out["step"] = row["epoch"], step
    out["initiator"], out["counterparty"] = a, c
    out["trade"], out["on_turn"], out["accepted"] = trade, on_turn, accepted
    out["reputation_before"], out["resources_before"] = (
        initiator["reputation"],
        initiator["resources"],
    )
    out["reputation_counterparty"] = counterparty["reputation"]
    out["trust_initiator_before"], out["trust_counterparty_before"] = forth["trust"], back["trust"]

    _observe(settings, row, initiator, profiles, accepted, out)
    p = out["p"]
    profile = profiles[initiator["profile"]]
    transfer = profile["transfer_trade"] if trade else profile["transfer_collaboration"]
    out["transfer"] = transfer
    _govern(settings, row, initiator, trackers[a], risk[a], risk[c], ordinal, out)

    surplus = surplus_one(p, settings["surplus_good"], settings["surplus_bad"])
    harm = harm_one(p, settings["harm"])
    weight = settings["reputation_weight"]
    out["payoff_initiator"] = payoff_one(
        settings["share"],
        surplus,
        transfer,
        out["cost_initiator"],
        bear_harm(settings["rho_initiator"], harm),
        weight * initiator["reputation"],
    )
    out["payoff_counterparty"] = payoff_one(
        1.0 - settings["share"],
        surplus,
        -transfer,
        out["cost_counterparty"],
        bear_harm(settings["rho_counterparty"], harm),
        weight * counterparty["reputation"],
    )
    if accepted:
        initiator["payoff"] += out["payoff_initiator"]
        counterparty["payoff"] += out["payoff_counterparty"]
        initiator["reputation"] += (p - 0.5) - out["cost_initiator"]
    if settings["collusion"]:
        remember(
            pairs[forth["pair"]],
            a,
            accepted,
            p,
            transfer,
            out["cost_initiator"],
            out["cost_counterparty"],
        )
    _learn(initiator, forth, accepted, p, out["payoff_initiator"], True)
    _learn(counterparty, back, accepted, p, out["payoff_counterparty"], False)
    if accepted and settings["dynamic"]:
        stronger = min(forth["weight"] + settings["edge_strengthen"], 1.0)
        forth["weight"] = stronger
        back["weight"] = stronger
        forth["active"] = True
        back["active"] = True
    out["weight"] = forth["weight"] if forth["active"] else 0.0
    out["reputation_after"], out["resources_after"] = (
        initiator["reputation"],
        initiator["resources"],
    )
    out["trust_initiator_after"], out["trust_counterparty_after"] = forth["trust"], back["trust"]
    row["num_records"] = ordinal + 1


@njit
def _observe(
    settings: Any, row: Any, initiator: Any, profiles: np.ndarray, accepted: bool, out: Any
) -> None:
    """Draw the observables, from the initiator alone, and label them; writes `out`."""
    profile = initiator["profile"]
    if initiator["recovering"] and initiator["rehabilitation"] >= 0:
        profile = initiator["rehabilitation"]
    drawn = np.empty(5)
    draw_observables(
        profiles[profile],
        settings["weights"],
        settings["sharpness"],
        row["seed"],
        row["num_records"],
        drawn,
    )
    factor = quality_factor(initiator["reputation"]) if settings["feedback"] else 1.0
    task, engagement = drawn[0] * factor, drawn[4] * factor
    if settings["engagement_cap"] and not accepted:
        engagement = min(engagement, 0.0)
    out["task"], out["engagement"] = task, engagement
    out["rework"], out["rejections"], out["misuse"] = int(drawn[1]), int(drawn[2]), int(drawn[3])
    out["score"] = score_one(
        task, out["rework"], out["rejections"], out["misuse"], engagement, settings["weights"]
    )
    out["p"] = label_one(out["score"], settings["sharpness"])


@njit
def _govern(
    settings: Any,
    row: Any,
    initiator: Any,
    tracker: Any,
    risk_a: float,
    risk_c: float,
    ordinal: int,
    out: Any,
) -> None:
    """Apply the levers in their order: tax, breaker, audit, collusion; writes `out`."""
    p = out["p"]
    tax_a, tax_c = 0.0, 0.0
    if out["accepted"]:
        tax_a, tax_c = split_tax(
            settings["tax_rate"],
            settings["tax_share"],
            settings["tax_transfer"],
            p,
            out["transfer"],
        )
    froze = False
    if settings["breaker"]:
        froze = watch(
            tracker,
            1.0 - p,
            row["epoch"],
            settings["breaker_threshold"],
            settings["breaker_violations"],
            settings["breaker_epochs"],
            settings["breaker_either"],
        )
    audited, penalty = False, 0.0
    if settings["audit"]:
        audited = is_audited(row["seed"], ordinal, settings["audit_probability"])
        if audited:
            penalty = price_violation(p, settings["audit_threshold"], settings["audit_multiplier"])
    live = 0.0
    if settings["collusion"]:
        live = price_flagged(
            risk_a, risk_c, settings["collusion_score"], settings["collusion_live"]
        )
    slashed = 0.0
    if settings["staking"] and settings["slashing"] and (froze or penalty > 0.0):
        slashed = slash(settings["stake"], settings["slash_rate"])
    if froze:
        initiator["frozen"] = True
    if initiator["recovering"] and running_toxicity(tracker) < settings["breaker_threshold"]:
        initiator["recovering"] = False
    initiator["reputation"] -= penalty
    initiator["resources"] -= slashed
    out["tax_initiator"], out["tax_counterparty"] = tax_a, tax_c
    out["audited"], out["penalty"], out["live"], out["slashed"] = audited, penalty, live, slashed
    out["cost_initiator"], out["cost_counterparty"] = tax_a + penalty + live, tax_c + live
    out["toxicity"], out["violations"] = running_toxicity(tracker), tracker["violations"]
    out["froze"], out["frozen_until"] = froze, tracker["frozen_until"]


@njit
def _learn(agent: Any, edge: Any, accepted: bool, p: float, payoff: float, initiated: bool) -> None:
    """Update what one side knows about the other; changes the edge and a counter of the agent."""
    edge["number"] += 1
    edge["p_sum"] += p
    if accepted:
        edge["accepted"] += 1
        if edge["accepted"] == 3:
            agent["trusted"] += 1
        edge["trust"] = edge["trust"] * (1.0 - 0.3) + p * 0.3
    else:
        edge["trust"] = edge["trust"] * (1.0 - 0.1) + 0.5 * 0.1
    policy = agent["policy"]
    if policy == _LEDGER:
        edge["ledger"] += payoff
        if edge["ledger"] < BLACKLIST:
            edge["barred"] = True
    elif policy == _DANCER:
        exploiting = edge["phase"] == _EXPLOIT
        if payoff > 0.0:
            edge["ledger"] += -payoff * 0.7 if exploiting else payoff * 0.8
        else:
            edge["ledger"] += abs(payoff) * 0.5
        edge["exploits"] = edge["exploits"] + 1 if exploiting else 0
        move_phase(edge)
    elif policy == _UNBLEMISHED:
        if not initiated and p < 0.5:
            edge["barred"] = True
    elif policy == _TIT_FOR_TAT:
        if initiated:
            edge["partner_move"] = 1 if accepted else -1
        else:
            edge["partner_move"] = 1 if p >= 0.5 else -1
