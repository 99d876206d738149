"""The newcomer that a language model plays: looks, remembers, asks, answers.

One instance plays one episode, as every agent of the benchmark. What the prompts say is in
`grid`; how replies are read, memories kept and models reached is in the modules beside this one,
none of which knows a grid.
"""

from dataclasses import dataclass
from typing import Literal

from agents.base import AgentContext, Belief, Observation
from agents.llm.backend import Backend
from agents.llm.decision import Decision
from normgym_envs.types import Layout

Modality = Literal["image+text", "text", "image"]


@dataclass(frozen=True)
class View:
    """What the newcomer is shown on a turn."""

    observation: Observation  # symbolic, of the newcomer's slot
    layout: Layout  # gives the names of things; the map itself is in the observation too
    picture: bytes | None = None  # PNG, when the modality needs one


@dataclass(frozen=True)
class NewcomerSettings:
    """What decides the prompts of a run."""

    prompts: Literal["full", "paper"] = "full"
    """Version of the prompts: `full` names in words whom the community sanctioned, `paper` leaves
    the sanctions of others to the picture. Source: NG App. "Prompts"."""
    modality: Modality = "image+text"
    known_norm: bool = False  # the norm's sentence, `AgentContext.known_norm`, is stated
    interaction: bool = True  # False: tests are played without having met the community
    recent: int = 10  # most recent steps remembered. Source: NG "LLM Agents"
    sanctioned: int = 5  # older sanctioned steps remembered. Source: NG "LLM Agents"
    note: str = ""
    """A sentence added to the section on norms: the place for conditions such as a distractor."""


class LLMNewcomer:
    """A language model in the newcomer's seat.

    `decide` is called on turns on which the newcomer may act, `observe` on all others and once
    after the last step. `replay` takes the place of `decide` for a decision made earlier. The same
    views and decisions give the same prompts, byte for byte.
    """

    def __init__(self, backend: Backend, settings: NewcomerSettings) -> None:
        """Take a model and the settings of the run.

        Raises:
            ConfigError: the settings contradict each other, or ask for pictures that the backend
                cannot take.
        """
        raise NotImplementedError

    def reset(self, context: AgentContext) -> None:
        """Begin an episode.

        Raises:
            ConfigError: the condition needs the norm's sentence and the context has none.
        """
        raise NotImplementedError

    async def decide(self, view: View) -> Decision:
        """Ask the model what to do.

        Raises:
            ContextError: rules, state and one memory exceed the model's context.
        """
        raise NotImplementedError

    def observe(self, view: View) -> None:
        """See a turn on which nothing is asked: service, an empty place, the end."""
        raise NotImplementedError

    def replay(self, view: View, decision: Decision) -> None:
        """Take a stored decision of this turn instead of asking; memories are as after `decide`."""
        raise NotImplementedError

    def belief(self) -> Belief | None:
        """Return the last belief stated in an interaction, the one carried in tests."""
        raise NotImplementedError
