"""What makes no environment says what it is and what was expected, whatever its type."""

from typing import Any

import pytest

from normgym_envs import NormGymEnv, NormGymParallelEnv, NormGymVectorEnv
from normgym_envs.envs.trials import NormGymTrialEnv
from normgym_envs.errors import NormGymError

SHARED: list[dict[str, Any]] = [
    {"num_agents_total": 0},
    {"num_agents_total": 11},
    {"num_agents_total": "6"},
    {"num_agents_total": True},
    {"max_episode_steps": 0},
    {"max_episode_steps": "x"},
    {"max_episode_steps": 2.5},
    {"num_norm_blind": -1},
    {"num_norm_blind": "a"},
    {"layout": 3},
    {"layout": "kafe"},
    {"predict_newcomer": "aware"},
    {"reward_terms": (1, 2, 3)},
    {"reward_terms": "abcd"},
    {"reward_terms": 5},
    {"reward_terms": (1, 2, 3, float("nan"))},
    {"reward_terms": (1, 2, 3, -1)},
]
NORMS: list[dict[str, Any]] = [{"norm": 5}, {"norm": None}, {"norm": "even-turns"}]
LEARNERS: list[dict[str, Any]] = [
    {"num_learners": 0},
    {"num_learners": 99},
    {"num_learners": "3"},
    {"num_learners": 2.5},
    {"num_learners": True},
    {"observation": None},
    {"observation": ["flat"]},
]


def refuse(make: Any, settings: dict[str, Any]) -> None:
    name, value = next(iter(settings.items()))
    with pytest.raises(NormGymError) as caught:
        make(**settings)
    text = str(caught.value)
    assert str(value) in text
    assert name in text or "unknown" in text
    assert "\n" not in text


@pytest.mark.parametrize("settings", SHARED + NORMS + LEARNERS, ids=str)
def test_parallel(settings: dict[str, Any]) -> None:
    refuse(NormGymParallelEnv, settings)


@pytest.mark.parametrize("settings", SHARED + NORMS, ids=str)
def test_gymnasium(settings: dict[str, Any]) -> None:
    refuse(NormGymEnv, settings)


@pytest.mark.parametrize("settings", [*SHARED, {"num_envs": 0}, {"num_envs": "2"}], ids=str)
def test_vector(settings: dict[str, Any]) -> None:
    refuse(NormGymVectorEnv, settings)


@pytest.mark.parametrize(
    "settings",
    [
        *(one for one in SHARED if one != {"num_agents_total": True}),
        {"episodes_per_trial": 0},
        {"episodes_per_trial": 1.5},
    ],
    ids=str,
)
def test_trials(settings: dict[str, Any]) -> None:
    refuse(lambda **given: NormGymTrialEnv(["all-exit-left"], **given), settings)


def test_integers_of_numpy_are_taken() -> None:
    import numpy as np

    env = NormGymParallelEnv(num_learners=np.int64(2), num_agents_total=np.int32(6))
    assert env.possible_agents == ["newcomer", "background_1"]
