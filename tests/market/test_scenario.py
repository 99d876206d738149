"""Scenario files: transcription of SW's tables, the control, and what is refused."""

from pathlib import Path

import pytest

from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.market import list_scenarios, load_scenario, make_scenario
from normgym_envs.market.archetypes import AS_RUN
from normgym_envs.market.scenario import SCENARIOS, Scenario, ScenarioError

# SW Table 2: agents, tax, breaker, audit, decay
TABLE_2 = {
    "baseline": ("3H 1O 1D", 0, None, None, 1.00),
    "strict_governance": ("3H 2O 1D 1A", 0.10, 0.35, 0.25, 0.85),
    "adaptive_governance": ("4H 2O 1A", 0.05, 0.70, 0.10, 0.95),
    "adversarial_redteam": ("4H 2A 2AA", 0.05, 0.60, 0.15, 0.95),
    "misalignment_sweep": ("4H 2O 2A 1D 1C", 0.05, 0.70, 0.10, 0.95),
    "threshold_dancer": ("3CR 2H 3TD", 0.05, 0.80, 0.10, 0.95),
    "collusion_detection": ("3H 2O 3A", 0.05, 0.60, None, 0.95),
}
# SW Table 3 as released: s+, s-, h, w_rep; and rho
TABLE_3 = {
    "baseline": (2, 1, 2, 1, 0),
    "strict_governance": (2.5, 1.5, 3, 1.5, 0.2),
    "adaptive_governance": (2, 1, 2, 1, 0.1),
    "adversarial_redteam": (3, 1.5, 3, 2.5, 0),
    "misalignment_sweep": (2, 1, 2, 1, 0.3),
    "threshold_dancer": (2, 1, 2, 1, 0.1),
    "collusion_detection": (3, 1.5, 2.5, 2, 0),
}


def test_the_seven_are_there_in_the_papers_order() -> None:
    assert list_scenarios() == SCENARIOS == tuple(TABLE_2)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_those_of_the_paper(name: str) -> None:
    one = load_scenario(name)
    agents, tax, breaker, audit, decay = TABLE_2[name]
    levers, pay = one.levers, one.payoffs
    assert " ".join(f"{g.count}{AS_RUN[g.archetype].letter}" for g in one.population) == agents
    assert (levers.transaction_tax.rate if levers.transaction_tax else 0) == tax
    assert (levers.circuit_breaker.threshold if levers.circuit_breaker else None) == breaker
    assert (levers.random_audit.probability if levers.random_audit else None) == audit
    assert (levers.reputation_decay.factor if levers.reputation_decay else 1.0) == decay
    rho = levers.externality.initiator if levers.externality else 0
    assert (
        pay.surplus_good,
        pay.surplus_bad,
        pay.harm,
        pay.reputation_weight,
        rho,
    ) == TABLE_3[name]
    assert (pay.initiator_share, one.sharpness, one.weights) == (0.5, 2.0, (0.4, 0.2, 0.2, 0.2))
    assert (one.name, one.epochs, one.steps) == (name, 20, 15)


def test_the_control_keeps_everything_but_the_levers() -> None:
    one = load_scenario("adaptive_governance")
    control = one.without_levers()
    assert control.levers.externality == one.levers.externality
    assert control.controller is None
    kept = {name for name in Scenario.model_fields if getattr(control, name) == getattr(one, name)}
    assert set(Scenario.model_fields) - kept == {"levers", "controller"}
    assert not any(
        getattr(control.levers, name)
        for name in type(control.levers).model_fields
        if name != "externality"
    )


def base(**changes):
    """Return a small scenario as plain values, changed."""
    return {"name": "mine", "population": [{"archetype": "honest", "count": 3}], **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": [0.5, 0.5, 0.5, 0.5]}, "scenario: sums|weights sums to 2"),
        ({"weights": [1.2, -0.2, 0, 0]}, "at least 0"),
        ({"weights": [1, 0]}, "weights"),
        ({"levers": {"transaction_tax": {"rate": 1.5}}}, "levers.transaction_tax.*rate is 1.5"),
        ({"levers": {"transaction_tax": {"rat": 0.5}}}, "levers.transaction_tax.rat"),
        ({"levers": {"random_audit": {"threshold": -0.1}}}, "threshold is -0.1"),
        ({"levers": {"staking": {"minimum": 150}}}, "nobody could ever act"),
        ({"levers": {"staking": {"minimum": 1, "slashing": True}}}, "slashing needs violations"),
        ({"controller": {}}, "controller has nothing to steer"),
        ({"epochs": 0}, "epochs"),
        ({"population": []}, "population"),
        ({"population": [{"archetype": "honest", "count": 0}]}, r"population.0.count"),
        ({"colour": "red"}, "colour"),
        ({"name": "No Good"}, "name"),
        ({"criteria": [{"name": "toxicity"}]}, "at_least and at_most"),
        ({"network": {"kind": "small_world", "rewiring": 2}}, "rewiring is 2"),
        ({"payoffs": {"harm": -1}}, "harm is -1"),
        ({"sharpness": 0}, "sharpness"),
    ],
)
def test_malformed_scenarios_are_refused_with_file_and_field(changes, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as caught:
        make_scenario(base(**changes), "mine.toml")
    assert "mine.toml" in str(caught.value)
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"population": [{"archetype": "honset", "count": 1}]},
            "archetype .*mine.toml: population.0.*did you mean 'honest'",
        ),
        ({"levers": {"circuit_braker": {}}}, "lever .*mine.toml.*'circuit_breaker'"),
        ({"network": {"kind": "smallworld"}}, "network .*mine.toml: network.kind.*'small_world'"),
        ({"criteria": [{"name": "toxcity", "at_most": 1}]}, "criterion .*'toxicity'"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(changes, words: str) -> None:
    with pytest.raises(UnknownNameError, match=words):
        make_scenario(base(**changes), "mine.toml")


def test_files_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\npopulation = [{ archetype = "honest", count = 2 }]\n')
    assert load_scenario(path).num_agents == load_scenario(str(path)).num_agents == 2
    path.write_text("name = \n")
    with pytest.raises(ScenarioError, match="no TOML"):
        load_scenario(path)
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_scenario(tmp_path / "none.toml")
    with pytest.raises(UnknownNameError, match="did you mean 'baseline'"):
        load_scenario("baselin")


def test_a_lever_is_changed_or_switched_on() -> None:
    one = load_scenario("baseline").with_lever("transaction_tax", rate=0.2)
    assert one.levers.transaction_tax is not None
    assert one.levers.transaction_tax.rate == 0.2
    strict = load_scenario("strict_governance").with_lever("transaction_tax", rate=0.2)
    assert strict.levers.transaction_tax is not None
    assert strict.levers.transaction_tax.initiator_share == 0.6
    with pytest.raises(UnknownNameError, match="staking"):
        one.with_lever("stakng", minimum=1)
    with pytest.raises(ScenarioError, match="rate"):
        one.with_lever("transaction_tax", rate=-1)
