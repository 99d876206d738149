"""TorchRL: PettingZooWrapper over the parallel face, and one update of PPO's loss.

The recipe: one group for all agents, `done_on_any=False`, `box` observations.
"""

import torch
from faces import plan_actions
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.envs import MarlGroupMapType, PettingZooWrapper
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from normgym_envs import NormGymParallelEnv


def make(learners: int = 6) -> PettingZooWrapper:
    """Return the wrapped environment as users are told to make it."""
    return PettingZooWrapper(
        NormGymParallelEnv(norm="visit-zone-q-first", num_learners=learners, observation="box"),
        group_map=MarlGroupMapType.ALL_IN_ONE_GROUP,
        categorical_actions=True,
        done_on_any=False,
        seed=0,
    )


def test_a_whole_episode_with_turnover() -> None:
    env = make()
    state = env.reset()
    people = set()
    for turn in range(200):
        actions = list(plan_actions(env._env).values())
        state["agents", "action"] = torch.tensor(actions)
        state = env.step(state)["next"]
        people |= set(state["agents", "info", "person"].flatten().tolist())
        assert bool(state["done"]) == (turn == 199)
        assert state["agents", "observation"].shape == (6, 553)
    assert bool(state["truncated"])
    assert not bool(state["terminated"])
    assert {0, 1} < people


def test_one_update_of_ppo() -> None:
    torch.manual_seed(0)
    env = make()
    actor = ProbabilisticActor(
        TensorDictSequential(
            TensorDictModule(
                nn.Sequential(nn.Linear(553, 32), nn.Tanh(), nn.Linear(32, 5)),
                in_keys=[("agents", "observation")],
                out_keys=[("agents", "logits")],
            )
        ),
        in_keys=[("agents", "logits")],
        out_keys=[("agents", "action")],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = ValueOperator(
        nn.Sequential(nn.Linear(553, 32), nn.Tanh(), nn.Linear(32, 1)),
        in_keys=[("agents", "observation")],
        out_keys=[("agents", "value")],
    )
    with torch.no_grad():
        batch = env.rollout(220, actor, break_when_any_done=False)
    for key in ("done", "terminated"):
        ends = batch["next", key].unsqueeze(-1).expand(batch["next", "agents", "reward"].shape)
        batch["next", "agents", key] = ends
    assert int(batch["next", "done"].sum()) == 1
    loss = ClipPPOLoss(actor, critic)
    loss.set_keys(
        reward=("agents", "reward"),
        action=("agents", "action"),
        value=("agents", "value"),
        done=("agents", "done"),
        terminated=("agents", "terminated"),
        sample_log_prob=("agents", "log_prob"),
    )
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    advantage.set_keys(
        reward=("agents", "reward"),
        value=("agents", "value"),
        done=("agents", "done"),
        terminated=("agents", "terminated"),
    )
    advantage(batch)
    before = [parameter.detach().clone() for parameter in actor.parameters()]
    optimiser = torch.optim.Adam(loss.parameters(), 1e-3)
    terms = loss(batch)
    total = terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]
    total.backward()
    optimiser.step()
    assert torch.isfinite(total)
    assert any((a != b).any() for a, b in zip(before, actor.parameters(), strict=True))
