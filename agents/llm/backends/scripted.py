"""Replies prepared in advance: for tests and dry runs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agents.llm.backend import Completion, Message
from normgym_envs.errors import ConfigError, StateError


class ScriptedBackend:
    """Says what it was given, one reply a request, and keeps the prompts it saw.

    Attributes:
        prompts: every prompt so far.
    """

    def __init__(
        self,
        replies: Iterable[str | Completion],
        *,
        name: str = "scripted",
        images: bool = True,
        context_tokens: int | None = None,
        max_tokens: int = 4048,
        repeat: bool = False,
    ) -> None:
        """Take the replies.

        Args:
            replies: in order of the requests.
            name: see `Backend`.
            images: see `Backend`.
            context_tokens: see `Backend`.
            max_tokens: see `Backend`.
            repeat: begin again when the last reply was given.

        Raises:
            ConfigError: replies are to be repeated and there is none.
        """
        self.name, self.images = name, images
        self.context_tokens, self.max_tokens = context_tokens, max_tokens
        self.prompts: list[tuple[Message, ...]] = []
        self._replies = self._make_stream(list(replies), repeat)

    def _make_stream(
        self, replies: list[str | Completion], repeat: bool
    ) -> Iterator[str | Completion]:
        if repeat and not replies:
            raise ConfigError("there is no reply to repeat; expected at least one")

        def give() -> Iterator[str | Completion]:
            yield from replies
            while repeat:
                yield from replies

        return give()

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Return the next reply.

        Raises:
            StateError: there is none left.
        """
        self.prompts.append(tuple(messages))
        reply = next(self._replies, None)
        if reply is None:
            raise StateError(f"{self.name}: asked {len(self.prompts)} times; no reply is left")
        if isinstance(reply, Completion):
            return reply
        return Completion(reply, model=self.name)


def open_backend(
    rest: str,
    *,
    max_tokens: int = 4048,
    context_tokens: int | None = None,
    temperature: float | None = None,
) -> ScriptedBackend:
    """Return a backend that repeats the replies of a file.

    Args:
        rest: path of a file with one JSON string a line; empty for one that always waits.
        max_tokens: see `Backend`.
        context_tokens: see `Backend`.
        temperature: changes nothing.

    Raises:
        ConfigError: the file cannot be read, or holds something else.
    """
    if not rest:
        return ScriptedBackend(
            [say_wait("")], max_tokens=max_tokens, context_tokens=context_tokens, repeat=True
        )
    try:
        lines = Path(rest).read_text(encoding="utf-8").splitlines()
        replies = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise ConfigError(f"replies {rest!r} cannot be read: {error}") from None
    if not replies or not all(isinstance(reply, str) for reply in replies):
        raise ConfigError(f"replies {rest!r}: expected one JSON string a line, at least one")
    return ScriptedBackend(
        replies,
        name=f"scripted:{rest}",
        max_tokens=max_tokens,
        context_tokens=context_tokens,
        repeat=True,
    )


def say_wait(prompt: str) -> str:
    """Return the reply of a model that always waits and has no idea."""
    answer = {
        "reasoning": "I wait and watch.",
        "action": "wait",
        "belief": "I do not know the norm yet.",
        "confidence": 0,
    }
    return json.dumps(answer)
