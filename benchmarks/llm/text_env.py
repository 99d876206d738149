"""The protocol's episodes as a text environment: `reset(seed)` and `step(text)`.

For trainers and evaluators of language models that bring their own loop of messages, such as
verifiers (`benchmarks.llm.verifiers_env`). Prompts, reading of replies and memory are those of
`normgym bench llm`; an unreadable reply is played as waiting and named in the info.

Example:
    >>> env = TextEnv("smoke", phases=("seen",))
    >>> prompt, info = env.reset(seed=3)
    >>> prompt, reward, terminated, truncated, info = env.step('{"action": "wait"}')
    >>> reward, info["failure"]
    (-0.1, '')
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents import AgentContext
from agents.llm import Completion, LLMNewcomer, Message, NewcomerSettings
from agents.llm.asking import hash_prompt, make_decision
from agents.llm.backends.scripted import ScriptedBackend
from agents.llm.grid.actions import ACTION_FORMAT, INTERACTION_FORMAT
from benchmarks.llm.player import Table, tell_norm
from benchmarks.playing import find_asked
from benchmarks.runner import make_stream, observe_newcomer
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import MAX_SLOTS, TEST_PHASES, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, StateError, UnknownNameError, check_seed
from normgym_envs.protocol.metrics import measure_episode
from normgym_envs.protocol.trace import TraceRecorder

PHASES = ("interaction", *TEST_PHASES)


class TextEnv:
    """One seat in the episodes of a suite.

    Attributes:
        episodes: how many different episodes there are; seed s plays number s modulo that.
        messages: the present prompt.
    """

    def __init__(
        self,
        suite: str | Suite = "finetune",
        *,
        phases: Sequence[str] = TEST_PHASES,
        known_norm: bool = False,
        prompts: str = "full",
    ) -> None:
        """Take the episodes of a suite.

        Args:
            suite: name, or the suite itself.
            phases: of the episodes that are played.
            known_norm: whether the prompt states the norm.
            prompts: version of the prompts; words must hold everything.

        Raises:
            UnknownNameError: no such suite, phase or version.
            ConfigError: the suite has no such episode, or a norm that is to be told changes.
        """
        for phase in phases:
            if phase not in PHASES:
                raise UnknownNameError("phase", phase, PHASES)
        self._suite = load_suite(suite) if isinstance(suite, str) else suite
        self._chosen = [i for i, s in enumerate(self._suite.specs) if s.phase in phases]
        if not self._chosen:
            raise ConfigError(f"suite {self._suite.name!r} has no episode of {', '.join(phases)}")
        settings: Any = {"prompts": prompts, "modality": "text", "known_norm": known_norm}
        self._settings = NewcomerSettings(interaction=False, **settings)
        for index in self._chosen if known_norm else ():
            tell_norm(self._suite, self._suite.specs[index])
        engine = BatchEngine(self._suite.layouts(), self._suite.norms, 1)
        self._table = Table(engine, observe_newcomer, pictures=False)
        self._engine = self._table.make_row()
        self._newcomer: LLMNewcomer | None = None
        self._form = ACTION_FORMAT
        self.episodes = len(self._chosen)
        self.messages: tuple[Message, ...] = ()

    def token(self, seed: int) -> str:
        """Return the opaque name of the episode that a seed plays; it tells nothing about it.

        Args:
            seed: as `reset` takes it.

        Raises:
            SeedError: no integer in [0, 2**63].
        """
        return self._suite.token(self._chosen[check_seed(seed) % self.episodes])

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: says which; None is 0. The same seed is always the same episode.

        Returns:
            prompt: rules and situation.
            info: "episode", an opaque name.

        Raises:
            SeedError: no integer in [0, 2**63].
        """
        index = self._chosen[check_seed(0 if seed is None else seed) % self.episodes]
        spec, token = self._suite.specs[index], self._suite.token(index)
        self._engine.load(0, spec, drivers=(Driver.EXTERNAL, *spec.drivers[1:]))
        self._limit, self._is_test = spec.limit, spec.phase in TEST_PHASES
        self._form = ACTION_FORMAT if self._is_test else INTERACTION_FORMAT
        self._recorder = TraceRecorder(self._engine)
        self._newcomer = LLMNewcomer(ScriptedBackend([]), self._settings)
        is_told = self._settings.known_norm
        self._newcomer.reset(
            AgentContext(
                token=token,
                phase=spec.phase,
                rng=make_stream(0, token),
                limit=spec.limit,
                known_norm=tell_norm(self._suite, spec) if is_told else None,
            )
        )
        self._ended = False
        self._pass()
        return "\n\n".join(message.text for message in self.messages), {"episode": token}

    def step(self, text: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play a reply, and the turns on which nothing is asked after it.

        Args:
            text: of the model.

        Returns:
            prompt: the new situation; the last words of an episode say how it ended.
            reward: reward points since the last reply.
            terminated: both goals are complete and the newcomer has left.
            truncated: the turns are used up.
            info: "failure" of the reply, "" for none; at the end "joint" and "task", [0, 1].

        Raises:
            StateError: there is no episode, or it has ended.
        """
        if self._newcomer is None or self._ended:
            raise StateError("no episode is going on; call reset first")
        decision = make_decision(
            Completion(str(text), stop="stop" if str(text).strip() else "empty"),
            self._form,
            turn=int(self._engine.states["turn"][0]),
            prompts=self._newcomer.writer.version,
            prompt_hash=hash_prompt(self.messages),
        )
        self._newcomer.replay(self._table.look(self._engine), decision)
        reward = self._advance(decision.action) + self._pass()
        info: dict[str, Any] = {"failure": decision.failure}
        ending = int(self._engine.states["ending"][0])
        if self._ended:
            measured = measure_episode(self._recorder.trace(0), self._limit, self._is_test)
            info |= {"joint": measured.joint, "task": measured.task}
            prompt = f"The episode is over after {self._engine.states['turn'][0]} turns."
        else:
            prompt = self.messages[-1].text
        done = ending == Ending.TERMINATED
        return prompt, round(reward, 6), done, self._ended and not done, info

    def close(self) -> None:
        """Do nothing; for callers that close what they have opened."""

    def _pass(self) -> float:
        """Play turns on which nothing is asked, write the next prompt; return the reward."""
        assert self._newcomer is not None
        reward = 0.0
        while self._engine.states["ending"][0] == Ending.RUNNING:
            view = self._table.look(self._engine)
            if find_asked(self._engine)[0]:
                self.messages = tuple(self._newcomer.prompt(view))
                return reward
            self._newcomer.observe(view)
            reward += self._advance(int(Action.WAIT))
        self._ended = True
        return reward

    def _advance(self, action: int) -> float:
        """Play one turn and return its reward."""
        actions = np.full((1, MAX_SLOTS), Action.WAIT, np.int8)
        actions[0, 0] = action
        self._engine.step(actions)
        self._recorder.record()
        return float(self._engine.states["reward"][0, 0])
