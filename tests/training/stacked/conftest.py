"""Small runs, as both learners take them."""

from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from training.config import DQNConfig  # noqa: E402


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def make_config() -> Callable[..., DQNConfig]:
    """Return a maker of runs whose ring, target copies and episodes turn over within seconds."""

    def make(norm: str = "group-seating-1", **settings: object) -> DQNConfig:
        small: dict[str, object] = {
            "steps": 4_000,
            "num_envs": 8,
            "learning_starts": 200,
            "buffer_size": 800,
            "target_every": 800,
            "episode_steps": 40,
            "bin_steps": 500,
            "validation_episodes": 1,
            "probe_transitions": 32,
        }
        return DQNConfig(norm, **{**small, **settings})  # type: ignore[arg-type]

    return make


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a seeded generator."""
    return np.random.default_rng(7)
