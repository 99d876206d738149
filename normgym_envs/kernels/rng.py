"""Counter-based random numbers: a draw is addressed, never taken from a shared generator.

So results depend neither on batch size nor on threads nor on which other rows run.
"""

import numpy as np

from normgym_envs.kernels.jit import njit

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@njit
def split_mix(value: np.uint64) -> np.uint64:
    """Return the splitmix64 output for a state, modulo 2**64."""
    z = value + _GAMMA
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@njit
def draw(seed: np.uint64, turn: int, stream: int, index: int) -> np.uint64:
    """Return the 64 random bits at an address.

    Args:
        seed: uint64, the episode's own seed.
        turn: turn index, >= 0.
        stream: what the draw is for.
        index: which draw of that stream, >= 0.
    """
    z = split_mix(seed) + np.uint64(turn)
    z = split_mix(z) + np.uint64(stream)
    z = split_mix(z) + np.uint64(index)
    return split_mix(z)


@njit
def uniform(bits: np.uint64, count: int) -> int:
    """Map 64 random bits to an integer in [0, count)."""
    return np.int64(((bits >> _S32) * np.uint64(count)) >> _S32)
