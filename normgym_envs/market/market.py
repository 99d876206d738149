"""The batched market: owns the arrays, checks input, calls the compiled loop.

Use `play` for whole runs. `Market` plays epoch by epoch, and lets a controller, or a caller, change
a row's lever settings in between.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np

from normgym_envs.errors import ConfigError, StateError, check_seed
from normgym_envs.market.archetypes import ARCHETYPES, RULES, find_preset, make_profiles
from normgym_envs.market.loop import play_epoch
from normgym_envs.market.networks import make_network
from normgym_envs.market.scenario import Scenario
from normgym_envs.market.state import (
    AGENT_DTYPE,
    EVENT_DTYPE,
    RECORD_DTYPE,
    ROW_DTYPE,
    SETTINGS_DTYPE,
    WAITING_DTYPE,
    allocate_edges,
    grow,
)
from normgym_envs.mechanisms import Controller
from normgym_envs.mechanisms.circuit_breaker import make_trackers
from normgym_envs.mechanisms.controller import Change

__all__ = ["Market", "Move", "Runs", "make_settings", "play"]

FIELDS: Final = {
    ("circuit_breaker", "threshold"): "breaker_threshold",
    ("random_audit", "probability"): "audit_probability",
    ("random_audit", "threshold"): "audit_threshold",
    ("collusion", "frequency"): "collusion_frequency",
}
"""Lever and field -> field of the settings record that a controller may move."""


class Move(NamedTuple):
    """A setting that changed after an epoch."""

    epoch: int  # that ended before
    field: str  # of SETTINGS_DTYPE
    value: float


class Runs(NamedTuple):
    """What a batch of runs leaves behind."""

    scenario: Scenario
    preset: str
    seeds: tuple[int, ...]
    epochs: int
    records: np.ndarray  # (B, R) RECORD_DTYPE
    num_records: np.ndarray  # (B,) int64
    events: np.ndarray  # (B, V) EVENT_DTYPE
    num_events: np.ndarray  # (B,) int64
    agents: np.ndarray  # (B, N) AGENT_DTYPE at the end
    networks: tuple[np.ndarray, ...]  # per row (M, 2) int64, edges at the start
    changes: tuple[tuple[Change, ...], ...]  # per row, of the controller
    moves: tuple[tuple[Move, ...], ...]  # per row, every setting that changed in mid-run

    def row(self, index: int) -> np.ndarray:
        """Return the (I,) records of one row."""
        return self.records[index, : self.num_records[index]]

    def row_events(self, index: int) -> np.ndarray:
        """Return the events of one row."""
        return self.events[index, : self.num_events[index]]


def play(
    scenario: Scenario,
    seeds: Sequence[int],
    *,
    preset: str = "as_run",
    epochs: int | None = None,
    num_threads: int = 1,
) -> Runs:
    """Play a scenario to its end, one row a seed.

    Args:
        scenario: what is played.
        seeds: (B,) from 0 to 2**63; a row depends on its seed alone.
        preset: "as_run" or "as_written".
        epochs: instead of the scenario's.
        num_threads: rows are shared out among so many; no number depends on it.

    Raises:
        SeedError: a seed outside its range.
        ConfigError: no seeds, no threads, or a population that cannot form the network.
        UnknownNameError: no such preset.

    Example:
        >>> from normgym_envs.market import load_scenario
        >>> play(load_scenario("baseline"), [42]).agents.shape
        (1, 5)
    """
    market = Market(scenario, seeds, preset=preset, epochs=epochs, num_threads=num_threads)
    while not market.is_over:
        market.play_epoch()
    return market.finish()


class Market:
    """Rows of one scenario, played epoch by epoch."""

    def __init__(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        preset: str = "as_run",
        epochs: int | None = None,
        num_threads: int = 1,
    ) -> None:
        """Set up every row; see `play` for the arguments and errors."""
        if not len(seeds):
            raise ConfigError("seeds is empty; expected at least one")
        if num_threads < 1:
            raise ConfigError(f"num_threads is {num_threads}; expected 1 or more")
        if epochs is not None and epochs < 1:
            raise ConfigError(f"epochs is {epochs}; expected 1 or more")
        self.scenario, self.preset = scenario, preset
        self.seeds = tuple(check_seed(seed) for seed in seeds)
        self.num_epochs = scenario.epochs if epochs is None else epochs
        self.epoch = 0
        self._num_threads = min(num_threads, len(seeds))
        num_rows, num_agents = len(seeds), scenario.num_agents
        breaker = scenario.levers.circuit_breaker
        self._profiles = make_profiles(preset, None if breaker is None else breaker.threshold)
        self.settings = np.repeat(make_settings(scenario, preset), num_rows)
        self._networks = _make_networks(scenario, self.seeds)
        self._edges, self._offsets, self._pairs = allocate_edges(
            [(num_agents, edges) for edges in self._networks]
        )
        self._rows = np.zeros(num_rows, ROW_DTYPE)
        self._rows["seed"] = np.array(self.seeds, np.uint64)
        self._rows["num_pairs"] = [len(edges) for edges in self._networks]
        self.agents = _make_agents(scenario, preset, num_rows)
        self._trackers = make_trackers(num_rows, num_agents)
        self._risk = np.zeros((num_rows, num_agents))
        # a queue never holds more than one proposal an edge, and one an agent made in this step
        self._waiting = np.zeros((num_rows, self._edges.shape[1] + num_agents), WAITING_DTYPE)
        self._records = np.zeros((num_rows, 0), RECORD_DTYPE)
        self._events = np.zeros((num_rows, 0), EVENT_DTYPE)
        config = scenario.controller
        if config is not None and RULES[preset].corrected_controller:
            config = type(config)(**(vars(config) | {"corrected": True}))
        self._moves: list[list[Move]] = [[] for _ in seeds]
        self._controllers = [] if config is None else [Controller(config) for _ in seeds]

    @property
    def is_over(self) -> bool:
        """Whether every epoch has been played."""
        return self.epoch >= self.num_epochs

    def play_epoch(self) -> None:
        """Play one epoch of every row.

        Raises:
            StateError: every epoch has been played.
        """
        if self.is_over:
            raise StateError(f"play_epoch after the last of {self.num_epochs} epochs")
        num_rows, num_agents = self.agents.shape
        carried = self._waiting.shape[1]
        most = int(self._rows["num_records"].max()) + self.scenario.steps * num_agents + carried
        self._records = grow(self._records, most)
        most = int(self._rows["num_events"].max()) + num_agents + 1 + self._pairs.shape[1]
        self._events = grow(self._events, most)
        before = self._rows["num_records"].copy()
        if self._num_threads == 1:
            self._play_rows(0, num_rows)
        else:
            bounds = np.linspace(0, num_rows, self._num_threads + 1).astype(int)
            with ThreadPoolExecutor(self._num_threads) as pool:
                list(pool.map(self._play_rows, bounds[:-1], bounds[1:]))
        for row, controller in enumerate(self._controllers):
            self._control(row, controller, int(before[row]))
        self.epoch += 1

    def finish(self) -> Runs:
        """Return what has been played so far."""
        return Runs(
            self.scenario,
            self.preset,
            self.seeds,
            self.epoch,
            self._records,
            self._rows["num_records"].copy(),
            self._events,
            self._rows["num_events"].copy(),
            self.agents,
            self._networks,
            tuple(tuple(one.changes) for one in self._controllers) or ((),) * len(self.seeds),
            tuple(tuple(one) for one in self._moves),
        )

    def _play_rows(self, first: int, stop: int) -> None:
        """Play rows first to stop."""
        play_epoch(
            self.settings,
            self._rows,
            self.agents,
            self._trackers,
            self._edges,
            self._offsets,
            self._pairs,
            self._risk,
            self._waiting,
            self._profiles,
            self._records,
            self._events,
            int(first),
            int(stop),
        )

    def _control(self, row: int, controller: Controller, before: int) -> None:
        """Show a row's controller the epoch, and move the dials it asks for."""
        played = self._records[row, before : self._rows["num_records"][row]]
        accepted = played[played["accepted"]]
        toxicity = float((1.0 - accepted["p"]).mean()) if len(accepted) else 0.0
        welfare = float((accepted["payoff_initiator"] + accepted["payoff_counterparty"]).sum())
        levers = self.scenario.levers
        values = {
            key: float(self.settings[row][name])
            for key, name in FIELDS.items()
            if getattr(levers, key[0]) is not None
        }
        for key, value in controller.end_epoch(self.epoch, toxicity, welfare, values).items():
            self.settings[row][FIELDS[key]] = value
            self._moves[row].append(Move(self.epoch, FIELDS[key], value))


def make_settings(scenario: Scenario, preset: str) -> np.ndarray:
    """Return a scenario's rules in a preset as (1,) SETTINGS_DTYPE.

    Raises:
        UnknownNameError: no such preset.
    """
    find_preset(preset)
    rules, levers, payoffs = RULES[preset], scenario.levers, scenario.payoffs
    network, out = scenario.network, np.zeros(1, SETTINGS_DTYPE)
    values: dict[str, Any] = {
        "steps": scenario.steps,
        "posts": scenario.posts,
        "sharpness": scenario.sharpness,
        "surplus_good": payoffs.surplus_good,
        "surplus_bad": payoffs.surplus_bad,
        "harm": payoffs.harm,
        "share": payoffs.initiator_share,
        "reputation_weight": payoffs.reputation_weight if rules.reputation_income else 0.0,
        "tax_transfer": rules.tax_transfer,
        "tax_share": 0.5,
        "decay": 1.0,
        "breaker_either": rules.breaker_either,
        "breaker_threshold": 1.0,
        "slashing": rules.slashing,
        "collusion_plain": rules.frequency_only,
        "dynamic": network.is_dynamic,
        "edge_strengthen": network.strengthen,
        "edge_decay": network.decay,
        "edge_minimum": network.cut_below,
        "feedback": rules.feedback,
        "engagement_cap": rules.engagement_cap,
    }
    if (tax := levers.transaction_tax) is not None:
        values |= {"tax_rate": tax.rate, "tax_share": tax.initiator_share}
        values["tax_transfer"] |= tax.on_transfer
    if (decay := levers.reputation_decay) is not None:
        values["decay"] = decay.factor
    if (staking := levers.staking) is not None:
        values |= {"staking": True, "stake": staking.minimum, "slash_rate": staking.slash_rate}
        values["slashing"] |= staking.slashing
    if (breaker := levers.circuit_breaker) is not None:
        values |= {
            "breaker": True,
            "breaker_threshold": breaker.threshold,
            "breaker_violations": breaker.violations,
            "breaker_epochs": breaker.freeze_epochs,
        }
        values["breaker_either"] |= breaker.either
    if (audit := levers.random_audit) is not None:
        values |= {
            "audit": True,
            "audit_probability": audit.probability,
            "audit_multiplier": audit.multiplier,
            "audit_threshold": audit.threshold,
        }
    if (collusion := levers.collusion) is not None:
        values |= {
            "collusion": True,
            "collusion_frequency": collusion.frequency,
            "collusion_minimum": collusion.minimum,
            "collusion_score": collusion.score,
            "collusion_multiplier": collusion.multiplier,
            "collusion_live": collusion.live_rate,
        }
        values["collusion_plain"] |= collusion.frequency_only
    if (externality := levers.externality) is not None:
        values["rho_initiator"] = externality.initiator
        values["rho_counterparty"] = externality.counterparty
    for name, value in values.items():
        out[name] = value
    out["weights"][0] = scenario.weights
    return out


def _make_networks(scenario: Scenario, seeds: Sequence[int]) -> tuple[np.ndarray, ...]:
    """Return each row's network; a network without chance is built once."""
    drawn = scenario.network.kind in ("erdos_renyi", "small_world", "scale_free")
    if drawn:
        return tuple(make_network(scenario.network, scenario.num_agents, seed) for seed in seeds)
    return (make_network(scenario.network, scenario.num_agents, 0),) * len(seeds)


def _make_agents(scenario: Scenario, preset: str, num_rows: int) -> np.ndarray:
    """Return the (B, N) agents of a population at the start."""
    table, names = find_preset(preset), scenario.archetypes
    agents = np.zeros((num_rows, len(names)), AGENT_DTYPE)
    rows = [table[name] for name in names]
    agents["policy"] = [row.policy for row in rows]
    agents["face"] = [row.face for row in rows]
    agents["profile"] = [ARCHETYPES.index(name) for name in names]
    honest = ARCHETYPES.index("honest")
    agents["rehabilitation"] = [honest if row.rehabilitates else -1 for row in rows]
    agents["resources"] = scenario.resources
    agents["waiting_first"] = agents["waiting_last"] = -1
    return agents
