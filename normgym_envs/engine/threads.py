"""The step of many rows by several threads: each takes one stretch of rows and a pad of its own."""

import numba
import numpy as np

from normgym_envs.engine.step import step_row
from normgym_envs.errors import ConfigError
from normgym_envs.kernels import njit_parallel

MIN_ROWS = 256
"""Smaller batches are stepped by one thread. Source: not specified; chosen because starting threads
costs more there than they save."""

_RUNNING = 0  # constants.Ending


def check_num_threads(num_threads: int) -> None:
    """Refuse more threads than Numba was started with.

    Raises:
        ConfigError: naming the largest number.
    """
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if not 1 <= num_threads <= most:
        raise ConfigError(
            f"num_threads is {num_threads}; expected 1 to {most}, the processors at hand "
            "(NUMBA_NUM_THREADS)"
        )


def step_rows_threaded(
    states: np.ndarray,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    pads: np.ndarray,
) -> None:
    """Do what `step.step_rows` does, with as many threads as there are pads.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        norms: (L, n) NORM_DTYPE.
        masks: (M, 4, 3) uint64.
        actions: (B, N) int8.
        pads: (T,) SCRATCH_DTYPE.
    """
    before = numba.get_num_threads()
    numba.set_num_threads(len(pads))
    try:
        _step_stretches(states, layouts, norms, masks, actions, pads)
    finally:
        numba.set_num_threads(before)


@njit_parallel
def _step_stretches(
    states: np.ndarray,
    layouts: np.ndarray,
    norms: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    pads: np.ndarray,
) -> None:
    """Step every stretch of rows; a stretch knows nothing of the others."""
    num_rows = states.shape[0]
    length = (num_rows + pads.shape[0] - 1) // pads.shape[0]
    for stretch in numba.prange(pads.shape[0]):
        first = stretch * length
        for index in range(first, min(first + length, num_rows)):
            if states[index]["ending"] == _RUNNING:
                step_row(states[index], layouts, norms, masks, actions[index], pads[stretch])
            else:
                states[index]["reward"][:] = 0
