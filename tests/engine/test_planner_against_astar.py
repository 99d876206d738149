"""The planner's search on boards against the textbook A* of `tests/naive_planner.py`.

A query is a person in a random state and a set of cells where others are expected; the two must
give the same set of equally good first actions. The slow tests together ask more than 100,000.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import naive
import numpy as np
import pytest
from engine.probes import ask_ties
from naive_planner import best_actions
from norm_rows import draw_norm, make_norm, norm_row
from strategies import fill_random_states, to_naive
from worked import MAPS

from normgym_envs.constants import Driver, Goal1
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import NormError
from normgym_envs.layouts import get_layout, parse_layout
from normgym_envs.norms.library import KINDS, load_norms
from normgym_envs.types import Layout, Norm

MAP_FOLDER = Path(naive.__file__).parent.parent / "normgym_envs" / "layouts" / "maps"

LOOP = """
title = "Loop"
place = "One winding corridor of 60 cells that closes on itself."
cells = '''
######S########
#...........###
#.#########.###
#.#...#...#.###
#.#h#.#.#.#.###
#.#.#.#.#.#...C
#.#.#.#.#.#.###
A.#.#.#.#.#.###
#.#h#.#.#h#.###
#...#...#...###
######B########
'''
zones = '''
...............
...RR..........
...............
...............
.........Q.....
.........Q.....
...............
...............
...............
...............
...............
'''
[objects]
counter = "counter"
chair = "chair"
table = "table"
display = "display"
"""
"""Two ways lead to every place; their lengths differ by up to 58 steps, a collision costs 50."""

FOUR_GATES = (
    ("turn_residues", {"modulus": 5, "residues": [0, 1, 3]}),
    ("turn_residues", {"modulus": 4, "residues": [1, 2, 3]}),
    ("move_wait", {"moves": 4}),
    ("move_wait", {"moves": 2}),
)


class Place(NamedTuple):
    """One map for both worlds."""

    layout: Layout
    naive_layout: naive.NaiveLayout


def find_place(name: str) -> Place:
    """Return the café, the hall or the loop."""
    if name == "cafe":
        return Place(get_layout(name), naive.load_map(MAP_FOLDER / "cafe.toml"))
    text = {**MAPS, "loop": LOOP}[name]
    return Place(parse_layout(text, name, name), naive.load_map(text))


def list_hosted(layout: Layout, norms: list[Norm]) -> list[Norm]:
    """Return the norms that a map can host."""
    hosted = []
    for norm in norms:
        try:
            BatchEngine([layout], [norm], 1)
        except NormError:
            continue
        hosted.append(norm)
    return hosted


def draw_occupied(
    rng: np.random.Generator, world: naive.NaiveWorld, slot: int, distance: np.ndarray
) -> set[int]:
    """Draw cells where others are expected: where they are, anywhere, in a clump or as a wall."""
    cells = [cell for cell in range(165) if world.layout.enterable(cell)]
    here = world.slots[slot].pos
    count = int(rng.integers(1, 10))
    mode = rng.integers(5)
    if mode == 0:
        return {other.pos for other in world.others(slot)}
    if mode == 1:
        return {int(cell) for cell in rng.choice(cells, count, replace=False)}
    centre = here if mode < 4 else int(rng.choice(cells))
    near = sorted(cells, key=lambda cell: (distance[centre, cell], cell))
    if mode == 3:  # all that are as far away, so that there may be no way round
        wall = [cell for cell in cells if distance[here, cell] == rng.integers(1, 6)]
        near = [int(cell) for cell in rng.permutation(wall)] or near
        return set(near[:9])
    return {int(cell) for cell in rng.choice(near[1 : 3 * count + 1], count)}


def ask_both(engine: BatchEngine, naive_layout: naive.NaiveLayout, seed: int) -> Counter[str]:
    """Ask both searches about everybody in every row, fail on a difference, and count answers."""
    rng = np.random.default_rng(seed)
    distance = engine.tables[0]["distance"][0]
    norm_rows = {norm.id: norm_row(norm) for norm in engine.norms}
    worlds, rows, slots, boards = [], [], [], []
    for index in range(engine.num_rows):
        world = to_naive(engine, index, naive_layout, norm_rows)
        for slot, person in enumerate(world.slots):
            if person.present:
                occupied = draw_occupied(rng, world, slot, distance)
                worlds.append((world, occupied))
                rows.append(index)
                slots.append(slot)
                boards.append([*occupied, *[-1] * (10 - len(occupied))])
    blind = engine.states["driver"][rows, slots] == Driver.NORM_BLIND
    answers = []
    for is_blind in (blind, np.ones_like(blind)):
        ties = np.zeros(len(rows), int)
        queries = (np.array(rows), np.array(slots), np.array(boards), is_blind)
        ask_ties(engine.states, *engine.tables, engine._pads, *queries, ties)
        answers.append(ties)
    counts: Counter[str] = Counter()
    for query, (world, occupied) in enumerate(worlds):
        slot = slots[query]
        expected = sum(1 << action for action in best_actions(world, slot, occupied))
        found, heedless = int(answers[0][query]), int(answers[1][query])
        assert found == expected, (
            f"norms {world.norms}, turn {world.turn}, occupied {sorted(occupied)}, "
            f"{world.slots[slot]}: {found:05b} != {expected:05b}"
        )
        counts["queries"] += 1
        counts["several"] += found & (found - 1) > 0
        counts["wait or move"] += found > 16
        counts["the norm matters"] += found not in (16, heedless)
    return counts


def fill_queries(engine: BatchEngine, rng: np.random.Generator, **options: int) -> None:
    """Fill rows with scripted persons, nearly all norm-aware, with any goals."""
    fill_random_states(engine, rng, external=0, **options)
    shape = engine.states["driver"].shape
    drivers = np.where(rng.random(shape) < 0.05, Driver.NORM_BLIND, Driver.NORM_AWARE)
    engine.states["driver"] = engine.states["predicted"] = drivers


def test_a_few_queries_of_every_norm() -> None:
    place = find_place("cafe")
    engine = BatchEngine([place.layout], load_norms(), 600)
    fill_queries(engine, np.random.default_rng(1))
    engine.states["norms"][:, 0] = np.arange(600) % 50
    counts = ask_both(engine, place.naive_layout, 2)
    assert counts["queries"] > 5000
    assert min(counts.values()) > 10, counts


@pytest.mark.slow
@pytest.mark.parametrize("share", range(10))
def test_one_norm(share: int) -> None:
    place = find_place("cafe")
    engine = BatchEngine([place.layout], load_norms(), 700)
    fill_queries(engine, np.random.default_rng([3, share]))
    engine.states["norms"][:, 0] = np.arange(700) % 50
    counts = ask_both(engine, place.naive_layout, 4 + share)
    assert counts["queries"] > 6000
    assert min(counts.values()) > 10, counts


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_several_norms_with_scopes(share: int) -> None:
    place = find_place("cafe")
    rng = np.random.default_rng([5, share])
    scoped = [draw_norm(rng, kind, f"x-{n}-{i}") for n, kind in enumerate(KINDS) for i in range(3)]
    engine = BatchEngine([place.layout], [*load_norms(), *scoped], 550)
    fill_queries(engine, rng, max_norms=4)
    counts = ask_both(engine, place.naive_layout, 6 + share)
    assert counts["queries"] > 4500
    assert min(counts.values()) > 10, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hall", "loop"])
@pytest.mark.parametrize("max_norms", [1, 3])
def test_other_maps(name: str, max_norms: int) -> None:
    place = find_place(name)
    norms = list_hosted(place.layout, list(load_norms()))
    assert {norm.kind for norm in norms} == set(KINDS)
    engine = BatchEngine([place.layout], norms, 500)
    fill_queries(engine, np.random.default_rng([7, max_norms]), max_norms=max_norms)
    assert ask_both(engine, place.naive_layout, 8)["queries"] > 4000


@pytest.mark.parametrize("share", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_long_ways_round_under_the_clock(share: int) -> None:
    # The short way leads through others, the long way takes up to 58 steps more; norms about time
    # stretch the two unequally, so a search that leaves the clock out of account goes wrong.
    place = find_place("loop")
    library = [norm for norm in load_norms() if norm.kind in ("turn_residues", "move_wait")]
    own = [
        make_norm({"id": f"x-{i}", "kind": kind, "parameters": parameters})
        for i, (kind, parameters) in enumerate(FOUR_GATES)
    ]
    rng = np.random.default_rng([9, share])
    engine = BatchEngine([place.layout], [*library, *own], 900 if share else 150)
    fill_queries(engine, rng, max_norms=3 if share == 2 else 1)
    cells = np.flatnonzero(engine.tables[0]["enterable"][0])
    shape = engine.states["leg"].shape
    engine.states["leg"] = rng.random(shape) < 0.2
    engine.states["goal1_kind"] = Goal1.PLACE
    engine.states["goal1_cell"] = rng.choice(cells, shape)
    counts = ask_both(engine, place.naive_layout, 10)
    assert counts["queries"] > (7000 if share else 1200)
    assert counts["the norm matters"] > 50, counts
    assert counts["several"] > 5, counts


def test_turns_that_come_seldom() -> None:
    # Both norms permit a move on every 272nd turn only.
    norms = [
        make_norm({"id": f"x-{m}", "kind": "turn_residues", "parameters": parameters})
        for m in (16, 17)
        for parameters in ({"modulus": m, "residues": [0]},)
    ]
    place = find_place("cafe")
    engine = BatchEngine([place.layout], norms, 1)
    fill_queries(engine, np.random.default_rng(0))
    row = engine.states[0]
    row["norms"][:2], row["change_turn"], row["turn"] = (0, 1), -1, 0
    row["present"][:], row["driver"][:], row["predicted"][:] = 0, 1, 1
    row["present"][0], row["pos"][0] = 1, 16
    row["goal1_kind"][0], row["goal1_cell"][0], row["leg"][0] = Goal1.PLACE, 19, 0
    row["timer"][0] = row["holder"][0] = 0
    world = to_naive(engine, 0, place.naive_layout, {norm.id: norm_row(norm) for norm in norms})
    assert best_actions(world, 0, set()) == {naive.RIGHT}
    assert engine.plan()[1][0, 0] == 1 << naive.RIGHT
