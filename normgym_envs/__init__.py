"""Grid worlds whose communities follow norms that a newcomer must infer."""

import gymnasium
import pettingzoo

from normgym_envs.engine import BatchEngine
from normgym_envs.envs import NormGymEnv, NormGymParallelEnv, NormGymVectorEnv
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.norms import get_norm, list_norms, load_norms
from normgym_envs.protocol import draw_episode
from normgym_envs.protocol.generator import generate_norms
from normgym_envs.types import EpisodeSpec, Layout, Norm

__version__ = "0.1.0"

gymnasium.register(
    id="NormGym/Community-v0",
    entry_point="normgym_envs.envs.gym_env:NormGymEnv",
    vector_entry_point="normgym_envs.envs.vector_env:NormGymVectorEnv",
)
gymnasium.register(
    id="NormGym/CommunityTuple-v0",
    entry_point="normgym_envs.envs.epymarl_env:NormGymTupleEnv",
    disable_env_checker=True,  # it refuses lists of rewards
)
gymnasium.register(id="NormGym/Trial-v0", entry_point="normgym_envs.envs.trials:NormGymTrialEnv")
if hasattr(pettingzoo, "register"):  # since PettingZoo 1.26
    pettingzoo.register(
        "parallel",
        "normgym/community_v0",
        entry_point="normgym_envs.envs.parallel_env:NormGymParallelEnv",
    )

__all__ = [
    "BatchEngine",
    "EpisodeSpec",
    "Layout",
    "Norm",
    "NormGymEnv",
    "NormGymParallelEnv",
    "NormGymVectorEnv",
    "__version__",
    "draw_episode",
    "generate_norms",
    "get_layout",
    "get_norm",
    "list_layouts",
    "list_norms",
    "load_norms",
]
