"""The event log of a turn against the states before and after it."""

from collections import Counter

import numpy as np
import pytest

from normgym_envs import NormGymEnv, NormGymParallelEnv
from normgym_envs.envs import EVENTS
from normgym_envs.errors import StateError, UnknownNameError


def test_events_tell_who_came_did_and_left() -> None:
    env = NormGymParallelEnv(norm="zone-r-capacity-2", num_learners=2, num_norm_blind=3)
    rng = np.random.default_rng(3)
    kinds: Counter[str] = Counter()
    for seed in range(4):
        env.reset(seed=seed)
        engine = env._engine
        assert engine is not None
        here = {event.agent: event.person for event in env.events()}
        assert all(event.kind == "arrival" for event in env.events())
        while env.agents:
            turn = int(engine.states["turn"][0])
            _, rewards, *_, infos = env.step({a: int(rng.integers(5)) for a in env.agents})
            events = env.events()
            kinds.update(event.kind for event in events)
            for event in events:
                if event.kind == "arrival":
                    assert event.turn == turn + 1
                    assert event.agent not in here
                    here[event.agent] = event.person
                    continue
                assert event.turn == turn
                assert here[event.agent] == event.person
                if event.kind == "departure":
                    del here[event.agent]
            state = engine.states[0]
            present = np.flatnonzero(state["present"][: env.num_slots])
            assert here == {
                "newcomer" if slot == 0 else f"background_{slot}": int(state["person"][slot])
                for slot in present
            }
            for agent, reward in rewards.items():
                own = [event for event in events if event.agent == agent]
                assert reward == pytest.approx(sum(event.reward for event in own), abs=1e-5)
                count = Counter(event.kind for event in own)
                assert count["goal"] == infos[agent]["goals"]
                assert count["collision"] == infos[agent]["collided"]
                assert count["sanction"] == infos[agent]["sanctioned"]
    assert set(kinds) == set(EVENTS)


def test_the_gymnasium_face_has_the_same_log() -> None:
    gym, parallel = NormGymEnv(), NormGymParallelEnv()
    gym.reset(seed=5)
    parallel.reset(seed=5)
    for action in (0, 1, 2, 3, 4):
        gym.step(action)
        parallel.step({"newcomer": action})
        assert gym.events() == parallel.events()


def test_events_and_masks_name_what_is_wrong() -> None:
    env = NormGymParallelEnv()
    with pytest.raises(StateError, match="before reset"):
        env.events()
    env.reset(seed=0)
    with pytest.raises(UnknownNameError, match="newcome"):
        env.action_masks("newcome")
