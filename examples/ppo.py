"""PPO in one file: the newcomer learns one hidden norm from rewards and sanctions.

    python examples/ppo.py --steps 200000
    python examples/ppo.py --norm even-turns-only --num-envs 64 --save policy.pt

Needs NumPy, PyTorch and normgym, nothing else; copy it and change what you like. Closed actions
are masked in the policy. Every printed line is a mean over the episodes that ended since the last.
"""

import argparse
import random
import time
from collections import deque
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from normgym_envs import NormGymVectorEnv

NUM_ACTIONS = 5


@dataclass
class Settings:
    """What may be set on the command line."""

    layout: str = "cafe"
    norm: str = "forbidden-zone-q"
    steps: int = 1_000_000  # environment steps in all
    num_envs: int = 32
    rollout: int = 64  # steps of each environment between updates
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 3e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value_weight: float = 0.5
    max_norm: float = 0.5  # of the gradient
    hidden: int = 128
    reward_scale: float = 0.1
    seed: int = 0
    threads: int = 1  # of PyTorch; one is fastest for a network this small
    save: str = ""  # file for the weights


class ActorCritic(nn.Module):
    """Two small networks: logits of open actions, and the value of a view."""

    def __init__(self, size: int, hidden: int) -> None:
        """Make the networks for views of so many numbers."""
        super().__init__()
        self.actor = make_network(size, hidden, NUM_ACTIONS, 0.01)
        self.critic = make_network(size, hidden, 1, 1.0)

    def choose(self, views: torch.Tensor) -> Categorical:
        """Return the distribution over actions; the mask is in a view's last five numbers."""
        is_open = views[..., -NUM_ACTIONS:] > 0
        return Categorical(logits=self.actor(views).masked_fill(~is_open, -1e9))

    def judge(self, views: torch.Tensor) -> torch.Tensor:
        """Return the values of views."""
        values: torch.Tensor = self.critic(views).squeeze(-1)
        return values


def make_network(size: int, hidden: int, out: int, gain: float) -> nn.Sequential:
    """Return a network of two hidden layers with orthogonal weights."""
    layers = [nn.Linear(size, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, out)]
    for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


@dataclass
class Rollout:
    """What was seen and done between two updates, each (T, B) or (T, B, size)."""

    views: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    values: torch.Tensor
    advantages: torch.Tensor


def collect(
    envs: NormGymVectorEnv,
    model: ActorCritic,
    views: np.ndarray,
    settings: Settings,
    ended: "Episodes",
) -> tuple[Rollout, np.ndarray]:
    """Play a rollout; return it and the views to go on from."""
    shape = (settings.rollout, envs.num_envs)
    seen = torch.zeros(*shape, views.shape[1])
    actions = torch.zeros(shape, dtype=torch.int64)
    log_probs, values, rewards = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
    ends = torch.zeros(shape)
    with torch.no_grad():
        for t in range(settings.rollout):
            seen[t] = torch.as_tensor(views)
            policy = model.choose(seen[t])
            actions[t] = policy.sample()
            log_probs[t] = policy.log_prob(actions[t])
            values[t] = model.judge(seen[t])
            views, reward, terminated, truncated, infos = envs.step(actions[t].numpy())
            ended.add(reward, infos, terminated | truncated)
            rewards[t] = torch.as_tensor(reward * settings.reward_scale)
            ends[t] = torch.as_tensor((terminated | truncated).astype(np.float32))
            cut = np.flatnonzero(truncated)
            if len(cut):  # an episode that was only cut goes on in the value of its last view
                last = torch.as_tensor(np.stack([infos["final_obs"][row] for row in cut]))
                rewards[t, cut] += settings.gamma * model.judge(last)
        following = model.judge(torch.as_tensor(views))
    advantages = torch.zeros(shape)
    carried = torch.zeros(envs.num_envs)
    for t in reversed(range(settings.rollout)):
        going = 1 - ends[t]
        error = rewards[t] + settings.gamma * following * going - values[t]
        carried = error + settings.gamma * settings.gae_lambda * going * carried
        advantages[t], following = carried, values[t]
    return Rollout(seen, actions, log_probs, values, advantages), views


def update(
    model: ActorCritic, optimiser: torch.optim.Optimizer, rollout: Rollout, settings: Settings
) -> None:
    """Improve the networks with one rollout."""
    views = rollout.views.flatten(0, 1)
    actions, log_probs = rollout.actions.flatten(), rollout.log_probs.flatten()
    advantages = rollout.advantages.flatten()
    targets = advantages + rollout.values.flatten()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(settings.epochs):
        for part in torch.randperm(len(actions)).chunk(settings.minibatches):
            policy = model.choose(views[part])
            ratio = (policy.log_prob(actions[part]) - log_probs[part]).exp()
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            gain = torch.minimum(ratio * advantages[part], clipped * advantages[part]).mean()
            error = (model.judge(views[part]) - targets[part]).pow(2).mean()
            loss = settings.value_weight * error - gain - settings.entropy * policy.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
            optimiser.step()


class Episodes:
    """Returns, goals and sanctions of the latest episodes."""

    def __init__(self, num_envs: int) -> None:
        """Start counting for so many environments."""
        self.running = np.zeros((3, num_envs))
        self.latest: deque[np.ndarray] = deque(maxlen=100)

    def add(self, rewards: np.ndarray, infos: dict, over: np.ndarray) -> None:
        """Count one step; `infos` of a step that ended are those of its last turn."""
        last = infos.get("final_info", infos)
        self.running += np.stack([rewards, last["goals"], last["sanctioned"]])
        for row in np.flatnonzero(over):
            self.latest.append(self.running[:, row].copy())
            self.running[:, row] = 0

    def describe(self) -> str:
        """Return the means in words."""
        if not self.latest:
            return "no episode has ended yet"
        total, goals, sanctions = np.mean(self.latest, axis=0)
        return f"return {total:8.1f}   goals {goals:5.1f}   sanctions {sanctions:5.1f}"


def train(settings: Settings) -> ActorCritic:
    """Train a policy and return it."""
    random.seed(settings.seed)
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    envs = NormGymVectorEnv(settings.num_envs, settings.layout, settings.norm)
    views, _ = envs.reset(seed=settings.seed)
    model = ActorCritic(views.shape[1], settings.hidden)
    optimiser = torch.optim.Adam(model.parameters(), settings.learning_rate, eps=1e-5)
    episodes, start = Episodes(settings.num_envs), time.perf_counter()
    updates = max(1, settings.steps // (settings.rollout * settings.num_envs))
    for number in range(1, updates + 1):
        optimiser.param_groups[0]["lr"] = settings.learning_rate * (1 - (number - 1) / updates)
        rollout, views = collect(envs, model, views, settings, episodes)
        update(model, optimiser, rollout, settings)
        if number % 10 == 0 or number == updates:
            steps = number * settings.rollout * settings.num_envs
            rate = steps / (time.perf_counter() - start)
            print(f"{steps:>9,} steps   {episodes.describe()}   {rate:,.0f} steps/s")
    if settings.save:
        torch.save(model.state_dict(), settings.save)
    return model


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for field in fields(Settings):
        name = "--" + field.name.replace("_", "-")
        parser.add_argument(name, type=field.type, default=field.default)
    train(Settings(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
