"""Grid worlds whose communities follow norms that a newcomer must infer."""

from normgym_envs.engine import BatchEngine
from normgym_envs.envs import NormGymParallelEnv
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.norms import get_norm, list_norms, load_norms
from normgym_envs.protocol import draw_episode

__version__ = "0.1.0"

__all__ = [
    "BatchEngine",
    "NormGymParallelEnv",
    "__version__",
    "draw_episode",
    "get_layout",
    "get_norm",
    "list_layouts",
    "list_norms",
    "load_norms",
]
