"""Things that act: the table of agents, and how one is found by name.

Training and evaluation live elsewhere. An agent of one's own needs no line here: any
`package.module:attribute` is accepted that is a class with the methods of `Agent`, or a function
from an observation to an action.
"""

from agents.base import Agent, AgentContext, Belief, Observation
from agents.loading import AGENTS, AgentSource, find_agent, list_agents, make_agent

__all__ = [
    "AGENTS",
    "Agent",
    "AgentContext",
    "AgentSource",
    "Belief",
    "Observation",
    "find_agent",
    "list_agents",
    "make_agent",
]
