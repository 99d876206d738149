"""The newcomer that a language model plays: looks, remembers, asks, answers.

One instance plays one episode, as every agent of the benchmark. What the prompts say is in
`grid`; how replies are read, memories kept and models reached is in the modules beside this one,
none of which knows a grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.base import AgentContext, Belief, Observation
from agents.llm.asking import ask, fit_prompt
from agents.llm.backend import Backend, Message
from agents.llm.decision import Decision
from agents.llm.grid.actions import ACTION_FORMAT, INTERACTION_FORMAT
from agents.llm.grid.diary import is_blocked, write_entry
from agents.llm.grid.view import View
from agents.llm.grid.writing import Modality, Situation, Writer
from agents.llm.memory import Memory, Recollection
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import ConfigError, StateError

__all__ = ["LLMNewcomer", "Modality", "NewcomerSettings", "View"]


@dataclass(frozen=True)
class NewcomerSettings:
    """What decides the prompts of a run."""

    prompts: str = "full"
    """Version of the prompts, one of `grid.prompts.list_prompts`: `full` names in words whom the
    community sanctioned, `paper` leaves the sanctions of others to the picture. Source: NG App.
    "Prompts"."""
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

    A reply that cannot be read is played as waiting and has a named failure. A move against
    something that blocks is an answer like any other: the world plays it as waiting (docs/rules.md,
    "The grid"), the decision keeps the move, and the memory says that it was blocked.
    """

    def __init__(self, backend: Backend, settings: NewcomerSettings | None = None) -> None:
        """Take a model and the settings of the run.

        Raises:
            UnknownNameError: no such prompts or modality.
            ConfigError: the settings contradict each other, or ask for pictures that the backend
                cannot take.
        """
        self.settings = settings or NewcomerSettings()
        self.writer = Writer(self.settings.prompts, self.settings.modality, self.settings.note)
        if self.writer.shows_picture and not backend.images:
            raise ConfigError(
                f"model {backend.name!r} takes no pictures, and modality is "
                f"{self.settings.modality!r}; expected modality 'text'"
            )
        self.backend = backend
        self._context: AgentContext | None = None
        self._memory = Memory(self.settings.recent, self.settings.sanctioned)
        self._belief: Belief | None = None
        self._pending: tuple[Observation, Decision | None] | None = None

    def reset(self, context: AgentContext) -> None:
        """Begin an episode and forget everything else.

        Raises:
            ConfigError: the condition states the norm and the context does not have it.
        """
        if self.settings.known_norm and not context.known_norm:
            raise ConfigError("the norm is to be stated, but the context has no sentence for it")
        self._context = context
        self._memory = Memory(self.settings.recent, self.settings.sanctioned)
        self._belief = context.belief
        self._pending = None

    async def decide(self, view: View) -> Decision:
        """Ask the model what to do.

        Raises:
            ContextError: rules, state and one memory exceed the model's context.
            StateError: `reset` was not called, or the turn has been decided.
        """
        self._look(view)
        is_test = self._situation().is_test
        decision = await ask(
            self.backend,
            self._memory,
            lambda memory: self._write(view, memory),
            ACTION_FORMAT if is_test else INTERACTION_FORMAT,
            turn=int(view.observation["turn"][0]),
            prompts=self.writer.version,
        )
        if not decision.failure and is_blocked(view.observation, decision.action):
            odd = ", ".join(part for part in (decision.detail, "blocked") if part)
            decision = decision.model_copy(update={"detail": odd})
        self._take(view, decision)
        return decision

    def prompt(self, view: View) -> Sequence[Message]:
        """Return what `decide` would send, and ask nothing.

        Raises:
            ContextError: rules, state and one memory exceed the model's context.
            StateError: `reset` was not called, or the turn has been decided.
        """
        self._look(view)
        messages, _ = fit_prompt(self.backend, self._memory, lambda m: self._write(view, m))
        return messages

    def observe(self, view: View) -> None:
        """See a turn on which nothing is asked: service, an empty place, the end.

        Raises:
            StateError: `reset` was not called, or the turn has been decided.
        """
        self._look(view)
        self._pending = (view.observation, None)

    def replay(self, view: View, decision: Decision) -> None:
        """Take a stored decision of this turn instead of asking; memories are as after `decide`.

        Args:
            view: what was seen; no picture is needed.
            decision: as it was stored.

        Raises:
            StateError: `reset` was not called, the turn has been decided, or the decision is of
                another turn.
        """
        turn = int(view.observation["turn"][0])
        if decision.turn != turn:
            raise StateError(f"the decision is of turn {decision.turn}; expected turn {turn}")
        self._look(view)
        self._take(view, decision)

    def belief(self) -> Belief | None:
        """Return the last belief stated in an interaction, the one carried in tests."""
        return self._belief

    def _look(self, view: View) -> None:
        """Finish the memory of the last turn with what is seen now."""
        if self._context is None:
            raise StateError("no episode has begun; call reset first")
        if self._pending is None:
            return
        before, decision = self._pending
        earlier, turn = int(before["turn"][0]), int(view.observation["turn"][0])
        if turn != earlier + 1:
            raise StateError(f"turn {turn} was shown after turn {earlier}; expected {earlier + 1}")
        self._memory.add(write_entry(before, decision, view.observation, self.writer.style))
        self._pending = None

    def _take(self, view: View, decision: Decision) -> None:
        """Note a decision, and in an interaction the belief that came with it."""
        self._pending = (view.observation, decision)
        if self._situation().is_test or not decision.belief:
            return
        confidence = decision.confidence
        if confidence is None:
            confidence = self._belief.confidence if self._belief is not None else 0.0
        self._belief = Belief(decision.belief, confidence)

    def _write(self, view: View, memory: Recollection) -> Sequence[Message]:
        return self.writer.write(view, self._situation(), memory)

    def _situation(self) -> Situation:
        """Return phase and condition."""
        context = self._context
        if context is None:
            raise StateError("no episode has begun; call reset first")
        return Situation(
            is_test=context.phase in TEST_PHASES,
            limit=context.limit,
            known_norm=context.known_norm if self.settings.known_norm else None,
            has_met=self.settings.interaction,
            belief=self._belief,
        )
