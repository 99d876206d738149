"""RLlib: the multi-agent face, a whole episode with turnover, one iteration of PPO."""

import warnings

import pytest
import ray
from faces import plan_actions
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from normgym_envs.envs.rllib_env import NormGymMultiAgentEnv
from normgym_envs.errors import ActionError, UnknownNameError


def test_a_whole_episode_with_turnover() -> None:
    env = NormGymMultiAgentEnv({"norm": "visit-zone-q-first", "num_learners": 6})
    assert isinstance(env, MultiAgentEnv)
    assert env.agents == env.possible_agents == list(env.observation_spaces)
    observations, _ = env.reset(seed=0)
    people = set()
    for turn in range(200):
        for agent, seen in observations.items():
            assert env.observation_spaces[agent].contains(seen)
        observations, rewards, ends, cuts, infos = env.step(plan_actions(env.world))
        assert set(observations) == set(rewards) == set(env.possible_agents)
        people |= {info["person"] for info in infos.values()}
        assert ends["__all__"] is False
        assert cuts["__all__"] is (turn == 199)
    assert {0, 1} < people
    assert env.agents == []


def test_bad_input() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'all-exit-left'"):
        NormGymMultiAgentEnv({"norm": "all-exit-lft"})
    env = NormGymMultiAgentEnv({"num_learners": 2})
    env.reset(seed=0)
    with pytest.raises(ActionError, match="no action for agent 'background_1'"):
        env.step({"newcomer": 4})


@pytest.mark.parametrize("runners", [0, 1])
def test_one_iteration_of_ppo(runners: int) -> None:
    warnings.simplefilter("ignore")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        config = (
            PPOConfig()
            .environment(
                NormGymMultiAgentEnv,
                env_config={"norm": "visit-zone-q-first", "num_learners": 6},
            )
            .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
            .env_runners(num_env_runners=runners, rollout_fragment_length=210)
            .training(train_batch_size_per_learner=210, minibatch_size=210, num_epochs=1)
            .debugging(seed=0)
        )
        algorithm = config.build_algo()
        results = algorithm.train()
        sampled = results["env_runners"]
        assert sampled["num_episodes"] >= 1
        assert sampled["episode_len_mean"] == 200
        assert results["learners"]["shared"]["num_module_steps_trained"] > 0
        algorithm.stop()
    finally:
        ray.shutdown()
