"""Every built-in agent plays, repeats itself under a seed, and is told nothing it may not know."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from small_suite import build_small_suite

from agents import (
    Agent,
    AgentContext,
    AgentSource,
    Belief,
    find_agent,
    list_agents,
    make_agent,
)
from agents.cautious import list_possible_norms
from agents.planners import OracleAgent, PlannerAgent
from agents.random_agent import RandomAgent
from benchmarks.playing import Seat
from benchmarks.records import BeliefEntry
from benchmarks.runner import observe_newcomer, run
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import Goal1
from normgym_envs.engine import BatchEngine
from normgym_envs.envs.actions import read_action
from normgym_envs.errors import ActionError, ConfigError, StateError, UnknownNameError
from normgym_envs.norms.library import load_norms
from normgym_envs.types import EpisodeSpec, Layout, Norm


@pytest.fixture(scope="module")
def suite() -> Suite:
    return build_small_suite()


@pytest.mark.parametrize("name", list_agents())
def test_every_agent_plays_and_repeats_itself(suite: Suite, name: str) -> None:
    first = run(name, suite, seed=7)
    assert len(first.records) == len(suite.specs)
    assert first.errors == ()
    assert run(name, suite, seed=7, max_rows=5).records == first.records


@pytest.mark.parametrize("name", list_agents())
def test_every_agent_keeps_the_protocol(name: str) -> None:
    agent = make_agent(name)
    assert isinstance(agent, Agent)
    assert agent.privileged == (name in ("oracle", "norm_blind"))
    assert isinstance(agent, PlannerAgent) == agent.privileged
    assert type(agent).__doc__
    assert make_agent(name) is not agent


def test_planners_cannot_be_asked() -> None:
    with pytest.raises(StateError, match="acts on the engine's state"):
        make_agent("oracle").act({})


def test_random_keeps_to_the_mask_and_reaches_all_of_it() -> None:
    agent = RandomAgent()
    agent.reset(AgentContext("t", "seen", np.random.default_rng(0), 10))
    mask = np.array([0, 1, 0, 1, 1], np.int8)
    assert {agent.act({"action_mask": mask}) for _ in range(100)} == {1, 3, 4}


def test_unknown_agents() -> None:
    with pytest.raises(UnknownNameError, match="unknown agent 'cautios'; did you mean 'cautious'"):
        make_agent("cautios")
    with pytest.raises(ConfigError, match=r"module 'dqm' cannot be .*; did you mean 'dqn:'"):
        make_agent("dqm:runs/bend")
    with pytest.raises(UnknownNameError, match="unknown agent 'dqn'; did you mean 'dqn:'"):
        make_agent("dqn")
    with pytest.raises(ConfigError, match=r"module 'agents' has no 'make_agnt'.*'make_agent'"):
        make_agent("agents:make_agnt")
    with pytest.raises(ConfigError, match="module 'nope' cannot be imported"):
        make_agent("nope:act")
    with pytest.raises(ConfigError, match="class Fraction has no reset and no act"):
        make_agent("fractions:Fraction")
    with pytest.raises(ConfigError, match="a float cannot be called"):
        make_agent("math:pi")
    for odd in (":", "a:", ":a", "", "..:x", "agents:"):
        with pytest.raises((ConfigError, UnknownNameError)):
            make_agent(odd)


def test_own_modules(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine_a.py").write_text("def act(observation):\n    return 3\n")
    (tmp_path / "mine_b.py").write_text("raise ZeroDivisionError('at import')\n")
    (tmp_path / "mine_c.py").write_text(
        "class Needy:\n"
        "    def __init__(self, path): pass\n"
        "    def reset(self, context): pass\n"
        "    def act(self, observation): return 0\n"
    )
    agent = make_agent("mine_a:act")
    agent.reset(AgentContext("t", "seen", np.random.default_rng(0), 1))
    assert agent.act({}) == 3
    first = find_agent("mine_a:act").digest
    (tmp_path / "mine_a.py").write_text("def act(observation):\n    return 2\n")
    assert find_agent("mine_a:act").digest != first
    with pytest.raises(ConfigError, match="ZeroDivisionError: at import"):
        make_agent("mine_b:act")
    with pytest.raises(ConfigError, match=r"cannot be made without arguments.*'path'"):
        make_agent("mine_c:Needy")


@pytest.mark.parametrize("value", [0, 4, np.int8(2), np.array(3)])
def test_integers_are_actions(value: object) -> None:
    assert read_action(value, "agent 'x'") == int(value)  # type: ignore[call-overload]


@pytest.mark.parametrize("value", [5, -1, 2.0, np.float32(1), "1", None, False, np.bool_(True)])
def test_anything_else_is_none(value: object) -> None:
    with pytest.raises(ActionError, match=r"agent 'x': action .*; expected an integer"):
        read_action(value, "agent 'x'")


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), "high", True, None])
def test_beliefs_have_a_confidence(confidence: Any) -> None:
    with pytest.raises(ConfigError, match="expected a number from 0 to 1"):
        Belief("x", confidence)
    with pytest.raises(ConfigError, match="expected a string"):
        Belief(None, 0.5)  # type: ignore[arg-type]


def test_cautious_weighs_the_norms_of_its_task_type() -> None:
    library = load_norms()
    queues = list_possible_norms(Goal1.COUNTER, False, 10)
    assert {library[i].kind for i in queues} == {"queue_path"}
    assert len(queues) == 16
    exits = list_possible_norms(Goal1.PLACE, True, 6)
    assert {library[i].kind for i in exits} == {"exit_doors"}
    seats = list_possible_norms(Goal1.ANY_CHAIR, False, 8)
    assert {library[i].kind for i in seats} == {"seat_regions", "group_seats", "seat_order"}
    assert len(list_possible_norms(Goal1.COUNTER, True, 3)) == len(library)


class _Keeper(RandomAgent):
    """Keeps whatever it is handed."""

    kept: list[object] = []  # noqa: RUF012 - read by the test

    def reset(self, context: AgentContext) -> None:
        super().reset(context)
        self.kept.append(context)

    def act(self, observation: Mapping[str, Any]) -> int:
        self.kept.append(observation)
        return super().act(observation)

    def observe(self, observation: Mapping[str, Any]) -> None:
        self.kept.append(observation)

    def belief(self) -> Belief:
        return Belief("none", 0.0)


def walk(thing: object, seen: set[int]) -> Iterator[object]:
    """Yield everything that can be reached from an object, itself first."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    yield thing
    parts: list[object] = []
    if isinstance(thing, Mapping):
        parts += [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        parts += list(thing)
    elif isinstance(thing, np.random.Generator):
        parts += [thing.bit_generator.state, vars(type(thing)).get("seed")]
        parts.append(getattr(thing.bit_generator, "seed_seq", None))
    elif isinstance(thing, np.random.SeedSequence):
        parts += [thing.entropy, thing.spawn_key]
    elif isinstance(thing, np.ndarray):
        parts.append(thing.base)
    if not isinstance(thing, type):
        parts += list(getattr(thing, "__dict__", {}).values())
        parts += [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    for part in parts:
        yield from walk(part, seen)


def test_nothing_hidden_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    cafe = load_suite("cafe")
    engines: list[BatchEngine] = []
    load = BatchEngine.load

    def spy(self: BatchEngine, *arguments: Any, **options: Any) -> None:
        engines.append(self)
        load(self, *arguments, **options)

    monkeypatch.setattr(BatchEngine, "load", spy)
    monkeypatch.setattr(_Keeper, "kept", [])
    norms = ["all-exit-left", "even-turns-only", "zigzag-left-2", "zone-r-capacity-1"]
    run(AgentSource("keeper", _Keeper), cafe, norms=norms)
    assert len(_Keeper.kept) > 1000
    words = {norm.id for norm in cafe.norms} | {norm.sentence for norm in cafe.norms}
    words |= {spec.name for spec in cafe.specs} | {norm.kind for norm in cafe.norms}
    words |= {cafe.name, cafe.sha256, "coordination", "allocation", "procedure", "access"}
    seeds = {spec.seed for spec in cafe.specs}
    states = [engine.states for engine in {id(e): e for e in engines}.values()]
    for thing in walk(_Keeper.kept, set()):
        assert not isinstance(thing, BatchEngine | Suite | EpisodeSpec | Norm | Layout | Seat)
        if isinstance(thing, str):
            assert thing not in words, thing
            assert not any(norm.id in thing for norm in cafe.norms), thing
        elif isinstance(thing, int):
            assert thing not in seeds
        elif isinstance(thing, np.ndarray):
            assert thing.dtype.names is None, "a record of the engine"
            assert not any(np.may_share_memory(thing, state) for state in states)
            if thing.dtype.itemsize == 8 and thing.dtype.kind in "iu":
                assert not seeds & set(thing.reshape(-1).tolist())


def test_another_norm_leaves_the_first_observation_as_it_is() -> None:
    cafe = load_suite("cafe")
    engine = BatchEngine(cafe.layouts(), cafe.norms, 1)
    ids = [norm.id for norm in cafe.norms]
    for number, spec in enumerate(cafe.specs):
        engine.load(0, spec)
        first = observe_newcomer(engine, 0)
        for step in (1, 17):
            other = ids[(ids.index(spec.norms[0]) + step) % len(ids)]
            engine.load(0, dataclasses.replace(spec, norms=(other,)))
            swapped = observe_newcomer(engine, 0)
            assert first.keys() == swapped.keys()
            for key in first:
                assert first[key].tobytes() == swapped[key].tobytes(), (number, key)


def test_a_subclass_of_the_oracle_gets_no_privileges() -> None:
    class Mine(OracleAgent):
        """Would play with the norm in hand."""

    with pytest.raises(ConfigError, match="only the built-in planners"):
        run(AgentSource("mine", Mine), load_suite("smoke"))


def test_beliefs_are_handed_over_as_copies() -> None:
    entry = BeliefEntry(turn=1, text="x", confidence=0.5, details={"seen": [1]})
    entry.to_belief().details["seen"].append(2)
    assert entry.to_belief().details == {"seen": [1]}
