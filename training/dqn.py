"""Trains one DQN with Stable-Baselines3, and goes on after any interruption as if there was none.

The experience of a run is a function of its episode seeds and actions. An interrupted run therefore
keeps its actions (a byte a transition) instead of its replay buffer (half a gigabyte), and plays
them again before it goes on.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.dqn.runs import TENSORBOARD, RunWriter, read_log
from normgym_envs.errors import ConfigError, MissingExtraError, RecordError
from training.board import Board
from training.config import TRAIN_LAYOUT, DQNConfig
from training.probes import collect_probes, measure_probe
from training.validation import Validation
from training.worlds import Curve, TrainingWorlds

try:
    import torch

    from agents.dqn.masked_dqn import MaskedDQN, MaskedDQNPolicy, SeededReplayBuffer
    from training.sb3_env import TrainingVecEnv
except ImportError as error:
    raise MissingExtraError(
        "training a DQN needs torch and Stable-Baselines3; install the extra: "
        "pip install 'normgym[rl]'"
    ) from error

LEARNER: Final = "sb3"
_REPORT: Final = 1_000
"""Transitions between two reports of progress."""
_STREAMS: Final = {"weights": 0, "explore": 1, "sample": 2}
"""Random streams of a run."""


class Clock:
    """Time a run has taken, in this session and in those before it."""

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        """Start.

        Args:
            before: as `read` gave it when an earlier session was saved.
        """
        self._before = before or {}
        self._start = self._now()

    def read(self) -> dict[str, float]:
        """Return seconds on the wall and seconds of this process's processor time."""
        return {
            name: round(self._before.get(name, 0.0) + value - self._start[name], 3)
            for name, value in self._now().items()
        }

    def _now(self) -> dict[str, float]:
        return {"seconds": time.monotonic(), "cpu_seconds": time.process_time()}


class DQNRun:
    """One DQN run: the learner, its worlds, and what is written about them."""

    def __init__(self, config: DQNConfig, folder: Path, device: str = "cpu") -> None:
        """Make everything and, when the folder holds an interrupted run, go back to its state.

        Args:
            config: what to train.
            folder: of the run, `agents.dqn.runs`.
            device: as torch names it; "auto" takes a GPU when there is one.

        Raises:
            RecordError: the folder holds another run or a damaged one.
            ConfigError: it cannot be written to, or no such device.
        """
        self.config = config
        self.writer = RunWriter(folder, config.to_json(), LEARNER)
        self._board = Board(folder / TENSORBOARD)
        self._worlds = TrainingWorlds(config, TRAIN_LAYOUT, config.episode_seeds.train)
        self._env = TrainingVecEnv(self._worlds)
        self._curve = Curve(config.num_envs)
        self._probes = collect_probes(config)
        self._validation = Validation(config)
        self._actions = np.zeros((self._num_turns, config.num_envs), np.uint8)
        self._clock = Clock()
        self.model = self._make_model(device)
        self._resume()

    @property
    def steps(self) -> int:
        """Transitions done."""
        return int(self.model.num_timesteps)

    @property
    def _num_turns(self) -> int:
        """Turns of all worlds until the run ends."""
        rounds = -(-self.config.steps // (self.config.train_every * self.config.num_envs))
        return rounds * self.config.train_every

    def train(self, report: Callable[[int], None] | None = None) -> None:
        """Train to the end.

        Args:
            report: told the transitions done, now and then.

        Raises:
            ConfigError: the disk is full or gone; the same command goes on.
        """
        if self.steps >= self.config.steps:
            return
        marks = [mark for mark in self.config.validation_at if mark > self.steps]
        next_bin = (self.steps // self.config.bin_steps + 1) * self.config.bin_steps
        next_report = 0
        while self.steps < self.config.steps:
            self._play_round()
            is_last = self.steps >= self.config.steps
            at_bin = self.steps >= next_bin or is_last
            if at_bin:
                self._log_bin()
                next_bin = (self.steps // self.config.bin_steps + 1) * self.config.bin_steps
            if marks and self.steps >= marks[0]:
                self._check(marks.pop(0))
            if at_bin and not is_last:
                self._save()
            if report is not None and self.steps >= next_report:
                next_report = self.steps + _REPORT
                report(self.steps)
        self.writer.finish(self.steps)
        self._board.close()
        if report is not None:
            report(self.steps)

    def choose(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Return greedy actions, (B,) int64."""
        actions, _ = self.model.predict(observations, deterministic=True)
        return np.asarray(actions, np.int64)

    def _make_model(self, device: str) -> MaskedDQN:
        """Return a learner that has seen nothing."""
        config = self.config
        seeds = {name: [config.norm_index, config.seed, i] for name, i in _STREAMS.items()}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(np.random.default_rng(seeds["weights"]).integers(2**63)))
            try:
                model = MaskedDQN(
                    MaskedDQNPolicy,
                    self._env,
                    learning_rate=config.learning_rate,
                    buffer_size=config.buffer_size,
                    learning_starts=config.learning_starts,
                    batch_size=config.batch_size,
                    tau=1.0,
                    gamma=config.gamma,
                    train_freq=config.train_every,
                    gradient_steps=config.num_envs,
                    replay_buffer_class=SeededReplayBuffer,
                    replay_buffer_kwargs={"rng": np.random.default_rng(seeds["sample"])},
                    target_update_interval=config.target_every,
                    exploration_fraction=config.epsilon_share,
                    exploration_initial_eps=config.epsilon_start,
                    exploration_final_eps=config.epsilon_end,
                    max_grad_norm=config.max_grad_norm,
                    policy_kwargs={
                        "encoder": config.encoder,
                        "num_slots": self._worlds.num_slots,
                    },
                    explore_seed=seeds["explore"],
                    device=device,
                )
            except RuntimeError as error:
                first = str(error).splitlines()[0]
                raise ConfigError(f"device {device!r} cannot be used: {first}") from None
        _, self._callback = model._setup_learn(config.steps, None)
        return model

    def _play_round(self) -> None:
        """Play `train_every` turns in all worlds and do the updates that are due."""
        model, config = self.model, self.config
        for _ in range(config.train_every):
            given, stored = model._sample_action(config.learning_starts, None, config.num_envs)
            self._play_turn(given, stored)
            model._on_step()
        if self.steps > config.learning_starts:
            model.train(gradient_steps=config.num_envs, batch_size=config.batch_size)
            self._curve.add_losses([model.last_loss])

    def _play_turn(
        self, given: npt.NDArray[np.integer[Any]], stored: npt.NDArray[np.integer[Any]]
    ) -> None:
        """Play one turn in all worlds, store and count it."""
        model = self.model
        self._actions[self.steps // self.config.num_envs] = given
        observations, rewards, ended, infos = self._env.step(given)
        model.num_timesteps += self.config.num_envs
        model._store_transition(self._buffer, stored, observations, rewards, ended, infos)
        model._update_current_progress_remaining(model.num_timesteps, self.config.steps)
        assert self._env.turn is not None
        self._curve.add(self._env.turn)

    def _log_bin(self) -> None:
        """Write one entry of the curve."""
        entry = {
            "kind": "train",
            "steps": self.steps,
            **self._curve.summarize(),
            "epsilon": self.config.epsilon(self.steps),
        }
        self._curve.clear()
        self._write(entry)
        self._write({"kind": "time", "steps": self.steps, **self._clock.read()})

    def _check(self, mark: int) -> None:
        """Keep a checkpoint, measure the probes and play the validation episodes."""
        self.model.policy.set_training_mode(False)
        self.writer.save_checkpoint(mark, self.model.policy.q_net.state_dict())
        for name, probe in self._probes.items():
            # the target masks by itself; measuring masks once more, which changes nothing
            values = self._evaluate(self.model.policy.q_net, probe.observations)
            following = self._evaluate(self.model.policy.q_net_target, probe.successors)
            result = measure_probe(probe, values, following, self.config.gamma)
            self._write({"kind": "probe", "steps": mark, "set": name, **result._asdict()})
        for entry in self._validation.run(self.choose):
            self._write({"kind": "validation", "steps": mark, **entry})

    def _evaluate(
        self, network: torch.nn.Module, observations: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return a network's values, (P, 5) float32."""
        with torch.no_grad():
            values = network(torch.as_tensor(observations, device=self.model.device))
        return np.asarray(values.cpu().numpy(), np.float32)

    def _write(self, entry: dict[str, Any]) -> None:
        """Write an entry to the log and to TensorBoard."""
        self.writer.log(entry)
        self._board.add(entry)

    def _save(self) -> None:
        """Write what an interrupted run goes on from; only ever at the end of a bin."""
        model = self.model
        turns = self.steps // self.config.num_envs
        self.writer.save_resume(
            self.steps,
            {
                "steps": self.steps,
                "time": self._clock.read(),
                "log_size": self.writer.log_size(),
                "actions": torch.from_numpy(self._actions[:turns].copy()),
                "updates": model._n_updates,
                "online": model.policy.q_net.state_dict(),
                "target": model.policy.q_net_target.state_dict(),
                "optimizer": model.policy.optimizer.state_dict(),
                "explore_rng": json.dumps(model.explore_rng.bit_generator.state),
                "sample_rng": json.dumps(self._buffer.rng.bit_generator.state),
            },
        )

    @property
    def _buffer(self) -> SeededReplayBuffer:
        """The replay buffer."""
        buffer = self.model.replay_buffer
        assert isinstance(buffer, SeededReplayBuffer)
        return buffer

    def _resume(self) -> None:
        """Go back to what was saved, or begin; write what TensorBoard has lost."""
        state = self.writer.load_resume()
        if state is None:
            self.writer.cut_log(0)
            self.writer.note(0)
            self._board.begin([])
            return
        path = self.writer.resume_path
        try:
            self.writer.cut_log(state["log_size"])
            self._restore(state)
        except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as error:
            if isinstance(error, RecordError):
                raise
            raise RecordError(
                f"{path} does not fit this run: {type(error).__name__}: {error}; remove it to "
                "begin anew"
            ) from None
        self._board.begin(read_log(self.writer.folder))

    def _restore(self, state: dict[str, Any]) -> None:
        """Play the saved actions again and put weights and generators back."""
        model, config = self.model, self.config
        actions = state["actions"].numpy()
        for given in actions:
            self._play_turn(given, given.astype(np.int64))
        if self.steps != state["steps"]:
            raise ValueError(f"{state['steps']} steps with actions of {self.steps}")
        self._curve.clear()
        model._n_calls = len(actions)
        model._n_updates = state["updates"]
        model.exploration_rate = model.exploration_schedule(model._current_progress_remaining)
        model.policy.q_net.load_state_dict(state["online"])
        model.policy.q_net_target.load_state_dict(state["target"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        model.explore_rng.bit_generator.state = json.loads(state["explore_rng"])
        self._buffer.rng.bit_generator.state = json.loads(state["sample_rng"])
        self._clock = Clock(state["time"])
        assert self.steps % config.num_envs == 0


def train_dqn(
    config: DQNConfig,
    folder: Path,
    *,
    device: str = "cpu",
    report: Callable[[int], None] | None = None,
) -> None:
    """Train one DQN, or what is left of it; a finished one is left alone.

    Args:
        config: what to train.
        folder: of the run.
        device: as torch names it, or "auto".
        report: told the transitions done, now and then.

    Raises:
        RecordError: the folder holds another run or a damaged one.
        ConfigError: the folder cannot be written to, or no such device.
    """
    with RunWriter(folder, config.to_json(), LEARNER).locked():
        train_open(config, folder, device=device, report=report)


def train_open(
    config: DQNConfig,
    folder: Path,
    *,
    device: str = "cpu",
    report: Callable[[int], None] | None = None,
) -> None:
    """Do what `train_dqn` does, with the lock of the run held by the caller."""
    if RunWriter(folder, config.to_json(), LEARNER).is_finished():
        if report is not None:
            report(config.steps)
        return
    DQNRun(config, folder, device).train(report)
