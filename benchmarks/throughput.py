"""Steps a second of the engine and of every face, against plain Python and others' environments.

Everything takes turns within one run and ratios are taken round by round: on a shared machine
absolute figures drift, ratios within a round much less. Where another process holds a processor
the figures of two threads mean nothing; `alu2_vs_alu1` says whether it did.
"""

import importlib
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numba

from benchmarks.samples import (
    LAYOUT,
    NORM_STRIDE,
    Sample,
    is_installed,
    prepare_batch,
    prepare_gym,
    prepare_naive,
    prepare_parallel,
    prepare_processor,
    prepare_single,
    prepare_vector,
)
from normgym_envs import __version__
from normgym_envs.engine.state import SCRATCH_DTYPE, STATE_DTYPE
from normgym_envs.errors import ConfigError, StateError
from normgym_envs.norms.library import list_norms
from normgym_envs.observations import flat_size

ROUNDS: Final = 7
TWO_THREADS: Final = int(numba.config.NUMBA_NUM_THREADS) >= 2  # type: ignore[attr-defined]
_TESTS: Final = Path(__file__).resolve().parents[1] / "tests"

LABELS: Final = {
    "step1": "engine, 1 row, one call a step",
    "step1_observed": "  with observations",
    "batch16": "engine, 16 rows",
    "batch16_observed": "  with observations",
    "batch256": "engine, 256 rows",
    "batch256_observed": "  with observations",
    "batch256_threads2": "  two threads",
    "batch4096": "engine, 4,096 rows",
    "batch4096_observed": "  with observations",
    "batch4096_threads2": "  two threads",
    "gym": "Gymnasium face, made by id",
    "parallel1": "PettingZoo face, 1 learner",
    "parallel6": "PettingZoo face, 6 learners",
    "vector256": "Gymnasium vector face, 256 rows",
    "sb3_256": "Stable-Baselines3 face, 256 rows",
    "naive": "plain Python, heap A*, m*m searches",
    "naive_shared": "plain Python, predictions shared",
    "cartpole": "CartPole-v1",
    "minigrid": "MiniGrid-Empty-8x8-v0",
    "alu1": "integer work, one thread (links)",
    "alu2": "integer work, two threads (links)",
}
"""Names of the samples, and what they are in words."""

RATIOS: Final = {
    "batch256_vs_naive": ("batch256", "naive"),
    "step1_vs_naive": ("step1", "naive"),
    "step1_observed_vs_naive": ("step1_observed", "naive"),
    "gym_vs_cartpole": ("gym", "cartpole"),
    "batch256_observed_vs_minigrid": ("batch256_observed", "minigrid"),
    "vector256_vs_minigrid": ("vector256", "minigrid"),
    "batch256_threads2_vs_1": ("batch256_threads2", "batch256"),
    "batch4096_threads2_vs_1": ("batch4096_threads2", "batch4096"),
    "alu2_vs_alu1": ("alu2", "alu1"),
    "naive_shared_vs_naive": ("naive_shared", "naive"),
    "step1_vs_naive_shared": ("step1", "naive_shared"),
    "batch256_vs_step1": ("batch256", "step1"),
}
"""Ratios by name. The last three split the first: shared predictions, compiled search, batching."""


def measure_throughput(seconds: float = 60.0, seed: int = 0) -> dict[str, Any]:
    """Return steps a second and their ratios.

    Args:
        seconds: time to spend on measuring, warm-up aside; at least 1.
        seed: of the episodes and of the newcomer's random actions.

    Returns:
        Plain JSON values; `ratios` holds the medians over rounds of those in RATIOS whose
        packages are installed, `skipped` what was left out and why.

    Raises:
        ConfigError: `seconds` is below 1.
        StateError: the plain Python restatement is not there.
    """
    if not seconds >= 1:
        raise ConfigError(f"seconds is {seconds}; expected at least 1")
    with import_naive() as naive:
        samples, skipped = prepare_samples(naive, seed)
        rates: dict[str, list[float]] = {name: [] for name in samples}
        order = list(samples)
        for turn in range(ROUNDS):
            start = turn * 3 % len(order)
            for name in order[start:] + order[:start]:
                rates[name].append(samples[name](seconds / (ROUNDS * len(samples))))
    return {
        "ratios": {
            name: round(_compare(rates[above], rates[below]), 3)
            for name, (above, below) in RATIOS.items()
            if above in rates and below in rates
        },
        "env_steps_per_second": {
            name: {
                "median": round(statistics.median(values), 1),
                "min": round(min(values), 1),
                "max": round(max(values), 1),
            }
            for name, values in rates.items()
        },
        "skipped": skipped,
        "bytes_per_row": {
            "state": STATE_DTYPE.itemsize,
            "observation": 4 * flat_size(10),
            "scratch_per_thread": SCRATCH_DTYPE.itemsize,
        },
        "rounds": ROUNDS,
        "seconds": seconds,
        "seed": seed,
        "layout": LAYOUT,
        "norms": len(list_norms()[::NORM_STRIDE]),
        "package_version": __version__,
        "python": platform.python_version(),
        "numba": numba.__version__,
        "processors": os.cpu_count(),
    }


def prepare_samples(naive: ModuleType, seed: int) -> tuple[dict[str, Sample], dict[str, str]]:
    """Return what can be played here by name, and the names of the rest with the reason."""
    samples = {"step1": prepare_single(seed, observed=False)}
    samples["step1_observed"] = prepare_single(seed, observed=True)
    for rows in (16, 256, 4096):
        samples[f"batch{rows}"] = prepare_batch(seed, rows, observed=False)
        samples[f"batch{rows}_observed"] = prepare_batch(seed, rows, observed=True)
    skipped = {}
    if TWO_THREADS:
        for rows in (256, 4096):
            two = prepare_batch(seed, rows, observed=False, num_threads=2)
            samples[f"batch{rows}_threads2"] = two
        samples["alu2"] = prepare_processor(2)
    else:
        skipped["two threads"] = "one processor"
    samples["alu1"] = prepare_processor(1)
    samples["gym"] = prepare_gym(seed, "NormGym/Community-v0")
    samples["parallel1"] = prepare_parallel(seed, 1)
    samples["parallel6"] = prepare_parallel(seed, 6)
    samples["vector256"] = prepare_vector(seed, 256)
    if is_installed("stable_baselines3"):
        samples["sb3_256"] = prepare_vector(seed, 256, sb3=True)
    else:
        skipped["sb3_256"] = "Stable-Baselines3 is not installed"
    samples["naive"] = prepare_naive(naive, seed, shared=False)
    samples["naive_shared"] = prepare_naive(naive, seed, shared=True)
    samples["cartpole"] = prepare_gym(seed, "CartPole-v1")
    if is_installed("minigrid"):
        importlib.import_module("minigrid")
        samples["minigrid"] = prepare_gym(seed, "MiniGrid-Empty-8x8-v0")
    else:
        skipped["minigrid"] = "MiniGrid is not installed"
    return samples, skipped


def describe_throughput(result: dict[str, Any]) -> list[str]:
    """Return the result as lines for a terminal."""
    lines = []
    rates = result["env_steps_per_second"]
    naive = rates["naive"]["median"]
    for name, words in LABELS.items():
        if name in rates:
            rate = rates[name]
            factor = "" if name.startswith("alu") else f"{rate['median'] / naive:10,.1f} x"
            lines.append(
                f"{words:<37}{rate['median']:>13,.0f} steps/s "
                f"[{rate['min']:,.0f} to {rate['max']:,.0f}]{factor}"
            )
    lines.append("")
    lines += [f"{name:<34}{value:>10,.2f}" for name, value in result["ratios"].items()]
    size = result["bytes_per_row"]
    lines.append(f"memory: {size['state']:,} bytes a row, {size['observation']:,} its observation")
    for name, start in result.get("starts", {}).items():
        lines.append(
            f"{name} start: {start['wall']:.1f} s to the first step ({start['cpu']:.1f} s of CPU)"
        )
    lines += [f"left out: {name}, because {why}" for name, why in result["skipped"].items()]
    return lines


@contextmanager
def import_naive() -> Iterator[ModuleType]:
    """Give the plain Python restatement of the rules, which only a checkout has.

    Raises:
        StateError: this is an installation without the tests.
    """
    if not (_TESTS / "naive.py").is_file():
        raise StateError(
            "the plain Python world that the engine is measured against belongs to the tests, "
            f"and {_TESTS / 'naive.py'} does not exist; run this command in a checkout of the "
            "project"
        )
    sys.path.insert(0, str(_TESTS))
    try:
        yield importlib.import_module("naive")
    finally:
        sys.path.remove(str(_TESTS))


def _compare(above: list[float], below: list[float]) -> float:
    """Return the median over rounds of a ratio."""
    return statistics.median(fast / slow for fast, slow in zip(above, below, strict=True))
