"""The engine's door: what it refuses and how it says so, seeds, ended rows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from worked import MAPS

from normgym_envs.constants import Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.checks import check_spec
from normgym_envs.errors import (
    ActionError,
    ConfigError,
    NormError,
    NormGymError,
    SeedError,
    SpecError,
    UnknownNameError,
)
from normgym_envs.layouts import get_layout, parse_layout
from normgym_envs.norms.library import get_norm
from normgym_envs.protocol import draw_episode
from normgym_envs.types import EpisodeSpec

NORM = get_norm("even-turns-only")
SPEC = draw_episode("cafe", NORM, seed=1, num_agents=3, limit=4)


@pytest.fixture
def engine() -> BatchEngine:
    return BatchEngine([get_layout("cafe")], [NORM], 2)


def changed_person(field: str, value: int, slot: int = 0, place: int = 0) -> EpisodeSpec:
    """Return the episode with one fact of one person changed."""
    persons = SPEC.persons.copy()
    persons[field][slot, place] = value
    return replace(SPEC, persons=persons)


BAD_SPECS: list[tuple[EpisodeSpec, str, str]] = [
    (replace(SPEC, drivers=(), priority=()), "0 slots", "1 to 10"),
    (replace(SPEC, drivers=(0,) * 11), "11 slots", "1 to 10"),
    (replace(SPEC, drivers=(0, 1, 7)), "driver 7", "0, 1 or 2"),
    (replace(SPEC, priority=(0, 1, 1)), "(0, 1, 1)", "order of all slots"),
    (replace(SPEC, priority=(0, 1)), "(0, 1)", "order of all slots"),
    (replace(SPEC, persons=SPEC.persons[:2]), "(2, 24)", "(3, M)"),
    (replace(SPEC, persons=SPEC.persons[0]), "(24,)", "(3, M)"),
    (replace(SPEC, persons=SPEC.persons[:, :0]), "0 persons", "1 to 24"),
    (replace(SPEC, persons=np.repeat(SPEC.persons, 2, axis=1)), "48 persons", "1 to 24"),
    (replace(SPEC, persons=np.zeros((3, 2))), "float64", "PERSON_DTYPE"),
    (replace(SPEC, norms=("even-turns-only",) * 5), "more than 4", "4"),
    (replace(SPEC, norms_after=("even-turns-only",) * 5), "more than 4", "4"),
    (replace(SPEC, limit=0), "limit is 0", "1 to"),
    (replace(SPEC, limit=2**40), str(2**40), "1 to"),
    (replace(SPEC, change_turn=-2), "-2", "-1 never"),
    (replace(SPEC, phase="sene"), "'sene'", "'seen'"),
    (replace(SPEC, predict_newcomer="blind"), "'blind'", "norm_aware, norm_blind"),
    (changed_person("delay", -1), "delay", "below"),
    (changed_person("delay", 0, place=1), "delay", "below"),
    (changed_person("group", 3), "group is 3", "0 to 2"),
    (changed_person("group", -1), "group is -1", "0 to 2"),
    (changed_person("goal1_kind", 4), "goal1_kind is 4", "0 to 3"),
    (changed_person("goal1_cell", -1), "goal1_cell is -1", "0 to 164"),
    (changed_person("goal1_cell", 500), "goal1_cell is 500", "0 to 164"),
    (changed_person("goal2_door", 3), "goal2_door is 3", "-1 to 2"),
    (changed_person("goal2_door", -2), "goal2_door is -2", "-1 to 2"),
    (changed_person("leg", 2), "leg is 2", "0 to 1"),
    (changed_person("start", 165), "start is 165", "0 to 164"),
    (changed_person("start", -1), "start is -1", "0 to 164"),
    (changed_person("start", 0), "starts on cell 0", "nobody can enter"),
    (changed_person("goal1_cell", 33), "goes to cell 33", "nobody can enter"),
]


@pytest.mark.parametrize(("spec", "value", "expected"), BAD_SPECS)
def test_bad_episodes(engine: BatchEngine, spec: EpisodeSpec, value: str, expected: str) -> None:
    engine.load(0, SPEC)
    before = engine.states.tobytes()
    with pytest.raises(SpecError) as caught:
        engine.load(0, spec)
    assert value in str(caught.value)
    assert expected in str(caught.value)
    assert repr(SPEC.name) in str(caught.value)
    assert engine.states.tobytes() == before


def test_a_sound_episode_passes() -> None:
    check_spec(SPEC)


@pytest.mark.parametrize("seed", [-1, 2**63 + 1, True, 1.5, "1", None])
def test_bad_seeds(engine: BatchEngine, seed: Any) -> None:
    for call in (
        lambda: engine.load(0, replace(SPEC, seed=seed)),
        lambda: draw_episode("cafe", NORM, seed),
    ):
        with pytest.raises(SeedError) as caught:
            call()
        assert repr(seed) in str(caught.value) or str(seed) in str(caught.value)
        assert "0 to 2**63" in str(caught.value)


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 - 1, 2**63, np.int64(5), np.uint64(2**63)])
def test_good_seeds(engine: BatchEngine, seed: Any) -> None:
    engine.load(0, replace(SPEC, seed=seed))
    assert int(engine.states["seed"][0]) == int(seed)
    spec = draw_episode("cafe", NORM, seed)
    engine.load(1, spec)
    engine.step(np.full((2, 10), 4))
    assert engine.states["turn"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("spec", "what", "near"),
    [
        (replace(SPEC, layout="caffe"), "unknown layout 'caffe'", "'cafe'"),
        (replace(SPEC, norms=("even-turns",)), "unknown norm 'even-turns'", "'even-turns-only'"),
        (replace(SPEC, norms_after=("odd-turns-only",)), "'odd-turns-only'", "'even-turns-only'"),
    ],
)
def test_unknown_names(engine: BatchEngine, spec: EpisodeSpec, what: str, near: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        engine.load(0, spec)
    assert what in str(caught.value)
    assert near in str(caught.value)


@pytest.mark.parametrize("row", [-1, 2, 100])
def test_unknown_rows(engine: BatchEngine, row: int) -> None:
    with pytest.raises(ConfigError, match=f"row is {row}; expected 0 to 1"):
        engine.load(row, SPEC)


@pytest.mark.parametrize(
    "terms", [(1, 2, 3), (1, 2, 3, 4, 5), (10, -0.1, 5, 20), (1, 2, 3, np.nan)]
)
def test_bad_reward_terms(engine: BatchEngine, terms: tuple[float, ...]) -> None:
    with pytest.raises(ConfigError, match="expected four numbers >= 0"):
        engine.load(0, SPEC, reward_terms=terms)


@pytest.mark.parametrize(
    ("drivers", "message"),
    [
        ((1, 1), "2 drivers; expected 3"),
        ((1,), "1 drivers"),
        ((0, 1, 3), "driver 3; expected 0, 1"),
    ],
)
def test_bad_drivers(engine: BatchEngine, drivers: tuple[int, ...], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        engine.load(0, SPEC, drivers=drivers)


@pytest.mark.parametrize(
    ("actions", "value", "expected"),
    [
        (np.zeros((2, 10)), "float64", "integers"),
        (np.zeros((2, 10), bool), "bool", "integers"),
        (np.full((2, 10), "4"), "dtype", "integers"),
        (None, "object", "integers"),
        (np.zeros(10, int), "(10,)", "(2, N)"),
        (np.zeros((1, 10), int), "(1, 10)", "(2, N)"),
        (np.zeros((3, 10), int), "(3, 10)", "(2, N)"),
        (np.zeros((2, 11), int), "(2, 11)", "N up to 10"),
        (np.zeros((2, 0), int), "(2, 0)", "N up to 10"),
        (np.zeros((2, 10, 1), int), "(2, 10, 1)", "(2, N)"),
        (np.array([[0, 1, 2], [3, 5, 4]]), "action 5 of row 1, slot 1", "0 to 4"),
        (np.array([[0, 1, -1], [3, 4, 4]]), "action -1 of row 0, slot 2", "0 to 4"),
        (np.full((2, 3), 260), "action 260", "0 to 4"),
        (np.full((2, 3), 2**64 - 1, np.uint64), "action 18446744073709551615", "0 to 4"),
    ],
)
def test_bad_actions(engine: BatchEngine, actions: Any, value: str, expected: str) -> None:
    engine.load(0, SPEC)
    before = engine.states.tobytes()
    with pytest.raises(ActionError) as caught:
        engine.step(actions)
    assert value in str(caught.value)
    assert expected in str(caught.value)
    assert engine.states.tobytes() == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_actions_of_any_integer_type(dtype: Any) -> None:
    results = []
    for number in (3, 10):
        engine = BatchEngine([get_layout("cafe")], [NORM], 1)
        engine.load(0, SPEC)
        for action in (3, 3, 4):
            engine.step(np.full((1, number), action, dtype))
        results.append(engine.states.tobytes())
    engine = BatchEngine([get_layout("cafe")], [NORM], 1)
    engine.load(0, SPEC)
    for action in (3, 3, 4):
        engine.step(np.full((1, 10), action, np.int8))
    assert results == [engine.states.tobytes()] * 2


def test_bad_engines() -> None:
    with pytest.raises(ConfigError, match="layouts is empty"):
        BatchEngine([], [NORM], 1)
    with pytest.raises(ConfigError, match="num_rows is 0; expected at least 1"):
        BatchEngine([get_layout("cafe")], [NORM], 0)
    nooks = parse_layout(MAPS["nooks"], "nooks", "nooks")
    with pytest.raises(NormError, match="'forbidden-zone-q' needs zone Q, but layout 'nooks'"):
        BatchEngine([nooks], [get_norm("forbidden-zone-q")], 1)


def test_every_error_is_typed_and_built_in() -> None:
    for error, built_in in ((SpecError, ValueError), (ActionError, ValueError)):
        assert issubclass(error, NormGymError)
        assert issubclass(error, built_in)


def test_nothing_runs_before_load() -> None:
    engine = BatchEngine([get_layout("cafe")], [], 1)
    before = engine.states.tobytes()
    engine.step(np.zeros((1, 10), int))
    assert engine.states.tobytes() == before


def test_ended_rows_stay_as_they_are(engine: BatchEngine) -> None:
    engine.load(0, SPEC)
    engine.load(1, replace(SPEC, limit=50))
    actions = np.full((2, 10), 3)
    for _ in range(4):
        engine.step(actions)
    assert engine.states["ending"].tolist() == [Ending.TRUNCATED, Ending.RUNNING]
    assert engine.states["reward"][0].any()
    frozen = engine.states[:1].copy()
    for _ in range(5):
        engine.step(actions)
    assert engine.states["turn"].tolist() == [4, 9]
    assert not engine.states["reward"][0].any()  # nothing is earned after the end
    frozen["reward"] = 0
    assert engine.states[:1].tobytes() == frozen.tobytes()
    engine.load(0, SPEC)
    assert engine.states["ending"][0] == Ending.RUNNING
    assert engine.states["turn"][0] == 0
