"""Archetypes: means by hand, sources, and that the two presets differ where they say."""

import numpy as np
import pytest
from scipy import integrate, stats

from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.market import load_scenario, play
from normgym_envs.market.archetypes import ARCHETYPES, AS_RUN, AS_WRITTEN, PRESETS, RULES
from normgym_envs.market.quality import sample_labels
from normgym_envs.market.state import CHANNELS

NUMBER = 60_000


def near(labels: np.ndarray, mean: float) -> None:
    """Check a mean within five standard errors."""
    assert abs(labels.mean() - mean) < 5 * labels.std() / np.sqrt(len(labels)) + 1e-9


@pytest.mark.parametrize(
    ("archetype", "low", "high"),
    [
        ("honest", 0.721, 0.750),
        ("cautious_reciprocator", 0.721, 0.750),
        ("opportunistic", 0.607, 0.622),
        ("deceptive", 0.631, 0.653),
        ("adversarial", 0.403, 0.393),
        ("threshold_dancer", 0.403, 0.393),
        ("cautious", 0.403, 0.393),
    ],
)
def test_as_run_means_are_those_of_the_released_generator(archetype, low, high) -> None:
    assert sample_labels(archetype, number=NUMBER).mean() == pytest.approx(low, abs=0.0015)
    labels = sample_labels(archetype, reputation=1.0, number=NUMBER)
    assert labels.mean() == pytest.approx(high, abs=0.0015)


def test_as_run_labels_stay_in_the_released_ranges() -> None:
    for archetype, low, high in (
        ("honest", 0.637, 0.843),
        ("opportunistic", 0.458, 0.788),
        ("deceptive", 0.500, 0.808),
        ("adversarial", 0.278, 0.529),
    ):
        labels = sample_labels(archetype, reputation=1.0, number=NUMBER)
        assert low - 0.003 < labels.min() < low + 0.02
        assert high - 0.02 < labels.max() < high + 0.003


def sigmoid(score):
    """Return the label of a score at k = 2."""
    return 1 / (1 + np.exp(-2 * score))


def mean_over_normal(mean, sd, label) -> float:
    """Return the mean of label(t, e) over a normal t cut to [-1, 1]; e is integrated by label."""
    normal = stats.norm(mean, sd)
    inside = integrate.quad(lambda t: label(t) * normal.pdf(t), -1, 1, points=[mean])[0]
    return inside + label(-1.0) * normal.cdf(-1) + label(1.0) * normal.sf(1)


def over_uniform(low, high, label) -> float:
    """Return the mean of label(e) over a uniform e."""
    return integrate.quad(label, low, high)[0] / (high - low)


def test_as_written_honest_mean_by_hand() -> None:
    # no rework, rejections or misuse: v = .4 t + .4 + .2 e, t N(.8, .1), e U(.2, .6)
    expected = mean_over_normal(
        0.8, 0.1, lambda t: over_uniform(0.2, 0.6, lambda e: sigmoid(0.4 * t + 0.4 + 0.2 * e))
    )
    assert expected == pytest.approx(0.8315, abs=0.001)  # at the means: v = .8, p = .832
    near(sample_labels("honest", preset="as_written", number=NUMBER), expected)


def test_as_written_opportunistic_mean_by_hand() -> None:
    # t N(.4, .4), rework Poisson(1), rejections 0 or 1, e U(-.2, .3)
    def label(t: float) -> float:
        total = 0.0
        for rework in range(12):
            chance = stats.poisson(1).pmf(rework)
            for rejections in (0, 1):
                fixed = 0.2 * (2 * 0.3**rework - 1) + 0.1 * (2 * 0.4**rejections - 1) + 0.1
                total += (
                    chance
                    / 2
                    * over_uniform(
                        -0.2, 0.3, lambda e, fixed=fixed: sigmoid(0.4 * t + fixed + 0.2 * e)
                    )
                )
        return total

    near(
        sample_labels("opportunistic", preset="as_written", number=NUMBER),
        mean_over_normal(0.4, 0.4, label),
    )


def test_as_written_deceptive_agents_inflate_engagement_without_value() -> None:
    # t about 0, no rework: v = .2 + .1 + .1 (2 * .4^r - 1) + .2 e, e U(.6, 1)
    expected = mean_over_normal(
        0.0,
        0.1,
        lambda t: np.mean(
            [
                over_uniform(0.6, 1.0, lambda e, r=r: sigmoid(0.4 * t + 0.3 + r + 0.2 * e))
                for r in (0.1, -0.02)
            ]
        ),
    )
    near(sample_labels("deceptive", preset="as_written", number=NUMBER), expected)


def test_as_written_dancers_sit_just_above_the_threshold() -> None:
    labels = sample_labels("threshold_dancer", preset="as_written", threshold=0.6, number=500)
    np.testing.assert_allclose(labels, 0.62, atol=1e-12)


def test_as_written_adversaries_are_worse_than_anybody() -> None:
    means = {
        name: sample_labels(name, preset="as_written", number=5000).mean() for name in ARCHETYPES
    }
    assert means["adversarial"] < 0.3
    assert min(means, key=means.__getitem__) in ("adversarial", "adaptive_adversary")


def test_every_parameter_says_where_it_stands() -> None:
    for preset in PRESETS.values():
        assert tuple(preset) == ARCHETYPES
        for row in preset.values():
            for channel in CHANNELS:
                assert getattr(row, channel).source
    written = [getattr(AS_WRITTEN[name], c).source for name in ARCHETYPES for c in CHANNELS]
    assert all("SW App. B" in text or "not specified; chosen because" in text for text in written)
    assert AS_RUN.keys() == AS_WRITTEN.keys()
    assert set(RULES) == set(PRESETS)


def test_as_written_reputation_earns_and_adaptive_adversaries_act() -> None:
    runs = play(load_scenario("adversarial_redteam"), [1, 2, 3], preset="as_written")
    names = np.array(runs.scenario.archetypes)
    one = np.concatenate([runs.row(row) for row in range(3)])
    assert (names[one["initiator"]] == "adaptive_adversary").any()
    assert (one["transfer"] < 0).any()
    pay = runs.scenario.payoffs
    surplus = one["p"] * pay.surplus_good - (1 - one["p"]) * pay.surplus_bad
    # rewards follow reputation, which an audit penalty lowers before payoffs are settled
    income = pay.reputation_weight * (one["reputation_before"] - one["penalty"])
    expected = 0.5 * surplus - one["transfer"] - one["cost_initiator"] + income
    np.testing.assert_allclose(one["payoff_initiator"], expected, atol=1e-12)


def test_as_written_rehabilitation_follows_a_freeze() -> None:
    base = load_scenario("adversarial_redteam")
    strict = base.with_lever("circuit_breaker", threshold=0.5, violations=1, freeze_epochs=1)
    strict = strict.with_lever("staking", minimum=0.0)
    found = False
    for seed in range(10):
        runs = play(strict, [seed], preset="as_written")
        events, one = runs.row_events(0), runs.row(0)
        adaptive = [i for i, n in enumerate(strict.archetypes) if n == "adaptive_adversary"]
        for event in events[events["released"]]:
            if event["agent"] not in adaptive:
                continue
            next_ones = one[(one["epoch"] == event["epoch"]) & (one["initiator"] == event["agent"])]
            if len(next_ones):
                found = True
                assert next_ones[0]["task"] > 0.3
    assert found


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'honest'"):
        sample_labels("honnest")
    with pytest.raises(UnknownNameError, match="as_run"):
        sample_labels("honest", preset="as_ran")
    with pytest.raises(ConfigError, match="number"):
        sample_labels("honest", number=0)
