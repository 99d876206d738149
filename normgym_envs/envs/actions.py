"""Reads the actions that callers hand over; everything malformed is refused by name."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from normgym_envs.constants import NUM_ACTIONS, Action
from normgym_envs.errors import ActionError, nearest

EXPECTED = "an integer from 0 to 4: " + ", ".join(action.name for action in Action)


def read_action(value: object, owner: str) -> int:
    """Return one action as an int.

    Args:
        value: int, NumPy integer or 0-d integer array.
        owner: whose action it is, for the message.

    Raises:
        ActionError: another type (bool is none), or outside [0, 5).
    """
    number = -1
    if not isinstance(value, bool | np.bool_):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = -1
    if not 0 <= number < NUM_ACTIONS:
        raise ActionError(
            f"{owner}: action {value!r} ({type(value).__name__}); expected {EXPECTED}"
        )
    return number


def read_actions(actions: Mapping[str, Any], agents: Sequence[str]) -> list[int]:
    """Return the actions of all agents in order.

    Args:
        actions: by agent id, exactly those of `agents`.
        agents: ids.

    Raises:
        ActionError: no mapping, an id is missing or unknown, or an action is malformed.
    """
    if not isinstance(actions, Mapping):
        raise ActionError(
            f"actions is a {type(actions).__name__}; expected a dict from agent id to action"
        )
    for agent in actions:
        if agent not in agents:
            raise ActionError(f"action for unknown agent {agent!r}{nearest(agent, agents)}")
    for agent in agents:
        if agent not in actions:
            raise ActionError(
                f"no action for agent {agent!r}; expected one for each of {', '.join(agents)}"
            )
    return [read_action(actions[agent], f"agent {agent!r}") for agent in agents]
