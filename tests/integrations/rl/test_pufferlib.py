"""PufferLib: its emulation over the parallel face, in its own vector of environments."""

import numpy as np
import pufferlib.emulation
import pufferlib.models
import pufferlib.vector
import pytest
import torch
from faces import plan_actions

from normgym_envs import NormGymParallelEnv


def make(buf: object = None, seed: int = 0, observation: str = "flat") -> object:
    """Return the emulated environment as users are told to make it."""
    return pufferlib.emulation.PettingZooPufferEnv(
        env_creator=NormGymParallelEnv,
        env_kwargs={
            "norm": "visit-zone-q-first",
            "num_learners": 6,
            "observation": observation,
        },
        buf=buf,
        seed=seed,
    )


@pytest.mark.parametrize("observation", ["flat", "box", "symbolic"])
def test_a_whole_episode_with_turnover(observation: str) -> None:
    env = make(observation=observation)
    env.reset(seed=0)
    people = set()
    for turn in range(200):
        assert not env.done
        *_, truncations, infos = env.step(plan_actions(env.env))
        people |= {info["person"] for info in infos.values()}
        assert all(truncations.values()) == (turn == 199)
        assert env.masks.all()
    assert env.done
    assert {0, 1} < people
    assert env.reset(seed=1)


def test_one_update_of_an_actor_critic() -> None:
    torch.manual_seed(0)
    envs = pufferlib.vector.make(
        make, num_envs=2, backend=pufferlib.vector.Serial, env_kwargs={"observation": "box"}, seed=0
    )
    policy = pufferlib.models.Default(envs.driver_env, hidden_size=32)
    optimiser = torch.optim.Adam(policy.parameters(), 1e-3)
    before = [parameter.detach().clone() for parameter in policy.parameters()]
    observations, _ = envs.reset(seed=0)
    log_probs, values, rewards = [], [], []
    for _ in range(220):  # over the end of an episode
        logits, value = policy(torch.as_tensor(observations))
        chosen = torch.distributions.Categorical(logits=logits)
        actions = chosen.sample()
        observations, reward, *_ = envs.step(actions.numpy().astype(np.int32))
        log_probs.append(chosen.log_prob(actions))
        values.append(value.flatten())
        rewards.append(torch.as_tensor(reward.copy()))
    assert rewards[0].shape == (12,)
    advantage = torch.stack(rewards) - torch.stack(values)
    loss = -(torch.stack(log_probs) * advantage.detach()).mean() + advantage.pow(2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    assert torch.isfinite(loss)
    assert any((a != b).any() for a, b in zip(before, policy.parameters(), strict=True))
    envs.close()
