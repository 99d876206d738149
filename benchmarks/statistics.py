"""Intervals for rates and means.

Wilson's interval comes from statsmodels; resampling whole norms is ours, because the episodes of
one norm are not independent.
"""

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from normgym_envs.errors import ConfigError

LEVEL: Final = 0.95
"""Confidence level of every interval. Source: not specified in NG, which shows standard errors."""
DRAWS: Final = 10_000
"""Resamples of a bootstrap. Source: not specified; chosen so that bounds move by less than half a
point between seeds at 50 norms."""
BOOTSTRAP_SEED: Final = 0


class Estimate(NamedTuple):
    """A mean or a rate with its interval; all None when there is nothing to average."""

    value: float | None
    low: float | None
    high: float | None


EMPTY: Final = Estimate(None, None, None)


def estimate_rate(successes: int, number: int, level: float = LEVEL) -> Estimate:
    """Return a rate with Wilson's interval; it keeps its width at 0 and at 1.

    Args:
        successes: [0, number].
        number: independent trials.
        level: confidence level, (0, 1).

    Raises:
        ConfigError: successes outside [0, number].
    """
    if not 0 <= successes <= number:
        raise ConfigError(f"successes is {successes}; expected 0 to {number}")
    if number == 0:
        return EMPTY
    low, high = proportion_confint(successes, number, alpha=1 - level, method="wilson")
    # rounding errors would leave -1e-17 or 1 - 1e-16 at the ends of the scale
    low = 0.0 if successes == 0 else float(low)
    high = 1.0 if successes == number else float(high)
    return Estimate(successes / number, low, high)


def estimate_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    bounds: tuple[float, float] | None = None,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = BOOTSTRAP_SEED,
) -> Estimate:
    """Return a mean with a percentile interval from resampling whole clusters.

    Args:
        values: one an episode.
        clusters: what each belongs to, e.g. its norm.
        bounds: smallest and largest value there can be. When every value lies at one of the two,
            resampling sees no spread at all; Wilson's interval with a trial a cluster stands in.
        level: confidence level, (0, 1).
        draws: resamples.
        seed: of the resampling.

    Raises:
        ConfigError: not as many clusters as values.
    """
    if len(values) != len(clusters):
        raise ConfigError(f"{len(clusters)} clusters for {len(values)} values")
    if not values:
        return EMPTY
    sums, counts = sum_clusters(values, clusters)
    mean = float(sums.sum() / counts.sum())
    if bounds is not None and (min(values) == max(values)) and values[0] in bounds:
        low, high = bounds
        rate = estimate_rate(len(sums) if values[0] == high else 0, len(sums), level)
        assert rate.low is not None
        assert rate.high is not None
        return Estimate(mean, low + (high - low) * rate.low, low + (high - low) * rate.high)
    chosen = np.random.default_rng(seed).integers(len(sums), size=(draws, len(sums)))
    means = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    ends = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(mean, float(ends[0]), float(ends[1]))


def estimate_difference(
    first: dict[str, float],
    second: dict[str, float],
    clusters: dict[str, Hashable],
    *,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = BOOTSTRAP_SEED,
) -> Estimate:
    """Return the mean of `first - second` over the episodes that both have, paired by episode.

    Args:
        first: value by episode.
        second: value by episode.
        clusters: what each episode belongs to.
        level: confidence level, (0, 1).
        draws: resamples of whole clusters.
        seed: of the resampling.
    """
    shared = [episode for episode in first if episode in second]
    return estimate_mean(
        [first[episode] - second[episode] for episode in shared],
        [clusters[episode] for episode in shared],
        bounds=(-1.0, 1.0),
        level=level,
        draws=draws,
        seed=seed,
    )


def sum_clusters(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[np.ndarray, np.ndarray]:
    """Return sum and number of the values of each cluster, in order of first appearance.

    Returns:
        sums: (n,) float64.
        counts: (n,) float64.
    """
    index = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    places = np.array([index[cluster] for cluster in clusters])
    sums = np.bincount(places, weights=np.asarray(values, np.float64), minlength=len(index))
    return sums, np.bincount(places, minlength=len(index)).astype(np.float64)
