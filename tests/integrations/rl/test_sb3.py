"""Stable-Baselines3: same bytes as the other faces, its checker, PPO with shared parameters."""

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from faces import LIMIT, SETTINGS, draw_actions, pack, trace_gym
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env

from normgym_envs import NormGymEnv, NormGymParallelEnv
from normgym_envs.envs.sb3_shared import NormGymSB3SharedVecEnv
from normgym_envs.envs.sb3_vec_env import NormGymSB3VecEnv
from normgym_envs.errors import ActionError, ConfigError
from normgym_envs.observations.views import FACTS

STEPS = 450


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def trace_sb3(seed: int, actions: list[int], num_envs: int, row: int) -> list[bytes]:
    """Return a row's trajectory through the face; all rows play the same actions."""
    envs = NormGymSB3VecEnv(num_envs, **SETTINGS, max_episode_steps=LIMIT)
    envs.seed(seed)
    observations = envs.reset()
    trace = [pack(observations[row], 0, False, False, envs.reset_infos[row])]
    for action in actions:
        observations, rewards, dones, infos = envs.step(np.full(num_envs, action))
        info = infos[row]
        if not dones[row]:
            trace.append(pack(observations[row], rewards[row], False, False, info))
            continue
        cut = info["TimeLimit.truncated"]
        trace.append(pack(info["terminal_observation"], rewards[row], not cut, cut, info))
        trace.append(observations[row].tobytes())
    return trace


@pytest.mark.parametrize(("num_envs", "row"), [(1, 0), (3, 2)])
def test_same_story_as_the_gymnasium_face(num_envs: int, row: int) -> None:
    actions = draw_actions(STEPS)
    told = trace_gym(7 + row, actions)
    heard = trace_sb3(7, actions, num_envs, row)
    assert len(told) == len(heard)
    for ours, theirs in zip(heard, told, strict=True):
        if len(ours) == len(theirs):
            assert np.frombuffer(ours[: 553 * 4], np.float32).tobytes() == theirs[: 553 * 4]
            rewards = [np.frombuffer(b[553 * 4 :][:8], np.float64)[0] for b in (ours, theirs)]
            assert rewards[0] == pytest.approx(rewards[1], abs=1e-5)  # rewards are float32 here
            assert ours[553 * 4 + 8 :] == theirs[553 * 4 + 8 :]
        else:
            assert theirs.startswith(ours)  # the observation of a reset in mid-step


@pytest.mark.parametrize("observation", ["flat", "box", "symbolic"])
def test_checker(observation: str) -> None:
    warnings.filterwarnings("ignore", "Your observation")  # of Dicts with matrices in them
    check_env(NormGymEnv(norm="even-turns-only", observation=observation))


def test_lanes_tell_what_the_parallel_face_tells() -> None:
    learners, worlds = 6, 2
    envs = NormGymSB3SharedVecEnv(worlds, learners, max_episode_steps=LIMIT, **SETTINGS)
    envs.seed(5)
    lanes = envs.reset()
    single = NormGymParallelEnv(num_learners=learners, max_episode_steps=LIMIT, **SETTINGS)
    seen, infos = single.reset(seed=5 + learners)  # lane i has seed 5 + i, a world its first lane's
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(STEPS):
        for slot, agent in enumerate(single.possible_agents):
            assert (lanes[learners + slot] == seen[agent]["observation"]).all()
        actions = rng.integers(5, size=(worlds, learners))
        lanes, rewards, dones, lane_infos = envs.step(actions.reshape(-1))
        seen, own, _, truncations, infos = single.step(
            dict(zip(single.possible_agents, actions[1].tolist(), strict=True))
        )
        for slot, agent in enumerate(single.possible_agents):
            lane = learners + slot
            assert rewards[lane] == np.float32(own[agent])
            assert dones[lane] == truncations[agent]
            assert [lane_infos[lane][name] for name in FACTS] == [infos[agent][n] for n in FACTS]
            if dones[lane]:
                last = lane_infos[lane]["terminal_observation"]
                assert (last == seen[agent]["observation"]).all()
                assert lane_infos[lane]["TimeLimit.truncated"] is True
        if not single.agents:
            ends += 1
            seen, infos = single.reset()
    assert ends == 2


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("make", [NormGymSB3VecEnv, NormGymSB3SharedVecEnv])
def test_copies_go_on_equally(make: Any, copier: Any) -> None:
    envs = make(2, norm="group-seating-1")
    envs.seed(1)
    envs.reset()
    for action in draw_actions(60):
        envs.step(np.full(envs.num_envs, action))
    twin = copier(envs)
    for action in draw_actions(200, seed=1):
        actions = np.full(envs.num_envs, action)
        assert pickle.dumps(envs.step(actions)) == pickle.dumps(twin.step(actions))


def test_ppo_shares_parameters_over_six_learners() -> None:
    envs = NormGymSB3SharedVecEnv(2, 6, norm="visit-zone-q-first")
    model = PPO("MlpPolicy", envs, n_steps=256, batch_size=256, n_epochs=1, seed=0, device="cpu")
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(256 * 12)
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) == 12  # an episode of 200 steps in each lane


def test_lanes_go_on_with_the_next_person() -> None:
    envs = NormGymSB3SharedVecEnv(2, 6, norm="visit-zone-q-first")
    envs.seed(0)
    envs.reset()
    people = set()
    for _ in range(199):
        *_, dones, infos = envs.step(envs.engine.plan()[0][:, :6].reshape(-1))
        people |= {info["person"] for info in infos}
        assert not dones.any()
    assert {0, 1, 2} < people


def test_dqn_knows_limits_from_ends() -> None:
    envs = NormGymSB3VecEnv(4, norm="even-turns-only", max_episode_steps=50)
    model = DQN("MlpPolicy", envs, learning_starts=100, buffer_size=2000, seed=0, device="cpu")
    model.learn(1000)
    buffer = model.replay_buffer
    assert buffer is not None
    assert buffer.dones.sum() == 20
    assert buffer.timeouts.sum() == 20


def test_bad_input_is_refused() -> None:
    with pytest.raises(ConfigError, match="num_envs is 0"):
        NormGymSB3SharedVecEnv(0)
    with pytest.raises(ConfigError, match="num_learners is 7; expected 1 to 6"):
        NormGymSB3SharedVecEnv(1, 7)
    envs = NormGymSB3SharedVecEnv(1, 2)
    envs.reset()
    with pytest.raises(ActionError, match=r"shape \(3,\); expected \(2,\)"):
        envs.step(np.full(3, 4))
    with pytest.raises(ActionError, match="expected 0 to 4"):
        envs.step(np.full(2, 5))
