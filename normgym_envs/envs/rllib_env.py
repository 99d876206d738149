"""The RLlib face: one multi-agent environment whose cast never changes."""

from collections.abc import Mapping
from typing import Any

from normgym_envs.envs.parallel_env import NormGymParallelEnv
from normgym_envs.errors import MissingExtraError

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise MissingExtraError(
        "NormGymMultiAgentEnv needs RLlib; install the extra: pip install 'normgym[rllib]'"
    ) from error


class NormGymMultiAgentEnv(MultiAgentEnv):
    """A community with a hidden norm for RLlib.

    Every learnt slot is an agent from the reset to the common end, so `agents` equals
    `possible_agents`, every agent has its spaces beforehand, and `__all__` is never in doubt.
    Observations are `box` unless the configuration says otherwise: RLlib's default models take a
    vector, and its last five numbers are the mask.

    Example:
        config = (
            PPOConfig()
            .environment(NormGymMultiAgentEnv, env_config={"num_learners": 6})
            .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
        )
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Make an environment.

        Args:
            config: arguments of `NormGymParallelEnv`.
        """
        super().__init__()
        self.world = NormGymParallelEnv(**{"observation": "box", **dict(config or {})})
        self.possible_agents = list(self.world.possible_agents)
        self.agents = list(self.possible_agents)
        self.render_mode = self.world.render_mode
        self.observation_spaces = {
            agent: self.world.observation_space(agent) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: self.world.action_space(agent) for agent in self.possible_agents
        }

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; as `NormGymParallelEnv.reset`."""
        observations, infos = self.world.reset(seed, options)
        self.agents = list(self.possible_agents)
        return observations, infos

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Advance by one turn; both dicts of ends carry `__all__`."""
        observations, rewards, terminations, truncations, infos = self.world.step(action_dict)
        terminations["__all__"] = all(terminations.values())
        truncations["__all__"] = all(truncations.values())
        self.agents = list(self.world.agents)
        return observations, rewards, terminations, truncations, infos

    def render(self, *_: Any) -> Any:
        """Return or show a frame; RLlib may hand over an argument, which is left aside."""
        return self.world.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.world.close()
