"""Every face tells the same story byte by byte, and keeps the contract of its library.

Stable-Baselines3's face is held to the same in `tests/integrations/rl`.
"""

import copy
import gc
import importlib
import pickle
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from faces import (
    SETTINGS,
    draw_actions,
    make_registered,
    trace_aec,
    trace_gym,
    trace_parallel,
    trace_vector,
)
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils import parallel_to_aec

from normgym_envs import NormGymEnv, NormGymParallelEnv, NormGymVectorEnv
from normgym_envs.errors import (
    ActionError,
    ConfigError,
    MissingExtraError,
    StateError,
    UnknownNameError,
)

ID = "NormGym/Community-v0"
STEPS = 450
RECOMMENDATIONS = (
    "We recommend agents to be named",  # ids name slots; the first is the newcomer's
    "Observation is not a NumPy array",  # it is a Dict, with the mask where tools look for it
    "Observation space for each agent probably",
)
"""What the official test of the turn-based interface says of every such environment."""


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def told() -> list[bytes]:
    """Return the story of 450 steps as the PettingZoo face tells it."""
    return trace_parallel(7, draw_actions(STEPS))


def test_single_faces_tell_the_same_story(told: list[bytes]) -> None:
    actions = draw_actions(STEPS)
    assert len(told) == STEPS + 1 + 2
    assert trace_parallel(7, actions, "box") == told
    assert trace_aec(7, actions) == told
    assert trace_gym(7, actions) == told
    assert trace_gym(7, actions, make_registered) == told


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("num_envs", [1, pytest.param(4096, marks=pytest.mark.slow)])
def test_batches_tell_the_same_story(told: list[bytes], num_envs: int, num_threads: int) -> None:
    actions = draw_actions(STEPS)
    rows = sorted({0, num_envs // 2, num_envs - 1})
    traces = trace_vector(7, actions, num_envs, rows, num_threads)
    assert traces[0] == told
    for row, trace in zip(rows[1:], traces[1:], strict=True):
        assert trace == trace_gym(7 + row, actions)


@pytest.mark.parametrize("observation", ["flat", "box", "symbolic", "text"])
def test_gymnasium_check(observation: str) -> None:
    check_env(NormGymEnv(norm="even-turns-only", observation=observation), skip_render_check=True)


@pytest.mark.parametrize("observation", ["flat", "box", "symbolic"])
@pytest.mark.parametrize("learners", [1, 6])
def test_turn_based_conversion_passes_the_official_tests(observation: str, learners: int) -> None:
    def make() -> Any:
        return parallel_to_aec(
            NormGymParallelEnv(
                norm="visit-zone-q-first", num_learners=learners, observation=observation
            )
        )

    for words in RECOMMENDATIONS[: 1 if observation == "box" else None]:
        warnings.filterwarnings("ignore", words)
    api_test(make(), num_cycles=250)
    seed_test(make, num_cycles=30)


def test_made_by_id_with_a_limit() -> None:
    env = gymnasium.make(ID, max_episode_steps=30, norm="even-turns-only")
    env.reset(seed=0)
    ends = [env.step(4)[2:4] for _ in range(30)]
    assert ends == [(False, False)] * 29 + [(False, True)]
    envs = gymnasium.make_vec(ID, num_envs=3, max_episode_steps=30)
    assert isinstance(envs.unwrapped, NormGymVectorEnv)
    envs.reset(seed=0)
    for step in range(30):
        observations, _, terminated, truncated, infos = envs.step(np.full(3, 4))
        assert truncated.tolist() == [step == 29] * 3
        assert not terminated.any()
    assert infos["_final_obs"].all()
    assert all(last.shape == observations[0].shape for last in infos["final_obs"])
    assert not (infos["final_obs"][0] == observations[0]).all()


def test_the_id_works_in_spawned_workers() -> None:
    def make() -> Any:
        import normgym_envs  # noqa: F401 - registers the id

        return gymnasium.make("NormGym/Community-v0", norm="even-turns-only")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium's own workers warn
        envs = AsyncVectorEnv([make, make], context="spawn")
        try:
            observations, _ = envs.reset(seed=3)
            alone = NormGymEnv(norm="even-turns-only")
            assert (observations[1] == alone.reset(seed=4)[0]).all()
            for action in (3, 4, 1):
                observations = envs.step(np.full(2, action))[0]
                assert (observations[1] == alone.step(action)[0]).all()
        finally:
            envs.close()


COPIERS = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]


@pytest.mark.parametrize("copier", COPIERS, ids=["deepcopy", "pickle"])
def test_copies_of_single_environments_go_on_equally(copier: Callable[[Any], Any]) -> None:
    for make in (lambda: NormGymEnv(**SETTINGS), make_registered):
        env = make()
        env.reset(seed=1)
        for action in draw_actions(60):
            env.step(action)
        twin = copier(env)
        for action in draw_actions(140, seed=1):
            assert pickle.dumps(env.step(action)) == pickle.dumps(twin.step(action))
        assert pickle.dumps(env.reset()) == pickle.dumps(twin.reset())


@pytest.mark.parametrize("copier", COPIERS, ids=["deepcopy", "pickle"])
def test_copies_of_batches_go_on_equally(copier: Callable[[Any], Any]) -> None:
    envs = NormGymVectorEnv(4, **SETTINGS)
    envs.reset(seed=1)
    for action in draw_actions(60):
        envs.step(np.full(4, action))
    twin = copier(envs)
    for action in draw_actions(160, seed=1):
        first, second = envs.step(np.full(4, action)), twin.step(np.full(4, action))
        assert pickle.dumps(first) == pickle.dumps(second)


@pytest.mark.parametrize("make", [NormGymEnv, NormGymParallelEnv, NormGymVectorEnv])
def test_discarded_environments_leave_none_alive(make: Callable[[], Any]) -> None:
    references = []
    for _ in range(1000):
        env = make()
        references.append(weakref.ref(env))
        del env
    gc.collect()
    assert not [reference for reference in references if reference() is not None]


BAD = [np.full((2, 1), 4), np.full(3, 4), np.full(2, 5), np.full(2, -1), np.zeros(2), [0, None]]


@pytest.mark.parametrize("actions", BAD, ids=[repr(actions) for actions in BAD])
def test_malformed_batches_of_actions_are_refused(actions: Any) -> None:
    envs = NormGymVectorEnv(2)
    with pytest.raises(StateError, match="before reset"):
        envs.step(np.full(2, 4))
    envs.reset(seed=0)
    with pytest.raises(ActionError):
        envs.step(actions)


@pytest.mark.parametrize("action", [-1, 5, 2.0, None, True, np.array([1]), "UP"])
def test_malformed_actions_of_the_newcomer_are_refused(action: Any) -> None:
    env = NormGymEnv()
    env.reset(seed=0)
    with pytest.raises(ActionError, match="expected an integer from 0 to 4"):
        env.step(action)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"num_envs": 0}, ConfigError, "num_envs is 0"),
        ({"norm": []}, ConfigError, "norm is an empty list"),
        (
            {"num_envs": 2, "norm": ["all-exit-left", "bend-right-1"]},
            ConfigError,
            "different populations",
        ),
        ({"num_threads": 0}, ConfigError, "num_threads is 0; expected 1 to"),
        ({"num_threads": 10_000}, ConfigError, "num_threads is 10000; expected 1 to"),
        ({"observation": "text"}, UnknownNameError, "'text'"),
    ],
)
def test_bad_settings_of_batches_are_refused(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        NormGymVectorEnv(**settings)


def test_seeds_of_batches() -> None:
    envs = NormGymVectorEnv(2)
    with pytest.raises(ConfigError, match="3 seeds for 2 environments"):
        envs.reset(seed=[1, 2, 3])
    first = envs.reset(seed=[5, 9])[0]
    assert (envs.reset(seed=5)[0][0] == first[0]).all()
    assert (envs.reset(seed=9)[0][0] == first[1]).all()


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("sb3_vec_env", "stable_baselines3", "rl"),
        ("sb3_shared", "stable_baselines3", "rl"),
        ("rllib_env", "ray", "rllib"),
    ],
)
def test_a_missing_framework_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, framework: str, extra: str
) -> None:
    faces = {f"normgym_envs.envs.{face}" for face in ("sb3_vec_env", "sb3_shared", "rllib_env")}
    for name in list(sys.modules):
        if name.split(".")[0] == framework or name in faces:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'normgym\[{extra}\]'"):
        importlib.import_module(f"normgym_envs.envs.{module}")
