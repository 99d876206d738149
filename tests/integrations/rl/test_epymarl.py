"""EPyMARL: the Tuple face under the handling that library's own wrapper gives it."""

import gymnasium
import numpy as np
import pytest
import torch
from faces import plan_actions
from gymnasium.spaces import flatdim, flatten
from gymnasium.wrappers import TimeLimit

import normgym_envs  # noqa: F401 - registers the id
from normgym_envs.envs.epymarl_env import NormGymTupleEnv
from normgym_envs.errors import ActionError, StateError

ID = "NormGym/CommunityTuple-v0"


class Gymma:
    """What that library does with an environment: limit, flattening, padding, list of actions."""

    def __init__(self, time_limit: int, **settings: object) -> None:
        """Make the environment by its id."""
        self.env = TimeLimit(gymnasium.make(ID, **settings), max_episode_steps=time_limit)
        self.n_agents = self.env.unwrapped.n_agents
        self.width = max(flatdim(space) for space in self.env.observation_space)
        self.n_actions = max(space.n for space in self.env.action_space)

    def reset(self, seed: int | None = None) -> np.ndarray:
        """Return the padded observations of all agents."""
        observations, _ = self.env.reset(seed=seed)
        return self.pad(observations)

    def step(self, actions: list[int]) -> tuple[np.ndarray, list[float], bool, dict[str, object]]:
        """Return padded observations, rewards, whether the episode is over, and infos."""
        observations, rewards, done, truncated, info = self.env.step([int(a) for a in actions])
        return self.pad(observations), rewards, done or truncated, info

    def pad(self, observations: tuple[np.ndarray, ...]) -> np.ndarray:
        """Flatten and pad as the library does."""
        flat = [
            flatten(space, seen)
            for space, seen in zip(self.env.observation_space, observations, strict=True)
        ]
        return np.stack([np.pad(one, (0, self.width - len(one))) for one in flat])


def test_a_whole_episode_with_turnover() -> None:
    env = Gymma(200, norm="visit-zone-q-first")
    assert (env.n_agents, env.n_actions) == (6, 5)
    env.reset(seed=0)
    world = env.env.unwrapped.world
    people = set()
    for turn in range(200):
        observations, rewards, over, info = env.step(list(plan_actions(world).values()))
        assert observations.shape == (6, 553)
        assert len(rewards) == 6
        assert over == (turn == 199)
        assert all(isinstance(value, int) for value in info.values())
        people |= {value for name, value in info.items() if name.endswith("_person")}
    assert {0, 1} < people


def test_one_update_of_independent_learners() -> None:
    torch.manual_seed(0)
    env = Gymma(50, norm="visit-zone-q-first")
    network = torch.nn.Sequential(
        torch.nn.Linear(553, 32), torch.nn.ReLU(), torch.nn.Linear(32, env.n_actions)
    )
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    before = [parameter.detach().clone() for parameter in network.parameters()]
    observations, over = torch.as_tensor(env.reset(seed=0)), False
    losses = []
    while not over:
        values = network(observations)
        open_ = torch.tensor(env.env.unwrapped.get_avail_actions()) == 1
        actions = values.masked_fill(~open_, -1e9).argmax(1)
        observations_, rewards, over, _ = env.step(actions.tolist())
        following = torch.as_tensor(observations_)
        with torch.no_grad():
            target = torch.tensor(rewards) + 0.99 * network(following).max(1).values
        losses.append((values.gather(1, actions[:, None]).flatten() - target).pow(2).mean())
        observations = following
    loss = torch.stack(losses).mean()
    loss.backward()
    optimiser.step()
    assert torch.isfinite(loss)
    assert any((a != b).any() for a, b in zip(before, network.parameters(), strict=True))


def test_state_and_bad_input() -> None:
    env = NormGymTupleEnv(norm="visit-zone-q-first", num_learners=2)
    with pytest.raises(StateError, match="before reset"):
        env.step([4, 4])
    env.reset(seed=0)
    assert env.get_state().shape == (env.state_size,)
    with pytest.raises(ActionError, match="3 actions; expected 2"):
        env.step([4, 4, 4])
