"""The verifiers face, in an environment of its own: loaded by name, played, scored."""

import asyncio
import json
from typing import Any

import pytest

vf = pytest.importorskip("verifiers.v1")

from verifiers.v1.utils.loaders import environment_class, taskset_class  # noqa: E402

from benchmarks.llm.verifiers_env import (  # noqa: E402
    TASKSET,
    NormGymEnv,
    NormGymTaskset,
    load_environment,
)
from benchmarks.suite import load_suite  # noqa: E402

REPLY = json.dumps({"reasoning": "I look.", "action": "wait"})


def test_verifiers_finds_the_face_by_its_name() -> None:
    assert taskset_class(TASKSET) is NormGymTaskset
    assert environment_class(TASKSET) is NormGymEnv
    env = load_environment(suite="smoke", known_norm=True, episodes=3)
    assert isinstance(env, NormGymEnv)
    tasks = list(env.taskset)
    assert [task.data.seed for task in tasks] == [0, 1, 2]
    assert all(task.data.prompt is None for task in tasks)
    names = [task.data.name for task in tasks]
    assert len(set(names)) == 3
    suite = load_suite("smoke")
    assert set(names) <= {suite.token(index) for index in range(len(suite.specs))}


class _Interaction:
    """Stands for a player's exchange: the same reply to every prompt."""

    def __init__(self, replies: int) -> None:
        """Give so many replies, then be stopped."""
        self.prompts: list[str] = []
        self.left = replies
        self.rewards: dict[str, float] = {}
        self.metrics: dict[str, float] = {}
        self.trace = self

    async def __aenter__(self) -> "_Interaction":
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Do nothing."""

    async def turn(self, prompt: str) -> Any:
        self.prompts.append(prompt)
        self.left -= 1
        return vf.Segment(messages=[], root_reply=REPLY, terminated=self.left < 0)

    def record_reward(self, name: str, value: float) -> None:
        self.rewards[name] = value

    def record_metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def run(replies: int) -> _Interaction:
    """Play the first episode with a player that waits and is stopped after some replies."""
    env = load_environment(suite="smoke", episodes=1)
    (task,) = env.taskset
    exchange = _Interaction(replies)

    class Player:
        def interaction(self, task: Any) -> _Interaction:
            return exchange

    class Agents:
        player = Player()

    asyncio.run(env.run(task, Agents()))
    return exchange


def test_an_episode_is_played_to_its_end_and_scored() -> None:
    exchange = run(replies=1_000)
    assert 10 < len(exchange.prompts) <= 100
    assert exchange.metrics == {"unreadable": 0.0, "joint": 0.0, "task": 0.0}
    assert exchange.rewards["points"] < 0
    assert "Social norms" in exchange.prompts[0]
    assert "Social norms" not in exchange.prompts[1]


def test_a_player_that_is_stopped_keeps_its_points_and_has_no_score() -> None:
    exchange = run(replies=4)
    assert len(exchange.prompts) == 5
    assert exchange.metrics == {"unreadable": 0.0}
    assert exchange.rewards["points"] == pytest.approx(-0.4)
