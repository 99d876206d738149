"""What a language model is to an agent: messages in, a completion out; and how one is named.

Nothing here knows what is being played. The models themselves are in `backends`, each imported
when its name is used.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, runtime_checkable

from normgym_envs.errors import ConfigError, UnknownNameError

Role = Literal["system", "user", "assistant"]
Stop = Literal["stop", "length", "refusal", "context_overflow", "transport", "empty"]
"""Why a completion ended. Only "stop" and "length" can carry an answer."""


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    role: Role
    text: str
    images: tuple[bytes, ...] = ()  # PNG files, shown before the text


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; None is unknown, which is not 0."""

    input_tokens: int | None = None  # all of the prompt, cached ones included
    cached_tokens: int | None = None  # of the input, read from a cache
    output_tokens: int | None = None  # all that was generated, reasoning included
    reasoning_tokens: int | None = None  # of the output, thought but not said


@dataclass(frozen=True)
class Completion:
    """What came of one request."""

    text: str  # the answer, as it came
    reasoning: str = ""  # what the model thought apart from the answer
    stop: Stop = "stop"
    usage: Usage = Usage()
    model: str = ""  # as the server names it
    attempts: int = 1  # requests made, retries included
    error: str = ""  # what went wrong, for "transport" and "context_overflow"


@runtime_checkable
class Backend(Protocol):
    """Something that completes prompts; one serves many episodes at once."""

    @property
    def name(self) -> str:
        """Name under which results are filed, e.g. "openai/gpt-x"."""
        ...

    @property
    def images(self) -> bool:
        """Whether messages may carry pictures."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of prompt and answer together; None when nobody says."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens kept free for the answer."""
        ...

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Return a completion.

        Failures of the service are completions with a `stop` of their own, never exceptions;
        exceptions are faults of the set-up (a missing key, a model that does not exist).

        Args:
            messages: the prompt; pictures only if `images`.
        """
        ...


class ContextError(ConfigError):
    """A prompt that no shrinking makes fit the model's context."""


BACKENDS: Final[dict[str, str]] = {
    "inspect_models": "agents.llm.backends.inspect_models:open_backend",
    "transformers_local": "agents.llm.backends.transformers_local:open_backend",
    "callable": "agents.llm.backends.callable:open_backend",
    "scripted": "agents.llm.backends.scripted:open_backend",
}
"""Backends by prefix; imported when asked for."""


def make_backend(name: str, **options: Any) -> Backend:
    """Return a backend by name.

    Args:
        name: "PREFIX:REST" with a prefix of `BACKENDS`; "PROVIDER/MODEL" alone is one of
            `inspect_models`, e.g. "openai/gpt-5" or "vllm/Qwen/Qwen3-VL-8B-Instruct".
        **options: as the backend's `open_backend` takes them.

    Raises:
        UnknownNameError: no such prefix, and no "/" that would make it a model.
        ConfigError: an option that the backend does not have.
        MissingExtraError: a package is missing; the message names the extra.

    Example:
        >>> make_backend("callable:agents.llm.backends.scripted:say_wait").name
        'callable:agents.llm.backends.scripted:say_wait'
    """
    prefix, colon, rest = name.partition(":")
    if not colon or prefix not in BACKENDS:
        if "/" not in prefix:
            raise UnknownNameError("backend", prefix, BACKENDS)
        prefix, rest = "inspect_models", name
    module_name, _, attribute = BACKENDS[prefix].partition(":")
    opener = getattr(importlib.import_module(module_name), attribute)
    try:
        backend: Backend = opener(rest, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ConfigError(f"backend {name!r}: {error}") from None
    return backend
