"""Calibration: curves by hand, and that fitting mends a label that is too sharp."""

import numpy as np
import pytest

from normgym_envs.errors import ConfigError, StateError, UnknownNameError
from normgym_envs.market.calibration import (
    METHODS,
    Calibrator,
    expected_calibration_error,
    measure_reliability,
)


def test_curve_and_error_by_hand() -> None:
    # bin [0, .5]: p .1 .3, one good of two; bin (.5, 1]: p .8, good
    curve = measure_reliability([0.1, 0.3, 0.8], [0, 1, 1], bins=2)
    assert curve.predicted.tolist() == pytest.approx([0.2, 0.8])
    assert curve.observed.tolist() == [0.5, 1.0]
    assert curve.number.tolist() == [2, 1]
    error = expected_calibration_error([0.1, 0.3, 0.8], [0, 1, 1], bins=2)
    assert error == pytest.approx((2 * 0.3 + 0.2) / 3)


def test_only_one_outcome_still_has_a_curve() -> None:
    assert expected_calibration_error([0.9, 0.7], [1, 1], bins=1) == pytest.approx(0.2)


@pytest.mark.parametrize("method", METHODS)
def test_fitting_mends_labels_that_are_too_sharp(method: str) -> None:
    rng = np.random.default_rng(0)
    score = rng.uniform(-1, 1, 20_000)
    good = rng.random(20_000) < 1 / (1 + np.exp(-2 * score))
    sharp = 1 / (1 + np.exp(-8 * score))
    mended = Calibrator(method).fit(score[:10_000], good[:10_000]).predict(score[10_000:])
    assert expected_calibration_error(sharp[10_000:], good[10_000:]) > 0.1
    assert expected_calibration_error(mended, good[10_000:]) < 0.03
    assert ((mended >= 0) & (mended <= 1)).all()


def test_bad_input_is_refused() -> None:
    with pytest.raises(ConfigError, match="only 0 and 1"):
        measure_reliability([0.5], [2])
    with pytest.raises(ConfigError, match="2 outcomes for 1 labels"):
        measure_reliability([0.5], [0, 1])
    with pytest.raises(ConfigError, match="both"):
        Calibrator().fit([0.1, 0.2], [1, 1])
    with pytest.raises(UnknownNameError, match="isotonic"):
        Calibrator("isotonik")
    with pytest.raises(StateError):
        Calibrator().predict([0.1])
