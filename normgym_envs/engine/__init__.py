"""The only implementation of the world: movement, conflicts, norms, goals, turnover, planner."""

from normgym_envs.engine.batch_engine import BatchEngine

__all__ = ["BatchEngine"]
