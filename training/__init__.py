"""Things that learn; what they leave behind is played by `agents` and measured by `benchmarks`.

Importing this package needs no learning library; the modules that train import torch and
Stable-Baselines3 when they are asked to.
"""

from training.config import DQNConfig, EpisodeSeeds, run_name

__all__ = ["DQNConfig", "EpisodeSeeds", "run_name"]
