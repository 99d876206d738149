"""One request: the memories cut to fit, the prompt hashed, the model called, the reply read.

Nothing here knows what is being played.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Final

from agents.llm.backend import Backend, Completion, ContextError, Message
from agents.llm.decision import Decision
from agents.llm.memory import Memory, Recollection
from agents.llm.parsing import ReplyFormat, read_completion
from agents.llm.sanitise import sanitise

CHARACTERS_PER_TOKEN: Final = 2.5
"""Of prompts, where a backend cannot count. Source: not specified; chosen because prompts with many
coordinates have about three, and an estimate that is too high only shortens the memory."""
IMAGE_TOKENS: Final = 1_600
"""Of a picture, where a backend cannot count. Source: not specified; chosen because no present
model takes more for one of the size used here."""
_MESSAGE_TOKENS: Final = 10  # of a message's frame

Write = Callable[[Recollection], Sequence[Message]]
"""Writes the prompt around what is remembered."""


def count_tokens(backend: Backend, messages: Sequence[Message]) -> int:
    """Return the tokens of a prompt, by the backend's own `count_tokens` if it has one.

    Args:
        backend: who would be asked.
        messages: the prompt.
    """
    counter = getattr(backend, "count_tokens", None)
    if counter is not None:
        return int(counter(messages))
    tokens = 0.0
    for message in messages:
        tokens += len(message.text) / CHARACTERS_PER_TOKEN + _MESSAGE_TOKENS
        tokens += IMAGE_TOKENS * len(message.images)
    return int(tokens) + 1


def fit_prompt(
    backend: Backend, memory: Memory, write: Write
) -> tuple[Sequence[Message], Recollection]:
    """Return the prompt with as many memories as the model's context has room for.

    Of too many memories the older marked ones go first, oldest first, then the recent ones, oldest
    first; rules, present state and the last turn always stay.

    Args:
        backend: who is to be asked.
        memory: what is remembered.
        write: writes the prompt.

    Raises:
        ContextError: what has to stay does not fit either.
    """
    full = memory.recall()
    messages = write(full)
    if backend.context_tokens is None:
        return messages, full
    room = backend.context_tokens - backend.max_tokens
    tokens = 0
    for recollection in memory.shrink():
        messages = write(recollection)
        tokens = count_tokens(backend, messages)
        if tokens <= room:
            return messages, recollection
    raise ContextError(
        f"{backend.name}: rules, state and one memory take about {tokens} tokens; a context of "
        f"{backend.context_tokens} leaves {room} for them beside {backend.max_tokens} for the "
        "answer; give the model a larger context, ask for fewer tokens (max_tokens), or leave "
        "out the picture (modality text)"
    )


def hash_prompt(messages: Sequence[Message]) -> str:
    """Return a hash of a prompt, pictures included, 16 hex digits."""
    digest = hashlib.sha256()
    for message in messages:
        for image in message.images:
            digest.update(b"image" + hashlib.sha256(image).digest())
        text = message.text.encode("utf-8", "surrogatepass")
        digest.update(f"{message.role} {len(text)} ".encode() + text)
    return digest.hexdigest()[:16]


async def ask(
    backend: Backend,
    memory: Memory,
    write: Write,
    form: ReplyFormat,
    *,
    turn: int,
    prompts: str,
) -> Decision:
    """Return the decision of a model on one turn.

    Args:
        backend: the model.
        memory: what it remembers.
        write: writes the prompt.
        form: what its reply must hold.
        turn: turn index, for the log.
        prompts: version of the prompts, for the log.

    Raises:
        ContextError: the prompt cannot be made to fit.
    """
    messages, recollection = fit_prompt(backend, memory, write)
    start = time.perf_counter()
    completion = await backend.generate(messages)
    latency = time.perf_counter() - start
    return make_decision(
        completion,
        form,
        turn=turn,
        prompts=prompts,
        prompt_hash=hash_prompt(messages),
        dropped=recollection.dropped,
        latency_s=latency,
    )


def make_decision(
    completion: Completion,
    form: ReplyFormat,
    *,
    turn: int,
    prompts: str,
    prompt_hash: str,
    dropped: int = 0,
    latency_s: float = 0.0,
) -> Decision:
    """Return the decision that a completion is.

    Args:
        completion: of a backend.
        form: what its text must hold.
        turn: turn index.
        prompts: version of the prompts.
        prompt_hash: of the messages.
        dropped: memories left out.
        latency_s: seconds.
    """
    reply = read_completion(completion, form)
    return Decision(
        turn=turn,
        action=reply.choice,
        failure=reply.failure,
        detail=reply.detail,
        reasoning=reply.reasoning,
        belief=reply.belief,
        confidence=reply.confidence,
        prompts=prompts,
        prompt_hash=prompt_hash,
        completion=sanitise(completion.text),
        thoughts=sanitise(completion.reasoning),
        model=sanitise(completion.model, 200),
        stop=completion.stop,
        error=sanitise(completion.error, 500),
        attempts=completion.attempts,
        usage=(completion.usage,),
        dropped=dropped,
        latency_s=latency_s,
    )
