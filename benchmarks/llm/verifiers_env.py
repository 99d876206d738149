"""The text environment as verifiers loads it: a taskset of seeds and an environment that steps.

verifiers finds tasksets by the names of top-level modules. Importing this module gives it the name
"normgym" for that purpose; `load_environment` does the rest. verifiers (0.4) wants openai below 3
and is therefore installed in an environment of its own; see docs/llm.md. Each task is one episode
of a suite; the reward is the sum of the newcomer's points, joint and task success are metrics.
"""

import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.llm.text_env import TextEnv
from normgym_envs.errors import MissingExtraError

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise MissingExtraError(
        f"the verifiers face needs verifiers 0.4 or later ({error}); install it into an "
        "environment of its own, as it wants openai below 3: pip install normgym verifiers"
    ) from None

TASKSET = "normgym"
"""Name by which verifiers finds this module once it has been imported."""
sys.modules.setdefault(TASKSET, sys.modules[__name__])

__all__ = ["NormGymEnv", "NormGymTaskset", "load_environment"]


class NormGymData(vf.TaskData):
    """One episode."""

    seed: int
    suite: str
    phases: tuple[str, ...]
    known_norm: bool


class NormGymConfig(vf.TasksetConfig):
    """Which episodes there are."""

    suite: str = "finetune"
    phases: tuple[str, ...] = ("seen", "unseen")
    known_norm: bool = False
    episodes: int | None = None
    """Only the first of the suite; None for all."""


class NormGymTask(vf.Task[NormGymData]):
    """An episode to be played; scored while it is played."""


class NormGymEnvConfig(vf.EnvConfig):
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})


class NormGymEnv(vf.Env[NormGymEnvConfig]):
    """Hands prompts to the player and its replies to the world."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one episode to its end, or until the player is stopped."""
        data = task.data
        world = TextEnv(data.suite, phases=data.phases, known_norm=data.known_norm)
        prompt, _ = world.reset(seed=data.seed)
        total, failures, done = 0.0, 0, False
        info: dict[str, Any] = {}
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn(prompt)
            while not segment.terminated and not done:
                prompt, reward, terminated, truncated, info = world.step(segment.last_reply)
                total += reward
                failures += bool(info["failure"])
                done = terminated or truncated
                if not done:
                    segment = await interaction.turn(prompt)
        trace = interaction.trace
        trace.record_reward("points", total)
        trace.record_metric("unreadable", float(failures))
        for name in ("joint", "task"):
            if info.get(name) is not None:
                trace.record_metric(name, float(info[name]))


class NormGymTaskset(vf.Taskset[NormGymTask, NormGymConfig]):
    """The episodes of a suite, one a seed."""

    def load(self) -> Iterator[NormGymTask]:
        """Yield the episodes; their names tell nothing about them."""
        config = self.config
        world = TextEnv(config.suite, phases=config.phases, known_norm=config.known_norm)
        count = world.episodes if config.episodes is None else config.episodes
        for seed in range(min(count, world.episodes)):
            data = NormGymData(
                name=world.token(seed),
                prompt=None,
                seed=seed,
                suite=config.suite,
                phases=config.phases,
                known_norm=config.known_norm,
            )
            yield NormGymTask(data, config.task)


def load_environment(**taskset: Any) -> Any:
    """Return the environment.

    Args:
        **taskset: fields of `NormGymConfig`.
    """
    from verifiers.v1.utils.loaders import resolve_env_config

    return vf.load_environment(resolve_env_config({"taskset": {"id": TASKSET, **taskset}}))
