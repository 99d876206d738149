"""What the picture shows is the state: read back from pixels on a thousand states."""

import numpy as np
import pytest
from decoding import decode
from played_worlds import play_rows

from normgym_envs import BatchEngine
from normgym_envs.constants import Group, Zone
from normgym_envs.observations.image import observe_image
from normgym_envs.observations.symbolic import observe_symbolic

ROWS, ROUNDS = 100, 10


def describe(engine: BatchEngine, row: int, viewer: int) -> dict[int, dict[str, object]]:
    """Return the facts that a frame should show, from the symbolic observation."""
    seen = observe_symbolic(engine, row, viewer)
    facts: dict[int, dict[str, object]] = {}

    def at(slot: int) -> dict[str, object]:
        line, column = seen["positions"][slot].tolist()
        return facts.setdefault(line * 15 + column, {})

    for slot in range(len(seen["present"])):
        if seen["present"][slot]:
            done = bool(seen["goal1_done"][slot])
            charged = bool(seen["collided"][slot])
            at(slot).update(
                group=Group(int(seen["groups"][slot])),
                sanctioned=bool(seen["sanctioned"][slot]),
                viewer=slot == viewer,
                served=0 if done else int(seen["service"][slot]),
                done=done,
                charged=charged,
                pushed=bool(seen["displaced"][slot]) and not charged,
            )
        elif seen["left"][slot]:
            at(slot).update(
                left=Group(int(seen["groups"][slot])),
                left_sanctioned=bool(seen["sanctioned"][slot]),
                left_viewer=slot == viewer,
                left_charged=bool(seen["collided"][slot]),
            )
    for cell, zone in enumerate(seen["zones"].reshape(-1)):
        if zone != Zone.NONE:
            facts.setdefault(cell, {})["zone"] = Zone(int(zone))
    return facts


def scatter(engine: BatchEngine, rng: np.random.Generator) -> None:
    """Give people marks at random, so that every combination of marks is seen."""
    states = engine.states
    shape = states["pos"].shape
    old = (states["present"] != 0) & (states["is_new"] == 0)
    for name in ("sanctioned", "collided", "displaced"):
        states[name] = (rng.random(shape) < 0.4) & (old | (states["prev"] >= 0))
        states[name][states["is_new"] != 0] = 0
    states["leg"] = np.where(old, rng.integers(0, 2, shape), states["leg"])
    states["timer"] = np.where(old & (states["leg"] == 0), rng.integers(0, 5, shape), 0)
    states["group"] = rng.integers(0, 3, shape)


def test_a_thousand_states_are_read_back_from_their_frames() -> None:
    rng = np.random.default_rng(5)
    read = {"sanctioned": 0, "left": 0, "left_sanctioned": 0, "served": 0, "pushed": 0, "zone": 0}
    for round_ in range(ROUNDS):
        engine = play_rows(ROWS, 25 + 3 * round_, seed=1000 * round_)
        if round_ % 2:
            scatter(engine, rng)
        viewer = round_ % 6
        frames = observe_image(engine, viewer)
        for row in range(ROWS):
            found = decode(frames[row])
            goals = {cell for cell, facts in found.items() if facts.pop("goal", False)}
            found = {cell: facts for cell, facts in found.items() if facts}
            assert found == describe(engine, row, viewer), f"round {round_}, row {row}"
            check_goals(engine, row, viewer, goals)
            for facts in found.values():
                for name in read:
                    read[name] += bool(facts.get(name, False))
    assert min(read.values()) > 20, read


def check_goals(engine: BatchEngine, row: int, viewer: int, goals: set[int]) -> None:
    """Hold the marked cells against the viewer's goal."""
    state = engine.states[row]
    layout = engine.layouts[state["layout"]]
    if not state["present"][viewer]:
        assert goals == set()
    elif state["leg"][viewer] == 1:
        door = int(state["goal2_door"][viewer])
        assert goals == {int(c) for i, c in enumerate(layout.doors) if door in (-1, i)}
    else:
        expected = {
            0: {layout.service},
            1: {int(state["goal1_cell"][viewer])},
            2: {int(cell) for cell in layout.chairs},
            3: {int(cell) for cell in np.flatnonzero(layout.zones == Zone.R)},
        }
        assert goals == expected[int(state["goal1_kind"][viewer])]


@pytest.mark.parametrize("viewer", [0, 3])
def test_others_goals_do_not_show(viewer: int) -> None:
    engine = play_rows(20, 20)
    before = observe_image(engine, viewer)
    for name in ("goal1_kind", "goal1_cell", "goal2_door"):
        mine = engine.states[name][:, viewer].copy()
        engine.states[name] = 0
        engine.states[name][:, viewer] = mine
    engine.states["seed"] = 1
    engine.states["norms"] = -1
    engine.states["violated"] = 1
    assert np.array_equal(observe_image(engine, viewer), before)
