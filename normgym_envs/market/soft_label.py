"""Proxy score to probability of a good outcome. How honest it is: `calibration.py`."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import check_range

DEFAULT_SHARPNESS: Final = 2.0
"""k of the sigmoid: p stays in [.119, .881] for scores in [-1, 1]. Source: SW eq. 3, App. C."""


@njit
def label_one(score: float, sharpness: float) -> float:
    """Return the soft label of one proxy score; see `compute_label`."""
    return 1.0 / (1.0 + np.exp(-sharpness * score))


def compute_label(score: ArrayLike, sharpness: float = DEFAULT_SHARPNESS) -> NDArray[np.float64]:
    """Return soft labels, the probability of a good outcome.

    Source: SW eq. 3.

    Args:
        score: proxy scores, dimensionless.
        sharpness: k, > 0.

    Returns:
        float64 in [0, 1], of the shape of `score`.

    Raises:
        ConfigError: `sharpness` not positive, or a score that is not finite.

    Example:
        >>> float(compute_label(0.0))
        0.5
    """
    check_range("sharpness", sharpness, 1e-12)
    check_range("score", score, -np.inf)
    array = np.asarray(score, np.float64)
    out = np.empty(array.shape)
    _label_all(np.ascontiguousarray(array).reshape(-1), float(sharpness), out.reshape(-1))
    return out


@njit
def _label_all(score: np.ndarray, sharpness: float, out: np.ndarray) -> None:
    """Label a flat array."""
    for i in range(len(out)):
        out[i] = label_one(score[i], sharpness)
