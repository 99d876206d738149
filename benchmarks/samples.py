"""What the throughput benchmark plays: the engine, every face, plain Python, two yardsticks.

A sample plays for about so many seconds and returns environment steps a second.
"""

import importlib.util
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import gymnasium
import numba
import numpy as np

from normgym_envs import NormGymParallelEnv, NormGymVectorEnv
from normgym_envs.constants import MAX_SLOTS, NUM_ACTIONS
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import list_norms, load_norms
from normgym_envs.observations import flat_size
from normgym_envs.observations.flat import write_flat_row
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.types import EpisodeSpec

WARM_UP: Final = 25
"""Steps before anything is timed, until everybody has arrived."""
NORM_STRIDE: Final = 5
"""Every so many norms of the library take part: enough of each family, and a pass of the plain
Python world over all of them stays short."""
BLOCK: Final = 100
"""Steps of one single-row engine at a stretch."""
LAYOUT: Final = "cafe"
ENDLESS: Final = 2**30
SPIN: Final = 2_000_000
"""Links of the dependent chain of integer operations that stands for a processor at work."""

Sample = Callable[[float], float]
"""Plays for about so many seconds and returns environment steps a second."""


def make_specs(seed: int) -> list[EpisodeSpec]:
    """Return an endless episode under each norm taken, with one norm-blind person in it."""
    return [
        draw_episode(LAYOUT, norm, seed=seed + index, num_norm_blind=1, limit=ENDLESS)
        for index, norm in enumerate(list_norms()[::NORM_STRIDE])
    ]


def make_engine(seed: int, num_rows: int, num_threads: int = 1) -> BatchEngine:
    """Return a warm engine, the norms in turn."""
    specs = make_specs(seed)
    engine = BatchEngine([get_layout(LAYOUT)], load_norms(), num_rows, num_threads=num_threads)
    for row in range(num_rows):
        engine.load(row, specs[row % len(specs)])
    actions = draw_actions(seed, num_rows)
    for step in range(WARM_UP):
        engine.step(actions[step % len(actions)])
    return engine


def prepare_batch(seed: int, num_rows: int, *, observed: bool, num_threads: int = 1) -> Sample:
    """Return a sample of one engine, with or without the newcomers' flat vectors."""
    engine = make_engine(seed, num_rows, num_threads)
    actions = draw_actions(seed, num_rows)
    slots = engine.states["num_slots"].astype(np.int64)
    out = np.zeros((num_rows if observed else 1, flat_size(MAX_SLOTS)), np.float32)
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            engine.step(actions[place % len(actions)])
            if observed:
                _observe_mixed(engine.states, engine.tables[0], slots, out)
            place += 1
            steps += 1
        return steps * num_rows / (time.perf_counter() - start)

    sample(0.01)  # compiles
    return sample


@numba.njit(nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _observe_mixed(states: Any, layouts: Any, slots: Any, out: Any) -> None:
    """Write the newcomers' vectors of rows whose populations differ."""
    order = np.empty(10, np.int64)
    for index in range(states.shape[0]):
        write_flat_row(states[index], layouts, 0, slots[index], order, out[index])


def prepare_single(seed: int, *, observed: bool) -> Sample:
    """Return a sample of engines with one row each, one call a step, the norms in turn."""
    engines = []
    actions = draw_actions(seed, 1)
    for spec in make_specs(seed):
        engine = BatchEngine([get_layout(LAYOUT)], load_norms(), 1)
        engine.load(0, spec)
        for step in range(WARM_UP):
            engine.step(actions[step % len(actions)])
        engines.append((engine, np.array([spec.num_slots])))
    out = np.zeros((1, flat_size(MAX_SLOTS)), np.float32)
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            engine, slots = engines[place % len(engines)]
            place += 1
            for step in range(BLOCK):
                engine.step(actions[step % len(actions)])
                if observed:
                    _observe_mixed(engine.states, engine.tables[0], slots, out)
            steps += BLOCK
        return steps / (time.perf_counter() - start)

    sample(0.01)  # compiles
    return sample


def prepare_naive(naive: ModuleType, seed: int, *, shared: bool) -> Sample:
    """Return a sample of the plain Python world with heap A*.

    Every agent predicts all the others, or all share one prediction. A sample ends after a whole
    pass over the norms, so that all of them weigh the same.
    """
    packages = Path(__file__).resolve().parents[1] / "normgym_envs"
    layout = naive.load_map(packages / "layouts" / "maps" / f"{LAYOUT}.toml")
    rows = naive.load_norms(packages / "norms" / "library.toml")
    worlds = [naive.load_episode(spec, layout, rows) for spec in make_specs(seed)]
    actions = draw_actions(seed, 1)[:, 0, 0].tolist()
    for step in range(WARM_UP):
        for world in worlds:
            naive.step(world, {0: actions[step % len(actions)]}, True)
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for world in worlds:
                naive.step(world, {0: actions[place % len(actions)]}, shared)
            place += 1
            steps += len(worlds)
        return steps / (time.perf_counter() - start)

    return sample


def prepare_gym(seed: int, name: str, **settings: Any) -> Sample:
    """Return a sample of a registered environment behind its usual wrappers, resets included."""
    env = gymnasium.make(name, **settings)
    env.reset(seed=seed)
    count = int(env.action_space.n)  # type: ignore[attr-defined]
    actions = np.random.default_rng(seed).integers(0, count, 1000).tolist()
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for _ in range(20):
                _, _, terminated, truncated, _ = env.step(actions[place % 1000])
                place += 1
                if terminated or truncated:
                    env.reset()
            steps += 20
        return steps / (time.perf_counter() - start)

    sample(0.2)
    return sample


def prepare_parallel(seed: int, num_learners: int) -> Sample:
    """Return a sample of the PettingZoo face, resets included."""
    env = NormGymParallelEnv(num_learners=num_learners)
    env.reset(seed=seed)
    actions = np.random.default_rng(seed).integers(0, NUM_ACTIONS, (1000, num_learners)).tolist()
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            env.step(dict(zip(env.agents, actions[place % 1000], strict=True)))
            place += 1
            steps += 1
            if not env.agents:
                env.reset()
        return steps / (time.perf_counter() - start)

    sample(0.2)
    return sample


def prepare_vector(seed: int, num_envs: int, *, sb3: bool = False) -> Sample:
    """Return a sample of the vector face or Stable-Baselines3's, observations and resets too."""
    if sb3:
        from normgym_envs.envs.sb3_vec_env import NormGymSB3VecEnv

        envs: Any = NormGymSB3VecEnv(num_envs)
        envs.seed(seed)
        envs.reset()
    else:
        envs = NormGymVectorEnv(num_envs)
        envs.reset(seed=seed)
    actions = np.random.default_rng(seed).integers(0, NUM_ACTIONS, (100, num_envs))
    place = 0

    def sample(seconds: float) -> float:
        nonlocal place
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            envs.step(actions[place % 100])
            place += 1
            steps += num_envs
        return steps / (time.perf_counter() - start)

    sample(0.2)
    return sample


def prepare_processor(num_threads: int) -> Sample:
    """Return a sample of integer work alone: what a second thread can give at that moment."""
    _spin(10)

    def sample(seconds: float) -> float:
        links, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            threads = [threading.Thread(target=_spin, args=(SPIN,)) for _ in range(num_threads)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            links += SPIN * num_threads
        return links / (time.perf_counter() - start)

    return sample


@numba.njit(nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _spin(links: int) -> int:
    """Run a chain of dependent integer operations."""
    value = np.uint64(88172645463325252)
    for _ in range(links):
        value ^= value << np.uint64(13)
        value ^= value >> np.uint64(7)
        value ^= value << np.uint64(17)
    return int(value)


def is_installed(package: str) -> bool:
    """Return whether a package can be imported."""
    return importlib.util.find_spec(package) is not None


def draw_actions(seed: int, rows: int) -> np.ndarray:
    """Return random actions drawn beforehand, (T, rows, slots) int8."""
    rng = np.random.default_rng(seed)
    length = min(1000, max(60, 100_000 // rows))
    return rng.integers(0, NUM_ACTIONS, (length, rows, MAX_SLOTS)).astype(np.int8)
