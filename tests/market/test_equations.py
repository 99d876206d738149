"""SW eq. 1 to 11 and the other metrics, each worked by hand."""

import numpy as np
import pytest

from normgym_envs.errors import ConfigError
from normgym_envs.market import metrics
from normgym_envs.market.payoffs import (
    Payoffs,
    break_even,
    compute_harm,
    compute_payoffs,
    compute_surplus,
)
from normgym_envs.market.proxy import compute_score
from normgym_envs.market.soft_label import compute_label


def test_score_by_hand() -> None:
    # rework 2: 2 * .09 - 1 = -.82; rejection 1: -.2; misuse 1: 0; verifier -.1
    # .4 * .5 + .2 * -.82 + .2 * -.1 + .2 * .3 = .2 - .164 - .02 + .06 = .076
    assert compute_score(0.5, 2, 1, 1, 0.3).item() == pytest.approx(0.076)
    assert compute_score([1, -1], 0, 0, 0, [1, -1]).tolist() == pytest.approx([1.0, -0.2])


def test_label_by_hand() -> None:
    assert compute_label(0.0).item() == 0.5
    assert compute_label(0.5).item() == pytest.approx(1 / (1 + np.exp(-1)))
    assert compute_label([-1.0, 1.0]).tolist() == pytest.approx([0.1192029, 0.8807971])
    assert compute_label(-1000.0, 2.0).item() == 0.0


def test_payoffs_by_hand() -> None:
    # p .75, s+ 2, s- 1, h 2: surplus 1.25, harm .5
    pay = Payoffs(reputation_weight=2.0)
    assert compute_surplus(0.75, pay).item() == 1.25
    assert compute_harm(0.75, pay).item() == 0.5
    both = compute_payoffs(
        0.75,
        pay,
        transfer=0.1,
        cost_initiator=0.05,
        cost_counterparty=0.02,
        rho_initiator=0.2,
        rho_counterparty=0.4,
        reputation_initiator=0.5,
        reputation_counterparty=-0.25,
    )
    assert both.initiator.item() == pytest.approx(0.625 - 0.1 - 0.05 - 0.1 + 1.0)
    assert both.counterparty.item() == pytest.approx(0.625 + 0.1 - 0.02 - 0.2 - 0.5)


def test_break_even_points_of_the_baseline() -> None:
    assert break_even(Payoffs()) == pytest.approx(1 / 3)
    assert break_even(Payoffs(), with_harm=True) == pytest.approx(0.6)
    assert break_even(Payoffs(surplus_good=0, surplus_bad=0)) is None


P = [[0.8, 0.6, 0.4, 0.2], [0.5, 0.5, 0.5, 0.5]]
ACCEPTED = [[True, True, False, False], [False, False, False, False]]


def test_metrics_by_hand() -> None:
    pay = Payoffs()
    assert metrics.toxicity(P, ACCEPTED)[0] == pytest.approx(0.3)
    assert metrics.quality_gap(P, ACCEPTED)[0] == pytest.approx(0.7 - 0.3)
    # payoffs 1, .5, 0, -.5: accepted .75, all .25
    loss = metrics.conditional_loss([[1, 0.5, 0, -0.5]], ACCEPTED[:1])
    assert loss[0] == pytest.approx(0.5)
    assert metrics.spread(P, ACCEPTED, pay)[0] == pytest.approx(3 * (0.7 - 0.5))
    # .8: 1.4 - .4 = 1; .6: .8 - .8 = 0
    assert metrics.net_social_welfare(P, ACCEPTED, pay)[0] == pytest.approx(1.0)
    assert metrics.welfare([[1, 2, 3, 4]], [[1, 1, 1, 1]], ACCEPTED[:1])[0] == 5
    assert metrics.quality_variance(P, ACCEPTED)[0] == pytest.approx(0.01)


def test_metrics_over_epochs_by_hand() -> None:
    epoch = [[0, 1, 1, 2]]
    by_epoch = metrics.toxicity_by_epoch(P[:1], [[1, 1, 1, 0]], epoch, 4)
    assert by_epoch.tolist() == [[pytest.approx(0.2), pytest.approx(0.5), None, None]]
    line = np.ma.masked_invalid([[0.1, 0.2, np.nan, 0.4]])
    assert metrics.toxicity_trend(line)[0] == pytest.approx(0.1)
    # halves: {.8, .6} and {.4, .2}: every label moves by .4
    shift = metrics.distribution_shift(P[:1], [[1, 1, 1, 1]], [[0, 0, 1, 1]], 2)
    assert shift[0] == pytest.approx(0.4)


def test_what_does_not_exist_is_masked_and_says_why() -> None:
    found = {
        "toxicity": metrics.toxicity(P, ACCEPTED)[1],
        "quality_gap": metrics.quality_gap(P, ACCEPTED)[1],
        "spread": metrics.spread(P, ACCEPTED, Payoffs())[1],
        "quality_variance": metrics.quality_variance(P, ACCEPTED)[1],
        "conditional_loss": metrics.conditional_loss(P, ACCEPTED)[1],
        "acceptance_correlation": metrics.acceptance_correlation(P, ACCEPTED)[1],
        "distribution_shift": metrics.distribution_shift(P, ACCEPTED, np.zeros((2, 4)), 2)[1],
        "toxicity_trend": metrics.toxicity_trend(np.ma.masked_all((1, 5)))[0],
    }
    for name, value in found.items():
        plain = metrics.describe(name, value)
        assert plain["value"] is None
        assert plain["reason"]


def test_padding_does_not_move_a_bit() -> None:
    rng = np.random.default_rng(0)
    p, accepted = rng.random((1, 333)), rng.random((1, 333)) < 0.5
    longer = np.pad(p, ((0, 0), (0, 700)), constant_values=0.5)
    flags = np.pad(accepted, ((0, 0), (0, 700)))
    assert metrics.toxicity(p, accepted)[0] == metrics.toxicity(longer, flags)[0]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ((0.5, 0.5, 0.5, -0.5), "at least 0"),
        ((0.4, 0.2, 0.2, 0.3), "sums to 1.1"),
        ((0.5, 0.5), "2 numbers"),
        ("heavy", "four numbers"),
        ((np.nan, 0.5, 0.25, 0.25), "at least 0"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        compute_score(0, 0, 0, 0, 0, weights)


def test_labels_that_are_none_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"p is 1\.1"):
        metrics.toxicity([[1.1]], [[True]])
    with pytest.raises(ConfigError, match="p is nan"):
        compute_surplus(np.nan, Payoffs())
    with pytest.raises(ConfigError, match="task"):
        compute_score(2.0, 0, 0, 0, 0)
    with pytest.raises(ConfigError, match="shape"):
        metrics.toxicity([[0.5, 0.5]], [[True]])
    with pytest.raises(ConfigError, match="sharpness"):
        compute_label(0.5, 0.0)
