"""Trials: one hidden norm over several episodes, memory in the observation, tasks kept apart."""

import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from normgym_envs import NormGymEnv, list_norms
from normgym_envs.envs.trials import MEMORY, NormGymTrialEnv, draw_tasks
from normgym_envs.errors import ConfigError, StateError, UnknownNameError

NORMS = ["all-exit-left", "even-turns-only", "visit-zone-q-first"]


def test_official_check() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(NormGymTrialEnv(NORMS, max_episode_steps=20), skip_render_check=True)


def test_a_trial_is_its_episodes_under_one_norm() -> None:
    env = NormGymTrialEnv(["even-turns-only"], episodes_per_trial=3, max_episode_steps=50)
    alone = NormGymEnv(norm="even-turns-only", max_episode_steps=50)
    observation, info = env.reset(seed=4)
    view, _ = alone.reset(seed=4)
    rng = np.random.default_rng(0)
    assert (observation[: len(view)] == view).all()
    assert observation[len(view) :].tolist() == [0] * 7 + [1]
    sanctions = 0
    for turn in range(150):
        action = int(rng.integers(5))
        observation, reward, terminated, truncated, info = env.step(action)
        view, own_reward, _, over, own = alone.step(action)
        memory = dict(zip(MEMORY, observation[len(view) :].tolist(), strict=True))
        assert reward == own_reward
        assert memory[f"last_action_{action}"] == 1
        assert sum(memory[f"last_action_{other}"] for other in range(5)) == 1
        assert memory["last_reward"] == pytest.approx(reward / 25.1, abs=1e-6)
        assert memory["last_sanctioned"] == own["sanctioned"] == info["sanctioned"]
        sanctions += own["sanctioned"]
        if over and turn < 149:
            view, _ = alone.reset()
        assert memory["new_episode"] == (over and turn < 149)
        assert (observation[: len(view)] == view).all()
        assert info["episode"] == min((turn + 1) // 50, 2)
        assert not terminated
        assert truncated == (turn == 149)
    assert sanctions > 0
    with pytest.raises(StateError, match="after the end"):
        env.step(4)


def test_every_trial_draws_its_norm_and_hides_it() -> None:
    env = NormGymTrialEnv(NORMS, episodes_per_trial=1, max_episode_steps=5)
    assert env.observation_space.shape == (553 + 8,)

    def play(seed: int | None) -> tuple[str, bytes]:
        outputs: list[Any] = [env.reset(seed=seed)]
        outputs += [env.step(1) for _ in range(5)]
        return env.task.id, pickle.dumps(outputs)

    drawn = [play(3), *(play(None) for _ in range(30))]
    assert {task for task, _ in drawn} == set(NORMS)
    assert all(norm.encode() not in output for _, output in drawn for norm in NORMS)
    assert [play(3), *(play(None) for _ in range(30))] == drawn
    env.reset(options={"task": "bend-right-1"})
    assert env.task.id == "bend-right-1"


def test_drawn_tasks_are_kept_apart() -> None:
    tasks = draw_tasks(5, 40)
    train, held_out = ({norm.id for norm in part} for part in tasks)
    assert len(train) == 32
    assert len(held_out) == 8
    assert not train & held_out
    assert not (train | held_out) & set(list_norms())
    assert draw_tasks(5, 40) == tasks
    assert draw_tasks(6, 40) != tasks
    assert len({norm.kind for norm in tasks.train}) > 8
    env = NormGymTrialEnv(tasks.train, episodes_per_trial=2, max_episode_steps=3)
    for seed in range(20):
        env.reset(seed=seed)
        for _ in range(6):
            truncated = env.step(4)[3]
        assert truncated


def test_copies_in_mid_trial_go_on_equally() -> None:
    env = NormGymTrialEnv(NORMS, episodes_per_trial=2, max_episode_steps=30)
    env.reset(seed=0)
    for _ in range(20):
        env.step(3)
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(40):
        assert pickle.dumps(env.step(1)) == pickle.dumps(twin.step(1))
    assert pickle.dumps(env.reset()) == pickle.dumps(twin.reset())


def test_made_by_id() -> None:
    env = gymnasium.make("NormGym/Trial-v0", tasks=NORMS)
    assert env.reset(seed=0)[0].shape == (561,)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"tasks": []}, ConfigError, r"tasks is \[\]"),
        ({"tasks": "all-exit-left"}, ConfigError, "expected a list"),
        ({"tasks": ["all-exit-lft"]}, UnknownNameError, "did you mean 'all-exit-left'"),
        ({"tasks": NORMS, "episodes_per_trial": 0}, ConfigError, "episodes_per_trial is 0"),
    ],
)
def test_bad_settings_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        NormGymTrialEnv(**arguments)


def test_bad_draws_are_refused() -> None:
    with pytest.raises(ConfigError, match="count is 1; expected at least 2"):
        draw_tasks(0, 1)
    with pytest.raises(ConfigError, match="held_out_share is 1"):
        draw_tasks(0, 10, held_out_share=1)
    with pytest.raises(UnknownNameError, match="exit_door"):
        draw_tasks(0, 10, kinds=["exit_door"])
