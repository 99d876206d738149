"""Intervals: by hand, at the ends of the scale, and their coverage in simulation."""

import numpy as np
import pytest

from benchmarks.statistics import EMPTY, estimate_difference, estimate_mean, estimate_rate
from normgym_envs.errors import ConfigError


def test_wilson_by_hand() -> None:
    """P = 0.5, n = 10, z = 1.96: (0.5 + 0.19207 -+ 1.96 * sqrt(0.025 + 0.0096036)) / 1.38415."""
    rate = estimate_rate(5, 10)
    assert rate.value == 0.5
    assert rate.low == pytest.approx(0.2366, abs=1e-4)
    assert rate.high == pytest.approx(0.7634, abs=1e-4)


def test_wilson_keeps_its_width_at_the_ends() -> None:
    none, every = estimate_rate(0, 150), estimate_rate(150, 150)
    assert none.low == 0.0
    assert none.high == pytest.approx(0.02497, abs=1e-4)  # z^2 / (n + z^2)
    assert every.high == 1.0
    assert every.low == pytest.approx(1 - 0.02497, abs=1e-4)


def test_nothing_to_average() -> None:
    assert estimate_rate(0, 0) == EMPTY
    assert estimate_mean([], []) == EMPTY


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_mean_at_an_end_falls_back_to_one_trial_a_cluster(value: float) -> None:
    found = estimate_mean([value] * 12, list("aaabbbcccddd"), bounds=(0, 1))
    assert found == estimate_rate(int(4 * value), 4)


def test_differences_at_an_end() -> None:
    same = estimate_difference({"a": 1.0}, {"a": 1.0}, {"a": "n"})
    assert same == (0.0, 0.0, 0.0)
    apart = estimate_difference({"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}, {"a": 1, "b": 2})
    assert apart.value == 1.0
    assert apart.low is not None
    assert apart.low < 1.0


def test_only_shared_episodes_are_compared() -> None:
    found = estimate_difference({"a": 1.0, "x": 0.0}, {"a": 0.0, "y": 1.0}, {"a": 1, "x": 2})
    assert found.value == 1.0


def test_resampling_is_seeded() -> None:
    values, clusters = [0.0, 1.0, 0.5, 1.0], [1, 1, 2, 3]
    assert estimate_mean(values, clusters) == estimate_mean(values, clusters)
    assert estimate_mean(values, clusters).value == 0.625


def test_whole_clusters_are_resampled() -> None:
    """Copies of one episode add nothing: the interval does not shrink with them."""
    few = estimate_mean([0.0, 1.0], [0, 1])
    many = estimate_mean([0.0] * 50 + [1.0] * 50, [0] * 50 + [1] * 50)
    assert many == few


def test_bad_input() -> None:
    with pytest.raises(ConfigError, match="successes is 3; expected 0 to 2"):
        estimate_rate(3, 2)
    with pytest.raises(ConfigError, match="1 clusters for 2 values"):
        estimate_mean([1.0, 2.0], [1])


def test_coverage() -> None:
    """Norms differ in difficulty; 50 norms of 3 episodes; 95 % intervals hold 90 to 98 % of it."""
    rng = np.random.default_rng(1)
    held = {"wilson": 0, "norms": 0}
    rounds = 300
    for _ in range(rounds):
        difficulty = rng.beta(0.5, 0.5, 50)
        joint = (rng.random((50, 3)) < difficulty[:, None]).astype(float)
        by_norm = estimate_mean(joint.ravel().tolist(), np.repeat(range(50), 3), draws=500)
        wilson = estimate_rate(int(joint.sum()), joint.size)
        assert by_norm.low is not None
        assert by_norm.high is not None
        assert wilson.low is not None
        assert wilson.high is not None
        held["norms"] += by_norm.low <= 0.5 <= by_norm.high
        held["wilson"] += wilson.low <= 0.5 <= wilson.high
    assert 0.90 <= held["norms"] / rounds <= 0.98
    assert held["wilson"] < held["norms"]  # why both are shown
