"""Episodes as data: drawing open-ended ones, and the stored form of all of them.

Scenarios of the evaluation protocol are built in `scenarios.py`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from normgym_envs.constants import (
    INTERACTION_STEPS,
    MAX_PERSONS,
    PHASES,
    Driver,
)
from normgym_envs.errors import ConfigError, SpecError, check_seed, nearest
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, num_slots
from normgym_envs.protocol.places import draw_persons
from normgym_envs.types import PERSON_DTYPE, EpisodeSpec, Layout, Norm

STAGGER = 20
"""First arrivals fall on turns 0 to this. Source: NG "Interaction phase" names staggered entry
without a figure; chosen so that everybody is there after a tenth of an interaction."""


def draw_episode(
    layout: str | Layout,
    norm: str | Norm,
    seed: int,
    *,
    num_agents: int | None = None,
    num_learners: int = 1,
    num_norm_blind: int = 0,
    limit: int = INTERACTION_STEPS,
    predict_newcomer: str = "norm_aware",
) -> EpisodeSpec:
    """Draw an open-ended episode outside the protocol, for training and play.

    Everybody is replaced after leaving; the episode is cut at its limit.

    Args:
        layout: layout or its name.
        norm: norm or its id; its kind decides the kinds of goals.
        seed: of everything drawn, [0, 2**63].
        num_agents: population, 1 to 10; by default as the paper gives it for the norm's kind.
        num_learners: slots driven from outside, the first ones.
        num_norm_blind: scripted slots that ignore the norm, the last ones.
        limit: steps.
        predict_newcomer: how others foresee outside-driven slots: "norm_aware" or "norm_blind".

    Returns:
        The episode; equal arguments give equal bytes.

    Raises:
        UnknownNameError: no such layout or norm.
        ConfigError: a number outside its range.
        SeedError: no valid seed.
    """
    layout = get_layout(layout) if isinstance(layout, str) else layout
    norm = get_norm(norm) if isinstance(norm, str) else norm
    population = num_slots(norm) if num_agents is None else num_agents
    if not 1 <= population <= 10:
        raise ConfigError(f"num_agents is {population}; expected 1 to 10")
    if not 0 <= num_learners <= population:
        raise ConfigError(f"num_learners is {num_learners}; expected 0 to {population}")
    if not 0 <= num_norm_blind <= population - num_learners:
        raise ConfigError(
            f"num_norm_blind is {num_norm_blind}; expected 0 to {population - num_learners}"
        )
    rng = np.random.default_rng(check_seed(seed))
    persons = draw_persons(rng, layout, norm, population, MAX_PERSONS)
    persons["delay"][:, 0] = rng.integers(0, STAGGER + 1, population)
    persons["delay"][:num_learners, 0] = 0
    drivers = (
        (int(Driver.EXTERNAL),) * num_learners
        + (int(Driver.NORM_AWARE),) * (population - num_learners - num_norm_blind)
        + (int(Driver.NORM_BLIND),) * num_norm_blind
    )
    return EpisodeSpec(
        name=f"{norm.id}/free-{seed}",
        layout=layout.name,
        norms=(norm.id,),
        phase="free",
        seed=int(rng.integers(2**63)),
        limit=limit,
        drivers=drivers,
        priority=tuple(rng.permutation(population).tolist()),
        persons=persons,
        predict_newcomer=predict_newcomer,
    )


def spec_to_json(spec: EpisodeSpec) -> dict[str, Any]:
    """Return an episode as plain JSON values; `spec_from_json` restores it exactly."""
    return {
        "name": spec.name,
        "layout": spec.layout,
        "norms": list(spec.norms),
        "norms_after": list(spec.norms_after),
        "change_turn": spec.change_turn,
        "phase": spec.phase,
        "seed": spec.seed,
        "limit": spec.limit,
        "drivers": list(spec.drivers),
        "priority": list(spec.priority),
        "predict_newcomer": spec.predict_newcomer,
        "persons": [[[int(v) for v in person] for person in slot] for slot in spec.persons],
    }


def spec_from_json(data: Mapping[str, Any]) -> EpisodeSpec:
    """Return the episode that `spec_to_json` gave.

    Raises:
        SpecError: a field is missing, unknown or of the wrong shape.
    """
    fields = set(EpisodeSpec.__dataclass_fields__)
    for name in data:
        if name not in fields:
            raise SpecError(f"unknown episode field {name!r}{nearest(name, sorted(fields))}")
    missing = sorted(fields - set(data))
    if missing:
        raise SpecError(f"episode without {', '.join(missing)}")
    if data["phase"] not in PHASES:
        raise SpecError(f"unknown phase {data['phase']!r}{nearest(data['phase'], PHASES)}")
    try:
        persons = np.array(
            [[tuple(person) for person in slot] for slot in data["persons"]], PERSON_DTYPE
        )
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"episode {data['name']!r}: persons are not rows of "
            f"{', '.join(PERSON_DTYPE.names or ())}: {error}"
        ) from None
    for name in ("norms", "norms_after"):
        names = data[name]
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise SpecError(f"episode field {name} is {names!r}; expected a list of norm ids")
    return EpisodeSpec(
        name=str(data["name"]),
        layout=str(data["layout"]),
        norms=tuple(data["norms"]),
        norms_after=tuple(data["norms_after"]),
        change_turn=_read_int(data, "change_turn"),
        phase=str(data["phase"]),
        seed=_read_int(data, "seed"),
        limit=_read_int(data, "limit"),
        drivers=_read_ints(data, "drivers"),
        priority=_read_ints(data, "priority"),
        predict_newcomer=str(data["predict_newcomer"]),
        persons=persons,
    )


def _read_int(data: Mapping[str, Any], name: str) -> int:
    """Return a field that must be a whole number."""
    value = data[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise SpecError(f"episode field {name} is {value!r}; expected a whole number")
    return value


def _read_ints(data: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """Return a field that must be a list of whole numbers."""
    values = data[name]
    if not isinstance(values, list | tuple) or any(type(value) is not int for value in values):
        raise SpecError(f"episode field {name} is {values!r}; expected a list of whole numbers")
    return tuple(values)
