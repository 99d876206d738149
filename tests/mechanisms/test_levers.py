"""Worked examples by hand, one or more a lever, and what every lever must do."""

import numpy as np
import pytest

from normgym_envs.errors import ConfigError, SeedError, UnknownNameError
from normgym_envs.mechanisms import (
    LEVERS,
    CircuitBreaker,
    CircuitBreakerConfig,
    Collusion,
    CollusionConfig,
    Externality,
    ExternalityConfig,
    RandomAudit,
    RandomAuditConfig,
    ReputationDecay,
    ReputationDecayConfig,
    Staking,
    StakingConfig,
    Standing,
    TransactionTax,
    TransactionTaxConfig,
    compose,
    find_lever,
    make_interactions,
)


def stand(reputation, resources=None) -> Standing:
    """Return standings of one row or more."""
    first = np.atleast_2d(np.asarray(reputation, np.float64))
    second = np.zeros_like(first) if resources is None else np.atleast_2d(resources)
    return Standing(first, np.asarray(second, np.float64))


def test_tax_is_a_share_of_the_estimated_surplus() -> None:
    # p .8: base 3 * .8 - 1 = 1.4; rate .1, initiator .6: .084 and .056
    lever = TransactionTax(TransactionTaxConfig(rate=0.1, initiator_share=0.6))
    one = make_interactions([[0, 0, 0, 0]], [[1, 1, 1, 1]], [[0.8, 0.2, 0.8, 0.2]])
    one = one._replace(
        accepted=np.array([[True, True, False, True]]), transfer=np.array([[0, 0, 0, -0.5]])
    )
    effects = lever.apply(None, one, 2)
    np.testing.assert_allclose(effects.cost_initiator, [[0.084, 0, 0, 0.03]], atol=1e-15)
    np.testing.assert_allclose(effects.cost_counterparty, [[0.056, 0, 0, 0.02]], atol=1e-15)


def test_tax_on_the_transfer_alone_leaves_interactions_without_one_untaxed() -> None:
    lever = TransactionTax(TransactionTaxConfig(rate=0.1, on_transfer=True))
    effects = lever.apply(None, make_interactions([[0, 0]], [[1, 1]], 0.8, transfer=[[0, -1]]), 2)
    np.testing.assert_allclose(effects.cost_initiator, [[0, 0.05]])


def test_breaker_counts_crossings_of_the_running_mean_and_freezes_at_the_limit() -> None:
    # toxicities .2 .6 .8: means .2 .4 .533; threshold .39 is reached twice, the second freezes
    lever = CircuitBreaker(
        CircuitBreakerConfig(threshold=0.39, violations=2, freeze_epochs=3, either=False)
    )
    state = lever.start(1, 2)
    first = lever.apply(state, make_interactions([[0, 0]], [[1, 1]], [[0.8, 0.4]]), 2)
    assert not first.freeze.any()
    assert state[0][0, 0]["violations"] == 1
    second = lever.apply(state, make_interactions([[0]], [[1]], [[0.2]], accepted=False), 2)
    assert second.freeze.tolist() == [[True, False]]
    assert lever.access(state, stand([0, 0])).tolist() == [[False, True]]
    # frozen in epoch 0 for 3: released when epoch 3 starts, window kept, violations gone
    assert not lever.end_epoch(state, stand([0, 0]), 2).release.any()
    assert lever.end_epoch(state, stand([0, 0]), 3).release.tolist() == [[True, False]]
    assert state[0][0, 0]["violations"] == 0
    assert state[0][0, 0]["length"] == 3


def test_breaker_forgets_what_is_older_than_ten_interactions() -> None:
    lever = CircuitBreaker(CircuitBreakerConfig(threshold=0.5, violations=1))
    state = lever.start(1, 2)
    good = make_interactions([[0] * 12], [[1] * 12], 1.0)
    bad = make_interactions([[0] * 4], [[1] * 4], 0.0)
    assert not lever.apply(state, good, 2).freeze.any()
    assert not lever.apply(state, bad, 2).freeze.any()  # 4 of 10
    assert lever.apply(state, bad, 2).freeze[0, 0]  # 5 of 10 is reached


def test_breaker_to_the_letter_freezes_on_toxicity_alone() -> None:
    lever = CircuitBreaker(CircuitBreakerConfig(threshold=0.5, violations=9, either=True))
    state = lever.start(1, 2)
    assert lever.apply(state, make_interactions([[0]], [[1]], 0.4), 2).freeze[0, 0]


def test_decay_multiplies_reputation() -> None:
    lever = ReputationDecay(ReputationDecayConfig(factor=0.85))
    change = lever.end_epoch(None, stand([2.0, -1.0]), 1).reputation
    np.testing.assert_allclose(change, [[-0.3, 0.15]])


def test_audit_prices_the_missing_label_and_costs_as_much_reputation() -> None:
    # p .4 under threshold .6: .2 * 3 = .6, also when rejected; p .7 is no violation
    lever = RandomAudit(RandomAuditConfig(probability=1.0, multiplier=3.0, threshold=0.6))
    one = make_interactions([[1, 1]], [[0, 0]], [[0.4, 0.7]], accepted=False)
    effects = lever.apply(lever.start(1, 2, 5), one, 2)
    np.testing.assert_allclose(effects.cost_initiator, [[0.6, 0]])
    np.testing.assert_allclose(effects.reputation, [[0, -0.6]])
    assert not effects.cost_counterparty.any()


def test_audits_come_as_often_as_they_should() -> None:
    lever = RandomAudit(RandomAuditConfig(probability=0.25, threshold=1.0))
    one = make_interactions(np.zeros((1, 20_000)), np.ones((1, 20_000)), 0.5)
    hits = (lever.apply(lever.start(1, 2, 3), one, 2).cost_initiator > 0).mean()
    assert abs(hits - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 20_000)


def test_externality_charges_both_sides_of_accepted_interactions() -> None:
    # h 2, p .7: harm .6; rho .3 and .1
    lever = Externality(ExternalityConfig(initiator=0.3, counterparty=0.1))
    one = make_interactions([[0, 0]], [[1, 1]], 0.7, accepted=[[True, False]], harm=0.6)
    effects = lever.apply(None, one, 2)
    np.testing.assert_allclose(effects.cost_initiator, [[0.18, 0]])
    np.testing.assert_allclose(effects.cost_counterparty, [[0.06, 0]])


def test_stake_keeps_the_poor_from_acting() -> None:
    lever = Staking(StakingConfig(minimum=10))
    assert lever.access(None, stand([0, 0, 0], [9.9, 10, 100])).tolist() == [[False, True, True]]


def test_honest_pair_under_a_tax_is_flagged_as_colluding() -> None:
    # Ten accepted proposals 0 -> 1 with costs in a fixed ratio, one 0 -> 2:
    # counts 10 and 1, mean 5.5, sd 4.5, z = 1: frequency .25 * 1/2; correlation .30 * 1;
    # acceptance .20 * 1; quality 0; confidence 1: .125 + .3 + .2 = .625
    from normgym_envs.mechanisms.collusion import PAIR_DTYPE, analyse, remember

    pairs = np.zeros(3, PAIR_DTYPE)
    pairs["first"], pairs["second"] = (0, 0, 1), (1, 2, 2)
    for i in range(10):
        remember(pairs[0], 0, True, 0.75, 0.0, 0.01 * (i + 1), 0.02 * (i + 1))
    remember(pairs[1], 0, True, 0.75, 0.0, 0.01, 0.02)
    risk = np.zeros(3)
    ran, flagged, groups, ecosystem = analyse(pairs, 3, 3, 2.0, 3, 0.5, False, risk)
    assert ran
    assert (flagged, groups) == (1, 0)
    np.testing.assert_allclose(risk, [0.625, 0.625, 0])
    # group of 2: inside 10 of 11, bias .818, no difference of p: .4 * .818 * (.5 + .2) = .229
    np.testing.assert_allclose(ecosystem, 0.3 / 3)


def test_collusion_group_is_scored_and_joins_the_risk() -> None:
    # three agents, all flagged and alone with each other: bias 1; p inside .9, outside .5 (none):
    # (.4 + .6 * .4) * (.5 + .5 * 3/5) = .64 * .8 = .512
    from normgym_envs.mechanisms.collusion import PAIR_DTYPE, analyse, remember

    pairs = np.zeros(3, PAIR_DTYPE)
    pairs["first"], pairs["second"] = (0, 0, 1), (1, 2, 2)
    for pair in pairs:
        for i in range(10):
            remember(pair, pair["first"], True, 0.9, 0.0, 0.01 * i, 0.02 * i)
    risk = np.zeros(4)
    ran, flagged, groups, ecosystem = analyse(pairs, 3, 4, 2.0, 3, 0.5, False, risk)
    assert (ran, flagged, groups) == (True, 3, 1)
    np.testing.assert_allclose(risk, [0.512, 0.512, 0.512, 0])  # the pairs alone: .5
    np.testing.assert_allclose(ecosystem, 0.3 * 3 / 6 + 0.3 * 3 / 4 + 0.4 * 0.512)


def test_collusion_fines_between_epochs_and_charges_flagged_pairs_live() -> None:
    lever = Collusion(CollusionConfig(score=0.1, multiplier=2.0, live_rate=0.1))
    state = lever.start(1, 3)
    many = make_interactions([[0] * 10], [[1] * 10], 0.75)
    assert not lever.apply(state, many, 3).cost_initiator.any()
    # no costs, so no correlation; one pair, so z 0: .20 * 1 = .2. As a group: nothing outside,
    # bias 1, p .75 against .5: (.4 + .6 * .25) * (.5 + .5 * 2/5) = .385, which is more
    effects = lever.end_epoch(state, stand([0, 0, 0]), 1)
    np.testing.assert_allclose(effects.reputation, [[-0.77, -0.77, 0]])
    np.testing.assert_allclose(effects.resources, [[-7.7, -7.7, 0]])
    live = lever.apply(state, make_interactions([[0, 0]], [[1, 2]], 0.75), 3)
    np.testing.assert_allclose(live.cost_counterparty, [[0.0385, 0]])


def make(name: str):
    """Return a lever that does something, by name."""
    lever, config = find_lever(name)
    settings = {
        "transaction_tax": {"rate": 0.1},
        "reputation_decay": {"factor": 0.5},
        "staking": {"minimum": 5.0},
        "circuit_breaker": {"threshold": 0.3, "violations": 2},
        "random_audit": {"probability": 0.5, "threshold": 0.9},
        "collusion": {"score": 0.05, "live_rate": 0.5},
        "externality": {"initiator": 0.5, "counterparty": 0.5},
    }
    return lever(config(**settings[name]))  # type: ignore[call-arg]


def random_interactions(rng, rows: int, number: int = 40, agents: int = 4):
    """Return random interactions; some places are padding."""
    a = rng.integers(agents, size=(rows, number))
    c = (a + rng.integers(1, agents, size=a.shape)) % agents
    pad = rng.random(a.shape) < 0.1
    return make_interactions(
        np.where(pad, -1, a),
        np.where(pad, -1, c),
        rng.random(a.shape),
        accepted=rng.random(a.shape) < 0.6,
        transfer=rng.normal(size=a.shape),
        harm=rng.random(a.shape),
    )


@pytest.mark.parametrize("name", LEVERS)
def test_batch_equals_rows_one_by_one(name: str) -> None:
    rng = np.random.default_rng(1)
    interactions, seeds = random_interactions(rng, 5), [3, 1, 4, 1, 5]
    standing = stand(rng.normal(size=(5, 4)), rng.random((5, 4)) * 10)
    lever = make(name)
    state = lever.start(5, 4, seeds)
    whole = [lever.apply(state, interactions, 4), lever.end_epoch(state, standing, 2)]
    access = lever.access(state, standing)
    for row in range(5):
        alone = lever.start(1, 4, seeds[row])
        one = type(interactions)(*(field[row : row + 1] for field in interactions))
        own = Standing(*(field[row : row + 1] for field in standing))
        for batch, single in zip(
            whole, [lever.apply(alone, one, 4), lever.end_epoch(alone, own, 2)], strict=True
        ):
            for left, right in zip(batch, single, strict=True):
                assert left[row].tobytes() == right[0].tobytes()
        assert (lever.access(alone, own)[0] == access[row]).all()


@pytest.mark.parametrize("name", LEVERS)
def test_effects_have_the_declared_shapes_and_padding_costs_nothing(name: str) -> None:
    lever, interactions = make(name), random_interactions(np.random.default_rng(2), 3)
    state = lever.start(3, 4, 7)
    effects = lever.apply(state, interactions, 4)
    assert effects.cost_initiator.shape == effects.cost_counterparty.shape == (3, 40)
    assert effects.reputation.shape == effects.resources.shape == effects.freeze.shape == (3, 4)
    assert not effects.cost_initiator[interactions.initiator < 0].any()


def test_off_means_without_effect() -> None:
    interactions = random_interactions(np.random.default_rng(3), 2)
    standing = stand(np.ones((2, 4)), np.ones((2, 4)))
    for lever in (TransactionTax(), ReputationDecay(), Staking(), RandomAudit(), Externality()):
        state = lever.start(2, 4, 0)
        for effects in (
            lever.apply(state, interactions, 4),
            lever.end_epoch(state, standing, 1),
        ):
            assert not any(field.any() for field in effects)
        assert lever.access(state, standing).all()


def test_composition_adds_effects_in_the_declared_order() -> None:
    levers = [make(name) for name in reversed(LEVERS)]
    both = compose(levers)
    assert [lever.name for lever in both.levers] == list(LEVERS)
    interactions = random_interactions(np.random.default_rng(4), 2)
    total = both.apply(both.start(2, 4, 9), interactions, 4)
    parts = [lever.apply(lever.start(2, 4, 9), interactions, 4) for lever in both.levers]
    np.testing.assert_allclose(total.cost_initiator, sum(part.cost_initiator for part in parts))
    np.testing.assert_allclose(total.reputation, sum(part.reputation for part in parts))
    assert (total.freeze == np.any([part.freeze for part in parts], axis=0)).all()


def test_bad_input_is_refused_with_the_name_of_the_field() -> None:
    with pytest.raises(ConfigError, match=r"rate is 1\.5; expected 0 to 1"):
        TransactionTaxConfig(rate=1.5)
    with pytest.raises(ConfigError, match="violations"):
        CircuitBreakerConfig(violations=0)
    with pytest.raises(ConfigError, match="multiplier"):
        RandomAuditConfig(multiplier=float("nan"))
    with pytest.raises(ConfigError, match=r"p is 1\.2"):
        make_interactions([[0]], [[1]], 1.2)
    with pytest.raises(ConfigError, match="interactions"):
        make_interactions([[0, 1]], [[1, 0, 0]], 0.5)
    with pytest.raises(ConfigError, match="2 times"):
        compose([TransactionTax(), TransactionTax()])
    with pytest.raises(UnknownNameError, match="did you mean 'staking'"):
        find_lever("stakin")
    with pytest.raises(SeedError):
        RandomAudit().start(1, 2, -1)
