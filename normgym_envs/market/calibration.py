"""How honest soft labels are, and how to mend them. SW names this as its first limitation.

Curves and fits are scikit-learn's; labels of a run can be held against known outcomes with them.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgym_envs.errors import ConfigError, StateError, UnknownNameError
from normgym_envs.mechanisms.base import check_probability

METHODS = ("platt", "isotonic")


class Reliability(NamedTuple):
    """A reliability curve: one point a bin that holds anything."""

    predicted: NDArray[np.float64]  # mean p of the bin
    observed: NDArray[np.float64]  # share of good outcomes
    number: NDArray[np.int64]  # outcomes in the bin


def _check(p: ArrayLike, good: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return labels and outcomes as flat arrays."""
    check_probability("p", p)
    labels = np.asarray(p, np.float64).ravel()
    outcomes = np.asarray(good).ravel()
    if labels.shape != outcomes.shape or not len(labels):
        raise ConfigError(f"{len(outcomes)} outcomes for {len(labels)} labels")
    if not np.isin(outcomes, (0, 1)).all():
        raise ConfigError("outcomes: expected only 0 and 1")
    return labels, outcomes.astype(np.bool_)


def measure_reliability(p: ArrayLike, good: ArrayLike, bins: int = 10) -> Reliability:
    """Return how often outcomes were good where labels said so.

    Args:
        p: (I,) soft labels, [0, 1].
        good: (I,) 0 or 1, what really happened.
        bins: of equal width, >= 1.

    Raises:
        ConfigError: p outside [0, 1], other outcomes, or not as many of both.

    Example:
        >>> measure_reliability([0.1, 0.9, 0.9], [0, 1, 0], bins=2).observed.tolist()
        [0.0, 0.5]
    """
    from sklearn.calibration import calibration_curve

    labels, outcomes = _check(p, good)
    if bins < 1:
        raise ConfigError(f"bins is {bins}; expected 1 or more")
    if len(np.unique(outcomes)) == 1:  # scikit-learn wants both outcomes to be there
        observed_all = float(outcomes[0])
        place, number = _bin(labels, bins)
        predicted = np.bincount(place, weights=labels, minlength=bins)[number > 0]
        filled = number[number > 0]
        return Reliability(predicted / filled, np.full(len(filled), observed_all), filled)
    observed, predicted = calibration_curve(outcomes, labels, n_bins=bins)
    number = _bin(labels, bins)[1]
    return Reliability(predicted, observed, number[number > 0])


def expected_calibration_error(p: ArrayLike, good: ArrayLike, bins: int = 10) -> float:
    """Return the mean distance between label and outcome over bins, weighted by their number.

    Args:
        p: (I,) soft labels, [0, 1].
        good: (I,) 0 or 1.
        bins: of equal width, >= 1.

    Returns:
        float in [0, 1]; 0 is perfect.

    Raises:
        ConfigError: see `measure_reliability`.
    """
    curve = measure_reliability(p, good, bins)
    distance = np.abs(curve.predicted - curve.observed)
    return float((distance * curve.number).sum() / curve.number.sum())


class Calibrator:
    """A fitted map from proxy scores to probabilities."""

    def __init__(self, method: str = "platt") -> None:
        """Choose the method.

        Args:
            method: "platt", a logistic curve with free slope and intercept, or "isotonic".

        Raises:
            UnknownNameError: no such method.
        """
        if method not in METHODS:
            raise UnknownNameError("calibration method", method, METHODS)
        self.method = method
        self._model: Any = None

    def fit(self, score: ArrayLike, good: ArrayLike) -> Self:
        """Fit the map.

        Args:
            score: (I,) proxy scores, dimensionless.
            good: (I,) 0 or 1; both must occur.

        Raises:
            ConfigError: other outcomes, only one of them, or not as many as scores.
        """
        values = np.asarray(score, np.float64).ravel()
        outcomes = _check(np.full(len(values), 0.5), good)[1]
        if len(np.unique(outcomes)) < 2:
            raise ConfigError("outcomes: expected both 0 and 1 to occur")
        if self.method == "platt":
            from sklearn.linear_model import LogisticRegression

            self._model = LogisticRegression(C=np.inf).fit(values[:, None], outcomes)
        else:
            from sklearn.isotonic import IsotonicRegression

            self._model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
            self._model.fit(values, outcomes.astype(np.float64))
        return self

    def predict(self, score: ArrayLike) -> NDArray[np.float64]:
        """Return probabilities in [0, 1], of the shape of `score`.

        Raises:
            StateError: before `fit`.
        """
        if self._model is None:
            raise StateError("predict before fit")
        values = np.asarray(score, np.float64)
        if self.method == "platt":
            found = self._model.predict_proba(values.reshape(-1, 1))[:, 1]
        else:
            found = self._model.predict(values.ravel())
        return np.asarray(found, np.float64).reshape(values.shape)


def _bin(p: NDArray[np.float64], bins: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each label's bin, as scikit-learn cuts them, and how many each holds."""
    place = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], p)
    return place, np.bincount(place, minlength=bins)
