"""Environment classes: translations of the one engine into the interfaces of the field.

`NormGymSB3VecEnv` is in `envs/sb3_vec_env.py`; it needs the extra `rl`.
"""

from normgym_envs.envs.events import EVENTS, Event
from normgym_envs.envs.gym_env import NormGymEnv
from normgym_envs.envs.parallel_env import NormGymParallelEnv
from normgym_envs.envs.vector_env import NormGymVectorEnv

__all__ = ["EVENTS", "Event", "NormGymEnv", "NormGymParallelEnv", "NormGymVectorEnv"]
