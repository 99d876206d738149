"""Generated norms: distinct, new, reproducible, and playable."""

import numpy as np
import pytest

from normgym_envs import BatchEngine, get_layout, load_norms
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.norms.library import bound_groups
from normgym_envs.norms.parameters import KINDS
from normgym_envs.protocol.equivalence import draw_transitions
from normgym_envs.protocol.generator import generate_norms, list_possible_norms
from normgym_envs.protocol.newcomers import play_newcomers
from normgym_envs.protocol.scenarios import TestBuilder as ScenarioBuilder

POSSIBLE = {
    "zone_forbidden": 13,
    "exit_doors": 36,
    "seat_regions": 37,
    "ring_direction": 12,
    "turn_residues": 534,
    "move_wait": 25,
    "visit_first": 6,
    "queue_path": 271,
    "zone_capacity": 19,
    "zone_single_group": 0,
    "group_doors": 21,
    "group_seats": 21,
    "seat_order": 12,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_possible_norms_is_known(kind: str) -> None:
    assert len(list_possible_norms(kind)) == POSSIBLE[kind]


def test_no_two_are_equivalent_and_none_is_in_the_library() -> None:
    norms = [*load_norms(), *generate_norms(3, 400)]
    layout = get_layout("cafe")
    engine = BatchEngine([layout], norms, 1)
    for population in (6, 8, 10):
        moves = draw_transitions(engine, layout, population, seed=1)
        verdicts = engine.judge(moves.states, moves.new_cells)
        seen: dict[bytes, str] = {}
        for index, norm in enumerate(norms):
            if KINDS[norm.kind].num_slots != population:
                continue
            column = np.packbits(verdicts[:, index]).tobytes()
            assert column not in seen, (norm.id, seen.get(column))
            seen[column] = norm.id


def test_equal_seeds_give_equal_norms() -> None:
    assert generate_norms(7, 60) == generate_norms(7, 60)
    assert generate_norms(7, 60) != generate_norms(8, 60)
    ids = [norm.id for norm in generate_norms(7, 400)]
    assert len(set(ids)) == 400


def test_kinds_are_drawn_evenly() -> None:
    norms = generate_norms(0, 400)
    counts = {kind: sum(norm.kind == kind for norm in norms) for kind in KINDS}
    for kind, possible in POSSIBLE.items():
        assert counts[kind] >= min(8, possible)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if POSSIBLE[kind]])
def test_generated_norms_can_be_tested(kind: str) -> None:
    layout = get_layout("cafe")
    for norm in generate_norms(1, 2, [kind]):
        builder = ScenarioBuilder(layout, norm, [])
        for group in bound_groups(norm)[:1]:
            spec = builder.build("seen", 1, group, 5).spec
            engine = BatchEngine([layout], [norm], 2)
            engine.load(0, spec, drivers=(1, *spec.drivers[1:]))
            engine.load(1, spec, drivers=(2, *spec.drivers[1:]))
            assert play_newcomers(engine).passed.tolist()[0]


def test_bad_requests_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'exit_doors'"):
        list_possible_norms("exit_door")
    with pytest.raises(ConfigError, match="count is 14; expected 0 to 13"):
        generate_norms(0, 14, ["zone_forbidden"])
