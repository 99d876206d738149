"""Observables to proxy score. What a score is worth is in `soft_label.py`.

The rule for one interaction is compiled; the market's loop, the batch form here and the replay of
a log call the same function, so that they agree to the last digit.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgym_envs.errors import ConfigError
from normgym_envs.kernels import njit
from normgym_envs.mechanisms.base import check_range

DEFAULT_WEIGHTS: Final = (0.4, 0.2, 0.2, 0.2)
"""Of task progress, rework, verifier and engagement. Source: SW section 4, below eq. 2."""
DECAY_REWORK: Final = 0.3
"""alpha_r. Source: SW section 4, components of eq. 1."""
DECAY_REJECTION: Final = 0.4
"""alpha_v. Source: SW eq. 2."""
DECAY_MISUSE: Final = 0.5
"""alpha_m. Source: SW eq. 2."""


@njit
def score_one(
    task: float, rework: int, rejections: int, misuse: int, engagement: float, weights: Any
) -> float:
    """Return the proxy score of one interaction; see `compute_score`."""
    signal_rework = 2.0 * DECAY_REWORK**rework - 1.0
    signal_rejection = 2.0 * DECAY_REJECTION**rejections - 1.0
    signal_misuse = 2.0 * DECAY_MISUSE**misuse - 1.0
    verifier = 0.5 * (signal_rejection + signal_misuse)
    return (
        weights[0] * task
        + weights[1] * signal_rework
        + weights[2] * verifier
        + weights[3] * engagement
    )


def compute_score(
    task: ArrayLike,
    rework: ArrayLike,
    rejections: ArrayLike,
    misuse: ArrayLike,
    engagement: ArrayLike,
    weights: ArrayLike = DEFAULT_WEIGHTS,
) -> NDArray[np.float64]:
    """Return proxy scores; all arguments but the weights broadcast.

    Source: SW eq. 1 and 2.

    Args:
        task: task progress, [-1, 1].
        rework: times the work was redone, >= 0.
        rejections: by the verifier, >= 0.
        misuse: flags of tool misuse, >= 0.
        engagement: change of the counterparty's engagement, [-1, 1].
        weights: (4,), not negative, sum 1.

    Returns:
        float64, dimensionless, in [-1, 1], of the broadcast shape.

    Raises:
        ConfigError: a value outside its range, or weights that are no weights.

    Example:
        >>> float(compute_score(1.0, 0, 0, 0, 1.0))
        1.0
    """
    checked = check_weights(weights)
    check_range("task", task, -1.0, 1.0)
    check_range("engagement", engagement, -1.0, 1.0)
    for name, value in (("rework", rework), ("rejections", rejections), ("misuse", misuse)):
        check_range(name, value, 0)
    arrays = np.broadcast_arrays(task, rework, rejections, misuse, engagement)
    out = np.empty(arrays[0].shape)
    _score_all(
        np.ascontiguousarray(arrays[0], np.float64).ravel(),
        np.ascontiguousarray(arrays[1], np.int64).ravel(),
        np.ascontiguousarray(arrays[2], np.int64).ravel(),
        np.ascontiguousarray(arrays[3], np.int64).ravel(),
        np.ascontiguousarray(arrays[4], np.float64).ravel(),
        checked,
        out.reshape(-1),
    )
    return out


def check_weights(weights: ArrayLike, name: str = "weights") -> NDArray[np.float64]:
    """Return proxy weights as (4,) float64.

    Args:
        weights: of task progress, rework, verifier and engagement.
        name: what they are called, for the message.

    Raises:
        ConfigError: not four numbers, one negative, or a sum that is not 1.
    """
    try:
        array = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} is {weights!r}; expected four numbers") from None
    if array.shape != (4,):
        raise ConfigError(f"{name} has {array.size} numbers; expected 4")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ConfigError(f"{name} is {array.tolist()}; expected numbers of at least 0")
    if abs(float(array.sum()) - 1.0) > 1e-9:
        raise ConfigError(f"{name} sums to {array.sum():g}; expected 1")
    return array


@njit
def _score_all(
    task: np.ndarray,
    rework: np.ndarray,
    rejections: np.ndarray,
    misuse: np.ndarray,
    engagement: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score flat arrays."""
    for i in range(len(out)):
        out[i] = score_one(task[i], rework[i], rejections[i], misuse[i], engagement[i], weights)
