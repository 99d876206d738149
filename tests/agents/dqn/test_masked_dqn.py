"""What DQN stores, chooses and learns from, held against the rules in NG's appendix."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dqn_runs import REASON, make_config

torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("stable_baselines3", reason=REASON)

from agents.dqn.masked_dqn import MaskedDQN  # noqa: E402
from normgym_envs.constants import Action  # noqa: E402
from training.config import DQNConfig  # noqa: E402
from training.dqn import DQNRun  # noqa: E402
from training.worlds import Turn  # noqa: E402


class Watched(DQNRun):
    """A run that remembers every turn beside what it stores."""

    def __init__(self, config: DQNConfig, folder: Path) -> None:
        """Begin with nothing remembered."""
        self.turns: list[tuple[np.ndarray, np.ndarray, Turn]] = []
        super().__init__(config, folder)

    def _play_turn(self, given: Any, stored: Any) -> None:
        before = np.asarray(self.model._last_obs).copy()
        super()._play_turn(given, stored)
        assert self._env.turn is not None
        self.turns.append((before, np.asarray(given).copy(), self._env.turn))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    config = make_config(
        "even-turns-only", steps=2_400, buffer_size=4_000, episode_steps=150, reward="sparse"
    )
    run = Watched(config, tmp_path_factory.mktemp("run"))
    run.train()
    return run


def test_the_buffer_holds_what_happened(run: Watched) -> None:
    buffer = run.model.replay_buffer
    assert buffer is not None
    assert buffer.pos == len(run.turns) == 600
    blocked = 0
    for place, (before, given, turn) in enumerate(run.turns):
        np.testing.assert_array_equal(buffer.observations[place], before)
        np.testing.assert_array_equal(buffer.next_observations[place], turn.successors)
        np.testing.assert_array_equal(buffer.actions[place, :, 0], turn.executed)
        np.testing.assert_array_equal(buffer.rewards[place], turn.rewards)
        # every end is a truncation, so that no target is cut
        np.testing.assert_array_equal(buffer.dones[place], turn.ended)
        np.testing.assert_array_equal(buffer.timeouts[place], turn.ended)
        asked = before[:, -5:-1].any(axis=1)
        assert (turn.executed[~asked] == Action.WAIT).all()
        assert (turn.executed[asked] == given[asked]).all()
        moves = before[np.arange(4), given - 5]
        blocked += int((moves[asked] == 0).sum())
    assert blocked > 10  # exploration draws blocked moves too, and they are stored as drawn
    assert sum(int(turn.ended.sum()) for _, _, turn in run.turns) == 16


def test_automatic_turns_are_stored_as_waits_and_departures_end_nothing(tmp_path: Path) -> None:
    """Lead learners out by the planner, and say UP whenever there is nothing to say."""
    led = Watched(make_config("bottom-door-forbidden", episode_steps=150), tmp_path)
    buffer = led.model.replay_buffer
    assert buffer is not None
    departures = held = absent = 0
    for place in range(140):
        planned, _ = led._worlds.engine.plan()
        asked = np.asarray(led.model._last_obs)[:, -5:-1].any(axis=1)
        actions = np.where(asked, planned[:, 0], Action.UP).astype(np.int64)
        led._play_turn(actions, actions)
        before, _, turn = led.turns[-1]
        np.testing.assert_array_equal(
            buffer.actions[place, :, 0], np.where(asked, actions, Action.WAIT)
        )
        active = before[:, 495 + 6] > 0
        held += int((active & ~asked).sum())
        absent += int((~active).sum())
        departures += int((active & (turn.successors[:, 495 + 6] == 0)).sum())
        assert not buffer.dones[place].any()
    assert min(held, absent, departures) > 4


def test_exploration_has_a_coin_for_each_world_and_keeps_no_mask(run: Watched) -> None:
    model = run.model
    model.explore_rng = np.random.default_rng(0)
    seen = np.repeat(np.asarray(run.turns[0][0])[:1], 1_000, axis=0)
    seen[:, -5:] = [1, 0, 0, 0, 1]
    greedy, _ = model.predict(seen, deterministic=True)
    assert set(greedy.tolist()) <= {0, 4}
    model.exploration_rate = 0.3
    actions, _ = model.predict(seen, deterministic=False)
    counts = np.bincount(actions, minlength=5)
    others = counts[[1, 2, 3]]  # closed: only ever drawn, each with 0.3 / 5
    assert (abs(others - 60) < 30).all()
    assert counts[greedy[0]] > 700
    model.exploration_rate = 1.0
    drawn, _ = model.predict(seen, deterministic=False)
    assert (abs(np.bincount(drawn, minlength=5) - 200) < 60).all()
    single, _ = model.predict(seen[0], deterministic=True)
    assert single == greedy[0]


def test_global_random_numbers_play_no_part(tmp_path: Path) -> None:
    states = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 - the generator that must not matter
        torch.manual_seed(seed)
        run = DQNRun(make_config(steps=400), tmp_path / str(seed))
        run.train()
        states.append(run.model.policy.q_net.state_dict())
    for name, weights in states[0].items():
        assert torch.equal(weights, states[1][name])


def test_one_update_is_the_papers(tmp_path: Path) -> None:
    """Recompute an update by hand: masked target, unmasked prediction, Huber, clipping, Adam."""
    config = make_config(steps=400, learning_starts=200)
    run = DQNRun(config, tmp_path)
    model = run.model
    while run.steps < 240:
        for _ in range(config.train_every):
            given, stored = model._sample_action(config.learning_starts, None, config.num_envs)
            run._play_turn(given, stored)
    with torch.no_grad():  # make the target differ from the online network, and closed moves good
        for weights in model.policy.q_net_target.parameters():
            weights.mul_(1.5)
    sampler = run._buffer.rng.bit_generator.state
    batch = run._buffer.sample(config.batch_size)
    run._buffer.rng.bit_generator.state = sampler
    online, target = model.policy.q_net, model.policy.q_net_target
    plain = torch.nn.Sequential(*target.layers)(batch.next_observations).detach()
    is_open = batch.next_observations[:, -5:] > 0
    best = torch.stack([row[mask].max() for row, mask in zip(plain, is_open, strict=True)])
    assert (best < plain.max(dim=1).values).any()
    assert not batch.dones.any()
    wanted = batch.rewards[:, 0] + config.gamma * best
    copy = torch.nn.Sequential(
        *[
            torch.nn.Linear(w.shape[1], w.shape[0]) if w.ndim == 2 else torch.nn.ReLU()
            for w in list(online.parameters())
        ][:5]
    )
    copy.load_state_dict({k.removeprefix("layers."): v for k, v in online.state_dict().items()})
    taken = copy(batch.observations).gather(1, batch.actions).squeeze(1)
    closed = batch.observations.gather(1, batch.actions - 5 + batch.observations.shape[1]) == 0
    assert closed.any()  # blocked moves are learnt about like any other
    error = (taken - wanted).abs()
    loss = torch.where(error < 1, error**2 / 2, error - 0.5).mean()
    optimizer = torch.optim.Adam(copy.parameters(), lr=config.learning_rate)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(copy.parameters(), config.max_grad_norm)
    optimizer.step()
    model.train(gradient_steps=1, batch_size=config.batch_size)
    assert model.last_loss == pytest.approx(float(loss.detach()), rel=1e-5)
    for name, weights in copy.state_dict().items():
        torch.testing.assert_close(online.state_dict()[f"layers.{name}"], weights)


@pytest.mark.parametrize("num_envs", [1, 4, 16])
def test_update_ratio_and_target_copies_do_not_depend_on_the_worlds(
    num_envs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make_config(steps=1_600, learning_starts=320, target_every=320, num_envs=num_envs)
    run = DQNRun(config, tmp_path)
    copies = []
    monkeypatch.setattr(
        "stable_baselines3.dqn.dqn.polyak_update",
        lambda source, target, tau: copies.append((run.steps, tau)),
    )
    run.train()
    assert run.steps == 1_600
    waited = -(-(320 + 1) // (4 * num_envs)) * 4 * num_envs  # first round after learning starts
    assert run.model._n_updates == (1_600 - waited) // 4 + num_envs
    assert sorted({steps for steps, _ in copies}) == [320, 640, 960, 1_280, 1_600]
    assert run.model.exploration_rate == pytest.approx(config.epsilon(1_600))


def test_a_model_can_be_saved_and_loaded(run: Watched, tmp_path: Path) -> None:
    run.model.save(tmp_path / "model")
    again = MaskedDQN.load(tmp_path / "model", device="cpu")
    seen = run.turns[-1][0]
    expected, _ = run.model.predict(seen, deterministic=True)
    actual, _ = again.predict(seen, deterministic=True)
    np.testing.assert_array_equal(actual, expected)
