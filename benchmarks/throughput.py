"""How fast the engine is, against the plain Python restatement of the rules, in one run.

All variants play the same episodes and take turns within each round, so that a machine that slows
down slows all of them down; ratios are taken round by round.
"""

import importlib
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from normgym_envs import __version__
from normgym_envs.constants import MAX_SLOTS, NUM_ACTIONS
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, StateError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import list_norms, load_norms
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.types import EpisodeSpec

BATCH: Final = 256
ROUNDS: Final = 7
WARM_UP: Final = 25
"""Steps before anything is timed, until everybody has arrived."""
NORM_STRIDE: Final = 5
"""Every so many norms of the library take part: enough of each family, and a pass of the plain
Python world over all of them stays short."""
BLOCK: Final = 100
"""Steps of one single-row engine at a stretch."""
LAYOUT: Final = "cafe"
ENDLESS: Final = 2**30
_TESTS: Final = Path(__file__).resolve().parents[1] / "tests"

Sample = Callable[[float], float]
"""Plays for about so many seconds and returns environment steps a second."""


def measure_throughput(seconds: float = 20.0, seed: int = 0) -> dict[str, Any]:
    """Return steps a second and their ratios.

    Args:
        seconds: time to spend on measuring, warm-up aside; at least 1.
        seed: of the episodes and of the newcomer's random actions.

    Returns:
        Plain JSON values; `ratios` holds the medians over rounds of `batch256_vs_naive` and
        `step1_vs_naive`.

    Raises:
        ConfigError: `seconds` is below 1.
        StateError: the plain Python restatement is not there.
    """
    if not seconds >= 1:
        raise ConfigError(f"seconds is {seconds}; expected at least 1")
    with import_naive() as naive:
        samples = {
            "batch256": prepare_batch(seed),
            "step1": prepare_single(seed),
            "naive": prepare_naive(naive, seed),
        }
        rates: dict[str, list[float]] = {name: [] for name in samples}
        order = list(samples)
        for turn in range(ROUNDS):
            for name in order[turn % 3 :] + order[: turn % 3]:
                rates[name].append(samples[name](seconds / (ROUNDS * len(samples))))
    ratios = {
        f"{name}_vs_naive": statistics.median(
            fast / slow for fast, slow in zip(rates[name], rates["naive"], strict=True)
        )
        for name in ("batch256", "step1")
    }
    return {
        "ratios": {name: round(value, 1) for name, value in ratios.items()},
        "env_steps_per_second": {
            name: {
                "median": round(statistics.median(values), 1),
                "min": round(min(values), 1),
                "max": round(max(values), 1),
            }
            for name, values in rates.items()
        },
        "rounds": ROUNDS,
        "seconds": seconds,
        "seed": seed,
        "layout": LAYOUT,
        "norms": len(list_norms()[::NORM_STRIDE]),
        "threads": 1,
        "package_version": __version__,
        "python": platform.python_version(),
        "numba": importlib.import_module("numba").__version__,
        "processors": os.cpu_count(),
    }


def make_specs(seed: int) -> list[EpisodeSpec]:
    """Return an endless episode under each norm taken, with one norm-blind person in it."""
    return [
        draw_episode(LAYOUT, norm, seed=seed + index, num_norm_blind=1, limit=ENDLESS)
        for index, norm in enumerate(list_norms()[::NORM_STRIDE])
    ]


def prepare_batch(seed: int) -> Sample:
    """Return a sample of one engine with 256 rows, the norms in turn, without observations."""
    specs = make_specs(seed)
    engine = BatchEngine([get_layout(LAYOUT)], load_norms(), BATCH)
    for row in range(BATCH):
        engine.load(row, specs[row % len(specs)])
    actions = _draw_actions(seed, BATCH)
    for step in range(WARM_UP):
        engine.step(actions[step % len(actions)])

    def sample(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for step in range(10):
                engine.step(actions[(steps + step) % len(actions)])
            steps += 10
        return steps * BATCH / (time.perf_counter() - start)

    return sample


def prepare_single(seed: int) -> Sample:
    """Return a sample of engines with one row each, one call a step, the norms in turn."""
    engines = []
    actions = _draw_actions(seed, 1)
    for spec in make_specs(seed):
        engine = BatchEngine([get_layout(LAYOUT)], load_norms(), 1)
        engine.load(0, spec)
        for step in range(WARM_UP):
            engine.step(actions[step % len(actions)])
        engines.append(engine)
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            engine = engines[place % len(engines)]
            place += 1
            for step in range(BLOCK):
                engine.step(actions[step % len(actions)])
            steps += BLOCK
        return steps / (time.perf_counter() - start)

    return sample


def prepare_naive(naive: ModuleType, seed: int) -> Sample:
    """Return a sample of the plain Python world: heap A*, every agent predicts all the others.

    A sample ends after a whole pass over the norms, so that all of them weigh the same.
    """
    packages = Path(__file__).resolve().parents[1] / "normgym_envs"
    layout = naive.load_map(packages / "layouts" / "maps" / f"{LAYOUT}.toml")
    rows = naive.load_norms(packages / "norms" / "library.toml")
    worlds = [naive.load_episode(spec, layout, rows) for spec in make_specs(seed)]
    actions = _draw_actions(seed, 1)[:, 0, 0].tolist()
    for step in range(WARM_UP):
        for world in worlds:
            naive.step(world, {0: actions[step % len(actions)]}, True)
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for world in worlds:
                naive.step(world, {0: actions[place % len(actions)]}, False)
            place += 1
            steps += len(worlds)
        return steps / (time.perf_counter() - start)

    return sample


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


def _draw_actions(seed: int, rows: int) -> np.ndarray:
    """Return random actions drawn beforehand, (T, rows, slots) int8."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, NUM_ACTIONS, (1000, rows, MAX_SLOTS)).astype(np.int8)
