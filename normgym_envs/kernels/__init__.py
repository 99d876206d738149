"""What every compiled package shares: the compiler's flags and counter-based random numbers."""

from normgym_envs.kernels.jit import njit, njit_parallel
from normgym_envs.kernels.rng import draw, uniform

__all__ = ["draw", "njit", "njit_parallel", "uniform"]
