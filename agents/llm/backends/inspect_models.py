"""Any model that inspect_ai can name: hosted APIs, vLLM, Ollama, OpenAI-compatible servers.

Connections, rate limits, retries, caching and cost are inspect's. This module puts messages into
its words and its answers into ours.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from agents.llm.backend import Completion, Message, NotReadyError, Stop, Usage
from normgym_envs.errors import ConfigError, MissingExtraError, NormGymError, UnknownNameError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage

_STOPS: Final[dict[str, Stop]] = {
    "stop": "stop",
    "tool_calls": "stop",
    "unknown": "stop",
    "max_tokens": "length",
    "model_length": "context_overflow",
    "content_filter": "refusal",
}
_OVERFLOW: Final = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|prompt is too long"
    r"|too many (input )?tokens",
    re.IGNORECASE,
)
_failures: ContextVar[list[BaseException] | None] = ContextVar("failures", default=None)


class InspectBackend:
    """A model of inspect_ai.

    Attributes:
        model: inspect's own object.
    """

    def __init__(
        self,
        model: "Model",
        *,
        max_tokens: int = 4048,
        context_tokens: int | None = None,
        images: bool = True,
    ) -> None:
        """Wrap a model.

        Args:
            model: as `inspect_ai.model.get_model` returns it.
            max_tokens: most tokens of an answer; sent with every request.
            context_tokens: of prompt and answer; None takes what inspect knows of the model.
            images: whether the model takes pictures; inspect does not know.
        """
        self.model = model
        self.name = str(model)
        self.images = images
        self.max_tokens = max_tokens
        self.context_tokens = context_tokens or find_context(self.name)
        _count_failures(model)

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Return inspect's answer; see `Backend.generate`.

        Raises:
            ConfigError: the service refuses the key, the model or the request itself.
        """
        from inspect_ai.model import GenerateConfig

        failures: list[BaseException] = []
        token = _failures.set(failures)
        try:
            output = await self.model.generate(
                [to_chat_message(message) for message in messages],
                config=GenerateConfig(max_tokens=self.max_tokens),
            )
        except NormGymError:
            raise
        except Exception as error:
            return self._explain(error, failures)
        finally:
            _failures.reset(token)
        return to_completion(output, self.name, attempts=1 + len(failures))

    def _explain(self, error: Exception, failures: Sequence[BaseException]) -> Completion:
        """Return what an error of the service amounts to, or raise it."""
        cause = _unwrap(error)
        text = f"{type(cause).__name__}: {cause}"
        if any(failure is cause or failure is error for failure in failures):
            return Completion(
                "", stop="transport", model=self.name, attempts=len(failures), error=text
            )
        status = getattr(cause, "status_code", getattr(cause, "code", None))
        if status in (400, 413, 422) and _OVERFLOW.search(text):
            return Completion("", stop="context_overflow", model=self.name, error=text)
        if status in (400, 401, 402, 403, 404, 422, "insufficient_quota"):
            raise ConfigError(
                f"model {self.name!r}: the service refuses the request ({text}); expected a valid "
                "key, an existing model and parameters that it takes (for a model without "
                "pictures: modality 'text')"
            ) from error
        if isinstance(cause, ConnectionError | TimeoutError):
            return Completion("", stop="transport", model=self.name, error=text)
        raise error


def open_backend(
    rest: str,
    *,
    max_tokens: int = 4048,
    context_tokens: int | None = None,
    images: bool = True,
    base_url: str | None = None,
    model_args: Mapping[str, Any] | None = None,
    **config: Any,
) -> InspectBackend:
    """Return a model by inspect's name for it.

    Args:
        rest: "PROVIDER/MODEL".
        max_tokens: most tokens of an answer.
        context_tokens: of prompt and answer; None takes what inspect knows.
        images: whether the model takes pictures.
        base_url: of the server, where it is not the provider's own.
        model_args: for inspect's provider.
        **config: fields of inspect's GenerateConfig, e.g. temperature; None leaves one alone.

    Raises:
        MissingExtraError: inspect_ai or the provider's package is missing.
        UnknownNameError: inspect has no such provider.
        NotReadyError: a key is missing.
        ConfigError: the name has no provider, or a field does not exist.
    """
    try:
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError as error:
        raise MissingExtraError(
            f"model {rest!r} is reached through inspect_ai, which is missing ({error}); "
            'install it with: pip install "normgym[llm]"'
        ) from None
    from inspect_ai._util.error import PrerequisiteError

    _check_provider(rest)
    for name in config:
        if name not in GenerateConfig.model_fields:
            raise UnknownNameError("parameter of a model", name, GenerateConfig.model_fields)
    given = {name: value for name, value in config.items() if value is not None}
    try:
        settings = GenerateConfig(max_tokens=max_tokens, **given)
        model = get_model(rest, config=settings, base_url=base_url, **(model_args or {}))
    except PrerequisiteError as error:
        text = " ".join(re.sub(r"\[/?[a-z]+( [a-z]+)*\]", "", str(error.message)).split())
        kind = MissingExtraError if "pip install" in text else NotReadyError
        raise kind(f"model {rest!r} cannot be reached: {text}") from None
    except (ValueError, TypeError, ImportError) as error:
        raise ConfigError(f"model {rest!r} cannot be reached: {error}") from None
    return InspectBackend(
        model, max_tokens=max_tokens, context_tokens=context_tokens, images=images
    )


def to_chat_message(message: Message) -> "ChatMessage":
    """Return a message as inspect knows it; pictures become data URLs before the text."""
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        ContentImage,
        ContentText,
    )

    if message.role == "system":
        return ChatMessageSystem(content=message.text)
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.text)
    if not message.images:
        return ChatMessageUser(content=message.text)
    pictures = [
        ContentImage(image=f"data:image/png;base64,{base64.b64encode(image).decode()}")
        for image in message.images
    ]
    return ChatMessageUser(content=[*pictures, ContentText(text=message.text)])


def to_completion(output: "ModelOutput", name: str, attempts: int = 1) -> Completion:
    """Return inspect's answer in our words.

    Args:
        output: of inspect.
        name: of the model that was asked.
        attempts: requests made.
    """
    usage = to_usage(output.usage)
    model, error = output.model or name, output.error or ""
    if not output.choices:
        stop: Stop = "refusal" if error else "empty"
        return Completion("", "", stop, usage, model, attempts, error)
    said, thought, refused = [], [], False
    content = output.message.content
    for part in [content] if isinstance(content, str) else content:
        if isinstance(part, str):
            said.append(part)
        elif part.type == "text":
            said.append(part.text)
            refused = refused or bool(part.refusal)
        elif part.type == "reasoning":
            thought.append(part.summary or "" if part.redacted else part.reasoning)
    text = "\n".join(said)
    stop = "refusal" if refused else _STOPS.get(output.stop_reason, "stop")
    if stop == "context_overflow" and text.strip():
        stop = "length"
    if stop == "stop" and not text.strip():
        stop = "empty"
    return Completion(text, "\n".join(thought), stop, usage, model, attempts, error)


def to_usage(usage: "ModelUsage | None") -> Usage:
    """Return token counts; inspect leaves cached tokens out of the input, we do not.

    Servers that do not count report zeros, which is unknown.
    """
    if usage is None or not (usage.input_tokens or usage.output_tokens or usage.total_tokens):
        return Usage()
    cached = usage.input_tokens_cache_read
    written = usage.input_tokens_cache_write or 0
    return Usage(
        input_tokens=usage.input_tokens + (cached or 0) + written,
        cached_tokens=cached,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _check_provider(name: str) -> None:
    """Refuse a name without a provider that inspect knows."""
    from inspect_ai._util.registry import registry_find, registry_unqualified_name

    provider, slash, _ = name.partition("/")
    known = {
        registry_unqualified_name(info)
        for info in registry_find(lambda info: info.type == "modelapi")
    }
    if not slash:
        raise ConfigError(f"model {name!r} has no provider; expected PROVIDER/MODEL")
    if provider not in known:
        raise UnknownNameError("provider of models", provider, sorted(known))


def find_context(name: str) -> int | None:
    """Return the tokens of a model's context as far as inspect knows."""
    from inspect_ai.model import get_model_info

    try:
        info = get_model_info(name)
    except Exception:  # providers of their own may fail in ways of their own
        return None
    return None if info is None else info.context_length


def _count_failures(model: "Model") -> None:
    """Let inspect's question whether to retry leave a note of what went wrong."""
    asked = model.should_retry
    if getattr(asked, "leaves_notes", False):
        return

    def should_retry(error: BaseException) -> bool:
        answer = bool(asked(error))
        failures = _failures.get()
        if answer and failures is not None:
            failures.append(error)
        return answer

    vars(should_retry)["leaves_notes"] = True
    vars(model)["should_retry"] = should_retry


def _unwrap(error: BaseException) -> BaseException:
    """Return what a retry loop finally gave up on."""
    last = getattr(error, "last_attempt", None)
    cause = last.exception() if last is not None else None
    return cause if isinstance(cause, BaseException) else error
