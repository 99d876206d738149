"""Norms of a stack do not see each other, and what cannot be stacked is refused."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from normgym_envs.errors import ConfigError
from training.config import DQNConfig
from training.stacked.networks import Stacked
from training.stacked.stack import Stack

Make = Callable[..., DQNConfig]


def train(configs: list[DQNConfig], rounds: int, **settings: str) -> dict[str, Stacked]:
    """Return what a stack has become."""
    stack = Stack(configs, **settings)
    for _ in range(rounds):
        stack.play_round()
    return stack.networks.export()


def test_company_changes_nothing(make_config: Make) -> None:
    norms = ["even-turns-only", "bottom-door-forbidden", "all-exit-left"]
    together = train([make_config(norm) for norm in norms], 30)
    for place, norm in enumerate(norms):
        alone = train([make_config(norm)], 30)
        for part, stacked in together.items():
            for name, value in stacked.items():
                assert torch.equal(value[place], alone[part][name][0]), (norm, part, name)


def test_backends_continue_each_other(make_config: Make) -> None:
    """Half by one and half by the other is the same as all by one, moments of Adam included."""
    config = make_config()
    whole = train([config], 40)
    for first, second in (("compiled", "torch"), ("torch", "compiled")):
        stack = Stack([config], backend=first)
        for _ in range(20):
            stack.play_round()
        other = Stack([config], backend=second)
        other.networks.restore(stack.networks.export(), stack.networks.updates)
        stack.networks = other.networks
        for _ in range(20):
            stack.play_round()
        for part, stacked in stack.networks.export().items():
            for name, value in stacked.items():
                np.testing.assert_allclose(value, whole[part][name], rtol=2e-3, atol=2e-6)


def test_runs_that_differ_are_not_stacked(make_config: Make) -> None:
    with pytest.raises(ConfigError, match="different reward"):
        Stack([make_config(), make_config("group-seating-2", reward="none")])
    with pytest.raises(ConfigError, match="different populations"):
        Stack([make_config(), make_config("bend-right-1")])
    with pytest.raises(ConfigError, match="given twice"):
        Stack([make_config(), make_config()])
    with pytest.raises(ConfigError, match="no run"):
        Stack([])


def test_what_no_backend_can_do_is_refused(make_config: Make) -> None:
    with pytest.raises(ConfigError, match="'compiled' cannot train encoder 'cnn' on cpu"):
        Stack([make_config(encoder="cnn")], backend="compiled")
    with pytest.raises(ConfigError, match="device 'warp' cannot be used"):
        Stack([make_config()], device="warp")
    with pytest.raises(ConfigError, match="expected 1 to 255"):
        Stack([make_config(episode_steps=300)])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same_weights(make_config: Make) -> None:
    configs = [make_config(norm) for norm in ("group-seating-1", "group-seating-2")]
    here, there = train(configs, 12), train(configs, 12, device="cuda")
    for name, value in here["params"].items():
        np.testing.assert_allclose(there["params"][name], value, rtol=1e-3, atol=1e-5)


UNCOMPILED = """
import warnings
import numpy as np
from training.config import DQNConfig
from training.stacked.stack import Stack

warnings.simplefilter("ignore")  # counters of the world wrap round on purpose
settings = dict(num_envs=2, learning_starts=40, steps=400, episode_steps=20, epsilon_share=0.001)
stack = Stack([DQNConfig("group-seating-1", **settings)])
for _ in range(9):
    stack.play_round()
weights = stack.networks.export()["params"]
print(stack.networks.updates, *(float(np.float64(value).sum()) for value in weights.values()))
"""


def run_elsewhere(**environment: str) -> list[float]:
    """Return updates and sums of weights from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", UNCOMPILED],
        cwd=Path(__file__).resolve().parents[3],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]


@pytest.mark.slow
def test_loops_do_the_same_uncompiled() -> None:
    """Where indices are checked and small integers do not widen by themselves."""
    plain = run_elsewhere(NUMBA_DISABLE_JIT="1")
    assert plain[0] == 8
    np.testing.assert_allclose(plain, run_elsewhere(), rtol=1e-6, atol=1e-5)
