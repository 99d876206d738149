"""The worlds a DQN learns in, held against episodes that are stepped here one by one."""

import numpy as np
import pytest
from dqn_runs import make_config

from normgym_envs.constants import Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ActionError, ConfigError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm
from normgym_envs.observations.flat import observe_flat
from normgym_envs.protocol.episodes import draw_episode
from training.config import REWARD_TERMS, SHAPING, DQNConfig
from training.probes import collect_probes, measure_probe
from training.worlds import Curve, TrainingWorlds, Turn

NORMS = ("bottom-door-forbidden", "even-turns-only", "bend-right-1", "group-seating-1")


def start_alone(config: DQNConfig, seed: int) -> BatchEngine:
    """Return an engine with one training episode, loaded without the class under test."""
    spec = draw_episode("cafe", config.norm, seed, num_norm_blind=1, limit=config.episode_steps)
    engine = BatchEngine([get_layout("cafe")], [get_norm(config.norm)], 1)
    engine.load(
        0,
        spec,
        reward_terms=REWARD_TERMS[config.reward],
        drivers=(int(Driver.EXTERNAL), *spec.drivers[1:]),
    )
    return engine


def lead_home(worlds: TrainingWorlds, rng: np.random.Generator) -> np.ndarray:
    """Return the planner's actions with some noise, so that goals and departures occur."""
    planned, _ = worlds.engine.plan()
    noise = rng.integers(5, size=worlds.num_envs)
    return np.where(rng.random(worlds.num_envs) < 0.2, noise, planned[:, 0]).astype(np.int64)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("reward", ["sparse", "none", "dense"])
def test_each_row_is_the_episodes_of_the_block_in_order(norm: str, reward: str) -> None:
    config = make_config(norm, reward=reward, episode_steps=120)
    seeds = config.episode_seeds.train
    worlds = TrainingWorlds(config, "cafe", seeds, 3)
    rng = np.random.default_rng(0)
    observations = worlds.reset()
    alone = [start_alone(config, seed) for seed in seeds[:3]]
    following = 3
    departures = automatic = shaped = 0
    for _ in range(300):
        actions = lead_home(worlds, rng)
        turn = worlds.step(actions)
        for row, engine in enumerate(alone):
            before = engine.states[0].copy()
            is_free = engine.action_masks()[0, 0, :4].any()
            engine.step(actions[row : row + 1, None])
            state = engine.states[0]
            expected = float(state["reward"][0])
            if is_free and state["own_move"][0]:
                progress = compare_distances(engine, before)
                expected += SHAPING[reward] * progress
                shaped += progress != 0 and reward == "dense"
            assert turn.rewards[row] == pytest.approx(expected, abs=1e-5)
            np.testing.assert_array_equal(
                turn.successors[row], observe_flat(engine, 0, worlds.num_slots)[0]
            )
            # what the engine itself says it played
            played = int(state["action"][0]) if before["present"][0] else int(Action.WAIT)
            assert turn.executed[row] == played
            assert turn.chosen[row] == is_free
            automatic += not is_free
            departures += bool(before["present"][0] and not state["present"][0])
            assert turn.ended[row] == (state["ending"] == Ending.TRUNCATED)
            assert state["ending"] != Ending.TERMINATED
            if turn.ended[row]:
                alone[row] = start_alone(config, seeds[following])
                following += 1
            np.testing.assert_array_equal(
                turn.observations[row], observe_flat(alone[row], 0, worlds.num_slots)[0]
            )
        observations = turn.observations
    assert observations.shape == (3, worlds.observation_size)
    assert departures > 5  # nobody's departure ended an episode
    assert automatic > 50
    assert shaped > 100 or reward != "dense"


def compare_distances(engine: BatchEngine, before: np.void) -> int:
    """Return whether the newcomer came nearer to the goal it had, by a search of its own."""
    layout = engine.layouts[0]
    goals = list_goals(engine, before)
    old = int(before["pos"][0])
    new = int(engine.tables[0][0]["neighbour"][old, engine.states[0]["action"][0]])
    distances = search(layout.cells, goals)
    if distances[old] < 0 or distances[new] < 0:
        return 0
    return int(np.sign(distances[old] - distances[new]))


def list_goals(engine: BatchEngine, state: np.void) -> list[int]:
    """Return the cells that the visible category of the newcomer's goal accepts."""
    layout = engine.tables[0][0]
    cells = range(165)
    if state["leg"][0] == 1:
        door = int(state["goal2_door"][0])
        return [
            c for c in cells if layout["door_of"][c] >= 0 and door in (-1, layout["door_of"][c])
        ]
    kind = int(state["goal1_kind"][0])
    if kind == 0:
        return [int(layout["service"])]
    if kind == 1:
        return [int(state["goal1_cell"][0])]
    if kind == 2:
        return [c for c in cells if layout["region_of"][c] >= 0 and layout["enterable"][c]]
    return [c for c in cells if layout["zones"][c] == 2 and layout["enterable"][c]]


def search(cells: np.ndarray, goals: list[int]) -> list[int]:
    """Return the steps to the nearest goal from each cell, -1 where there is no way."""
    flat = cells.reshape(-1)
    distances = [-1] * 165
    queue = list(goals)
    for goal in goals:
        distances[goal] = 0
    while queue:
        cell = queue.pop(0)
        row, column = divmod(cell, 15)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = 0 <= r < 11 and 0 <= c < 15
            if inside and flat[r * 15 + c] in (1, 2, 3) and distances[r * 15 + c] < 0:
                distances[r * 15 + c] = distances[cell] + 1
                queue.append(r * 15 + c)
    return distances


def test_bad_actions_and_used_up_seeds() -> None:
    worlds = TrainingWorlds(make_config(episode_steps=5), "cafe", [1, 2], 2)
    with pytest.raises(ActionError, match="before reset"):
        worlds.step(np.zeros(2, np.int64))
    worlds.reset()
    with pytest.raises(ActionError, match=r"shape \(3,\); expected \(2,\)"):
        worlds.step(np.zeros(3, np.int64))
    with pytest.raises(ActionError, match="action 5"):
        worlds.step(np.array([5, 0]))
    for _ in range(4):
        worlds.step(np.full(2, 4))
    with pytest.raises(ConfigError, match="seeds is used up"):
        worlds.step(np.full(2, 4))


def make_turn(
    rewards: list[float], chosen: list[int], waited: list[int], **others: list[int]
) -> Turn:
    """Return a turn of two worlds without observations."""
    nothing = np.zeros((2, 0), np.float32)
    flags = {name: np.array(others.get(name, [0, 0]), bool) for name in ("collided", "ended")}
    return Turn(
        observations=nothing,
        successors=nothing,
        rewards=np.array(rewards, np.float32),
        executed=np.zeros(2, np.int64),
        chosen=np.array(chosen, bool),
        waited=np.array(waited, bool),
        **flags,
    )


def test_the_curve_sums_up_whole_episodes() -> None:
    curve = Curve(2)
    curve.add(make_turn([1, 2], [1, 1], [1, 0]))
    curve.add_losses([1.0, 3.0])
    first = curve.summarize()
    assert first["episodes"] == 0
    assert first["return_mean"] is None
    assert (first["loss_mean"], first["wait_share"]) == (2.0, 0.5)
    curve.clear()
    # row 0 has only waited, automatic turns aside; row 1 has moved and collided in the first bin
    curve.add(make_turn([4, 8], [0, 1], [0, 1], collided=[0, 1]))
    curve.add(make_turn([0, 0], [1, 1], [1, 1], ended=[1, 1]))
    assert curve.summarize() == {
        "episodes": 2,
        "return_mean": 7.5,
        "return_median": 7.5,
        "loss_mean": None,
        "wait_share": 1.0,
        "all_wait_episodes": 1,
        "collision_episodes": 1,
    }
    curve.clear()
    curve.add(make_turn([0, 0], [0, 1], [0, 1], ended=[1, 1]))
    last = curve.summarize()
    # nothing of the earlier episodes is left; an episode without a choice is none of waiting
    assert (last["all_wait_episodes"], last["collision_episodes"]) == (1, 0)


def test_probes_repeat_and_have_the_right_size() -> None:
    config = make_config("even-turns-only", probe_transitions=600, episode_steps=200)
    first, second = collect_probes(config), collect_probes(config)
    for name in ("train", "validation"):
        for one, other in zip(first[name], second[name], strict=True):
            np.testing.assert_array_equal(one, other)
        assert len(first[name].actions) == 600
        # automatic turns are stored with WAIT, whatever was drawn
        closed = ~(first[name].observations[:, -5:-1] > 0).any(axis=1)
        assert closed.any()
        assert (first[name].actions[closed] == Action.WAIT).all()
        assert len(set(first[name].actions[~closed].tolist())) == 5
    planes = {probe[:165].tobytes() for probe in first["validation"].observations if probe.any()}
    assert len(planes - {np.zeros(165, np.float32).tobytes()}) == 3  # three maps


def test_probes_measure_the_masked_huber_loss() -> None:
    probe = collect_probes(make_config(probe_transitions=4))["train"]
    probe = probe._replace(
        actions=np.array([0, 1, 2, 4]), rewards=np.array([0, 1, 2, 3], np.float32)
    )
    probe.successors[:, -5:] = [[1, 0, 0, 0, 1], [0, 1, 1, 1, 1], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]]
    values = np.arange(20, dtype=np.float32).reshape(4, 5)
    following = np.array([[1, 9, 9, 9, 2], [9, 1, 2, 3, 4], [9, 9, 9, 9, -1], [7, 1, 1, 1, 1]])
    targets = np.array([0, 1, 2, 3]) + 0.5 * np.array([2, 4, -1, 7])
    errors = np.abs(np.array([0, 6, 12, 19]) - targets)
    huber = np.where(errors < 1, errors**2 / 2, errors - 0.5)
    result = measure_probe(probe, values, following.astype(np.float32), 0.5)
    assert result.huber == pytest.approx(huber.mean())
    assert result.q_mean == pytest.approx(37 / 4)
    assert result.target_mean == pytest.approx(targets.mean())
