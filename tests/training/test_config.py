"""Configurations: the paper's numbers, seeds that never meet, and bad values by name."""

import dataclasses
from itertools import combinations
from typing import Any

import pytest

from agents.dqn.checkpoints import REWARDS
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.norms.library import list_norms
from training.config import REWARD_TERMS, SHAPING, DQNConfig, run_name


def test_defaults_are_the_papers() -> None:
    config = DQNConfig("bend-right-1")
    assert (config.steps, config.learning_rate, config.gamma) == (1_000_000, 1e-4, 0.99)
    assert (config.buffer_size, config.learning_starts, config.batch_size) == (100_000, 1_000, 32)
    assert (config.train_every, config.target_every, config.max_grad_norm) == (4, 10_000, 10)
    assert (config.episode_steps, config.validation_episodes) == (200, 12)
    assert config.validation_at == (100_000, 250_000, 500_000, 750_000, 1_000_000)
    assert [config.epsilon(n) for n in (0, 150_000, 300_000, 900_000)] == pytest.approx(
        [1.0, 0.525, 0.05, 0.05]
    )


@pytest.mark.parametrize(
    ("reward", "terms", "shaping"),
    [
        ("sparse", (10, 0.1, 5, 20), 0),
        ("none", (10, 0.1, 0, 0), 0),
        ("dense", (10, 0.1, 5, 20), 6),
    ],
)
def test_reward_conditions(reward: str, terms: tuple[float, ...], shaping: float) -> None:
    config = DQNConfig("bend-right-1", reward=reward)
    assert config.reward_terms == terms
    assert config.shaping == shaping


def test_every_condition_has_terms_and_no_other_has() -> None:
    assert set(REWARD_TERMS) == set(SHAPING) == set(REWARDS)


def test_training_seeds_are_the_papers_and_the_same_in_every_condition() -> None:
    for index, norm in enumerate(list_norms()):
        seeds = DQNConfig(norm).episode_seeds
        assert seeds.train == range(1_000_000 + 100_000 * index, 1_100_000 + 100_000 * index)
        assert DQNConfig(norm, reward="dense", encoder="cnn", steps=2_000).episode_seeds == seeds


def test_no_two_blocks_of_seeds_meet() -> None:
    blocks = []
    for norm in (list_norms()[0], list_norms()[1], list_norms()[-1]):
        for replicate in (0, 1, 90):
            blocks.append(DQNConfig(norm, seed=replicate).episode_seeds.train)
        seeds = DQNConfig(norm).episode_seeds
        blocks += [
            seeds.probe_train,
            *seeds.validation.values(),
            *seeds.probe_validation.values(),
        ]
    for first, second in combinations(blocks, 2):
        assert first.stop <= second.start or second.stop <= first.start


def test_replicates_share_what_they_are_measured_on() -> None:
    first, second = (DQNConfig("bend-right-1", seed=seed).episode_seeds for seed in (0, 1))
    assert first.train != second.train
    assert dataclasses.replace(first, train=second.train) == second


def test_json_gives_the_same_configuration() -> None:
    config = DQNConfig("bend-right-1", encoder="cnn", reward="dense", seed=3, steps=5_000)
    assert DQNConfig.from_json(config.to_json()) == config
    assert run_name(config) == "bend-right-1_cnn_dense_3"
    with pytest.raises(ConfigError, match=r"unknown field 'step'.*'steps'"):
        DQNConfig.from_json({"norm": "bend-right-1", "step": 3})
    with pytest.raises(ConfigError, match="without a norm"):
        DQNConfig.from_json({})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"norm": "bend-rigt-1"}, "unknown norm 'bend-rigt-1'; did you mean 'bend-right-1'"),
        ({"encoder": "cn"}, "unknown encoder 'cn'; did you mean 'cnn'"),
        ({"reward": "spars"}, "unknown reward 'spars'; did you mean 'sparse'"),
        ({"steps": 1_015}, "steps is 1015; expected at least 1016"),
        ({"steps": 10**8}, "steps is 100000000; expected at most 20000000"),
        ({"steps": 1e6}, "steps is 1000000.0; expected a whole number"),
        ({"seed": 91}, "seed is 91; expected 0 to 90"),
        ({"seed": True}, "seed is True; expected a whole number"),
        ({"gamma": 1.5}, "gamma is 1.5; expected a number from 0.0 to 1.0"),
        ({"num_envs": 0}, "num_envs is 0; expected a whole number from 1"),
        ({"learning_starts": 100_000}, "expected less than the buffer's 100000"),
    ],
)
def test_bad_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError)) as caught:
        DQNConfig(**{"norm": "bend-right-1", **changes})
    assert message in str(caught.value)
