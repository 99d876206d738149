"""The evaluation protocol as data and pure functions: episodes, scenarios, metrics."""

from normgym_envs.protocol.episodes import draw_episode, spec_from_json, spec_to_json
from normgym_envs.protocol.scenarios import TestBuilder, build_interaction

__all__ = ["TestBuilder", "build_interaction", "draw_episode", "spec_from_json", "spec_to_json"]
