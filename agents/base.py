"""What an agent is: the protocol, what it is told at a reset, and what it may believe.

An agent acts on observations. It never gets an environment, an episode specification, an
environment seed or the name of a norm; the runner refuses to hand them over. One exception stands
outside the agent: where a source has one policy a norm (`AgentSource.make_for`, the DQNs), the
hidden norm decides which policy plays. The policy is not told, but it was trained on that norm, and
tables say so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from normgym_envs.errors import ConfigError

Observation = Mapping[str, Any]
"""Named arrays, "action_mask" (5,) int8 among them: those of `normgym_envs.observations.symbolic`,
or what else the agent's class asks for."""


@dataclass(frozen=True)
class Belief:
    """What an agent holds the norm to be. Source: NG App. "Interaction phase"."""

    text: str  # in natural language
    confidence: float  # [0, 1], dimensionless
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON values for the agent's own later use, e.g. a posterior; carried with the text."""

    def __post_init__(self) -> None:
        """Refuse what could not be stored.

        Raises:
            ConfigError: the text is no string, or the confidence no number in [0, 1].
        """
        if not isinstance(self.text, str):
            raise ConfigError(f"belief text is {self.text!r}; expected a string")
        number = isinstance(self.confidence, int | float) and not isinstance(self.confidence, bool)
        if not number or not math.isfinite(self.confidence) or not 0 <= self.confidence <= 1:
            raise ConfigError(
                f"belief confidence is {self.confidence!r}; expected a number from 0 to 1"
            )


@dataclass(frozen=True)
class AgentContext:
    """All that an agent is told when an episode begins."""

    token: str  # opaque name of the episode
    phase: str  # constants.PHASES
    rng: np.random.Generator  # the agent's own random stream
    limit: int  # steps of the episode
    belief: Belief | None = None  # carried over from the interaction, fixed in tests
    known_norm: str | None = None  # the norm's sentence, in the condition that gives it away


@runtime_checkable
class Agent(Protocol):
    """Something that can take the newcomer's seat.

    Two methods are optional. `belief() -> Belief | None` is asked during an interaction; its last
    answer is handed to the tests. `observe(observation) -> None` is shown what `act` is not asked
    about: automatic turns (service, an empty slot) and the state after the last step.

    Every episode is played by an instance of its own, so that a test can know of the interaction
    only what the belief says. What is costly to load belongs into a cache of the agent's module.
    """

    privileged: ClassVar[bool] = False  # True only for the planners of `agents.planners`

    def reset(self, context: AgentContext) -> None:
        """Begin an episode and forget everything else.

        Args:
            context: what is known before the first observation.
        """
        ...

    def act(self, observation: Observation) -> int:
        """Choose what to do.

        Args:
            observation: named arrays; "action_mask" says which actions are physically open.

        Returns:
            int, constants.Action; a blocked move is played as waiting.
        """
        ...
