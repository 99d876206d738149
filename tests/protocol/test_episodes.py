"""Open-ended episodes and the stored form of all episodes."""

import json
from typing import Any

import numpy as np
import pytest

from normgym_envs.constants import Driver, Goal1
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, SpecError, UnknownNameError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, load_norms, num_slots
from normgym_envs.protocol import draw_episode, spec_from_json, spec_to_json
from normgym_envs.protocol.places import list_places
from normgym_envs.types import PERSON_DTYPE, EpisodeSpec, Norm

CAFE = get_layout("cafe")


def as_bytes(spec: EpisodeSpec) -> bytes:
    """Return the stored form of an episode."""
    return json.dumps(spec_to_json(spec), sort_keys=True).encode()


def test_equal_arguments_give_equal_bytes() -> None:
    first = as_bytes(draw_episode("cafe", "zigzag-left-2", 5))
    assert as_bytes(draw_episode(CAFE, get_norm("zigzag-left-2"), 5)) == first
    others = [
        draw_episode("cafe", "zigzag-left-2", 6),
        draw_episode("cafe", "zigzag-left-1", 5),
        draw_episode("cafe", "zigzag-left-2", 5, num_learners=2),
        draw_episode("cafe", "zigzag-left-2", 5, num_norm_blind=1),
        draw_episode("cafe", "zigzag-left-2", 5, limit=7),
        draw_episode("cafe", "zigzag-left-2", 5, num_agents=9),
        draw_episode("cafe", "zigzag-left-2", 5, predict_newcomer="norm_blind"),
    ]
    assert len({first, *map(as_bytes, others)}) == len(others) + 1


def test_slots_are_as_asked() -> None:
    spec = draw_episode(
        "cafe", "even-turns-only", 1, num_agents=7, num_learners=2, num_norm_blind=3
    )
    assert spec.drivers == (
        *[Driver.EXTERNAL] * 2,
        *[Driver.NORM_AWARE] * 2,
        *[Driver.NORM_BLIND] * 3,
    )
    assert sorted(spec.priority) == list(range(7))
    assert spec.num_slots == len(spec.persons) == 7
    assert spec.persons["delay"][:2, 0].tolist() == [0, 0]
    nobody = draw_episode("cafe", "even-turns-only", 1, num_learners=0)
    assert set(nobody.drivers) == {Driver.NORM_AWARE}
    everybody = draw_episode("cafe", "even-turns-only", 1, num_learners=6)
    assert set(everybody.drivers) == {Driver.EXTERNAL}


@pytest.mark.parametrize("norm", load_norms(), ids=lambda norm: norm.id)
def test_persons_are_as_the_norm_asks(norm: Norm) -> None:
    persons = draw_episode("cafe", norm, 3).persons
    assert len(persons) == num_slots(norm)
    assert np.isin(persons["start"], CAFE.doors).all()
    assert np.isin(persons["delay"][:, 1:], (1, 2, 3)).all()
    assert np.isin(persons["delay"][:, 0], range(21)).all()
    assert set(persons["group"].ravel()) == {0, 1, 2}
    assert not persons["leg"].any()
    assert not persons["holder"].any()
    kinds = {
        "queue_path": Goal1.COUNTER,
        "zone_capacity": Goal1.ANY_ZONE_R,
        "zone_single_group": Goal1.ANY_ZONE_R,
        "seat_regions": Goal1.ANY_CHAIR,
        "group_seats": Goal1.ANY_CHAIR,
        "seat_order": Goal1.ANY_CHAIR,
    }
    kind = kinds.get(norm.kind, Goal1.PLACE)
    assert (persons["goal1_kind"] == kind).all()
    cells = list_places(CAFE, norm) if kind == Goal1.PLACE else [-1]
    assert set(persons["goal1_cell"].ravel()) == set(cells)
    doors = [-1] if norm.kind in ("exit_doors", "group_doors") else [0, 1, 2]
    assert set(persons["goal2_door"].ravel()) == set(doors)


@pytest.mark.parametrize(
    ("arguments", "value", "expected"),
    [
        ({"num_agents": 0}, "num_agents is 0", "1 to 10"),
        ({"num_agents": 11}, "num_agents is 11", "1 to 10"),
        ({"num_learners": -1}, "num_learners is -1", "0 to 6"),
        ({"num_learners": 7}, "num_learners is 7", "0 to 6"),
        ({"num_norm_blind": -1}, "num_norm_blind is -1", "0 to 5"),
        ({"num_learners": 3, "num_norm_blind": 4}, "num_norm_blind is 4", "0 to 3"),
    ],
)
def test_bad_numbers(arguments: dict[str, int], value: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        draw_episode("cafe", "even-turns-only", 1, **arguments)  # type: ignore[arg-type]
    assert value in str(caught.value)
    assert expected in str(caught.value)


def test_bad_names() -> None:
    with pytest.raises(UnknownNameError, match="unknown layout 'cafee'; did you mean 'cafe'"):
        draw_episode("cafee", "even-turns-only", 1)
    with pytest.raises(UnknownNameError, match=r"'even-turn-only'.*even-turns-only"):
        draw_episode("cafe", "even-turn-only", 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_stored_form_is_exact(seed: int) -> None:
    spec = draw_episode("cafe", "single-group-zone-r", seed, num_norm_blind=1)
    back = spec_from_json(json.loads(json.dumps(spec_to_json(spec))))
    assert back.persons.dtype == PERSON_DTYPE
    assert (back.persons == spec.persons).all()  # bytes would include padding
    assert as_bytes(back) == as_bytes(spec)
    for name in EpisodeSpec.__dataclass_fields__:
        if name != "persons":
            assert getattr(back, name) == getattr(spec, name), name
            assert type(getattr(back, name)) is type(getattr(spec, name)), name
    engine = BatchEngine([CAFE], load_norms(), 2)
    engine.load(0, spec)
    engine.load(1, back)
    for _ in range(30):
        engine.step(np.full((2, 10), 3))
    assert engine.states[0].tobytes() == engine.states[1].tobytes()


def test_a_stored_seed_keeps_all_its_bits() -> None:
    spec = draw_episode("cafe", "even-turns-only", 1)
    data = json.loads(json.dumps({**spec_to_json(spec), "seed": 2**63}))
    assert spec_from_json(data).seed == 2**63


@pytest.mark.parametrize(
    ("change", "value", "expected"),
    [
        ({"nroms": []}, "'nroms'", "'norms'"),
        ({"phase": "sen"}, "'sen'", "'seen'"),
        ({"persons": [[[1, 2]]]}, "persons", "goal1_cell"),
        ({"persons": 3}, "persons", "goal1_cell"),
        ({"persons": [[["a"] * 8]]}, "persons", "goal1_cell"),
        ({"seed": "x"}, "seed", "'x'"),
        ({"limit": None}, "limit", "None"),
        ({"drivers": 5}, "drivers", "5"),
        ({"priority": ["a"]}, "priority", "a"),
        ({"norms": "even-turns-only"}, "norms", "even-turns-only"),
        ({"norms_after": 3}, "norms_after", "3"),
    ],
)
def test_bad_stored_forms(change: dict[str, Any], value: str, expected: str) -> None:
    data = spec_to_json(draw_episode("cafe", "even-turns-only", 1))
    with pytest.raises(SpecError) as caught:
        spec_from_json({**data, **change})
    assert value in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize("name", EpisodeSpec.__dataclass_fields__)
def test_missing_fields(name: str) -> None:
    data = spec_to_json(draw_episode("cafe", "even-turns-only", 1))
    del data[name]
    with pytest.raises(SpecError, match=f"episode without {name}"):
        spec_from_json(data)
