"""A language model as an ordinary agent: for `normgym bench run` and code that knows no coroutines.

`normgym bench llm` is the way to measure models: it plays many episodes at once, keeps every
decision and can go on after a stop. This adapter asks one question at a time and keeps nothing.
"""

import asyncio
import hashlib
import threading
from collections.abc import Coroutine
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from agents.base import AgentContext, Belief, Observation
from agents.llm.backend import Backend, digest_backend, make_backend
from agents.llm.decision import Decision, TransportError
from agents.llm.grid.view import View, find_layout
from agents.llm.newcomer import LLMNewcomer, NewcomerSettings
from agents.loading import AgentSource
from normgym_envs.errors import ConfigError

T = TypeVar("T")
TEXT_ONLY = NewcomerSettings(modality="text")
"""Settings of the adapter: an agent is given observations, which have no pictures."""


class LLMAgent:
    """Plays a newcomer's episodes with a language model, one question at a time.

    Attributes:
        decisions: of the present episode, in order.

    Example:
        >>> agent = LLMAgent("callable:agents.llm.backends.scripted:say_wait")
        >>> agent.decisions
        []
    """

    privileged: ClassVar[bool] = False

    def __init__(self, backend: Backend | str, settings: NewcomerSettings = TEXT_ONLY) -> None:
        """Take a model.

        Args:
            backend: a model, or its name as `make_backend` takes it.
            settings: with modality "text".

        Raises:
            ConfigError: the settings want pictures.
            UnknownNameError: there is no such backend.
        """
        if settings.modality != "text":
            raise ConfigError(
                f"modality is {settings.modality!r}; an agent is given no pictures, expected "
                "'text' (normgym bench llm shows pictures)"
            )
        self._backend = _open(backend) if isinstance(backend, str) else backend
        self._newcomer = LLMNewcomer(self._backend, settings)
        self.decisions: list[Decision] = []

    def reset(self, context: AgentContext) -> None:
        """Begin an episode and forget everything else."""
        self._newcomer.reset(context)
        self.decisions = []

    def act(self, observation: Observation) -> int:
        """Ask the model; a reply without an answer is played as waiting.

        Raises:
            ContextError: rules and state exceed the model's context.
            TransportError: the model could not be reached; the episode breaks off.
        """
        decision = _wait_for(self._newcomer.decide(_make_view(observation)))
        self.decisions.append(decision)
        if decision.failure == "transport":
            raise TransportError(decision.error or "the model did not answer")
        return decision.action

    def observe(self, observation: Observation) -> None:
        """See a turn on which nothing is asked."""
        self._newcomer.observe(_make_view(observation))

    def belief(self) -> Belief | None:
        """Return what the model last said of the norm."""
        return self._newcomer.belief()


def find_llm(name: str, backend: str) -> AgentSource:
    """Return where instances of `llm:BACKEND` come from; they are told no norm.

    Args:
        name: the agent as the user named it.
        backend: as `make_backend` takes it, e.g. "callable:package.module:function".

    Raises:
        UnknownNameError: there is no such backend.
        ConfigError: the backend cannot be opened.
        MissingExtraError: a package is missing.
    """
    model = _open(backend)
    digest = hashlib.sha256(digest_backend(backend).encode())
    digest.update(digest_code().encode())
    return AgentSource(name, lambda: LLMAgent(model), digest.hexdigest()[:16])


@cache
def digest_code() -> str:
    """Return a hash of the code and texts that make prompts and read replies, 16 hex digits."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*here.rglob("*.py"), *here.rglob("*.toml")]):
        digest.update(path.relative_to(here).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _make_view(observation: Observation) -> View:
    return View(observation, find_layout(observation))


@cache
def _open(name: str) -> Backend:
    """Return a model by name; every episode has an agent of its own, and they share the model."""
    return make_backend(name)


def _wait_for(task: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns; works inside a running loop, e.g. in a notebook."""
    return asyncio.run_coroutine_threadsafe(task, _start_loop()).result()


@cache
def _start_loop() -> asyncio.AbstractEventLoop:
    """Return a loop that runs in a thread of its own until the process ends."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="normgym-models", daemon=True).start()
    return loop
