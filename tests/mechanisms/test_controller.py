"""The adaptive controller: when it moves, which way, and that it takes bad moves back."""

import numpy as np
import pytest

from normgym_envs.errors import ConfigError
from normgym_envs.mechanisms import Controller, ControllerConfig
from normgym_envs.mechanisms.controller import fit_slope

VALUES = {("circuit_breaker", "threshold"): 0.7, ("random_audit", "probability"): 0.1}


def feed(controller: Controller, toxicity, welfare=10.0):
    """Return what the controller asks for after each epoch."""
    return [
        controller.end_epoch(epoch, float(value), welfare, VALUES)
        for epoch, value in enumerate(toxicity)
    ]


def test_it_tightens_only_when_toxicity_is_high_and_rising() -> None:
    # .50, .52, ... .70: slope .02 an epoch, strength .2: threshold .7 - .02, probability .1 - .01
    asked = feed(Controller(ControllerConfig()), 0.5 + 0.02 * np.arange(11))
    assert not any(asked[:10])
    moved = asked[10]
    assert moved["circuit_breaker", "threshold"] == pytest.approx(0.68)
    assert moved["random_audit", "probability"] == pytest.approx(0.09)  # the released direction


def test_corrected_tightening_audits_more() -> None:
    asked = feed(Controller(ControllerConfig(corrected=True)), 0.5 + 0.02 * np.arange(11))
    assert asked[10]["random_audit", "probability"] == pytest.approx(0.11)


@pytest.mark.parametrize(
    "toxicity", [np.full(30, 0.34), 0.45 - 0.005 * np.arange(30), 0.3 + 0.004 * np.arange(30)]
)
def test_it_does_nothing_between_its_limits(toxicity) -> None:
    assert not any(feed(Controller(ControllerConfig()), toxicity))


def test_it_takes_back_a_change_that_made_things_worse() -> None:
    controller = Controller(ControllerConfig(interval=10))
    asked = feed(controller, np.concatenate([0.5 + 0.02 * np.arange(11), np.full(5, 0.9)]))
    assert asked[15] == VALUES
    assert {change.status for change in controller.changes} == {"reverted"}


def test_after_taking_back_it_starts_from_the_old_value() -> None:
    controller = Controller(ControllerConfig())
    present = dict(VALUES)
    for epoch, value in enumerate([*(0.5 + 0.02 * np.arange(11)), *[0.9] * 5]):
        present |= controller.end_epoch(epoch, float(value), 10.0, present)
    assert controller.changes[2].before == 0.7


def test_it_keeps_a_change_that_helped() -> None:
    controller = Controller(ControllerConfig(interval=10))
    asked = feed(controller, np.concatenate([0.5 + 0.02 * np.arange(11), np.full(5, 0.4)]))
    assert not asked[15]
    assert {change.status for change in controller.changes} == {"kept"}


def test_slope_of_a_line_and_of_nothing() -> None:
    assert fit_slope(np.array([1.0, 1.0, 1.0])) == (0.0, 0.0)
    slope, t = fit_slope(np.array([0.0, 1.0, 2.0, 3.0, 4.5]))
    assert slope == pytest.approx(1.1)
    assert t > 2


def test_limits_that_cross_are_refused() -> None:
    with pytest.raises(ConfigError, match="low"):
        ControllerConfig(low=0.6, high=0.5)
