"""Stacked runs with their folders: training, logs and exact resume, however a run was stopped."""

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.dqn.networks import QNetwork
from agents.dqn.runs import RunWriter
from normgym_envs.errors import NormGymError, RecordError
from normgym_envs.norms.library import get_norm, list_norms, num_slots
from training.config import DQNConfig
from training.stacked.extra import torch
from training.stacked.files import LEARNER, PARTS, RunFiles
from training.stacked.networks import Stacked
from training.stacked.stack import Stack

SAVE_SECONDS: Final = 60.0
"""A resume file is written at the first bin that ends this long after the last one."""
_ANY_NORM: Final = list_norms()[0]

Report = Callable[[int], None]
"""Told the least number of transitions of all runs, now and then."""


class StackedRuns:
    """Runs of equal population and progress: a stack, and a folder for each of its norms."""

    def __init__(self, files: Sequence[RunFiles], device: str, backend: str = "auto") -> None:
        """Make the stack and go back to where the runs were.

        Args:
            files: of the runs, all at the same step.
            device: as torch names it.
            backend: as `Stack`.

        Raises:
            RecordError: a resume file does not fit.
            ConfigError: the runs cannot share a stack.
        """
        self.files = list(files)
        self._saved = time.monotonic()
        self._times = [{"seconds": 0.0, "cpu_seconds": 0.0} for _ in files]
        self.stack = Stack([one.config for one in files], device, backend)
        self._config = config = self.stack.configs[0]
        rounds = -(-config.steps // (config.train_every * config.num_envs))
        turns = rounds * config.train_every
        self._actions = np.zeros((len(files), turns, config.num_envs), np.uint8)
        self._resume()
        steps = self.stack.steps
        self._marks = [mark for mark in config.validation_at if mark > steps]
        self._next_bin = (steps // config.bin_steps + 1) * config.bin_steps
        for one in files:
            one.begin()

    @property
    def steps(self) -> int:
        """Transitions done, a norm."""
        return self.stack.steps

    @property
    def is_finished(self) -> bool:
        """Whether every norm has had all its transitions."""
        return self.steps >= self._config.steps

    def advance(self, save_seconds: float = SAVE_SECONDS) -> None:
        """Play one round, and write what is due.

        Args:
            save_seconds: between resume files, at least.

        Raises:
            ConfigError: the disk is full or gone; the same command goes on.
        """
        begun = _read_clocks()
        first = self.stack.replay.steps
        played = self.stack.play_round()
        self._actions[:, first : first + len(played)] = played.swapaxes(0, 1)
        begun = self._spend(begun)
        is_at_bin = self.steps >= self._next_bin or self.is_finished
        if is_at_bin:
            self._log_bin()
            self._next_bin = (self.steps // self._config.bin_steps + 1) * self._config.bin_steps
        if self._marks and self.steps >= self._marks[0]:
            self._check(self._marks.pop(0))
        if self.is_finished:
            for one in self.files:
                one.finish(self.steps)
        elif is_at_bin and time.monotonic() - self._saved >= save_seconds:
            self._save()
        self._spend(begun)

    def _spend(self, begun: tuple[float, float]) -> tuple[float, float]:
        """Count the time since `begun`, and return the present one."""
        now = _read_clocks()
        for spent in self._times:
            spent["seconds"] += now[0] - begun[0]
            spent["cpu_seconds"] += (now[1] - begun[1]) / len(self._times)
        return now

    def _log_bin(self) -> None:
        """Write one entry of every curve; processor time is a norm's share of the stack's."""
        for norm, one in enumerate(self.files):
            one.write(
                {
                    "kind": "train",
                    "steps": self.steps,
                    **self.stack.curve.summarize(norm),
                    "epsilon": self._config.epsilon(self.steps),
                }
            )
            spent = {name: round(value, 3) for name, value in self._times[norm].items()}
            one.write({"kind": "time", "steps": self.steps, **spent})
        self.stack.curve.clear()

    def _check(self, mark: int) -> None:
        """Keep checkpoints and validate every norm."""
        state = self.stack.networks.export()
        online, target = (
            QNetwork(self._config.encoder, self.stack.worlds.num_slots).to(self.stack.device)
            for _ in range(2)
        )
        for norm, one in enumerate(self.files):
            online.load_state_dict(_take(state["params"], norm))
            target.load_state_dict(_take(state["targets"], norm))
            one.check(mark, online, target)

    def _save(self) -> None:
        """Write what interrupted runs go on from; only ever at the end of a bin."""
        stack = self.stack
        state = stack.networks.export()
        for norm, one in enumerate(self.files):
            actions = self._actions[norm, : stack.replay.steps]
            one.writer.save_resume(
                self.steps,
                {
                    "steps": self.steps,
                    "time": self._times[norm],
                    "log_size": one.writer.log_size(),
                    "actions": torch.from_numpy(actions.copy()),
                    "updates": stack.networks.updates,
                    **{part: _take(state[part], norm) for part in PARTS},
                    "explore_rng": json.dumps(stack.explore_rngs[norm].bit_generator.state),
                    "sample_rng": json.dumps(stack.sample_rngs[norm].bit_generator.state),
                },
            )
        self._saved = time.monotonic()

    def _resume(self) -> None:
        """Play the saved actions again and put weights and generators back."""
        states = [one.resume for one in self.files if one.resume is not None]
        if not states:
            return
        try:
            self._restore(states)
        except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as error:
            if isinstance(error, NormGymError):
                raise
            path = self.files[0].writer.resume_path
            raise RecordError(
                f"{path} does not fit this run: {type(error).__name__}: {error}; remove it to "
                "begin anew"
            ) from None

    def _restore(self, states: Sequence[dict[str, Any]]) -> None:
        stack = self.stack
        actions = np.stack([state["actions"].numpy() for state in states])
        if actions.shape[1] * self._config.num_envs != states[0]["steps"]:
            raise ValueError(f"{states[0]['steps']} steps with actions of {actions.shape[1]} turns")
        self._actions[:, : actions.shape[1]] = actions
        for turn in range(actions.shape[1]):
            stack.play_turn(actions[:, turn].astype(np.int8))
        stack.curve.clear()
        parts = {
            part: {
                name: torch.stack([state[part][name] for state in states])
                for name in states[0][part]
            }
            for part in PARTS
        }
        stack.networks.restore(parts, states[0]["updates"])
        for norm, state in enumerate(states):
            stack.explore_rngs[norm].bit_generator.state = json.loads(state["explore_rng"])
            stack.sample_rngs[norm].bit_generator.state = json.loads(state["sample_rng"])
        self._times = [dict(state["time"]) for state in states]


def train_stacked(
    runs: Sequence[tuple[DQNConfig, Path]],
    *,
    device: str = "cpu",
    backend: str = "auto",
    save_seconds: float = SAVE_SECONDS,
    report: Report | None = None,
) -> dict[Path, str]:
    """Train runs in this process, or what is left of them; those of a condition are stacked.

    Args:
        runs: configurations and folders.
        device: as torch names it, or "auto".
        backend: as `Stack`.
        save_seconds: between resume files, at least.
        report: told how far the slowest run is, after every round.

    Returns:
        What went wrong, by folder; the others are finished.
    """
    errors: dict[Path, str] = {}
    with ExitStack() as locks:
        opened = []
        for config, folder in runs:
            try:
                writer = RunWriter(folder, config.to_json(), LEARNER)
                locks.enter_context(writer.locked())
                files = RunFiles(config, folder)  # read once nobody else can write
                if not files.writer.is_finished():
                    opened.append(files)
            except NormGymError as error:
                errors[folder] = str(error)
        active = _group_runs(opened, device, backend, errors)
        while active:
            # the slowest first, so that an early end leaves all norms equally far
            slowest = min(active, key=lambda group: group.steps)
            try:
                slowest.advance(save_seconds)
            except Exception as error:
                text = str(error) if isinstance(error, NormGymError) else repr(error)
                _note_errors(slowest.files, text, errors)
                active.remove(slowest)
                continue
            if slowest.is_finished:
                active.remove(slowest)
            if report is not None:
                report(min((group.steps for group in active), default=slowest.steps))
    return errors


def _group_runs(
    opened: Sequence[RunFiles], device: str, backend: str, errors: dict[Path, str]
) -> list[StackedRuns]:
    """Stack runs of equal condition, population and progress; those that cannot be are noted."""
    groups: dict[tuple[Any, ...], list[RunFiles]] = {}
    for files in opened:
        condition = dataclasses.replace(files.config, norm=_ANY_NORM)
        key = condition, num_slots(get_norm(files.config.norm)), files.steps
        groups.setdefault(key, []).append(files)
    waiting = list(groups.values())
    stacked = []
    while waiting:
        group = waiting.pop()
        try:
            stacked.append(StackedRuns(group, device, backend))
        except NormGymError as error:
            if len(group) > 1:  # find the one that is to blame
                waiting += [[files] for files in group]
            else:
                _note_errors(group, str(error), errors)
    return stacked


def _note_errors(files: Sequence[RunFiles], text: str, errors: dict[Path, str]) -> None:
    for one in files:
        one.fail(text)
        errors[one.writer.folder] = text


def _read_clocks() -> tuple[float, float]:
    """Return seconds on the wall and of processor time."""
    return time.monotonic(), time.process_time()


def _take(stacked: Stacked, norm: int) -> Stacked:
    """Return one norm's tensors, free of the others'."""
    return {name: value[norm].clone() for name, value in stacked.items()}
