"""A learner for trials in one file: recurrent PPO that remembers who was sanctioned for what.

    normgym train trials --out runs/trials
    normgym train trials --evaluate runs/trials

Every trial is 200 turns under one hidden norm about doors or zones; the newcomer's seat is refilled
whenever its person has left. A GRU carries what was seen through the trial and is cleared at its
end only. The form is that of RL2 (Duan et al. 2016) with PPO (Schulman et al. 2017).

Three things beside plain PPO:

* The GRU reads public events, and an auxiliary loss makes it predict, for each group and kind of
  step, whether such steps are sanctioned in this trial. Labels are the verdicts that everybody saw
  in the trial, looked up afterwards; they are needed in training only.
* The policy is given that belief for its own group, for each of its moves and ways, and where any
  door will do the way to the door that costs least by a fixed rule: cells to go, and `DETOUR` cells
  for a sure sanction. Without this it takes the nearest door for millions of turns, although it
  knows better: a single step towards another one does not pay as long as the next leads back.
* At first ways are rewarded and sanctions cheap, or nothing is learnt but to stand still.

What the network is told is in `trial_batch.py`, a run's folder in `trial_run.py`, measuring in
`trial_evaluation.py`.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from normgym_envs.constants import INTERACTION_STEPS, NUM_ACTIONS, VIOLATION_PENALTY
from normgym_envs.envs.trials import Tasks, draw_tasks
from normgym_envs.errors import ConfigError
from training.trial_batch import (
    CROWD,
    EVENT,
    FAR,
    FREE,
    GROUP,
    MASK,
    MOVE,
    MOVES,
    NEARER,
    NUM_GROUPS,
    NUM_STEPS,
    NUM_WAYS,
    WAYS,
    TrialBatch,
)

DETOUR: Final = 40.0
"""Cells that a door may be farther off to avoid a sure sanction. Source: not in NG; chosen as the
20 points of a sanction over the half point that a turn is worth to who makes trip after trip."""
SEED_BLOCK: Final = 2**32
"""Trials of run s have the seeds from 2^32 s on."""
KINDS: Final = ("exit_doors", "group_doors", "zone_forbidden", "zone_capacity")
"""Kinds of norms about doors and zones. Source: not in NG, which has no meta-learner."""


@dataclass(frozen=True)
class TrialSettings:
    """What may be set; none of it is NG's, which has no meta-learner."""

    steps: int = 3_000_000  # turns of all rows together
    seed: int = 0  # of weights, trials and actions, [0, 200]
    task_seed: int = 0  # of the norms and their split
    num_envs: int = 128  # trials side by side
    turns: int = INTERACTION_STEPS  # of a trial
    layout: str = "cafe"
    kinds: tuple[str, ...] = KINDS
    num_tasks: int = 88  # norms in all; 89 exist of these kinds
    held_out_share: float = 0.25
    hidden: int = 64  # units of each layer
    memory: int = 96  # units of the GRU
    learning_rate: float = 1e-3  # falls to a tenth in a straight line
    gamma: float = 0.98
    gae_lambda: float = 0.95
    clip: float = 0.2
    epochs: int = 3
    chunk: int = 50  # turns that gradients go back; a divisor of turns
    minibatches: int = 8  # of chunks
    entropy: float = 0.02
    value_weight: float = 0.5
    belief_weight: float = 1.0
    max_norm: float = 0.5  # of the gradient
    reward_scale: float = 0.1
    shaping: float = 0.5  # reward points for each cell nearer to the goal, falling to 0
    shaped: float = 0.4  # share of the steps after which it is 0
    lenience: float = 0.9  # share of a sanction's cost that is forgiven, falling to 0
    lenient: float = 0.2  # share of the steps after which it is 0
    checkpoint_every: int = 20  # updates


class RecurrentActorCritic(nn.Module):
    """A GRU over public events, a belief on what is sanctioned, a policy and a value."""

    def __init__(self, size: int, hidden: int, memory: int) -> None:
        """Make the network for descriptions of `size` numbers."""
        super().__init__()
        self.encoder = nn.Linear(size, hidden)
        self.memory = nn.GRU(EVENT.stop - EVENT.start, memory)
        self.reader = nn.Linear(memory, hidden)
        self.belief = nn.Linear(hidden, NUM_GROUPS * NUM_STEPS)
        read = NUM_STEPS + MOVES + MOVES * NUM_WAYS + MOVES
        self.trunk = nn.Linear(2 * hidden + read, hidden)
        self.actor = nn.Linear(hidden, NUM_ACTIONS)
        self.critic = nn.Linear(hidden, 1)
        for layer in (self.encoder, self.reader, self.trunk):
            nn.init.orthogonal_(layer.weight, 2**0.5)
        nn.init.orthogonal_(self.actor.weight, 0.01)
        # units forget after 1 to 200 turns (Tallec & Ollivier 2018), and single events count
        with torch.no_grad():
            lasting = torch.empty(memory).uniform_(1, INTERACTION_STEPS - 1).log()
            weights = dict(self.memory.named_parameters())
            weights["bias_ih_l0"].zero_()[memory : 2 * memory] = lasting
            weights["bias_hh_l0"].zero_()
            weights["weight_ih_l0"].normal_()

    def forward(
        self, views: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Read descriptions in the order of turns.

        Args:
            views: (T, B, F).
            state: (1, B, memory), what is remembered; None at the beginning of a trial.

        Returns:
            logits (T, B, 5) of actions, closed ones at -1e9; values (T, B); logits of a sanction
            (T, B, groups, steps); what is remembered afterwards.
        """
        seen = torch.relu(self.encoder(views))
        remembered, state = self.memory(views[..., EVENT], state)
        remembered = torch.relu(self.reader(remembered))
        belief = self.belief(remembered).view(*views.shape[:2], NUM_GROUPS, NUM_STEPS)
        # the policy reads the belief for its own group, for each of its moves and for each way, and
        # is no reason to change it: what is believed answers to the public record alone
        shape = (*views.shape[:2], MOVES, -1)
        own = (views[..., GROUP].unsqueeze(-1) * belief.detach().sigmoid()).sum(-2)
        risk = (views[..., MOVE].reshape(shape) * own.unsqueeze(-2)).sum(-1)
        doors, zone_q, zone_r = own[..., :3], own[..., 3:4], own[..., 4:8] * views[..., CROWD]
        zone_r = zone_r.sum(-1, keepdim=True)
        of_way = torch.cat([torch.maximum(zone_q, zone_r), zone_q, zone_r, doors], -1)
        nearer = views[..., NEARER].reshape(shape)
        ways = (nearer * of_way.unsqueeze(-2)).flatten(-2)
        best = cost_doors(views, own).argmin(-1)
        to_best = (nearer[..., 3:] * functional.one_hot(best, 3).unsqueeze(-2)).sum(-1)
        read = torch.cat([seen, remembered, own, risk, ways, to_best], -1)
        trunk = torch.relu(self.trunk(read))
        logits = self.actor(trunk).masked_fill(views[..., MASK] == 0, -1e9)
        return logits, self.critic(trunk).squeeze(-1), belief, state


def cost_doors(views: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Return what leaving by each door costs, in cells: the way, and a detour worth the risk.

    Args:
        views: (..., F).
        own: (..., steps), probability of a sanction for the own group.

    Returns:
        (..., 3).
    """
    return views[..., WAYS][..., 3:] * FAR + DETOUR * own[..., :3]


def check_settings(settings: TrialSettings) -> None:
    """Refuse what cannot be trained.

    Raises:
        ConfigError: a number outside its range; the message names it.
    """
    if not 0 <= settings.seed <= 200:
        raise ConfigError(f"seed is {settings.seed}; expected 0 to 200")
    for name in (
        "steps",
        "num_envs",
        "turns",
        "hidden",
        "memory",
        "epochs",
        "minibatches",
        "chunk",
    ):
        value = getattr(settings, name)
        if value < 1:
            raise ConfigError(f"{name} is {value}; expected at least 1")
    if settings.turns % settings.chunk:
        raise ConfigError(f"chunk is {settings.chunk}; expected a divisor of {settings.turns}")


class Rollout(NamedTuple):
    """A batch of whole trials."""

    views: torch.Tensor  # (T, B, F)
    actions: torch.Tensor  # (T, B)
    log_probs: torch.Tensor  # (T, B)
    values: torch.Tensor  # (T + 1, B), the last one of the view after the end
    rewards: torch.Tensor  # (T, B), scaled
    labels: torch.Tensor  # (B, groups, steps), share of sanctions in the trial, -1 never seen
    states: torch.Tensor  # (C, B, memory), what was remembered where each chunk begins
    counts: npt.NDArray[np.int64]  # own turns, WAITs among them, sanctions, goals; by quarter


def label_beliefs(views: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    """Return what the public record of a whole trial says on each group and kind of step.

    Args:
        views: (T, B, F), descriptions; those of turn t show the steps of turn t - 1.
        last: (B, F), the description after the end.

    Returns:
        (B, groups, steps): share of such steps that were sanctioned, -1 when none was seen.
    """
    events = (views[..., EVENT].sum(0) + last[..., EVENT]).view(-1, 2, NUM_GROUPS, NUM_STEPS)
    clean, bad = events.unbind(1)
    return torch.where(clean + bad > 0, bad / (clean + bad).clamp(min=1), -1.0)


def measure_way(view: torch.Tensor, belief: torch.Tensor) -> torch.Tensor:
    """Return how many cells there are to go, by way of the door that is believed to be the best.

    Args:
        view: (B, F).
        belief: (B, groups, steps), probability of a sanction.

    Returns:
        (B,); where no door may be chosen the length of the direct way.
    """
    own = (view[:, GROUP].unsqueeze(-1) * belief).sum(1)
    may_choose = view[:, NEARER].reshape(len(view), MOVES, NUM_WAYS)[..., 3:].abs().sum((1, 2)) > 0
    return torch.where(may_choose, cost_doors(view, own).amin(1), view[:, WAYS][:, 0] * FAR)


def compute_advantages(
    rewards: torch.Tensor, values: torch.Tensor, gamma: float, gae_lambda: float
) -> torch.Tensor:
    """Return generalised advantages of whole trials, (T, B).

    Neither a person's departure nor the end of the trial is an end of the task: both go on in the
    value of what is seen next. Source: Schulman et al. 2016.

    Args:
        rewards: (T, B).
        values: (T + 1, B).
        gamma: discount.
        gae_lambda: decay of later errors.
    """
    errors = rewards + gamma * values[1:] - values[:-1]
    advantages = torch.zeros_like(rewards)
    carried = torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        carried = errors[t] + gamma * gae_lambda * carried
        advantages[t] = carried
    return advantages


def fade(strength: float, done: float, share: float) -> float:
    """Return what is left of a help that falls to 0 at a share of the run, [0, 1]."""
    return strength * max(0.0, 1 - done / share) if share else 0.0


def choose(logits: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw an action for each row of logits (B, 5); return them and their log probabilities."""
    policy = torch.log_softmax(logits, -1)
    actions = torch.multinomial(policy.exp(), 1, generator=generator)
    return actions.squeeze(1), policy.gather(1, actions).squeeze(1)


def play(
    trials: TrialBatch,
    model: RecurrentActorCritic,
    first: int,
    generator: torch.Generator,
    settings: TrialSettings,
    shaping: float = 0.0,
    lenience: float = 0.0,
) -> Rollout:
    """Play one batch of trials with a policy.

    Whoever pays for every sanction before it can find its way learns to stand still for ever (NG
    reports the same of its DQN). So at first ways are rewarded and sanctions are cheap.

    Args:
        trials: where.
        model: the policy.
        first: seed of the first row.
        generator: draws the actions.
        settings: of the run.
        shaping: reward points for each cell nearer to the goal.
        lenience: share of a sanction's cost that is forgiven.
    """
    view = torch.as_tensor(trials.reset(first))
    turns, rows = trials.turns, len(view)
    views = torch.empty(turns, *view.shape)
    actions = torch.empty(turns, rows, dtype=torch.int64)
    log_probs, rewards = torch.empty(turns, rows), torch.empty(turns, rows)
    values = torch.empty(turns + 1, rows)
    counts = np.zeros((4, 4), np.int64)
    memory = torch.zeros(1, rows, model.memory.hidden_size)
    states = torch.empty(turns // settings.chunk, *memory.shape[1:])
    with torch.no_grad():
        for t in range(turns):
            views[t] = view
            if t % settings.chunk == 0:
                states[t // settings.chunk] = memory[0]
            logits, value, belief, memory = model(view.unsqueeze(0), memory)
            actions[t], log_probs[t] = choose(logits[0], generator)
            values[t] = value[0]
            free = view[:, FREE].squeeze(1).numpy() > 0
            described, reward = trials.step(actions[t].numpy())
            goals, sanctions = (
                trials.engine.states[name][:, 0].astype(np.int64)
                for name in ("goals", "sanctioned")
            )
            following = torch.as_tensor(described)
            if shaping or lenience:
                before, after = (
                    measure_way(seen, belief[0].sigmoid()) for seen in (view, following)
                )
                same = torch.as_tensor((goals == 0) & free)
                nearer = torch.where(same, before - after, 0).numpy()
                reward = reward + shaping * nearer + lenience * VIOLATION_PENALTY * sanctions
            view, rewards[t] = following, torch.as_tensor(reward)
            waits = free & (actions[t].numpy() == MOVES)
            counts[4 * t // turns] += (free.sum(), waits.sum(), sanctions.sum(), goals.sum())
        values[turns] = model(view.unsqueeze(0), memory)[1][0]
    labels = label_beliefs(views, view)
    rewards *= settings.reward_scale
    return Rollout(views, actions, log_probs, values, rewards, labels, states, counts)


def cut_chunks(values: torch.Tensor, chunk: int) -> torch.Tensor:
    """Return (T, B, ...) as (chunk, T / chunk * B, ...), the parts of a trial side by side."""
    parts = values.unflatten(0, (-1, chunk))  # type: ignore[no-untyped-call]
    cut: torch.Tensor = parts.transpose(0, 1).flatten(1, 2)
    return cut


def update(
    model: RecurrentActorCritic,
    optimiser: torch.optim.Optimizer,
    rollout: Rollout,
    settings: TrialSettings,
    generator: torch.Generator,
) -> dict[str, float]:
    """Improve the network with one batch of trials; return means of the losses."""
    advantages = compute_advantages(
        rollout.rewards, rollout.values, settings.gamma, settings.gae_lambda
    )
    targets = advantages + rollout.values[:-1]
    is_free = rollout.views[..., FREE].squeeze(-1) > 0  # only here is there anything to choose
    advantages = (advantages - advantages[is_free].mean()) / (advantages[is_free].std() + 1e-8)
    whole = (rollout.views, rollout.actions, rollout.log_probs)
    views, actions, log_probs, gains, goals, free = (
        cut_chunks(values, settings.chunk) for values in (*whole, advantages, targets, is_free)
    )
    labels = rollout.labels.repeat(len(rollout.states), 1, 1)
    states = rollout.states.flatten(0, 1).unsqueeze(0)
    sums = np.zeros(4)
    for _ in range(settings.epochs):
        order = torch.randperm(states.shape[1], generator=generator)
        for part in order.chunk(settings.minibatches):
            logits, values, belief, _ = model(views[:, part], states[:, part])
            policy = torch.log_softmax(logits, -1)
            chosen = policy.gather(-1, actions[:, part].unsqueeze(-1)).squeeze(-1)
            weight = free[:, part].float() / free[:, part].sum()
            ratio = (chosen - log_probs[:, part]).exp()
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            gain = torch.minimum(ratio * gains[:, part], clipped * gains[:, part])
            entropy = -(policy.exp() * policy).sum(-1)
            known = labels[part].expand_as(belief)
            errors = functional.binary_cross_entropy_with_logits(
                belief, known.clamp(min=0), reduction="none"
            )
            losses = torch.stack(
                [
                    -(gain * weight).sum(),
                    (values - goals[:, part]).pow(2).mean(),
                    errors[known >= 0].mean(),
                    -(entropy * weight).sum(),
                ]
            )
            weights = [1.0, settings.value_weight, settings.belief_weight, settings.entropy]
            loss = (losses * torch.tensor(weights)).sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
            optimiser.step()
            sums += losses.detach().numpy()
    means = sums / (settings.epochs * settings.minibatches)
    return dict(zip(("policy", "value", "belief", "entropy"), means.tolist(), strict=True))


class TrialLearner:
    """One run: the network, and all that a run needs to go on exactly where it stopped."""

    def __init__(self, settings: TrialSettings) -> None:
        """Draw the tasks and make the network.

        Raises:
            ConfigError: settings outside their ranges.
            UnknownNameError: no such kind or layout.
        """
        check_settings(settings)
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.tasks = split_tasks(settings)
        self.trials = TrialBatch(
            self.tasks.train, settings.num_envs, settings.layout, settings.turns
        )
        size = self.trials.reset(0).shape[1]
        self.model = RecurrentActorCritic(size, settings.hidden, settings.memory)
        self.optimiser = torch.optim.Adam(self.model.parameters(), settings.learning_rate, eps=1e-5)
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.updates = 0

    @property
    def num_updates(self) -> int:
        """Updates of the whole run."""
        return count_updates(self.settings)

    @property
    def steps(self) -> int:
        """Turns played so far."""
        return self.updates * self.settings.num_envs * self.settings.turns

    def improve(self) -> dict[str, Any]:
        """Play a batch of trials, learn from it, and return a line for the log."""
        settings, done = self.settings, self.updates / self.num_updates
        self.optimiser.param_groups[0]["lr"] = settings.learning_rate * (1 - 0.9 * done)
        shaping = fade(settings.shaping, done, settings.shaped)
        lenience = fade(settings.lenience, done, settings.lenient)
        first = settings.seed * SEED_BLOCK + self.updates * settings.num_envs
        rollout = play(self.trials, self.model, first, self.generator, settings, shaping, lenience)
        losses = update(self.model, self.optimiser, rollout, settings, self.generator)
        self.updates += 1
        turns, waits, sanctions, goals = rollout.counts.T
        return {
            "steps": self.steps,
            "shaping": shaping,
            "lenience": lenience,
            "sanctions_per_100_turns": (100 * sanctions / turns.clip(1)).tolist(),
            "goals_per_100_turns": (100 * goals / turns.clip(1)).tolist(),
            "wait_share": (waits / turns.clip(1)).tolist(),
            "losses": losses,
        }

    def state(self) -> dict[str, Any]:
        """Return what a run needs to go on; at its end the weights alone."""
        state: dict[str, Any] = {"updates": self.updates, "model": self.model.state_dict()}
        if self.updates < self.num_updates:
            state["optimiser"] = self.optimiser.state_dict()
            state["generator"] = self.generator.get_state()
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.updates = state["updates"]
        self.model.load_state_dict(state["model"])
        if self.updates < self.num_updates:
            self.optimiser.load_state_dict(state["optimiser"])
            self.generator.set_state(state["generator"])


def split_tasks(settings: TrialSettings) -> Tasks:
    """Return the norms of a run; no two are equivalent, within and across the parts."""
    return draw_tasks(
        settings.task_seed,
        settings.num_tasks,
        kinds=settings.kinds,
        held_out_share=settings.held_out_share,
    )


def count_updates(settings: TrialSettings) -> int:
    """Return the updates of a whole run."""
    return max(1, settings.steps // (settings.num_envs * settings.turns))
