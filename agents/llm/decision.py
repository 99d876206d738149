"""What an agent decided on one turn, and all that a log needs to know of how it came about."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from agents.llm.backend import Usage
from normgym_envs.errors import NormGymError

Failure = Literal["", "parse", "refusal", "length", "context_overflow", "transport"]
FAILURES: Final = ("parse", "refusal", "length", "context_overflow", "transport")
"""Why there is no playable answer. All are counted under their names. A reply that holds none is
played as waiting; "transport" is no reply at all, and whoever plays raises `TransportError`."""


class TransportError(NormGymError, ConnectionError):
    """The model could not be reached; the episode breaks off and is no result."""


class Decision(BaseModel):
    """One answered turn; goes through JSON and back unchanged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: int  # turn index of the decision
    action: int  # index into the choices of the reply format; waiting after a failure
    failure: Failure = ""
    detail: str = ""  # says more of a failure ("empty", ...), or what was odd in a good reply
    reasoning: str = ""  # the reply's own field
    belief: str | None = None  # None: not asked for, or not readable
    confidence: float | None = None  # [0, 1]
    prompts: str = ""  # name, version and hash of the prompt texts
    prompt_hash: str = ""  # of the messages sent, 16 hex digits
    completion: str = ""  # the reply as it came, made safe for logs
    thoughts: str = ""  # what the model thought apart from the reply, made safe
    model: str = ""  # as the server names it
    stop: str = "stop"  # backend.Stop
    error: str = ""  # of the service
    attempts: int = 1  # requests made
    usage: tuple[Usage, ...] = ()  # of each request of ours; retries inside a service are its own
    dropped: int = 0  # memories left out because the context is small
    latency_s: float = 0.0  # seconds from the request to its completion
