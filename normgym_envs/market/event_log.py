"""The event log of one run: append-only JSON lines that a replay can recompute to the last digit.

Ids are made of scenario, preset, seed and ordinal, time is logical (epoch and step), so the same
seed gives the same bytes. The last line carries a hash of all before it. Replay: `replay.py`.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from normgym_envs.errors import ConfigError, RecordError
from normgym_envs.market.archetypes import find_preset
from normgym_envs.market.market import Runs
from normgym_envs.market.metrics import REASONS, sample_runs, toxicity_by_epoch, welfare_by_epoch
from normgym_envs.market.state import ANALYSIS, CUT, RECORD_DTYPE, STANDING

__all__ = ["SCHEMA", "LogError", "make_lines", "name_run", "write_log"]

SCHEMA: Final = 1
"""Version of the events below; a reader refuses any other."""


class LogError(RecordError):
    """A damaged event log; names file, line and field."""


def name_run(runs: Runs, row: int) -> str:
    """Return the id of one run."""
    return f"{runs.scenario.name}-{runs.preset}-{runs.seeds[row]}"


def write_log(runs: Runs, row: int, path: Path) -> None:
    """Write the log of one run to a new file.

    Args:
        runs: of `market.play`.
        row: which one.
        path: file; one that exists must already hold these bytes.

    Raises:
        ConfigError: the file holds something else, or cannot be written.
    """
    content = b"".join(make_lines(runs, row))
    try:
        if path.exists():
            if path.read_bytes() != content:
                raise ConfigError(f"{path} exists and holds another run; logs are never rewritten")
            return
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None


def make_lines(runs: Runs, row: int) -> Iterator[bytes]:
    """Yield the lines of one run's log, in order, each with its end of line.

    Args:
        runs: of `market.play`.
        row: which one.
    """
    digest, run = hashlib.sha256(), name_run(runs, row)
    for sequence, event in enumerate(_make_events(runs, row)):
        if event["type"] == "run_ended":
            event["sha256"] = digest.hexdigest()
        named = {"sequence": sequence, "id": f"{run}-{sequence:07d}", **event}
        line = (json.dumps(named, separators=(",", ":"), allow_nan=False) + "\n").encode()
        digest.update(line)
        yield line


def _make_events(runs: Runs, row: int) -> Iterator[dict[str, Any]]:
    """Yield the events of one run."""
    table = find_preset(runs.preset)
    yield {
        "type": "run_started",
        "schema": SCHEMA,
        "run": name_run(runs, row),
        "seed": runs.seeds[row],
        "preset": runs.preset,
        "epochs": runs.epochs,
        "scenario": runs.scenario.model_dump(mode="json"),
        "agents": [
            {"agent": i, "archetype": name, "letter": table[name].letter}
            for i, name in enumerate(runs.scenario.archetypes)
        ],
        "network": runs.networks[row].tolist(),
    }
    records, events = runs.row(row), runs.row_events(row)
    one = sample_runs(runs)
    toxicity = toxicity_by_epoch(one.p, one.accepted, one.epoch, runs.epochs)[row]
    payoff = one.payoff_initiator + one.payoff_counterparty
    welfare = welfare_by_epoch(payoff, one.accepted, one.epoch, runs.epochs)[row]
    for epoch in range(runs.epochs):
        here = events[events["epoch"] == epoch]
        yield from _start_epoch(epoch, here)
        first, stop = np.searchsorted(records["epoch"], (epoch, epoch + 1))
        for ordinal in range(int(first), int(stop)):
            yield from _settle(ordinal, records[ordinal])
        for event in here[here["kind"] == CUT]:
            ends = [int(event["agent"]), int(event["other"])]
            yield {"type": "edge_cut", "epoch": epoch, "agents": ends}
        settled = records[first:stop]
        empty = toxicity[epoch] is np.ma.masked
        yield {
            "type": "epoch_ended",
            "epoch": epoch,
            "interactions": len(settled),
            "accepted": int(settled["accepted"].sum()),
            "toxicity": None if empty else float(toxicity[epoch]),
            **({"reason": REASONS["toxicity"]} if empty else {}),
            "welfare": float(welfare[epoch]),
        }
        for move in runs.moves[row]:
            if move.epoch == epoch:
                yield {"type": "setting_moved", **move._asdict()}
    agents = runs.agents[row]
    yield {
        "type": "run_ended",
        "interactions": len(records),
        "reputation": agents["reputation"].tolist(),
        "resources": agents["resources"].tolist(),
        "payoff": agents["payoff"].tolist(),
        "frozen": agents["frozen"].tolist(),
    }


def _start_epoch(epoch: int, events: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield what happened before the first step of an epoch."""
    standing = events[events["kind"] == STANDING]
    reports = events[events["kind"] == ANALYSIS]
    yield {
        "type": "epoch_started",
        "epoch": epoch,
        "reputation_before": standing["reputation_before"].tolist(),
        "reputation_after": standing["reputation_after"].tolist(),
        "resources_before": standing["resources_before"].tolist(),
        "resources_after": standing["resources_after"].tolist(),
        "risk": standing["risk"].tolist(),
    }
    for event in standing[standing["released"]]:
        yield {"type": "released", "epoch": epoch, "agent": int(event["agent"])}
    for report in reports:
        yield {
            "type": "collusion_report",
            "epoch": epoch,
            "flagged_pairs": int(report["flagged"]),
            "flagged_groups": int(report["other"]),
            "ecosystem_risk": float(report["risk"]),
        }
    for event in standing[standing["fined"]]:
        yield {
            "type": "fined",
            "epoch": epoch,
            "agent": int(event["agent"]),
            "risk": float(event["risk"]),
            "resources": float(event["resources_after"] - event["resources_before"]),
        }


def _settle(ordinal: int, record: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield a settled proposal, and what the levers did about it."""
    values = {name: record[name].item() for name in RECORD_DTYPE.names or ()}
    yield {"type": "interaction", "ordinal": ordinal, **values}
    place = {"epoch": values["epoch"], "step": values["step"], "ordinal": ordinal}
    agent = values["initiator"]
    if values["audited"]:
        yield {"type": "audited", **place, "agent": agent, "penalty": values["penalty"]}
    if values["froze"]:
        yield {"type": "frozen", **place, "agent": agent, "until": values["frozen_until"]}
