"""The comparison of learners: every one of them learns, and the faster one is said to be."""

import pytest

from normgym_envs.errors import ConfigError
from training.stacked.speed import (
    BASELINE,
    CONTENDERS,
    STACKED,
    Speed,
    describe_speed,
    measure_speed,
)


def test_ratios_are_of_medians() -> None:
    speeds = [Speed("a", (10, 30, 20), (40, 41, 42)), Speed("b", (1, 60, 900), (8.2, 9, 1))]
    assert [line.split() for line in describe_speed(speeds)[1:]] == [
        ["a", "20", "1.0", "41", "1.0"],
        ["b", "60", "3.0", "8", "0.2"],
    ]


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="num_norms is 51; expected 1 to 50"):
        measure_speed(num_norms=51)
    with pytest.raises(ConfigError, match="turns is 0"):
        measure_speed(turns=0)


@pytest.mark.slow
def test_a_stack_is_at_least_three_times_as_fast() -> None:
    """By processor time, so that other programs do not decide; measured 15 to 18 times."""
    speeds = {speed.learner: speed for speed in measure_speed(turns=2, seconds=0.5)}
    assert tuple(speeds) == CONTENDERS
    assert speeds[STACKED].cpu_rate > 3 * speeds[BASELINE].cpu_rate > 0
