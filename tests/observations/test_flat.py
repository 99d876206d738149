"""The flat vector against a plain restatement of its definition."""

import numpy as np
from strategies import fill_random_states

from normgym_envs import BatchEngine, get_layout, load_norms
from normgym_envs.constants import Cell, Goal1
from normgym_envs.observations import observe_flat


def restate(engine: BatchEngine, index: int) -> np.ndarray:
    """Return the newcomer's vector, built in plain Python."""
    row, layout, packed = engine.states[index], engine.layouts[0], engine.tables[0][0]
    others = int(row["num_slots"]) - 1
    out = np.zeros(3 * 165 + 13 + 8 * others + 5)
    out[-1] = 1
    if not row["present"][0]:
        if row["prev"][0] >= 0:
            out[495 + 7], out[495 + 11] = 1, row["sanctioned"][0]
        return out
    here = divmod(int(row["pos"][0]), 15)
    out[:165] = layout.cells.reshape(-1) / max(Cell)
    out[165 + row["pos"][0]] = 1
    if row["leg"][0]:
        door = int(row["goal2_door"][0])
        goals = list(layout.doors) if door < 0 else [layout.doors[door]]
        free = door < 0
    else:
        kind = Goal1(int(row["goal1_kind"][0]))
        free = kind in (Goal1.ANY_CHAIR, Goal1.ANY_ZONE_R)
        goals = {
            Goal1.COUNTER: [layout.service],
            Goal1.PLACE: [int(row["goal1_cell"][0])],
            Goal1.ANY_CHAIR: list(layout.chairs),
            Goal1.ANY_ZONE_R: list(np.flatnonzero(layout.zones.reshape(-1) == 2)),
        }[kind]
    distance = packed["distance"][row["pos"][0]]
    goal = min(goals, key=lambda cell: (distance[cell], cell))
    there = divmod(int(goal), 15)
    earlier = divmod(int(row["prev"][0]), 15)
    held = (not row["leg"][0] and row["timer"][0] > 0) or row["holder"][0]
    out[495 : 495 + 13] = [
        (there[0] - here[0]) / 10,
        (there[1] - here[1]) / 14,
        distance[goal] / 64,
        0,
        (here[0] - earlier[0]) / 2,
        (here[1] - earlier[1]) / 2,
        1,
        0,
        row["leg"][0],
        row["timer"][0] / 4,
        free,
        row["sanctioned"][0],
        (row["limit"] - row["turn"]) / row["limit"],
    ]
    entries = []
    for slot in range(1, others + 1):
        if not row["present"][slot]:
            continue
        cell, before = int(row["pos"][slot]), int(row["prev"][slot])
        place, previous = divmod(cell, 15), divmod(before, 15)
        near = abs(place[0] - here[0]) + abs(place[1] - here[1])
        serving = row["leg"][slot] == 0 and row["timer"][slot] > 0
        group = (row["group"][slot] + 1) / 3
        out[330 + cell] = group
        features = [
            (place[0] - here[0]) / 10,
            (place[1] - here[1]) / 14,
            (previous[0] - here[0]) / 10,
            (previous[1] - here[1]) / 14,
            group,
            not serving,
            row["sanctioned"][slot],
            1,
        ]
        entries.append((near, cell, features))
    for number, (_, _, features) in enumerate(sorted(entries)):
        out[508 + 8 * number : 516 + 8 * number] = features
    if not held:
        for action in range(4):
            out[len(out) - 5 + action] = packed["neighbour"][row["pos"][0], action] != row["pos"][0]
    return out


def test_flat_agrees_with_its_definition() -> None:
    engine = BatchEngine([get_layout("cafe")], load_norms(), 300)
    for seed in range(3):
        fill_random_states(engine, np.random.default_rng(seed), num_slots=(6, 8, 10)[seed])
        seen = observe_flat(engine, 0, (6, 8, 10)[seed])
        for index in range(engine.num_rows):
            np.testing.assert_allclose(seen[index], restate(engine, index), atol=1e-6)


def test_batches_see_what_single_rows_see() -> None:
    engine = BatchEngine([get_layout("cafe")], load_norms(), 64)
    fill_random_states(engine, np.random.default_rng(9))
    together = observe_flat(engine, 0, 10).copy()
    single = BatchEngine([get_layout("cafe")], load_norms(), 1)
    for index in range(64):
        single.states[0] = engine.states[index]
        assert observe_flat(single, 0, 10).tobytes() == together[index].tobytes()
