"""Language models as agents: backends, prompts, memory, parsing.

Importing this package imports no model library; `make_backend` imports the one that is named.
"""

from agents.llm.agent import LLMAgent
from agents.llm.backend import (
    BACKENDS,
    Backend,
    Completion,
    ContextError,
    Message,
    Usage,
    make_backend,
)
from agents.llm.decision import FAILURES, Decision, TransportError
from agents.llm.newcomer import LLMNewcomer, NewcomerSettings, View

__all__ = [
    "BACKENDS",
    "FAILURES",
    "Backend",
    "Completion",
    "ContextError",
    "Decision",
    "LLMAgent",
    "LLMNewcomer",
    "Message",
    "NewcomerSettings",
    "TransportError",
    "Usage",
    "View",
    "make_backend",
]
