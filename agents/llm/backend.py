"""What a language model is to an agent: messages in, a completion out; and how one is named.

Nothing here knows what is being played. The models themselves are in `backends`, each imported
when its name is used.
"""

import hashlib
import importlib
import importlib.util
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
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


class NotReadyError(ConfigError):
    """A model that exists cannot be asked yet, e.g. for want of a key."""


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


@dataclass(frozen=True)
class BackendKind:
    """How the models of one prefix are opened, and what they take."""

    opener: str  # "module:function", imported when asked for
    takes_temperature: bool = False  # a function or a script decides by itself
    takes_seed: bool = False  # draws its answers here, from a seed of its own
    is_hosted: bool = False  # reached through inspect, with its logs and retries


BACKENDS: Final[dict[str, BackendKind]] = {
    "inspect_models": BackendKind(
        "agents.llm.backends.inspect_models:open_backend", takes_temperature=True, is_hosted=True
    ),
    "transformers_local": BackendKind(
        "agents.llm.backends.transformers_local:open_backend",
        takes_temperature=True,
        takes_seed=True,
    ),
    "callable": BackendKind("agents.llm.backends.callable:open_backend"),
    "scripted": BackendKind("agents.llm.backends.scripted:open_backend"),
}
"""Backends by prefix; imported when asked for."""
ALIASES: Final = {"local": "transformers_local"}
"""Short names of prefixes."""
WHOLE: Final = 64 * 2**20
"""Bytes up to which `digest_backend` reads a file whole. Source: not specified; chosen because a
larger one takes noticeably long to read at every start."""
BLOCK: Final = 2**20
"""Bytes of each block that is read of larger files."""


def split_backend(name: str) -> tuple[str, str]:
    """Return the prefix of `BACKENDS` and the rest of a backend's name; nothing is opened.

    Args:
        name: as `make_backend` takes it.

    Raises:
        UnknownNameError: no such prefix, and no "/" that would make it a model.

    Example:
        >>> split_backend("local:my/model"), split_backend("openai/gpt-5")
        (('transformers_local', 'my/model'), ('inspect_models', 'openai/gpt-5'))
    """
    prefix, colon, rest = name.partition(":")
    prefix = ALIASES.get(prefix, prefix)
    if colon and prefix in BACKENDS:
        return prefix, rest
    if "/" not in prefix:
        raise UnknownNameError("backend", prefix, BACKENDS)
    return "inspect_models", name


def make_backend(name: str, **options: Any) -> Backend:
    """Return a backend by name.

    Args:
        name: "PREFIX:REST" with a prefix of `BACKENDS` or `ALIASES`; "PROVIDER/MODEL" alone is one
            of `inspect_models`, e.g. "openai/gpt-5" or "vllm/Qwen/Qwen3-VL-8B-Instruct".
        **options: as the backend's `open_backend` takes them.

    Raises:
        UnknownNameError: no such prefix, and no "/" that would make it a model.
        ConfigError: an option that the backend does not have.
        MissingExtraError: a package is missing; the message names the extra.

    Example:
        >>> make_backend("callable:agents.llm.backends.scripted:say_wait").name
        'callable:agents.llm.backends.scripted:say_wait'
    """
    prefix, rest = split_backend(name)
    module_name, _, attribute = BACKENDS[prefix].opener.partition(":")
    opener = getattr(importlib.import_module(module_name), attribute)
    try:
        inspect.signature(opener).bind(rest, **options)
    except TypeError as error:
        raise ConfigError(f"backend {name!r}: {error}") from None
    backend: Backend = opener(rest, **options)
    return backend


def digest_backend(name: str, options: Mapping[str, Any] | None = None) -> str:
    """Return a hash of the files behind a backend, 16 hex digits; "" for what is elsewhere.

    It covers the module of a function, the replies of a script, and the weights and adapter of a
    local model. Files of up to 64 MiB are read whole; of larger ones size, head, middle and tail
    (1 MiB each), so that a change of other bytes alone goes unnoticed there.

    Args:
        name: as `make_backend` takes it.
        options: as `make_backend` takes them; "adapter" and "gguf_file" name files.

    Raises:
        UnknownNameError: there is no such backend.
    """
    prefix, rest = split_backend(name)
    given = dict(options or {})
    digest = hashlib.sha256()
    count = 0
    for path in _list_files(prefix, rest, given.get("gguf_file"), given.get("adapter")):
        count += 1
        digest.update(f"{path.name} ".encode())
        _add_file(digest, path)
    return digest.hexdigest()[:16] if count else ""


def _list_files(
    prefix: str, rest: str, gguf_file: str | None, adapter: str | None
) -> Iterable[Path]:
    """Yield the files behind a backend in a fixed order; none where they cannot be found."""
    if prefix == "callable":
        try:
            spec = importlib.util.find_spec(rest.partition(":")[0])
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.origin and Path(spec.origin).is_file():
            yield Path(spec.origin)
    elif prefix == "scripted" and Path(rest).is_file():
        yield Path(rest)
    elif prefix == "transformers_local":
        from agents.llm.backends.weights import find_weights

        try:
            folder, chosen = find_weights(rest, gguf_file)
        except ConfigError:
            return
        # beside a GGUF file a package holds code, and a folder other quantisations
        yield from _walk(folder) if chosen is None else [folder / chosen]
        if adapter is not None:
            yield from _walk(Path(adapter))


def _walk(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _add_file(digest: Any, path: Path) -> None:
    """Add the content of a file to a digest, or parts of it where it is large."""
    size = path.stat().st_size
    digest.update(f"{size}\n".encode())
    with path.open("rb") as file:
        if size <= WHOLE:
            digest.update(hashlib.file_digest(file, "sha256").digest())
            return
        for start in (0, (size - BLOCK) // 2, size - BLOCK):
            file.seek(start)
            digest.update(file.read(BLOCK))
