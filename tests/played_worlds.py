"""Worlds in the middle of things."""

from functools import lru_cache

import numpy as np

from normgym_envs import BatchEngine, draw_episode, get_layout, list_layouts, load_norms


def play_rows(num_rows: int, turns: int, seed: int = 0) -> BatchEngine:
    """Return an engine whose rows, over all places and norms, have been played for some turns."""
    engine = _make_engine(num_rows)
    for row in range(num_rows):
        place = engine.layouts[row % len(engine.layouts)]
        norm = engine.norms[row % len(engine.norms)]
        spec = draw_episode(place, norm, seed + row, num_learners=1, num_norm_blind=3)
        engine.load(row, spec)
    rng = np.random.default_rng(seed)
    for _ in range(turns):
        engine.step(rng.integers(0, 5, (num_rows, 10)))
    return engine


@lru_cache(maxsize=4)
def _make_engine(num_rows: int) -> BatchEngine:
    return BatchEngine([get_layout(name) for name in list_layouts()], load_norms(), num_rows)
