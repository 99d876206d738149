"""One trajectory through every face: what each hands out, brought to the same bytes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from pettingzoo.utils import parallel_to_aec

from normgym_envs import NormGymEnv, NormGymParallelEnv, NormGymVectorEnv
from normgym_envs.observations.views import FACTS

SETTINGS = {"norm": "visit-zone-q-first", "num_norm_blind": 1}
LIMIT = 200
"""Steps of an episode; 450 steps hold two resets."""


def draw_actions(steps: int, seed: int = 0) -> list[int]:
    """Return random actions of the newcomer."""
    actions: list[int] = np.random.default_rng(seed).integers(5, size=steps).tolist()
    return actions


def pack(observation: Any, reward: float, terminated: bool, truncated: bool, info: Any) -> bytes:
    """Return what one step handed out as bytes."""
    numbers = np.array([reward, terminated, truncated, *(int(info[name]) for name in FACTS)])
    mask = np.asarray(info["action_mask"], np.int8)
    flat = np.asarray(observation)
    assert flat.dtype == np.float32
    return flat.tobytes() + numbers.tobytes() + mask.tobytes()


def trace_parallel(seed: int, actions: Sequence[int], observation: str = "flat") -> list[bytes]:
    """Return the trajectory through the PettingZoo face."""
    env = NormGymParallelEnv(**SETTINGS, observation=observation, max_episode_steps=LIMIT)

    def read(seen: Any) -> Any:
        return seen["observation"] if observation == "flat" else seen

    observations, infos = env.reset(seed=seed)
    trace = [pack(read(observations["newcomer"]), 0, False, False, infos["newcomer"])]
    for action in actions:
        tables = env.step({"newcomer": action})
        values = [table["newcomer"] for table in tables]
        trace.append(pack(read(values[0]), *values[1:]))
        if not env.agents:
            observations, infos = env.reset()
            trace.append(pack(read(observations["newcomer"]), 0, False, False, infos["newcomer"]))
    return trace


def trace_aec(seed: int, actions: Sequence[int]) -> list[bytes]:
    """Return the trajectory through PettingZoo's turn-based conversion."""
    env = parallel_to_aec(NormGymParallelEnv(**SETTINGS, max_episode_steps=LIMIT))
    env.reset(seed=seed)

    def look() -> bytes:
        observation, reward, *rest = env.last()
        return pack(observation["observation"], reward, *rest)

    trace = [look()]
    for action in actions:
        env.step(action)
        trace.append(look())
        if env.terminations["newcomer"] or env.truncations["newcomer"]:
            env.step(None)
            env.reset()
            trace.append(look())
    return trace


def trace_gym(
    seed: int, actions: Sequence[int], make: Callable[[], Any] | None = None
) -> list[bytes]:
    """Return the trajectory through the Gymnasium face, made directly by default."""
    env = NormGymEnv(**SETTINGS, max_episode_steps=LIMIT) if make is None else make()
    observation, info = env.reset(seed=seed)
    trace = [pack(observation, 0, False, False, info)]
    for action in actions:
        values = env.step(action)
        trace.append(pack(*values))
        if values[2] or values[3]:
            observation, info = env.reset()
            trace.append(pack(observation, 0, False, False, info))
    return trace


def make_registered() -> Any:
    """Return the environment behind its registered id, wrappers included."""
    return gymnasium.make("NormGym/Community-v0", **SETTINGS, max_episode_steps=LIMIT)


def trace_vector(
    seed: int, actions: Sequence[int], num_envs: int, rows: Sequence[int], num_threads: int = 1
) -> list[list[bytes]]:
    """Return the trajectories of some rows of the vector face; all rows play the same actions."""
    envs = NormGymVectorEnv(num_envs, **SETTINGS, max_episode_steps=LIMIT, num_threads=num_threads)
    observations, infos = envs.reset(seed=seed)
    traces = [[pack(observations[row], 0, False, False, pick(infos, row))] for row in rows]
    for action in actions:
        observations, rewards, terminated, truncated, infos = envs.step(np.full(num_envs, action))
        for trace, row in zip(traces, rows, strict=True):
            trace.extend(
                unfold(observations[row], rewards[row], terminated[row], truncated[row], infos, row)
            )
    return traces


def unfold(
    observation: Any, reward: float, terminated: bool, truncated: bool, infos: Any, row: int
) -> Iterator[bytes]:
    """Yield a row's step, and the reset that came with it when the row ended."""
    ended = bool(terminated or truncated)
    if not ended:
        yield pack(observation, reward, terminated, truncated, pick(infos, row))
        return
    last = pick(infos["final_info"], row)
    yield pack(infos["final_obs"][row], reward, terminated, truncated, last)
    yield pack(observation, 0, False, False, pick(infos, row))


def pick(infos: Any, row: int) -> dict[str, Any]:
    """Return one row's info."""
    return {name: infos[name][row] for name in (*FACTS, "action_mask")}


def plan_actions(env: NormGymParallelEnv) -> dict[str, int]:
    """Return what the planner would do for every learnt slot, so that people get to leave."""
    engine = env._engine
    assert engine is not None
    planned = engine.plan()[0][0].tolist()
    return {agent: planned[slot] for slot, agent in enumerate(env.agents)}
