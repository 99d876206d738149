"""The first prompt of a run, and what the whole of it may cost, before anything is asked."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agents.llm import Backend, Completion, Message, Usage
from agents.llm.asking import count_tokens
from agents.llm.backend import NotReadyError
from benchmarks.llm.pricing import Price, show_dollars
from benchmarks.llm.session import Session
from benchmarks.llm.setup import LLMSetup
from benchmarks.suite import Group, Suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import ConfigError

REPLY_TOKENS = 200
"""Of a reply without hidden thoughts. Source: not specified; chosen because replies to these
prompts have two to four sentences."""
_REPLY = {
    "reasoning": "I look at what the others do before I go on. " * 3,
    "action": "wait",
    "belief": "People seem to keep to one way through the room.",
    "confidence": 0.3,
}


@dataclass(frozen=True)
class Estimate:
    """What a run would take, at most: every episode to its last turn, every turn asked."""

    episodes: int
    requests: int
    input_tokens: int  # without a cache
    output_tokens: int
    most_output_tokens: int  # every reply as long as allowed
    cost: float | None  # dollars, None: unknown
    most_cost: float | None  # dollars, every reply as long as allowed

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as people read them."""
        cost = f"about {show_dollars(self.cost)}, at most {show_dollars(self.most_cost)}"
        if self.cost is None:
            cost = "unknown: no price of this model is known; --price gives one"
        return [
            ("episodes", f"{self.episodes:,}"),
            ("requests", f"at most {self.requests:,}"),
            ("input tokens", f"about {self.input_tokens:,} without a cache"),
            (
                "output tokens",
                f"about {self.output_tokens:,} at {REPLY_TOKENS} a reply, "
                f"at most {self.most_output_tokens:,}",
            ),
            ("cost", cost),
        ]


@dataclass(frozen=True)
class Unopened:
    """Stands for a hosted model that cannot be asked yet; enough for a dry run."""

    name: str  # PROVIDER/MODEL
    max_tokens: int  # of a reply
    context_tokens: int | None  # None: not known
    reason: str  # why it cannot be asked
    images: bool = True

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Refuse.

        Raises:
            NotReadyError: always.
        """
        raise NotReadyError(self.reason)


class _Counter:
    """A model that says the same in every reply and counts the tokens it is sent."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.name, self.images = backend.name, backend.images
        self.context_tokens, self.max_tokens = backend.context_tokens, backend.max_tokens
        self.first: Sequence[Message] = ()
        self.counts: list[int] = []

    def count_tokens(self, messages: Sequence[Message]) -> int:
        return count_tokens(self._backend, messages)

    async def generate(self, messages: Sequence[Message]) -> Completion:
        self.first = self.first or messages
        self.counts.append(count_tokens(self._backend, messages))
        return Completion(json.dumps(_REPLY), usage=Usage(0, 0, 0, 0), model=self.name)


async def preview(
    setup: LLMSetup, suite: Suite, groups: Sequence[Group], backend: Backend, price: Price | None
) -> tuple[Sequence[Message], Estimate]:
    """Play the first group with a model that only counts, and return its prompt and an estimate.

    Args:
        setup: model and condition.
        suite: what would be played.
        groups: of the suite, as `LLMSetup.choose` returns them.
        backend: not asked; says what fits.
        price: of its tokens, None when unknown.

    Returns:
        prompt: the very first one.
        estimate: for all groups.

    Raises:
        ContextError: the model's context is too small for the prompts.
        ConfigError: the model takes no pictures and is to get some.
    """
    if not groups:
        raise ConfigError("there is no episode to play")
    means: dict[bool, float] = {}
    prompt: Sequence[Message] = ()
    chosen = groups[0]
    parts = [Group(chosen.norms, chosen.family, None, chosen.tests[:1])]
    if chosen.interaction is not None:
        parts.insert(0, Group(chosen.norms, chosen.family, chosen.interaction, ()))
    for part in parts:
        counter = _Counter(backend)
        await Session(setup, suite, [part]).play_group(part, counter)
        prompt = prompt or counter.first
        means[part.interaction is None] = sum(counter.counts) / max(len(counter.counts), 1)
    episodes = requests = 0
    tokens = 0.0
    for group in groups:
        for index in Session.members(group):
            spec = suite.specs[index]
            episodes += 1
            requests += spec.limit
            tokens += spec.limit * means[spec.phase in TEST_PHASES]
    most = requests * setup.max_tokens
    fewest = min(REPLY_TOKENS, setup.max_tokens) * requests
    costs = [
        None if price is None else price.cost(Usage(round(tokens), 0, output, None))
        for output in (fewest, most)
    ]
    return prompt, Estimate(episodes, requests, round(tokens), fewest, most, costs[0], costs[1])


def show_prompt(messages: Sequence[Message]) -> str:
    """Return a prompt as text; a picture is named by its size."""
    parts = []
    for message in messages:
        parts.append(f"--- {message.role} ---")
        parts += [f"[picture, PNG, {len(image):,} bytes]" for image in message.images]
        parts.append(message.text)
    return "\n".join(parts)
