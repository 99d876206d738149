"""Fixed transitions of a random policy, on which TD error and Q-values are followed.

Source: NG App. "TD Huber loss and Q-values".
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import NUM_ACTIONS
from training.config import TRAIN_LAYOUT, DQNConfig
from training.worlds import Floats, TrainingWorlds, Turn

SETS: Final = ("train", "validation")
_EPISODES: Final = 12
"""Random-policy episodes a layout, from which transitions are drawn."""


class Probe(NamedTuple):
    """P fixed transitions; none is terminal, as episodes are cut and not ended."""

    observations: Floats  # (P, size)
    actions: npt.NDArray[np.int64]  # (P,), executed
    rewards: Floats  # (P,), reward points
    successors: Floats  # (P, size)


class ProbeResult(NamedTuple):
    """Means over a probe."""

    huber: float  # TD Huber loss, quadratic up to an error of 1
    q_mean: float  # reward points
    target_mean: float  # reward points


def collect_probes(config: DQNConfig) -> dict[str, Probe]:
    """Return the probes of a run: equal configurations give equal transitions.

    "train" comes from the training layout, "validation" in equal parts from the validation
    layouts; neither shares an episode with training or validation.

    Args:
        config: of the run.
    """
    seeds = config.episode_seeds
    sources = {
        "train": [(TRAIN_LAYOUT, seeds.probe_train)],
        "validation": list(seeds.probe_validation.items()),
    }
    probes = {}
    for name, places in sources.items():
        parts = [_play(config, layout, block, len(places)) for layout, block in places]
        joined = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        probes[name] = Probe(*(array[: config.probe_transitions] for array in joined))
    return probes


def _play(config: DQNConfig, layout: str, seeds: range, num_parts: int) -> Probe:
    """Return one layout's share of the transitions, drawn from whole episodes."""
    rng = np.random.default_rng([seeds.start, num_parts])
    worlds = TrainingWorlds(config, layout, seeds, _EPISODES)
    number = -(-config.probe_transitions // num_parts)
    available = _EPISODES * config.episode_steps
    chosen = np.sort(rng.choice(available, min(number, available), replace=False))
    before = worlds.reset()
    kept: list[tuple[Floats, Turn, npt.NDArray[np.int64]]] = []
    for step in range(config.episode_steps):
        turn = worlds.step(rng.integers(NUM_ACTIONS, size=_EPISODES))
        rows = chosen[chosen // _EPISODES == step] % _EPISODES
        kept.append((before[rows], turn, rows))
        before = turn.observations
    return Probe(
        np.concatenate([seen for seen, _, _ in kept]),
        np.concatenate([turn.executed[rows] for _, turn, rows in kept]),
        np.concatenate([turn.rewards[rows] for _, turn, rows in kept]),
        np.concatenate([turn.successors[rows] for _, turn, rows in kept]),
    )


def measure_probe(probe: Probe, values: Floats, next_values: Floats, gamma: float) -> ProbeResult:
    """Return how well action values fit a probe.

    Args:
        probe: transitions.
        values: (P, 5) float32, of the online network at the observations.
        next_values: (P, 5) float32, of the target network at the successors; not yet masked.
        gamma: discount.
    """
    is_open = probe.successors[:, -NUM_ACTIONS:] > 0
    best = np.where(is_open, next_values, -np.inf).max(axis=1)
    targets = probe.rewards + gamma * best
    taken = values[np.arange(len(values)), probe.actions]
    errors = np.abs(taken.astype(np.float64) - targets)
    huber = np.where(errors < 1, 0.5 * errors**2, errors - 0.5)
    return ProbeResult(float(huber.mean()), float(taken.mean()), float(targets.mean()))
