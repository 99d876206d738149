"""The single-file PPO runs, improves its networks and writes them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

FILE = Path(__file__).resolve().parents[3] / "examples" / "ppo.py"


@pytest.fixture(scope="module")
def ppo() -> ModuleType:
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("ppo_example", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["ppo_example"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_it_trains_and_repeats(
    ppo: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"steps": 8192, "num_envs": 16, "rollout": 64, "hidden": 32}
    first = ppo.train(ppo.Settings(**settings, save=str(tmp_path / "policy.pt")))
    assert "8,192 steps   return" in capsys.readouterr().out
    second = ppo.train(ppo.Settings(**settings))
    for name, weights in torch.load(tmp_path / "policy.pt").items():
        assert (weights == first.state_dict()[name]).all()
        assert (weights == second.state_dict()[name]).all()
        assert torch.isfinite(weights).all()
    untrained = ppo.ActorCritic(553, 32)
    assert any(
        (weights != untrained.state_dict()[name]).any()
        for name, weights in first.state_dict().items()
    )


def test_it_is_short_enough_to_copy() -> None:
    assert len(FILE.read_text().splitlines()) < 230
