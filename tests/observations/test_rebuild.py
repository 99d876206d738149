"""What observers rebuild from observations is what the engine holds."""

import numpy as np
import pytest

from normgym_envs import BatchEngine, draw_episode, get_layout, list_layouts, load_norms
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.observations import observe_symbolic
from normgym_envs.observations.rebuild import StateTracker


@pytest.mark.parametrize(
    "norm", ["visit-zone-q-first", "bend-right-1", "move-2-wait-1", "seats-left-to-right"]
)
def test_a_tracker_follows_streaks_visits_and_own_moves(norm: str) -> None:
    engine = BatchEngine([get_layout("cafe")], load_norms(), 1)
    spec = draw_episode("cafe", norm, 3, num_norm_blind=1)
    engine.load(0, spec)
    tracker = StateTracker()
    rng = np.random.default_rng(0)
    moved = 0
    for _ in range(200):
        row = tracker.update(observe_symbolic(engine, 0, 0))[0]
        state = engine.states[0]
        present = state["present"] != 0
        for name in ("pos", "prev", "group", "leg", "timer", "streak", "visited", "came_from"):
            assert (row[name][present] == state[name][present]).all(), name
        assert (row["own_move"] == state["own_move"]).all()
        assert row["turn"] == state["turn"]
        moved += int(state["own_move"].sum())
        before = engine.states.copy()
        engine.step(rng.integers(0, 5, (1, 10)))
        verdicts = engine.judge(before, np.where(engine.states["own_move"], 0, -1))
        assert verdicts.shape == (1, 50, 10)
    assert moved > 200


def test_verdicts_on_rebuilt_states_are_the_worlds() -> None:
    norms = load_norms()
    engine = BatchEngine([get_layout("cafe")], norms, 1)
    for index, norm in enumerate(norms):
        engine.load(0, draw_episode("cafe", norm, index, num_norm_blind=1))
        tracker = StateTracker()
        rng = np.random.default_rng(index)
        for _ in range(80):
            tracker.update(observe_symbolic(engine, 0, 0))
            mine = engine.judge(tracker.before, tracker.new_cells)[0, index]
            assert (mine == (engine.states["violated"][0] != 0)).all()
            engine.step(rng.integers(0, 5, (1, 10)))


@pytest.mark.parametrize("name", list_layouts())
def test_layouts_are_recognised_by_their_grids(name: str) -> None:
    layout = get_layout(name)
    seen = layout_from_grids(layout.cells, layout.zones)
    assert (seen.doors == layout.doors).all()
    assert (seen.chairs == layout.chairs).all()
    assert (seen.regions == layout.regions).all()
    assert (seen.service, seen.away) == (layout.service, layout.away)
