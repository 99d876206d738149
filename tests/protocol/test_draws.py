"""Drawn episodes stay what they were: suites and published numbers are built from them."""

import hashlib
import json

import numpy as np

from normgym_envs import BatchEngine, draw_episode, get_layout, list_norms, load_norms
from normgym_envs.protocol.episodes import spec_to_json

EPISODES = "24fde7111b886939c45a1ed8d61a99d745deed6cde95748c9cbc8ece578da808"
"""Hash of two episodes under each norm of the library on the café. It may only move together with
a new version of the suites and a line in CHANGELOG.md under "Results changed"."""


def test_equal_seeds_give_the_episodes_they_always_gave() -> None:
    digest = hashlib.sha256()
    for number, norm in enumerate(list_norms()):
        for seed in (number, 2**40 + number):
            spec = draw_episode("cafe", norm, seed, num_learners=1 + number % 3, num_norm_blind=1)
            digest.update(json.dumps(spec_to_json(spec)).encode())
    assert digest.hexdigest() == EPISODES


def test_a_row_does_not_remember_the_episode_before() -> None:
    used = BatchEngine([get_layout("cafe")], load_norms(), 1)
    for number, norm in enumerate(list_norms()[::7]):
        spec = draw_episode("cafe", norm, number)
        used.load(0, spec)
        fresh = BatchEngine([get_layout("cafe")], load_norms(), 1)
        fresh.load(0, spec)
        assert used.states.tobytes() == fresh.states.tobytes()
        for _ in range(20):
            used.step(np.full((1, 10), number % 5))
