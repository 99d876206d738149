"""The two privileged agents: the engine's planner in the newcomer's seat.

They are markers. The runner reads `driver` and lets the engine play; nothing here knows how to
plan, and no agent outside this module is given the engine.
"""

from typing import ClassVar, TypeGuard

from agents.base import AgentContext, Observation
from normgym_envs.constants import Driver
from normgym_envs.errors import StateError


class PlannerAgent:
    """Base of the agents that the engine plays itself."""

    privileged: ClassVar[bool] = True
    driver: ClassVar[Driver]
    """Planner type that takes the newcomer's slot."""
    predict_newcomer: ClassVar[str]
    """How the others foresee the newcomer; a field of `EpisodeSpec`."""

    def reset(self, context: AgentContext) -> None:
        """Begin an episode; nothing to prepare."""

    def act(self, observation: Observation) -> int:
        """Refuse to act from an observation.

        Raises:
            StateError: always; only the runner can play a planner.
        """
        raise StateError(
            f"{type(self).__name__} acts on the engine's state, not on observations; "
            "play it with benchmarks.runner.run"
        )


class OracleAgent(PlannerAgent):
    """The norm-aware planner: knows the norm and keeps it.

    Source: NG "Norm Oracle".
    """

    driver: ClassVar[Driver] = Driver.NORM_AWARE
    predict_newcomer: ClassVar[str] = "norm_aware"


class NormBlindAgent(PlannerAgent):
    """The same planner with no norm at all.

    Source: NG "Norm-Blind Planner".
    """

    driver: ClassVar[Driver] = Driver.NORM_BLIND
    predict_newcomer: ClassVar[str] = "norm_blind"


def is_planner(agent: object) -> TypeGuard[PlannerAgent]:
    """Return whether an agent is one of the two that the engine plays; subclasses are not."""
    return type(agent) in (OracleAgent, NormBlindAgent)
