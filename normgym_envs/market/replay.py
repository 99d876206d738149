"""Reading an event log back: every label, cost, payoff and state is computed again and compared.

Numbers must agree to the last digit, because replay and run call the same compiled rules.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from normgym_envs.errors import NormGymError
from normgym_envs.market.event_log import SCHEMA, LogError
from normgym_envs.market.market import make_settings
from normgym_envs.market.payoffs import harm_one, payoff_one, surplus_one
from normgym_envs.market.proxy import score_one
from normgym_envs.market.scenario import Scenario
from normgym_envs.market.soft_label import label_one
from normgym_envs.market.state import RECORD_DTYPE, SETTINGS_DTYPE, START_TRUST
from normgym_envs.mechanisms.circuit_breaker import (
    make_trackers,
    release_due,
    running_toxicity,
    watch,
)
from normgym_envs.mechanisms.collusion import RESOURCES_PER_REPUTATION, price_flagged
from normgym_envs.mechanisms.externality import bear_harm
from normgym_envs.mechanisms.random_audit import is_audited, price_violation
from normgym_envs.mechanisms.staking import slash
from normgym_envs.mechanisms.transaction_tax import split_tax

__all__ = ["Replay", "read_log", "replay_log"]

_NAMES = tuple(RECORD_DTYPE.names or ())


class Replay(NamedTuple):
    """A log that was read and found to be right."""

    scenario: Scenario
    preset: str
    seed: int
    records: np.ndarray  # (I,) RECORD_DTYPE


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the events of a log.

    Args:
        path: file of `event_log.write_log`.

    Raises:
        LogError: the file cannot be read, a line is no event, one is missing, or the hash differs.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None
    events: list[dict[str, Any]] = []
    digest = hashlib.sha256()
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
        except ValueError:
            raise LogError(f"{path}: line {number}: no JSON") from None
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise LogError(f"{path}: line {number}: field type: missing")
        if event.get("sequence") != number - 1:
            raise LogError(
                f"{path}: line {number}: field sequence: is {event.get('sequence')!r}; "
                f"expected {number - 1}"
            )
        if event["type"] == "run_ended" and event.get("sha256") != digest.hexdigest():
            raise LogError(f"{path}: line {number}: field sha256: lines before it were changed")
        digest.update(line)
        events.append(event)
    if not events or events[0]["type"] != "run_started":
        raise LogError(f"{path}: line 1: field type: expected run_started")
    if events[0].get("schema") != SCHEMA:
        raise LogError(
            f"{path}: line 1: field schema: is {events[0].get('schema')!r}; expected {SCHEMA}"
        )
    if events[-1]["type"] != "run_ended":
        raise LogError(f"{path}: line {len(events)}: field type: the log ends before its run does")
    return events


def replay_log(path: Path) -> Replay:
    """Read a log and compute it again.

    Args:
        path: file of `event_log.write_log`.

    Raises:
        LogError: damaged, or a number that comes out otherwise; names line and field.
    """
    events = read_log(path)
    head = events[0]
    try:
        scenario = Scenario.model_validate(head["scenario"])
        settings = make_settings(scenario, head["preset"])
        ledger = _Ledger(scenario, settings, int(head["seed"]))
    except (KeyError, TypeError, ValidationError, NormGymError) as error:
        field = error.args[0] if isinstance(error, KeyError) else "scenario"
        raise LogError(f"{path}: line 1: field {field}: missing or malformed") from None
    records = np.zeros(sum(event["type"] == "interaction" for event in events), RECORD_DTYPE)
    for number, event in enumerate(events, 1):
        place = f"{path}: line {number}"
        try:
            if event["type"] == "interaction":
                ordinal = event["ordinal"]
                for name in _NAMES:
                    records[ordinal][name] = event[name]
                found = ledger.settle(ordinal, records[ordinal])
                for name, value in found.items():
                    _compare(place, name, event[name], value)
            elif event["type"] == "epoch_started":
                for name, values in ledger.start_epoch(event["epoch"], event["risk"]).items():
                    _compare(place, name, event[name], values)
            elif event["type"] == "setting_moved":
                settings[0][event["field"]] = event["value"]
            elif event["type"] == "run_ended":
                _compare(place, "reputation", event["reputation"], ledger.reputation.tolist())
                _compare(place, "payoff", event["payoff"], ledger.payoff.tolist())
        except KeyError as error:
            raise LogError(f"{place}: field {error.args[0]}: missing") from None
        except (TypeError, ValueError, IndexError) as error:
            if isinstance(error, LogError):
                raise
            raise LogError(f"{place}: malformed: {error}") from None
    return Replay(scenario, head["preset"], int(head["seed"]), records)


def _compare(place: str, name: str, logged: Any, computed: Any) -> None:
    """Refuse a number that comes out otherwise."""
    if logged != computed:
        raise LogError(f"{place}: field {name}: is {logged!r}; computed {computed!r}")


class _Ledger:
    """The state that a replay carries along."""

    def __init__(self, scenario: Scenario, settings: np.ndarray, seed: int) -> None:
        """Start as a run does."""
        number = scenario.num_agents
        self.settings: Any = settings[0]
        self.seed = np.uint64(seed)
        self.reputation = np.zeros(number)
        self.resources = np.full(number, scenario.resources)
        self.payoff = np.zeros(number)
        self.trackers = make_trackers(1, number)[0]
        self.trust: dict[tuple[int, int], float] = {}
        self.risk = np.zeros(number)
        assert settings.dtype == SETTINGS_DTYPE

    def start_epoch(self, epoch: int, risk: list[float]) -> dict[str, list[float]]:
        """Decay, release and fine; a fine needs the report's risks, which the log carries."""
        before = self.reputation.tolist(), self.resources.tolist()
        s, fresh = self.settings, np.array(risk)
        for agent in range(len(self.reputation)):
            if s["breaker"]:
                release_due(self.trackers[agent], epoch)
        self.reputation = self.reputation * s["decay"]
        # risks are 0 until the first report, and each later epoch start makes one
        fined = (fresh >= s["collusion_score"]) & bool(s["collusion"])
        fine = np.where(fined, fresh * s["collusion_multiplier"], 0.0)
        self.reputation = self.reputation - fine
        self.resources = self.resources - fine * RESOURCES_PER_REPUTATION
        self.risk = fresh
        return {
            "reputation_before": before[0],
            "resources_before": before[1],
            "reputation_after": self.reputation.tolist(),
            "resources_after": self.resources.tolist(),
        }

    def settle(self, ordinal: int, logged: Any) -> dict[str, Any]:
        """Return what a settled proposal comes to, from its observables and the state."""
        s, a, c = self.settings, int(logged["initiator"]), int(logged["counterparty"])
        accepted, transfer = bool(logged["accepted"]), float(logged["transfer"])
        found: dict[str, Any] = {
            "reputation_before": float(self.reputation[a]),
            "reputation_counterparty": float(self.reputation[c]),
            "resources_before": float(self.resources[a]),
            "trust_initiator_before": self.trust.get((a, c), START_TRUST),
            "trust_counterparty_before": self.trust.get((c, a), START_TRUST),
        }
        score = score_one(
            float(logged["task"]),
            int(logged["rework"]),
            int(logged["rejections"]),
            int(logged["misuse"]),
            float(logged["engagement"]),
            s["weights"],
        )
        p = label_one(score, float(s["sharpness"]))
        found |= {"score": float(score), "p": float(p)}
        found |= self._govern(ordinal, a, c, accepted, p, transfer, int(logged["epoch"]))
        surplus = surplus_one(p, float(s["surplus_good"]), float(s["surplus_bad"]))
        harm = harm_one(p, float(s["harm"]))
        sides = (
            ("initiator", a, float(s["share"]), transfer, "rho_initiator"),
            ("counterparty", c, 1.0 - float(s["share"]), -transfer, "rho_counterparty"),
        )
        for side, agent, share, paid, rho in sides:
            payoff = payoff_one(
                share,
                surplus,
                paid,
                found[f"cost_{side}"],
                bear_harm(float(s[rho]), harm),
                float(s["reputation_weight"] * self.reputation[agent]),
            )
            found[f"payoff_{side}"] = float(payoff)
        if accepted:
            self.payoff[a] += found["payoff_initiator"]
            self.payoff[c] += found["payoff_counterparty"]
            self.reputation[a] += (p - 0.5) - found["cost_initiator"]
        for one, other, side in ((a, c, "initiator"), (c, a, "counterparty")):
            trust = self.trust.get((one, other), START_TRUST)
            trust = trust * (1.0 - 0.3) + p * 0.3 if accepted else trust * (1.0 - 0.1) + 0.5 * 0.1
            self.trust[one, other] = trust
            found[f"trust_{side}_after"] = float(trust)
        found["reputation_after"] = float(self.reputation[a])
        found["resources_after"] = float(self.resources[a])
        return found

    def _govern(
        self, ordinal: int, a: int, c: int, accepted: bool, p: float, transfer: float, epoch: int
    ) -> dict[str, Any]:
        """Return every lever's cost and what the breaker did."""
        s, tax = self.settings, (0.0, 0.0)
        if accepted:
            tax = split_tax(
                float(s["tax_rate"]),
                float(s["tax_share"]),
                bool(s["tax_transfer"]),
                p,
                transfer,
            )
        froze = bool(s["breaker"]) and watch(
            self.trackers[a],
            1.0 - p,
            epoch,
            float(s["breaker_threshold"]),
            int(s["breaker_violations"]),
            int(s["breaker_epochs"]),
            bool(s["breaker_either"]),
        )
        audited = bool(s["audit"]) and bool(
            is_audited(self.seed, ordinal, float(s["audit_probability"]))
        )
        penalty = 0.0
        if audited:
            penalty = price_violation(p, float(s["audit_threshold"]), float(s["audit_multiplier"]))
        live = 0.0
        if s["collusion"]:
            live = price_flagged(
                float(self.risk[a]),
                float(self.risk[c]),
                float(s["collusion_score"]),
                float(s["collusion_live"]),
            )
        slashed = 0.0
        if s["staking"] and s["slashing"] and (froze or penalty > 0.0):
            slashed = slash(float(s["stake"]), float(s["slash_rate"]))
        self.reputation[a] -= penalty
        self.resources[a] -= slashed
        tracker = self.trackers[a]
        return {
            "tax_initiator": float(tax[0]),
            "tax_counterparty": float(tax[1]),
            "audited": audited,
            "penalty": float(penalty),
            "live": float(live),
            "slashed": float(slashed),
            "cost_initiator": float(tax[0] + penalty + live),
            "cost_counterparty": float(tax[1] + live),
            "toxicity": float(running_toxicity(tracker)),
            "violations": int(tracker["violations"]),
            "froze": bool(froze),
            "frozen_until": int(tracker["frozen_until"]),
        }
