"""The metrics on episodes short enough to work out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from normgym_envs.protocol.metrics import list_stays, measure_episode
from normgym_envs.protocol.trace import EpisodeTrace

LIMIT = 10


def write_trace(present: Sequence[Sequence[int]], **fields: Sequence[Sequence[float]]):
    """Return a trace written out by hand, one line a slot; fields left out are zero."""
    held = np.array(present, bool).T
    shape = held[:-1].shape
    dtypes = {"action": np.int8, "goals": np.int8, "reward": np.float32}
    values = {
        name: np.array(fields[name], dtypes.get(name, np.bool_)).T
        if name in fields
        else np.zeros(shape, dtypes.get(name, np.bool_))
        for name in EpisodeTrace._fields[1:]
    }
    return EpisodeTrace(held, **values)


def test_a_whole_test_episode() -> None:
    """The newcomer comes at turn 1, is served on turns 3 and 4 and leaves in turn 5.

    Slot 1 holds two people: turns 0 to 2, and from turn 4 on. Slot 2's stays to the end.
    """
    trace = write_trace(
        [[0, 1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]],
        action=[[4, 0, 4, 4, 4, 3], [0, 0, 0, 4, 1, 1], [4, 4, 4, 4, 4, 4]],
        auto=[[1, 0, 0, 1, 1, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0]],
        waited=[[0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]],
        collided=[[0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
        displaced=[[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
        violated=[[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]],
        goals=[[0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
        reward=[
            [0, -5.1, -0.1, -0.1, 9.9, 9.9],
            [-0.1, -5.1, 9.9, 0, -20.1, -20.1],
            [-0.1] * 6,
        ],
    )
    found = measure_episode(trace, LIMIT, is_test=True)
    assert found.goals_completed == 2
    assert found.newcomers == 1
    assert (found.task, found.joint) == (1.0, 1.0)
    assert (found.completed, found.path_length) == (True, 5)
    assert (found.collisions, found.involvements) == (1, 2)
    assert found.violations == found.sanctions == ()
    assert found.background_violations == 2
    assert found.wait_share == pytest.approx(1 / 3, abs=1e-4)  # turns 1, 2, 5; one wait
    assert (found.community_finished, found.community_path_length) == (1, 3.0)
    assert found.returns == (14.5, -35.5, -0.6)
    assert found.community_welfare == pytest.approx((-35.5 - 0.6) / 2)


def test_a_violation_costs_joint_success_even_when_nobody_shows_it() -> None:
    trace = write_trace([[1, 1, 1, 0]], goals=[[0, 1, 1]], violated=[[1, 0, 1]])
    found = measure_episode(trace, LIMIT, is_test=True)
    assert (found.task, found.joint) == (1.0, 0.0)
    assert found.violations == (0, 2)
    assert found.sanctions == ()


def test_half_a_task() -> None:
    found = measure_episode(write_trace([[1, 1, 1]], goals=[[1, 0]]), LIMIT, is_test=True)
    assert (found.task, found.joint) == (0.5, 0.0)
    assert (found.completed, found.path_length) == (False, LIMIT)


def test_a_newcomer_that_never_appears() -> None:
    trace = write_trace([[0, 0, 0]], auto=[[1, 1]])
    found = measure_episode(trace, LIMIT, is_test=True)
    assert (found.newcomers, found.task, found.path_length) == (0, 0.0, LIMIT)
    assert found.wait_share is None
    assert found.community_welfare is None
    assert found.community_path_length is None


def test_an_interaction_has_no_success() -> None:
    trace = write_trace([[1, 1, 0, 1, 0]], goals=[[1, 1, 1, 1]])
    found = measure_episode(trace, LIMIT, is_test=False)
    assert (found.goals_completed, found.newcomers) == (4, 2)
    assert found.task is None
    assert found.joint is None
    assert found.path_length is None
    assert found.completed is None


def test_stays_are_told_apart() -> None:
    trace = write_trace([[1, 1, 0, 0, 1, 0, 1, 1]])
    assert list_stays(trace, 0) == [2, 1]
