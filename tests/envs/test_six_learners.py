"""Six learners and nobody scripted, for a long time: every reward has its event, memory is flat."""

import gc
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from normgym_envs import NormGymParallelEnv

STEPS = 100_000
STATM = Path("/proc/self/statm")


def measure_memory() -> int:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="resident memory is read from /proc")
def test_rewards_equal_the_events_and_memory_stays() -> None:
    env = NormGymParallelEnv(norm="visit-zone-q-first", num_learners=6)
    assert env.possible_agents == ["newcomer", *(f"background_{slot}" for slot in range(1, 6))]
    rng = np.random.default_rng(0)
    infos = env.reset(seed=0)[1]
    tenths = dict.fromkeys(env.possible_agents, 0)  # rewards are whole numbers of tenths
    events = {agent: Counter[str]() for agent in env.possible_agents}
    turns = 0
    memory: list[int] = []
    for step in range(STEPS):
        if not env.agents:
            infos = env.reset()[1]
        engine = env._engine
        assert engine is not None
        wild = rng.random(6) < 0.2
        chosen = np.where(wild, rng.integers(5, size=6), engine.plan()[0][0, :6]).tolist()
        present = {agent: infos[agent]["present"] for agent in env.agents}
        _, rewards, _, _, infos = env.step(dict(zip(env.agents, chosen, strict=True)))
        shown = dict.fromkeys(env.possible_agents, 0.0)
        for event in env.events():
            shown[event.agent] += event.reward
        for agent, reward in rewards.items():
            assert reward == pytest.approx(shown[agent], abs=1e-5)
            info = infos[agent]
            log = events[agent]
            log["present"] += present[agent]
            for name in ("goals", "collided", "sanctioned"):
                log[name] += info[name]
            tenths[agent] += round(reward * 10)
            expected = np.float32(0)
            if present[agent]:
                expected = np.float32(10) * info["goals"] - np.float32(0.1)
                expected -= np.float32(5) * info["collided"]
                expected -= np.float32(20) * info["sanctioned"]
            assert reward == float(expected)
        turns += 1
        if step in (STEPS // 5, STEPS - 1):
            memory.append(measure_memory())
    for agent, log in events.items():
        costs = log["present"] + 50 * log["collided"] + 200 * log["sanctioned"]
        assert tenths[agent] == 100 * log["goals"] - costs
        assert min(log[name] for name in ("goals", "collided", "sanctioned")) > 0
    assert turns == STEPS
    assert memory[1] - memory[0] < 2 * 2**20
