"""A person in the newcomer's seat: the same observations, the same questions, the same records."""

from collections.abc import Sequence
from typing import ClassVar, Final

from agents.base import AgentContext, Belief, Observation
from normgym_envs.constants import TEST_PHASES
from normgym_envs.play import Face

EVIDENCE: Final = ("watching others", "my own sanctions", "both")
"""What a person may have learnt from. Source: NG figure 4d (human-reported evidence)."""
CONFIDENCE: Final = (
    ("a guess", 0.1),
    ("rather unsure", 0.3),
    ("half sure", 0.5),
    ("rather sure", 0.7),
    ("almost certain", 0.9),
    ("certain", 1.0),
)
"""Answers and the confidence they stand for. Source: not specified in NG."""

INTRODUCTION: Final = (
    "You are new in this place: the figure with the star.",
    "First reach your first goal and stay there until it is complete, then leave by a door. Your "
    "goals are written under the picture and marked in it. After you have left you come again, as "
    "somebody else.",
    "The people here follow a rule that nobody tells. Whoever breaks it is marked with a red X for "
    "one turn. Find out what the rule is: by watching others, or by trying.",
    "Walking into somebody is a collision; avoid it.",
)
TEST_INTRODUCTION: Final = (
    "Now a test. Reach your first goal, then leave by the right door, and keep the rule.",
    "The place may be another one; the rule is the same.",
)


class HumanAgent:
    """A person at the keyboard."""

    privileged: ClassVar[bool] = False

    def __init__(self, face: Face) -> None:
        """Sit down.

        Args:
            face: how the person sees and answers.
        """
        self._face = face
        self._context: AgentContext | None = None
        self._belief: Belief | None = None

    def reset(self, context: AgentContext) -> None:
        """Begin an episode: say what it is about."""
        self._context = context
        self._belief = None
        if context.phase in TEST_PHASES:
            lines: Sequence[str] = TEST_INTRODUCTION
            if context.belief is not None:
                lines = (*lines, f"Your own words on the rule: {context.belief.text}")
        else:
            lines = (*INTRODUCTION, f"You have {context.limit} turns.")
        if context.known_norm is not None:
            lines = (*lines, f"The rule is: {context.known_norm}")
        self._face.tell(lines)

    def act(self, observation: Observation) -> int:
        """Return what the person does."""
        return int(self._face.ask_action(observation, self._make_heading(observation)))

    def observe(self, observation: Observation) -> None:
        """Show a turn without a choice; ask about the rule once the interaction is over."""
        assert self._context is not None
        self._face.show(observation, self._make_heading(observation))
        is_over = int(observation["turn"][0]) >= self._context.limit
        if is_over and self._context.phase not in TEST_PHASES:
            self._belief = self._ask()

    def belief(self) -> Belief | None:
        """Return what the person has answered after the interaction."""
        return self._belief

    def _ask(self) -> Belief:
        text = self._face.ask_text(
            "What is the rule of this place? Write it so that a stranger could follow it."
        )
        words = [word for word, _ in CONFIDENCE]
        confidence = CONFIDENCE[self._face.ask_choice("How sure are you?", words)][1]
        evidence = EVIDENCE[self._face.ask_choice("What did you learn it from?", EVIDENCE)]
        return Belief(text, confidence, {"evidence": evidence})

    def _make_heading(self, observation: Observation) -> str:
        assert self._context is not None
        phase = "Test" if self._context.phase in TEST_PHASES else "Getting to know the place"
        return f"{phase}, turn {int(observation['turn'][0])} of {self._context.limit}"
