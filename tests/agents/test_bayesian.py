"""The ideal observer: exact posterior, honest about contradictions, blind to the hidden norm."""

import numpy as np
import pytest

from agents.base import AgentContext, Belief
from agents.bayesian import BayesianAgent, ContradictionError
from normgym_envs import BatchEngine, draw_episode, get_layout, get_norm, load_norms
from normgym_envs.constants import Ending
from normgym_envs.errors import ConfigError
from normgym_envs.observations import observe_symbolic


def context(phase: str = "interaction", belief: Belief | None = None) -> AgentContext:
    return AgentContext("token", phase, np.random.default_rng(0), 200, belief)


def watch(agent: BayesianAgent, norm_id: str, seed: int, steps: int = 200) -> BatchEngine:
    """Let an agent play an interaction-like episode and return the engine."""
    engine = BatchEngine([get_layout("cafe")], [get_norm(norm_id)], 1)
    engine.load(0, draw_episode("cafe", norm_id, seed, num_norm_blind=1, limit=steps))
    agent.reset(context())
    while engine.states["ending"][0] == Ending.RUNNING:
        seen = observe_symbolic(engine, 0, 0)
        action = 4
        if seen["action_mask"][:4].any():
            action = agent.act(seen)
        else:
            agent.observe(seen)
        engine.step(np.array([[action]]))
    return engine


def test_the_posterior_is_bayes_rule_by_hand() -> None:
    """Two hypotheses, noise, a known number of turns: odds are products of likelihood ratios."""
    library = [get_norm("even-turns-only"), get_norm("odd-turns-only")]
    agent = BayesianAgent("passive", library, false_sanction=0.1, missed_sanction=0.2)
    engine = BatchEngine([get_layout("cafe")], [library[0]], 1)
    engine.load(0, draw_episode("cafe", "even-turns-only", 3, num_norm_blind=1, limit=40))
    agent.reset(context())
    log_odds = 0.0
    moves = 0
    while engine.states["ending"][0] == Ending.RUNNING:
        seen = observe_symbolic(engine, 0, 0)
        agent.observe(seen)
        engine.step(np.array([[4]]))
        row = engine.states[0]
        turn = int(row["turn"]) - 1  # of the moves just made
        for slot in range(row["num_slots"]):
            if not row["own_move"][slot]:
                continue
            moves += 1
            forbidden_if_even = turn % 2 == 1
            shown = bool(row["sanctioned"][slot])
            if_forbidden = 0.8 if shown else 0.2
            if_allowed = 0.1 if shown else 0.9
            ratio = if_forbidden / if_allowed
            log_odds += np.log(ratio if forbidden_if_even else 1 / ratio)
    agent.observe(observe_symbolic(engine, 0, 0))
    assert moves > 5
    expected = 1 / (1 + np.exp(-log_odds))
    assert agent.posterior[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "norm_id", ["left-door-forbidden", "move-2-wait-1", "group-seating-2", "visit-zone-q-first"]
)
def test_it_finds_the_norm_and_says_so(norm_id: str) -> None:
    agent = BayesianAgent()
    watch(agent, norm_id, seed=5)
    belief = agent.belief()
    assert belief.text == get_norm(norm_id).sentence
    assert belief.confidence > 0.5
    assert belief.details["posterior"][norm_id] == pytest.approx(belief.confidence)


def test_a_carried_belief_restores_the_posterior() -> None:
    agent = BayesianAgent()
    watch(agent, "even-turns-only", seed=2, steps=60)
    other = BayesianAgent()
    other.reset(context("seen", agent.belief()))
    assert other.posterior == pytest.approx(agent.posterior)


def test_a_library_without_the_truth_is_never_silently_sure() -> None:
    wrong = [norm for norm in load_norms() if norm.kind == "exit_doors"]
    with pytest.raises(ContradictionError, match="raise the noise or widen the library"):
        watch(BayesianAgent("passive", wrong), "even-turns-only", seed=1)
    noisy = BayesianAgent("passive", wrong, false_sanction=0.3, missed_sanction=0.3)
    watch(noisy, "even-turns-only", seed=1)
    assert np.isfinite(noisy.log_posterior).any()


def test_passive_mode_avoids_what_is_likely_forbidden() -> None:
    violations = {"passive": 0, "active": 0}
    for mode in violations:
        for seed, norm_id in enumerate(["all-exit-left", "even-turns-only", "group-doors-abc"]):
            engine = BatchEngine([get_layout("cafe")], [get_norm(norm_id)], 1)
            engine.load(0, draw_episode("cafe", norm_id, seed, num_norm_blind=1))
            agent = BayesianAgent(mode)
            agent.reset(context())
            while engine.states["ending"][0] == Ending.RUNNING:
                seen = observe_symbolic(engine, 0, 0)
                if seen["action_mask"][:4].any():
                    engine.step(np.array([[agent.act(seen)]]))
                else:
                    agent.observe(seen)
                    engine.step(np.array([[4]]))
                violations[mode] += int(engine.states["violated"][0, 0])
    assert violations["passive"] <= violations["active"]
    assert violations["passive"] <= 6


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="mode is 'bold'; expected one of passive, active"):
        BayesianAgent("bold")
    with pytest.raises(ConfigError, match="library is empty"):
        BayesianAgent(library=[])
    with pytest.raises(ConfigError, match="false_sanction is 1"):
        BayesianAgent(false_sanction=1.0)
