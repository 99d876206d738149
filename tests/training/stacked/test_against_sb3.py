"""The stacked learner and Stable-Baselines3 are the same learner, up to rounding."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from training.config import DQNConfig
from training.dqn import DQNRun
from training.stacked.stack import Stack
from training.stacked.worlds import StackedCurve
from training.worlds import Curve, Turn

Make = Callable[..., DQNConfig]
TOLERANCE = 2e-5
"""Of weights of about 0.1 after some hundred updates of about 1e-4 each."""


def largest_difference(stack: Stack, norm: int, run: DQNRun) -> float:
    """Return the largest difference of any weight of network and target."""
    state = stack.networks.export()
    policy = run.model.policy
    pairs = ((state["params"], policy.q_net), (state["targets"], policy.q_net_target))
    return max(
        float((mine[name][norm] - theirs).abs().max())
        for mine, network in pairs
        for name, theirs in network.state_dict().items()
    )


@pytest.mark.parametrize(
    ("norms", "settings"),
    [
        (("even-turns-only", "bottom-door-forbidden"), {}),
        (("group-seating-1", "group-seating-2"), {"reward": "none", "epsilon_share": 0.1}),
        (("bend-right-1",), {"reward": "dense", "max_grad_norm": 0.05}),
    ],
)
def test_whole_runs_are_equal(
    make_config: Make,
    tmp_path: Path,
    norms: tuple[str, ...],
    settings: dict[str, object],
) -> None:
    """Coins, actions, episodes, ring, batches, targets, masks, clipping and updates, in order."""
    configs = [make_config(norm, **settings) for norm in norms]
    runs = [DQNRun(config, tmp_path / config.norm) for config in configs]
    stacks = [Stack(configs, backend=name) for name in ("compiled", "torch")]
    start = stacks[0].networks.export()["params"]
    for _ in range(30):  # 960 transitions: the ring wraps, the target is copied once
        played = [stack.play_round() for stack in stacks]
        for norm, run in enumerate(runs):
            run._play_round()
            turns = stacks[0].replay.steps
            for actions in played:
                theirs = run._actions[turns - len(actions) : turns]
                np.testing.assert_array_equal(actions[:, norm], theirs)
    for stack in stacks:
        assert stack.networks.updates == runs[0].model._n_updates > 180
        moved = stack.networks.export()["params"]
        most = max(float((moved[name] - start[name]).abs().max()) for name in start)
        assert most > 50 * TOLERANCE
        for norm, run in enumerate(runs):
            assert largest_difference(stack, norm, run) < TOLERANCE
            mine, single = stack.curve.summarize(norm), run._curve.summarize()
            assert mine["loss_mean"] == pytest.approx(single["loss_mean"], rel=1e-4)
            assert {**mine, "loss_mean": 0} == {**single, "loss_mean": 0}


def test_convolutional_networks_are_equal_too(make_config: Make, tmp_path: Path) -> None:
    config = make_config("even-turns-only", encoder="cnn", num_envs=4)
    run, stack = DQNRun(config, tmp_path), Stack([config])
    for _ in range(18):
        stack.play_round()
        run._play_round()
    assert stack.networks.updates == run.model._n_updates == 24
    assert largest_difference(stack, 0, run) < TOLERANCE


@pytest.mark.parametrize("max_grad_norm", [10.0, 0.02])
def test_twenty_updates_from_equal_memories_and_draws_are_equal(
    make_config: Make, tmp_path: Path, rng: np.random.Generator, max_grad_norm: float
) -> None:
    """Updates alone: same weights, same memory, same places drawn; no coin, no world."""
    configs = [make_config("bend-right-1", max_grad_norm=max_grad_norm)]
    run = DQNRun(configs[0], tmp_path)
    stacks = [Stack(configs, backend=name) for name in ("compiled", "torch")]
    for _ in range(60):
        actions = rng.integers(5, size=(1, 8)).astype(np.int8)
        run._play_turn(actions[0].astype(np.int64), actions[0].astype(np.int64))
        for stack in stacks:
            stack.play_turn(actions)
    stored = stacks[0].replay.stored
    draws = np.random.default_rng(1).integers(stored, size=(20, 32))
    run._buffer.rng = np.random.default_rng(1)
    run.model.train(20, 32)
    for stack in stacks:
        stack.networks.learn(stack.replay, stack.replay.to_ages(draws[None]))
        assert largest_difference(stack, 0, run) < 1e-6


@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_memory_holds_what_the_replay_buffer_holds(
    make_config: Make, tmp_path: Path, rng: np.random.Generator, reward: str
) -> None:
    configs = [make_config(norm, reward=reward) for norm in ("group-seating-1", "group-seating-2")]
    stack = Stack(configs)
    runs = [DQNRun(config, tmp_path / config.norm) for config in configs]
    for _ in range(390):  # nearly four times round
        actions = rng.integers(5, size=(2, 8)).astype(np.int8)
        stack.play_turn(actions)
        for run, own in zip(runs, actions.astype(np.int64), strict=True):
            run._play_turn(own, own)
    memory, codec = stack.replay, stack._codec
    assert memory.positions == 100
    rows, worlds = np.divmod(memory.to_ages(np.arange(memory.stored)), 8)
    slots = (memory.oldest + rows) % 101
    places = np.divmod(np.arange(memory.stored), 8)
    for norm, run in enumerate(runs):
        buffer = run._buffer
        ends = memory.final_of[norm, slots, worlds]
        after = memory.codes[norm, (slots + 1) % 101, worlds]
        last = memory.finals[norm, worlds, ends.clamp(min=0).long()]
        following = torch.where((ends >= 0)[:, None], last, after).numpy()
        here = memory.codes[norm, slots, worlds].numpy()
        np.testing.assert_array_equal(codec.decode(here), buffer.observations[places])
        np.testing.assert_array_equal(codec.decode(following), buffer.next_observations[places])
        mine = memory.actions[norm, slots, worlds]
        np.testing.assert_array_equal(mine, buffer.actions[places][:, 0])
        np.testing.assert_array_equal(memory.rewards[norm, slots, worlds], buffer.rewards[places])
        assert int((ends >= 0).sum()) == buffer.timeouts.sum() > 8


def test_curves_count_what_the_single_curve_counts(rng: np.random.Generator) -> None:
    stacked, single = StackedCurve(2, 3), [Curve(3) for _ in range(2)]
    for _ in range(60):
        flags = rng.random((4, 6)) < np.array([0.8, 0.7, 0.05, 0.2])[:, None]
        waited = flags[0] & (flags[1] | (np.arange(6) == 4))
        empty = np.empty((6, 0), np.float32)
        rewards, executed = rng.normal(size=6).astype(np.float32), np.zeros(6, np.int64)
        turn = Turn(empty, empty, rewards, executed, flags[0], waited, flags[2], flags[3])
        losses = rng.random(2).astype(np.float32)
        stacked.add(turn)
        stacked.add_losses(losses)
        for norm, curve in enumerate(single):
            curve.add(Turn(*(part[3 * norm : 3 * norm + 3] for part in turn)))
            curve.add_losses([float(losses[norm])])
    for norm, curve in enumerate(single):
        assert stacked.summarize(norm) == curve.summarize()
    assert stacked.summarize(1)["all_wait_episodes"] > 0
