"""The evaluation protocol as data and pure functions: episodes, scenarios, metrics."""

from normgym_envs.protocol.episodes import draw_episode, spec_from_json, spec_to_json
from normgym_envs.protocol.scenarios import build_interaction, build_test

__all__ = ["build_interaction", "build_test", "draw_episode", "spec_from_json", "spec_to_json"]
