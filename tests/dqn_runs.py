"""Short DQN runs for tests: the same code as long ones, with small numbers."""

from pathlib import Path
from typing import Any

from agents.dqn.runs import RunWriter
from training.config import DQNConfig

REASON = "needs torch and Stable-Baselines3: pip install 'normgym[rl]'"


def make_config(norm: str = "bend-right-1", **changes: Any) -> DQNConfig:
    """Return a configuration that trains in a second or two."""
    settings: dict[str, Any] = {
        "steps": 1_600,
        "learning_starts": 200,
        "buffer_size": 1_000,
        "target_every": 200,
        "bin_steps": 400,
        "validation_episodes": 2,
        "probe_transitions": 32,
        "episode_steps": 50,
        **changes,
    }
    return DQNConfig(norm, **settings)


def begin_run(folder: Path, config: DQNConfig) -> RunWriter:
    """Prepare a run's folder as a sweep does."""
    writer = RunWriter(folder, config.to_json(), "sb3")
    writer.note(0)
    return writer


def save_policy(folder: Path, config: DQNConfig, seed: int = 0) -> Path:
    """Write a finished run whose policy has random weights, and return its checkpoint."""
    import torch

    from agents.dqn.networks import QNetwork
    from normgym_envs.norms.library import get_norm, num_slots

    writer = begin_run(folder, config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = QNetwork(config.encoder, num_slots(get_norm(config.norm)))
    path = writer.save_checkpoint(config.steps, network.state_dict())
    for steps in (config.steps // 2, config.steps):
        writer.log(
            {
                "kind": "train",
                "steps": steps,
                "episodes": 2,
                "return_mean": -30.0 - seed,
                "return_median": -30.0,
                "loss_mean": 0.5,
            }
        )
        for name in ("train", "validation"):
            writer.log(
                {
                    "kind": "probe",
                    "steps": steps,
                    "set": name,
                    "huber": 1.0 + seed,
                    "q_mean": -2.0,
                    "target_mean": -3.0,
                }
            )
        writer.log(
            {"kind": "validation", "steps": steps, "layout": "cafe", "task": 0.5, "joint": 0.25}
        )
    writer.finish(config.steps)
    return path
