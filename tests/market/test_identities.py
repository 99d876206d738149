"""What must hold exactly in the preset that behaves like the released runs."""

import numpy as np
import pytest

from normgym_envs.market import Runs, list_scenarios, load_scenario, play
from normgym_envs.market.metrics import measure

SEEDS = range(1, 21)


@pytest.fixture(scope="module")
def played() -> dict[str, Runs]:
    """Return every scenario over some seeds."""
    return {name: play(load_scenario(name), SEEDS) for name in list_scenarios()}


@pytest.mark.parametrize("name", list_scenarios())
def test_welfare_is_the_sum_of_its_parts(played, name: str) -> None:
    runs = played[name]
    pay, rho = runs.scenario.payoffs, runs.scenario.levers.externality
    both = 0.0 if rho is None else rho.initiator + rho.counterparty
    welfare = measure(runs)["welfare"]
    for row in range(len(runs.seeds)):
        one = runs.row(row)
        one = one[one["accepted"]]
        parts = (
            one["p"] * pay.surplus_good
            - (1 - one["p"]) * pay.surplus_bad
            - one["cost_initiator"]
            - one["cost_counterparty"]
            - both * (1 - one["p"]) * pay.harm
        )
        assert welfare[row] == pytest.approx(parts.sum(), abs=1e-9)
        assert not one["transfer"].any()


@pytest.mark.parametrize("name", list_scenarios())
def test_toxicity_is_explained_by_rejections(played, name: str) -> None:
    found = measure(played[name])
    rejected = 1 - found["accepted"] / found["interactions"]
    right = (1 - found["mean_p"]) - rejected * found["quality_gap"]
    here = ~np.ma.getmaskarray(right)
    assert here.any()
    np.testing.assert_allclose(found["toxicity"][here], right[here], atol=1e-12)


@pytest.mark.parametrize("name", list_scenarios())
def test_costs_and_labels_stay_in_their_ranges(played, name: str) -> None:
    runs = played[name]
    levers = runs.scenario.levers
    rate = 0.0 if levers.transaction_tax is None else levers.transaction_tax.rate
    for row in range(len(runs.seeds)):
        one = runs.row(row)
        assert ((one["p"] > 0.119) & (one["p"] < 0.881)).all()
        tax = np.where(one["accepted"], rate * np.maximum(0, 3 * one["p"] - 1), 0)
        np.testing.assert_allclose(one["tax_initiator"] + one["tax_counterparty"], tax, atol=1e-12)


def test_rho_moves_no_decision_and_welfare_is_linear_in_it() -> None:
    base = load_scenario("misalignment_sweep")
    welfare, first = [], None
    for rho in (0.0, 0.5, 1.0):
        runs = play(base.with_lever("externality", initiator=rho, counterparty=rho), SEEDS)
        welfare.append(measure(runs)["welfare"])
        kept = [
            b"".join(
                runs.row(row)[name].tobytes()
                for name in ("initiator", "counterparty", "accepted", "p", "cost_initiator")
            )
            for row in range(len(runs.seeds))
        ]
        first = first or kept
        assert kept == first
    np.testing.assert_allclose(welfare[1], (welfare[0] + welfare[2]) / 2, atol=1e-9)


def test_reputation_weight_has_no_effect_and_harm_none_without_rho() -> None:
    base = load_scenario("adversarial_redteam")
    other = base.model_copy(
        update={"payoffs": type(base.payoffs)(3.0, 1.5, harm=2.5, reputation_weight=2.0)}
    )
    left, right = play(base, SEEDS), play(other, SEEDS)
    assert left.records.tobytes() == right.records.tobytes()


def test_breaker_thresholds_no_one_reaches_give_the_same_run() -> None:
    base = load_scenario("strict_governance")
    left, right = (
        play(base.with_lever("circuit_breaker", threshold=value), SEEDS) for value in (0.65, 0.80)
    )
    # a first interaction may cross the lower one without ever freezing anybody
    for name in left.records.dtype.names:
        if name != "violations":
            assert left.records[name].tobytes() == right.records[name].tobytes(), name


def test_cautious_and_adaptive_adversaries_take_no_part(played) -> None:
    runs = played["misalignment_sweep"]
    cautious = runs.scenario.archetypes.index("cautious")
    for row in range(len(runs.seeds)):
        one = runs.row(row)
        assert not (one["initiator"] == cautious).any()
        assert not (one["accepted"] & (one["counterparty"] == cautious)).any()
    assert not runs.agents["payoff"][:, cautious].any()
    runs = played["adversarial_redteam"]
    names = np.array(runs.scenario.archetypes)
    for row in range(len(runs.seeds)):
        assert not (names[runs.row(row)["initiator"]] == "adaptive_adversary").any()


def test_who_always_accepts_whom(played) -> None:
    always = {("honest", "honest"), ("cautious_reciprocator", "honest")}
    for runs in played.values():
        names = np.array(runs.scenario.archetypes)
        for row in range(len(runs.seeds)):
            one = runs.row(row)
            pairs = zip(names[one["initiator"]], names[one["counterparty"]], strict=True)
            for pair, accepted in zip(pairs, one["accepted"], strict=True):
                if pair in always:
                    assert accepted, pair


def test_dancers_get_every_honest_agent_and_no_reciprocator_without_credit(played) -> None:
    runs = played["threshold_dancer"]
    names = np.array(runs.scenario.archetypes)
    refused = taken = 0
    for row in range(len(runs.seeds)):
        ledger: dict[tuple[int, int], float] = {}
        for one in runs.row(row):
            a, c = int(one["initiator"]), int(one["counterparty"])
            if names[a] == "threshold_dancer" and names[c] == "honest":
                assert one["accepted"]
                taken += 1
            if names[a] == "threshold_dancer" and names[c] == "cautious_reciprocator":
                # trust starts at .5, so only a ledger above 1 lowers the bar far enough
                assert not one["accepted"] or ledger.get((c, a), 0.0) > 1.0
                refused += not one["accepted"]
            ledger[a, c] = ledger.get((a, c), 0.0) + one["payoff_initiator"]
            ledger[c, a] = ledger.get((c, a), 0.0) + one["payoff_counterparty"]
    assert refused > 1000
    assert taken > 1000


def test_the_adaptive_controller_never_moves(played) -> None:
    assert not any(played["adaptive_governance"].changes)


def test_edges_never_change_in_the_papers_runs(played) -> None:
    for runs in played.values():
        assert not (runs.events["kind"] == 3).any()
