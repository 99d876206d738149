"""Measure a frozen trial learner: does it break fewer norms late in a trial than early?

Every norm is played from the same seeds by the learner and four yardsticks: the same weights with
the memory cleared on every turn, the norm-blind planner, the oracle, and a random policy. Rates are
per own turn, that is a turn on which somebody sits in the newcomer's seat and is free to move.
Goals and WAITs stand beside them, because who stands still for ever breaks no norm either.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from normgym_envs.constants import Action, Driver
from normgym_envs.errors import ConfigError, UnknownNameError, check_seed
from normgym_envs.types import Norm
from training.recurrent_ppo import RecurrentActorCritic, choose
from training.trial_batch import FREE, MASK, TrialBatch, read_public

MEASURES: Final = ("turns", "waits", "violations", "goals", "departures", "marked")
"""What is counted: own turns, WAITs on them, norms broken, goals completed, persons who left, own
moves onto doors and marked zones, the only moves that norms of these kinds can forbid."""
PLAYERS: Final = ("learner", "forgetful", "norm_blind", "oracle", "random")
NUM_BINS: Final = 4
TRIALS: Final = 64
"""Trials of each norm."""
FIRST_SEED: Final = 2**40
"""Seeds of evaluated trials begin here, far above those of training."""
DRAWS: Final = 10_000
"""Resamples of the bootstrap. Source: as `benchmarks.statistics`."""
LEVEL: Final = 0.95

_LEARNT: Final = ("learner", "forgetful")
_DRIVERS: Final = {"norm_blind": Driver.NORM_BLIND, "oracle": Driver.NORM_AWARE}


class Ratio(NamedTuple):
    """Late rate over early rate, with its interval; None where nothing was broken early."""

    value: float | None
    low: float | None
    high: float | None


def count_trials(
    player: str,
    norms: Sequence[Norm],
    *,
    model: RecurrentActorCritic | None = None,
    greedy: bool = False,
    trials: int = TRIALS,
    turns: int = 200,
    layout: str = "cafe",
    slots: int | None = None,
    seed: int = 0,
) -> npt.NDArray[np.int64]:
    """Play trials with frozen weights and count what happened.

    Args:
        player: one of `PLAYERS`.
        norms: norms to play, one batch of trials each.
        model: the learner's network; only the first two players need it.
        greedy: take the likeliest action instead of drawing one.
        trials: of each norm.
        turns: of a trial.
        layout: where.
        slots: population; by default the largest of the norms' own.
        seed: of the trials and of the actions; all players meet the same trials.

    Returns:
        (norms, bins, measures) int64, bins of a quarter of the turns each.

    Raises:
        UnknownNameError: no such player.
        ConfigError: no norm, no trial, or a learner without a network.
    """
    if player not in PLAYERS:
        raise UnknownNameError("player", player, PLAYERS)
    if not norms or trials < 1:
        raise ConfigError(f"{len(norms)} norms and {trials} trials; expected at least one of each")
    if player in _LEARNT and model is None:
        raise ConfigError("the learner was asked to play without its network; give a checkpoint")
    batch = TrialBatch(norms, trials, layout, turns, slots=slots)
    first = FIRST_SEED + check_seed(seed) * len(norms) * trials
    counts = np.zeros((len(norms), NUM_BINS, len(MEASURES)), np.int64)
    for index in range(len(norms)):
        generator = torch.Generator().manual_seed(first + index)
        driver = _DRIVERS.get(player, Driver.EXTERNAL)
        view = torch.as_tensor(batch.reset(first + index * trials, [index] * trials, driver))
        state: torch.Tensor | None = None
        for turn in range(turns):
            free = view[:, FREE].squeeze(1).numpy() > 0
            if player in _LEARNT:
                assert model is not None
                remembered = state if player == "learner" else None
                with torch.no_grad():
                    logits, _, _, state = model(view.unsqueeze(0), remembered)
                policy = logits[0]
            else:  # the planners' actions are not read
                policy = view[:, MASK].log()
            actions = policy.argmax(1) if greedy else choose(policy, generator)[0]
            view = torch.as_tensor(batch.step(actions.numpy())[0])
            counts[index, NUM_BINS * turn // turns] += _count_turn(batch, free)
    return counts


def _count_turn(batch: TrialBatch, free: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the measures of the last turn, summed over rows."""
    states = batch.engine.states
    public = read_public(batch.engine, batch.slots)
    here = public.positions[:, 0]
    marked = (here >= 0) & ((batch.room.door_of[here] >= 0) | (batch.room.zones[here] > 0))
    each = [
        free,
        free & (states["action"][:, 0] == Action.WAIT),
        states["violated"][:, 0],
        states["goals"][:, 0],
        ~public.present[:, 0] & (here >= 0),
        (states["own_move"][:, 0] != 0) & marked,
    ]
    return np.array([np.sum(values, dtype=np.int64) for values in each])


def compare_late(counts: npt.NDArray[np.int64], per: str = "turns", seed: int = 0) -> Ratio:
    """Return the rate of violations in the last quarter over that in the first.

    Whole norms are drawn again, because trials of one norm are not independent.

    Args:
        counts: (norms, bins, measures), as `count_trials`.
        per: what violations are counted per; one of `MEASURES`.
        seed: of the resamples.

    Returns:
        The ratio of pooled rates and its percentile interval.
    """
    if per not in MEASURES:
        raise UnknownNameError("measure", per, MEASURES)
    broken, base = counts[..., MEASURES.index("violations")], counts[..., MEASURES.index(per)]
    drawn = np.random.default_rng(seed).integers(len(counts), size=(DRAWS, len(counts)))

    def divide(chosen: Any) -> Any:
        early, late = (
            broken[chosen, part].sum(axis=-1) / np.maximum(base[chosen, part].sum(axis=-1), 1)
            for part in (0, -1)
        )
        return late / np.where(early > 0, early, np.nan)

    value = float(divide(np.arange(len(counts))))
    if np.isnan(value):
        return Ratio(None, None, None)
    low, high = np.nanquantile(divide(drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Ratio(value, float(low), float(high))


def summarise(counts: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return rates by quarter and the late-to-early ratios as plain JSON values."""
    total = dict(zip(MEASURES, counts.sum(axis=0).T, strict=True))  # (bins,) each

    def rates(what: str, per: str) -> list[float]:
        return [float(rate) for rate in total[what] / np.maximum(total[per], 1)]

    return {
        "violations_per_100_turns": [100 * rate for rate in rates("violations", "turns")],
        "violations_per_marked_move": rates("violations", "marked"),
        "violations_per_person": rates("violations", "departures"),
        "goals_per_100_turns": [100 * rate for rate in rates("goals", "turns")],
        "wait_share": rates("waits", "turns"),
        "late_over_early": {
            per: compare_late(counts, per)._asdict() for per in ("turns", "marked", "departures")
        },
        "counts": {name: values.tolist() for name, values in total.items()},
    }
