"""A floor: does what others did in the same place and were not sanctioned for."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agents.base import AgentContext, Belief, Observation
from normgym_envs.constants import NUM_ACTIONS, Action


class ImitatorAgent:
    """Repeats the most common unsanctioned action of others in the same cell on the same errand.

    What it saw in an interaction is carried into the tests, by map. Where it has seen nothing it
    plays at random. It has no idea of norms or goals.
    """

    privileged: ClassVar[bool] = False

    def __init__(self) -> None:
        """Start without memories."""
        self._counts: dict[str, list[int]] = {}
        self._previous: tuple[Any, Any] | None = None
        self._rng = np.random.default_rng()

    def reset(self, context: AgentContext) -> None:
        """Begin an episode with the memories that its belief carries."""
        self._rng = context.rng
        self._previous = None
        details = context.belief.details if context.belief is not None else {}
        counts = details.get("counts", {})
        known: Mapping[str, Any] = counts if isinstance(counts, Mapping) else {}
        self._counts = {str(key): [int(n) for n in value] for key, value in known.items()}

    def observe(self, observation: Observation) -> None:
        """Note what others did in the last turn."""
        slot = int(observation["slot"][0])
        acted = observation["actions"] >= 0
        done_before = self._previous[1] if self._previous is not None else None
        for other in np.flatnonzero(acted):
            if other == slot or observation["sanctioned"][other] or observation["displaced"][other]:
                continue
            done = bool(done_before[other]) if done_before is not None else False
            key = self._key(observation, observation["previous"][other], done)
            self._counts.setdefault(key, [0] * NUM_ACTIONS)[int(observation["actions"][other])] += 1
        self._previous = (observation["positions"], observation["goal1_done"])

    def act(self, observation: Observation) -> int:
        """Do as others did here."""
        self.observe(observation)
        slot = int(observation["slot"][0])
        done = bool(observation["goal1_done"][slot])
        counts = np.array(
            self._counts.get(
                self._key(observation, observation["positions"][slot], done), [0] * NUM_ACTIONS
            )
        )
        counts = counts * observation["action_mask"]
        # waiting is what one sees most; it is copied only where nobody ever moved
        if counts[: Action.WAIT].any():
            counts[Action.WAIT] = 0
        if not counts.any():
            counts = np.asarray(observation["action_mask"])
            return int(self._rng.choice(np.flatnonzero(counts)))
        return int(self._rng.choice(np.flatnonzero(counts == counts.max())))

    def belief(self) -> Belief:
        """Return the memories; there is no norm to state."""
        return Belief("do as others do", 0.0, {"counts": self._counts})

    def _key(self, observation: Observation, cell: Any, done: bool) -> str:
        here = hash_grid(observation["cells"])
        return f"{here}/{int(cell[0])}/{int(cell[1])}/{int(done)}"


def hash_grid(cells: Any) -> str:
    """Return a short name for a map."""
    import hashlib

    return hashlib.sha256(np.asarray(cells, np.int8).tobytes()).hexdigest()[:8]
