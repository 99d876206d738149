"""Environment classes: translations of the one engine into the interfaces of the field."""

from normgym_envs.envs.parallel_env import NormGymParallelEnv

__all__ = ["NormGymParallelEnv"]
