"""The engine: bytes depend on the seed alone, and single events come out as worked by hand."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from normgym_envs.errors import ConfigError, SeedError, StateError, UnknownNameError
from normgym_envs.market import Market, list_scenarios, load_scenario, make_scenario, play
from normgym_envs.market.archetypes import PRESETS
from normgym_envs.market.metrics import measure

ROOT = Path(__file__).resolve().parents[2]


def digest(runs, row: int) -> str:
    """Return a hash of everything a row left behind."""
    parts = (runs.row(row), runs.row_events(row), runs.agents[row], runs.networks[row])
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", list_scenarios())
def test_batch_and_threads_do_not_matter(name: str, preset: str) -> None:
    scenario, seeds = load_scenario(name), [7, 3, 2**63, 42, 11]
    batch = play(scenario, seeds, preset=preset)
    shared = play(scenario, seeds, preset=preset, num_threads=2)
    found = measure(batch)
    for row, seed in enumerate(seeds):
        alone = play(scenario, [seed], preset=preset)
        assert digest(batch, row) == digest(alone, 0) == digest(shared, row)
        for metric, value in measure(alone).items():
            assert repr(value[0]) == repr(found[metric][row]), metric


CODE = """
import hashlib, sys
from normgym_envs.market import load_scenario, play
epochs = int(sys.argv[1])
runs = play(load_scenario("strict_governance"), [42], epochs=epochs)
one = runs.row(0)
print(hashlib.sha256(one.tobytes()).hexdigest())
print(one["initiator"].tolist(), one["accepted"].tolist(), one["p"].round(12).tolist())
"""


def run_code(epochs: int, **environment: str) -> list[str]:
    """Run CODE in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, str(epochs)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_another_process_and_hash_seed_give_the_same_bytes() -> None:
    assert run_code(20, PYTHONHASHSEED="1") == run_code(20, PYTHONHASHSEED="2")


def test_compiled_and_plain_code_agree() -> None:
    assert run_code(4)[1] == run_code(4, NUMBA_DISABLE_JIT="1")[1]


def test_first_honest_interaction_by_hand() -> None:
    runs = play(load_scenario("baseline"), range(50))
    for row in range(50):
        one = runs.row(row)[0]
        if one["initiator"] > 2:
            continue
        # the first interaction of all: reputation 0, so quality at factor .75, and trust .5
        assert 0.75 * 0.3 <= one["task"] <= 0.75 * 0.8
        assert one["rework"] in (0, 1)
        assert one["trust_initiator_before"] == 0.5
        if one["accepted"]:
            assert one["trust_initiator_after"] == pytest.approx(0.35 + 0.3 * one["p"])
            assert one["reputation_after"] == pytest.approx(one["p"] - 0.5)
        else:
            assert one["engagement"] == 0.0


def test_a_lone_honest_pair_by_hand() -> None:
    # agent 0 acts first; its partner answers on its turn in the same step, agent 1's proposals
    # wait for the end of the step
    pair = make_scenario({"name": "pair", "population": [{"archetype": "honest", "count": 2}]})
    runs = play(pair, range(20))
    for row in range(20):
        one = runs.row(row)
        assert one["accepted"].all()
        assert (one["on_turn"] == (one["initiator"] == 0)).all()
        reputation = np.zeros(2)
        for record in one:
            assert record["reputation_before"] == reputation[record["initiator"]]
            reputation[record["initiator"]] += record["p"] - 0.5
            assert record["reputation_after"] == reputation[record["initiator"]]


def test_a_frozen_agent_neither_acts_nor_is_asked() -> None:
    scenario = load_scenario("strict_governance")
    for row in range(10):
        runs = play(scenario, [row])
        until = np.full(scenario.num_agents, -1)
        for one in runs.row(0):
            if until[one["counterparty"]] > one["epoch"]:
                # only proposals made before the freeze may still be around, and they wait
                assert not one["on_turn"]
            if one["froze"]:
                until[one["initiator"]] = one["frozen_until"]
                assert one["frozen_until"] == one["epoch"] + 3
        assert (until >= 0).any()


def test_edges_fade_are_cut_and_end_the_market() -> None:
    scenario = make_scenario(
        {
            "name": "fading",
            "population": [{"archetype": "cautious", "count": 3}],
            "network": {"kind": "complete", "decay": 0.5, "cut_below": 0.3},
        }
    )
    cuts = play(scenario, [1]).row_events(0)
    cuts = cuts[cuts["kind"] == 3]
    # weight 1, .5, .25: cut at the end of the second epoch
    assert cuts["epoch"].tolist() == [1, 1, 1]
    assert list(zip(cuts["agent"], cuts["other"], strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_cost_is_linear_in_the_horizon() -> None:
    scenario = load_scenario("baseline")
    short, long = (play(scenario, range(8), epochs=epochs) for epochs in (20, 80))
    ratio = long.num_records.sum() / short.num_records.sum()
    assert 3.5 < ratio < 4.5  # the work grows with the proposals, nothing is re-read


def test_many_traders_need_no_quadratic_memory() -> None:
    scenario = make_scenario(
        {
            "name": "many",
            "epochs": 2,
            "population": [
                {"archetype": "honest", "count": 8000},
                {"archetype": "adversarial", "count": 2000},
            ],
            "network": {"kind": "small_world", "neighbours": 4, "rewiring": 0.1},
        }
    )
    market = Market(scenario, [1])
    market.play_epoch()
    runs = market.finish()
    assert runs.num_records[0] > 10_000
    arrays = [value for value in vars(market).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) < 200e6  # a square of floats alone is 800 MB


def test_bad_calls_are_refused() -> None:
    scenario = load_scenario("baseline")
    with pytest.raises(SeedError):
        play(scenario, [-1])
    with pytest.raises(SeedError):
        play(scenario, [2**63 + 1])
    with pytest.raises(ConfigError, match="seeds is empty"):
        play(scenario, [])
    with pytest.raises(ConfigError, match="num_threads"):
        play(scenario, [1], num_threads=0)
    with pytest.raises(ConfigError, match="epochs"):
        play(scenario, [1], epochs=0)
    with pytest.raises(UnknownNameError, match="as_written"):
        play(scenario, [1], preset="as_writen")
    market = Market(scenario, [1], epochs=1)
    market.play_epoch()
    with pytest.raises(StateError, match="after the last"):
        market.play_epoch()


def test_one_agent_and_no_acceptance_are_null_not_zero() -> None:
    with pytest.raises(ConfigError, match="1 agents cannot form a complete network"):
        play(
            make_scenario({"name": "one", "population": [{"archetype": "honest", "count": 1}]}), [1]
        )
    alone = make_scenario(
        {
            "name": "alone",
            "population": [{"archetype": "honest", "count": 1}],
            "network": {"kind": "custom"},
        }
    )
    found = measure(play(alone, [1]))
    assert found["interactions"][0] == 0
    for metric in ("toxicity", "quality_gap", "mean_p", "spread", "conditional_loss"):
        assert found[metric][0] is np.ma.masked, metric
