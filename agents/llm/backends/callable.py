"""Any function as a model: "package.module:function"."""

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

from agents.llm.backend import Completion, Message
from normgym_envs.errors import ConfigError, nearest


class CallableBackend:
    """A function that answers.

    A function whose first parameter is called `messages` gets a list of `Message`, pictures
    included; any other gets the texts of the prompt, parted by empty lines. It returns the reply
    as a string, or a `Completion`. A coroutine function is awaited; an ordinary one is called in a
    thread, one call at a time.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str = "",
        max_tokens: int = 4048,
        context_tokens: int | None = None,
    ) -> None:
        """Wrap a function.

        Args:
            function: see the class.
            name: see `Backend`; the function's own if empty.
            max_tokens: see `Backend`; the function is not told.
            context_tokens: see `Backend`.
        """
        self.name = name or f"callable:{getattr(function, '__qualname__', repr(function))}"
        self.images = _takes_messages(function)
        self.max_tokens, self.context_tokens = max_tokens, context_tokens
        self._function = function
        self._lock = threading.Lock()

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Return the function's answer; see `Backend.generate`.

        A ConnectionError or TimeoutError is an outage; all else that the function raises is its
        fault and raised.

        Raises:
            ConfigError: the answer is neither a string nor a `Completion`, or pictures are given
                to a function of text.
        """
        if not self.images and any(message.images for message in messages):
            raise ConfigError(
                f"{self.name} takes text; for pictures let its first parameter be called "
                "'messages', or choose modality 'text'"
            )
        prompt: Any = list(messages)
        if not self.images:
            prompt = "\n\n".join(message.text for message in messages)
        try:
            if inspect.iscoroutinefunction(self._function):
                answer = await self._function(prompt)
            else:
                answer = await asyncio.to_thread(self._call, prompt)
        except (ConnectionError, TimeoutError) as error:
            problem = f"{type(error).__name__}: {error}"
            return Completion("", stop="transport", model=self.name, error=problem)
        if isinstance(answer, Completion):
            return answer
        if not isinstance(answer, str):
            raise ConfigError(
                f"{self.name} returned a {type(answer).__name__}; expected a string or a Completion"
            )
        return Completion(answer, stop="stop" if answer.strip() else "empty", model=self.name)

    def _call(self, prompt: Any) -> Any:
        with self._lock:
            return self._function(prompt)


def open_backend(
    rest: str,
    *,
    max_tokens: int = 4048,
    context_tokens: int | None = None,
    temperature: float | None = None,
) -> CallableBackend:
    """Return a function as a model.

    Args:
        rest: "package.module:function".
        max_tokens: see `Backend`.
        context_tokens: see `Backend`.
        temperature: not handed on; a function decides that by itself.

    Raises:
        ConfigError: there is no such function.
    """
    where = f"model 'callable:{rest}'"
    module_name, colon, attribute = rest.partition(":")
    if not colon or not module_name or not attribute:
        raise ConfigError(f"{where}: expected callable:package.module:function")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigError(
            f"{where}: module {module_name!r} cannot be imported ({type(error).__name__}: {error})"
        ) from error
    function = getattr(module, attribute, None)
    if not callable(function):
        public = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        raise ConfigError(
            f"{where}: module {module_name!r} has no function {attribute!r}"
            f"{nearest(attribute, public)}"
        )
    return CallableBackend(
        function, name=f"callable:{rest}", max_tokens=max_tokens, context_tokens=context_tokens
    )


def _takes_messages(function: Callable[..., Any]) -> bool:
    """Return whether a function wants messages instead of text."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return next(iter(parameters), "") == "messages"
