"""How fast the stacked learner is beside Stable-Baselines3, measured in turns in one run.

All learners make one update of 32 transitions for every 4, after warm-up and exploration, with one
torch thread a process; every process measures the same learner at the same time.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from normgym_envs.errors import ConfigError
from normgym_envs.norms.library import get_norm, list_norms, num_slots
from training.config import DQNConfig

BASELINE: Final = "Stable-Baselines3"
"""Its own DQN with an MLP of 64 and 64 units, on `NormGymSB3VecEnv`."""
SINGLE: Final = "sb3"
"""The learner of that name: with mask, on the training worlds."""
STACKED: Final = "stacked"
CONTENDERS: Final = (BASELINE, SINGLE, STACKED)
_NORM: Final = "group-seating-1"
"""Of the learners that train one norm: a population of 8, in the middle of 6, 8 and 10."""
_WARM_UP: Final = 1_500
"""Transitions of a norm before the first turn; learning begins after 1,000."""


@dataclass(frozen=True)
class Speed:
    """Of one learner."""

    learner: str  # CONTENDERS
    rates: tuple[float, ...]  # transitions of all norms and processes a second, by turn
    cpu_rates: tuple[float, ...]  # the same by processor time, what an idle machine would give

    @property
    def rate(self) -> float:
        """Median of the rates."""
        return statistics.median(self.rates)

    @property
    def cpu_rate(self) -> float:
        """Median of the rates by processor time."""
        return statistics.median(self.cpu_rates)


def measure_speed(
    *,
    num_norms: int = 25,
    num_envs: int = 16,
    processes: int = 1,
    turns: int = 5,
    seconds: float = 2,
) -> list[Speed]:
    """Measure all learners in turns.

    Args:
        num_norms: norms of the stacked learner, a process; spread over the library.
        num_envs: worlds a norm.
        processes: at the same time.
        turns: of each learner.
        seconds: of a turn, at least.

    Raises:
        ConfigError: a number outside its range.
    """
    if not 1 <= num_norms <= len(list_norms()):
        raise ConfigError(f"num_norms is {num_norms}; expected 1 to {len(list_norms())}")
    for name, value in (("processes", processes), ("turns", turns), ("num_envs", num_envs)):
        if value < 1:
            raise ConfigError(f"{name} is {value}; expected at least 1")
    arguments = (num_norms, num_envs, turns, seconds)
    if processes == 1:
        measured = [_measure(lambda: None, *arguments)]
    else:
        context = get_context("spawn")
        with context.Manager() as manager:
            barrier = manager.Barrier(processes)
            with context.Pool(processes) as pool:
                tasks = [(barrier.wait, *arguments)] * processes
                measured = pool.starmap(_measure, tasks)
    return [
        Speed(
            name,
            tuple(sum(one[name][turn][0] for one in measured) for turn in range(turns)),
            tuple(sum(one[name][turn][1] for one in measured) for turn in range(turns)),
        )
        for name in CONTENDERS
    ]


def _measure(
    wait: Callable[[], Any], num_norms: int, num_envs: int, turns: int, seconds: float
) -> dict[str, list[tuple[float, float]]]:
    """Return the rates of one process, by learner and turn."""
    import torch

    torch.set_num_threads(1)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        contenders = {
            BASELINE: _make_baseline(num_envs),
            SINGLE: _make_single(num_envs, folder),
            STACKED: _make_stacked(num_norms, num_envs),
        }
        for name, advance in contenders.items():
            due = (num_norms if name == STACKED else 1) * _WARM_UP
            while due > 0:
                due -= advance()
        rates: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
        for _ in range(turns):
            for name, advance in contenders.items():
                wait()
                transitions = 0
                begun, processor = time.perf_counter(), time.process_time()
                while time.perf_counter() - begun < seconds:
                    transitions += advance()
                elapsed = time.perf_counter() - begun
                rates[name].append(
                    (transitions / elapsed, transitions / (time.process_time() - processor))
                )
    return rates


def _configure(norm: str, num_envs: int) -> DQNConfig:
    """Return a run that has left exploration behind when it begins."""
    return DQNConfig(norm, num_envs=num_envs, epsilon_share=1e-6)


def _make_baseline(num_envs: int) -> Callable[[], int]:
    """Return a round of Stable-Baselines3's own DQN."""
    from stable_baselines3 import DQN

    from normgym_envs.envs.sb3_vec_env import NormGymSB3VecEnv

    config = _configure(_NORM, num_envs)
    model = DQN(
        "MlpPolicy",
        NormGymSB3VecEnv(num_envs, norm=_NORM),
        learning_rate=config.learning_rate,
        buffer_size=config.buffer_size,
        learning_starts=config.learning_starts,
        batch_size=config.batch_size,
        gamma=config.gamma,
        train_freq=config.train_every,
        gradient_steps=num_envs,
        target_update_interval=config.target_every,
        exploration_fraction=config.epsilon_share,
        exploration_final_eps=config.epsilon_end,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={"net_arch": [64, 64]},
        seed=0,
        device="cpu",
    )
    size = 8 * config.train_every * num_envs

    def advance() -> int:
        model.learn(size, log_interval=1_000_000, reset_num_timesteps=False)
        return size

    return advance


def _make_single(num_envs: int, folder: Path) -> Callable[[], int]:
    """Return a round of the learner "sb3"."""
    from training.dqn import DQNRun

    run = DQNRun(_configure(_NORM, num_envs), folder / "run")

    def advance() -> int:
        run._play_round()
        return run.config.train_every * num_envs

    return advance


def _make_stacked(num_norms: int, num_envs: int) -> Callable[[], int]:
    """Return a round of the learner "stacked", all populations in turn."""
    from training.stacked.stack import Stack

    names = list_norms()
    chosen = [names[place * len(names) // num_norms] for place in range(num_norms)]
    groups: dict[int, list[str]] = {}
    for name in chosen:
        groups.setdefault(num_slots(get_norm(name)), []).append(name)
    stacks = [Stack([_configure(name, num_envs) for name in group]) for group in groups.values()]

    def advance() -> int:
        for stack in stacks:
            stack.play_round()
        return num_norms * 4 * num_envs

    return advance


def describe_speed(speeds: Sequence[Speed]) -> list[str]:
    """Return a table, one line a learner: rates, and ratios to the first one."""
    lines = [f"{'learner':20}{'steps/s':>10}{'ratio':>7}{'steps/s CPU':>13}{'ratio':>7}"]
    base = speeds[0]
    lines += [
        f"{speed.learner:20}{speed.rate:10,.0f}{speed.rate / base.rate:7.1f}"
        f"{speed.cpu_rate:13,.0f}{speed.cpu_rate / base.cpu_rate:7.1f}"
        for speed in speeds
    ]
    return lines
