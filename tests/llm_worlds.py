"""Episodes played by a newcomer of `agents.llm`, one turn at a time, without the benchmark."""

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np

from agents.base import AgentContext, Belief
from agents.llm import Backend, Decision, LLMNewcomer, Message, NewcomerSettings, View
from normgym_envs.constants import MAX_SLOTS, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.norms.library import get_norm
from normgym_envs.observations.symbolic import observe_symbolic
from normgym_envs.protocol.metrics import EpisodeMetrics, measure_episode
from normgym_envs.protocol.trace import TraceRecorder
from normgym_envs.types import EpisodeSpec

TEXT = NewcomerSettings(modality="text")
PICTURE = b"\x89PNG stands for a picture"
"""Nothing between newcomer and backend looks into it."""


class World:
    """One episode, whose newcomer is driven from outside."""

    def __init__(self, engine: BatchEngine, spec: EpisodeSpec) -> None:
        """Load an episode into an engine of one row."""
        self.engine, self.spec = engine, spec
        engine.load(0, spec, drivers=(Driver.EXTERNAL, *spec.drivers[1:]))
        self.layout = engine.layouts[engine.states[0]["layout"]]

    def view(self) -> View:
        """Return what the newcomer sees now."""
        return View(observe_symbolic(self.engine, 0, 0), self.layout, PICTURE)

    @property
    def is_running(self) -> bool:
        """Whether there is another turn."""
        return bool(self.engine.states["ending"][0] == Ending.RUNNING)

    def step(self, action: int = int(Action.WAIT)) -> None:
        """Play a turn."""
        self.engine.step(np.full((1, MAX_SLOTS), action, np.int8))

    def context(self, belief: Belief | None = None) -> AgentContext:
        """Return what the newcomer is told."""
        sentence = get_norm(self.spec.norms[0]).sentence
        return AgentContext(
            "token", self.spec.phase, np.random.default_rng(0), self.spec.limit, belief, sentence
        )


def is_asked(view: View) -> bool:
    """Return whether the newcomer may do anything but wait."""
    return bool(view.observation["action_mask"][: Action.WAIT].any())


def live(newcomer: LLMNewcomer, world: World, turns: int = 1_000) -> Iterator[Decision]:
    """Play an episode, or its first turns, and yield the decisions."""
    for _ in range(turns):
        if not world.is_running:
            break
        view = world.view()
        action = int(Action.WAIT)
        if is_asked(view):
            decision = asyncio.run(newcomer.decide(view))
            yield decision
            action = decision.action
        else:
            newcomer.observe(view)
        world.step(action)


def measure(
    backend: Backend, settings: NewcomerSettings, engine: BatchEngine, spec: EpisodeSpec
) -> EpisodeMetrics:
    """Play an episode and return what came of it."""
    world = World(engine, spec)
    recorder = TraceRecorder(engine)
    newcomer = LLMNewcomer(backend, settings)
    newcomer.reset(world.context())
    while world.is_running:
        view = world.view()
        action = int(Action.WAIT)
        if is_asked(view):
            decision = asyncio.run(newcomer.decide(view))
            assert not decision.failure, decision
            action = decision.action
        else:
            newcomer.observe(view)
        world.step(action)
        recorder.record()
    return measure_episode(recorder.trace(0), spec.limit, True)


def join(messages: Sequence[Message]) -> str:
    """Return the words of a prompt."""
    return "\n\n".join(message.text for message in messages)
