"""The PettingZoo face: its contract, its bad input, and that it says what the engine says."""

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from normgym_envs import BatchEngine, NormGymParallelEnv, draw_episode, get_layout, get_norm
from normgym_envs.errors import (
    ActionError,
    ConfigError,
    SeedError,
    SpecError,
    StateError,
    UnknownNameError,
)
from normgym_envs.protocol.scenarios import TestBuilder as ScenarioBuilder

OBSERVATIONS = ("flat", "symbolic", "text")


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("learners", [1, 3, 6])
def test_official_tests_pass(observation: str, learners: int) -> None:
    def make() -> NormGymParallelEnv:
        return NormGymParallelEnv(
            norm="visit-zone-q-first", num_learners=learners, observation=observation
        )

    parallel_api_test(make(), num_cycles=450)
    parallel_seed_test(make, num_cycles=50)


def play(env: NormGymParallelEnv, seed: int, steps: int) -> list[bytes]:
    """Return the bytes of everything an environment hands out over whole episodes."""
    rng = np.random.default_rng(seed)
    seen = []
    output: object = env.reset(seed=seed)
    for _ in range(steps):
        seen.append(pickle.dumps(output))
        if not env.agents:
            output = env.reset()
        else:
            output = env.step({agent: int(rng.integers(5)) for agent in env.agents})
    return seen


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_whole_episodes_repeat_byte_by_byte(observation: str) -> None:
    envs = [
        NormGymParallelEnv(norm="zone-r-capacity-1", num_learners=2, observation=observation)
        for _ in range(2)
    ]
    first, second = (play(env, 11, 450) for env in envs)
    assert first == second
    assert play(envs[0], 12, 50) != first[:50]


def test_faces_say_what_the_engine_says() -> None:
    spec = draw_episode("cafe", "bend-right-1", 4, num_learners=2, num_norm_blind=1)
    engine = BatchEngine([get_layout("cafe")], [get_norm("bend-right-1")], 1)
    engine.load(0, spec)
    env = NormGymParallelEnv(norm="bend-right-1", num_learners=2)
    env.reset(options={"spec": spec})
    people = set()
    for _ in range(200):
        actions = engine.plan()[0][0, :2]
        engine.step(actions[None])
        observations, rewards, terminations, truncations, infos = env.step(
            {agent: actions[slot] for slot, agent in enumerate(env.agents)}
        )
        row = engine.states[0]
        for slot, agent in enumerate(env.possible_agents):
            assert rewards[agent] == float(row["reward"][slot])
            assert infos[agent]["person"] == row["person"][slot]
            if not row["present"][slot]:
                own = observations[agent]["observation"]
                assert infos[agent]["action_mask"].tolist() == [0, 0, 0, 0, 1]
                assert (np.flatnonzero(own[:-5]) >= 495).all()
        people.add(infos["newcomer"]["person"])
        assert not any(terminations.values())
    assert all(truncations.values())
    assert env.agents == []
    assert len(people) > 1


def test_a_test_episode_ends_for_everybody_when_the_newcomer_has_left() -> None:
    layout, norm = get_layout("cafe"), get_norm("even-turns-only")
    spec = ScenarioBuilder(layout, norm, [norm]).build("seen", 1, 0, 1).spec
    env = NormGymParallelEnv(norm="even-turns-only", num_learners=2)
    env.reset(options={"spec": spec})
    engine = BatchEngine([layout], [norm], 1)
    engine.load(0, spec, drivers=(0, 0, *spec.drivers[2:]))
    while True:
        planned = engine.plan()[0][0]
        engine.step(planned[None])
        *_, terminations, truncations, _ = env.step(
            {agent: planned[slot] for slot, agent in enumerate(env.possible_agents)}
        )
        if not env.agents:
            break
    assert terminations == {"newcomer": True, "background_1": True}
    assert truncations == {"newcomer": False, "background_1": False}


def test_resets_without_a_seed_go_on_in_the_stream() -> None:
    env = NormGymParallelEnv()

    def begin(seed: int | None) -> bytes:
        return pickle.dumps(env.reset(seed=seed))

    first = [begin(3), begin(None), begin(None)]
    assert len(set(first)) == 3
    assert [begin(3), begin(None), begin(None)] == first


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_episode_go_on_equally(copier: object) -> None:
    env = NormGymParallelEnv(norm="group-seating-1", num_learners=3)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        env.step({agent: int(rng.integers(5)) for agent in env.agents})
    twin = copier(env)  # type: ignore[operator]
    for _ in range(200):
        if not env.agents:
            assert pickle.dumps(env.reset()) == pickle.dumps(twin.reset())
        actions = {agent: int(rng.integers(5)) for agent in env.agents}
        assert pickle.dumps(env.step(actions)) == pickle.dumps(twin.step(actions))


def test_what_is_handed_out_may_be_changed() -> None:
    env, twin = NormGymParallelEnv(), NormGymParallelEnv()
    observations, infos = env.reset(seed=1)
    twin.reset(seed=1)
    for table in (observations["newcomer"], infos["newcomer"]):
        for value in table.values():
            if isinstance(value, np.ndarray):
                value[...] = 0
        table.clear()
    assert pickle.dumps(env.step({"newcomer": 0})) == pickle.dumps(twin.step({"newcomer": 0}))


def test_state_holds_the_norm_only_when_asked() -> None:
    plain = NormGymParallelEnv(norm="all-exit-left", num_learners=2)
    other = NormGymParallelEnv(norm="all-exit-right", num_learners=2)
    telling = NormGymParallelEnv(norm="all-exit-left", privileged=True)
    for env in (plain, other, telling):
        env.reset(seed=5)
        assert env.state_space.contains(env.state())
    assert (plain.state() == other.state()).all()
    assert telling.state()[-50:].sum() == 1


def test_discarded_environments_leave_nothing_alive() -> None:
    import gc
    import weakref

    references = []
    for _ in range(1000):
        env = NormGymParallelEnv()
        env.observation_space("newcomer")
        references.append(weakref.ref(env))
        del env
    gc.collect()
    assert not [reference for reference in references if reference() is not None]


BAD_ACTIONS = [-1, 5, 2.0, None, True, np.array([1]), "UP"]


@pytest.mark.parametrize("action", BAD_ACTIONS, ids=[repr(action) for action in BAD_ACTIONS])
def test_malformed_actions_are_refused_by_name(action: object) -> None:
    env = NormGymParallelEnv()
    env.reset(seed=0)
    with pytest.raises(ActionError, match=r"agent 'newcomer': action .* expected an integer"):
        env.step({"newcomer": action})


@pytest.mark.parametrize("action", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_integers_of_any_kind_are_taken(action: object) -> None:
    env = NormGymParallelEnv()
    env.reset(seed=0)
    env.step({"newcomer": action})


def test_missing_and_unknown_agents_are_refused() -> None:
    env = NormGymParallelEnv(num_learners=2)
    env.reset(seed=0)
    with pytest.raises(ActionError, match="no action for agent 'background_1'"):
        env.step({"newcomer": 0})
    with pytest.raises(ActionError, match=r"unknown agent 'newcomr'; did you mean 'newcomer'\?"):
        env.step({"newcomr": 0, "background_1": 0})
    with pytest.raises(ActionError, match="actions is a list"):
        env.step([0, 0])  # type: ignore[arg-type]
    with pytest.raises(ActionError, match="no action for agent"):
        env.step({})


def test_calls_out_of_order_are_refused() -> None:
    env = NormGymParallelEnv(max_episode_steps=1)
    with pytest.raises(StateError, match="before reset"):
        env.step({"newcomer": 0})
    with pytest.raises(StateError, match="before reset"):
        env.state()
    env.reset(seed=0)
    env.step({"newcomer": 0})
    with pytest.raises(StateError, match="after the end"):
        env.step({})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"layout": "caffe"}, UnknownNameError, "unknown layout 'caffe'; did you mean 'cafe'"),
        ({"norm": "all-exit-lft"}, UnknownNameError, "did you mean 'all-exit-left'"),
        ({"observation": "flt"}, UnknownNameError, "did you mean 'flat'"),
        ({"num_learners": 0}, ConfigError, "num_learners is 0; expected 1 to 6"),
        ({"num_learners": 7}, ConfigError, "num_learners is 7; expected 1 to 6"),
        ({"num_agents_total": 11}, ConfigError, "num_agents_total is 11; expected 1 to 10"),
        ({"max_episode_steps": 0}, ConfigError, "max_episode_steps is 0"),
        ({"predict_newcomer": "aware"}, UnknownNameError, "did you mean 'norm_aware'"),
        ({"render_mode": "rgb"}, UnknownNameError, "unknown render_mode 'rgb'; did you mean"),
    ],
)
def test_bad_settings_are_refused(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        NormGymParallelEnv(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63])
def test_all_seeds_work(seed: int) -> None:
    assert NormGymParallelEnv().reset(seed=seed)


@pytest.mark.parametrize("seed", [-1, 2**63 + 1, 1.5, "1"])
def test_other_seeds_are_refused(seed: object) -> None:
    with pytest.raises(SeedError, match="expected an integer from 0 to"):
        NormGymParallelEnv().reset(seed=seed)  # type: ignore[arg-type]


def test_another_norm_under_the_same_id_comes_into_force() -> None:
    from normgym_envs.types import Norm

    def make(doors: tuple[str, ...]) -> Norm:
        return Norm("mine", "access", "exit_doors", {"doors": doors}, "Mind the doors.")

    env = NormGymParallelEnv(norm=make(("A",)))
    env.reset(seed=1)
    first = env._engine
    env.reset(seed=1)
    assert env._engine is first
    env.reset(seed=1, options={"norm": make(("B",))})
    assert env._engine is not None
    assert env._engine.norms[0].parameters["doors"] == ("B",)
    with pytest.raises(ConfigError, match="'mine' is given twice"):
        BatchEngine([get_layout("cafe")], [make(("A",)), make(("B",))], 1)
    with pytest.raises(ConfigError, match="not in the library"):
        NormGymParallelEnv(norm=make(("A",)), privileged=True)


def test_an_episode_of_another_size_is_refused() -> None:
    env = NormGymParallelEnv(norm="all-exit-left")
    with pytest.raises(SpecError, match="has 10 slots; expected 6"):
        env.reset(options={"spec": draw_episode("cafe", "bend-right-1", 0)})


def test_a_hundred_steps_load_no_optional_package() -> None:
    code = (
        "import sys, normgym_envs as n; env = n.NormGymParallelEnv(); env.reset(seed=0)\n"
        "for _ in range(100): env.step({'newcomer': 1})\n"
        "print([m for m in ('torch', 'pygame', 'matplotlib') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
