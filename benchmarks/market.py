"""The soft-label market over seeds: scenarios with their paired control, ablations and sweeps.

Only measuring is here; tables are in `market_tables.py`, figures in `market_plots.py`.
"""

import os
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from benchmarks.market_reference import (
    ABLATIONS,
    BAND_SEEDS,
    BANDS,
    HELD,
    LIMIT,
    TABLE_9,
    Ablation,
    Band,
)
from benchmarks.statistics import EMPTY, Estimate, estimate_mean, estimate_rate
from normgym_envs.errors import ConfigError, UnknownNameError, check_seed
from normgym_envs.market import Scenario, play
from normgym_envs.market.market import Runs
from normgym_envs.market.metrics import (
    Masked,
    measure,
    sample_runs,
    toxicity_by_epoch,
    welfare_by_epoch,
)
from normgym_envs.market.networks import NETWORKS, NetworkConfig
from normgym_envs.market.quality import sample_labels

MAIN: Final = ("toxicity", "welfare", "net_social_welfare", "interactions", "accepted")
"""Metrics of the main table and of `--json`."""
TESTED: Final = ("toxicity", "welfare", "net_social_welfare")
"""Metrics that are tested against the control; the family of Holm's correction."""
DRAWS: Final = 2000
"""Resamples of an interval of the mean over seeds."""
MODES: Final = (0.0, 120.0, 355.0, np.inf)
"""Bounds between the dancers' modes, in accepted dancer-to-honest interactions of a run: none,
one or two honest agents became a favourite. Source: midway between the released 6, 240, 470."""


class Outcome(NamedTuple):
    """A scenario over seeds: metrics, and what is needed for figures and tables."""

    scenario: Scenario
    seeds: tuple[int, ...]
    values: dict[str, Masked]  # (B,) each
    toxicity: Masked  # (B, E)
    welfare: Masked  # (B, E)


class Pair(NamedTuple):
    """A scenario and its no-lever control on the same seeds."""

    levers: Outcome
    control: Outcome
    favourites: np.ndarray  # (B,) accepted dancer-to-honest interactions


class Comparison(NamedTuple):
    """A paired test of levers against control."""

    scenario: str
    metric: str
    difference: Estimate
    p: float | None
    p_holm: float | None


class Held(NamedTuple):
    """One metric held against the released code's band."""

    scenario: str
    metric: str
    own: Band
    reference: Band
    errors: float  # standard errors between the two means
    is_held: bool  # else only reported

    @property
    def passes(self) -> bool:
        """Whether it is close enough."""
        return abs(self.errors) <= LIMIT


class Label(NamedTuple):
    """E[p] of an archetype under one set of weights."""

    weights: str
    archetype: str
    reputation: float
    mean: float
    sd: float


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return seeds from text such as "42,123" or "1-40".

    Raises:
        ConfigError: no list of seeds.
        SeedError: a seed outside its range.
    """
    seeds: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None:
            raise ConfigError(f"--seeds: {part!r} is no seed; expected e.g. 42,123 or 1-40")
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first or last - first >= 100_000:
            raise ConfigError(f"--seeds: {part!r} is no range of at most 100,000 seeds")
        seeds += [check_seed(seed) for seed in range(first, last + 1)]
    return tuple(dict.fromkeys(seeds))


def run_scenario(scenario: Scenario, seeds: Sequence[int], preset: str) -> tuple[Outcome, Runs]:
    """Play a scenario and measure it."""
    runs = play(scenario, seeds, preset=preset, num_threads=count_threads())
    one = sample_runs(runs)
    payoff = one.payoff_initiator + one.payoff_counterparty
    outcome = Outcome(
        scenario,
        runs.seeds,
        measure(runs),
        toxicity_by_epoch(one.p, one.accepted, one.epoch, runs.epochs),
        welfare_by_epoch(payoff, one.accepted, one.epoch, runs.epochs),
    )
    return outcome, runs


def run_pair(scenario: Scenario, seeds: Sequence[int], preset: str) -> Pair:
    """Play a scenario and its control on the same seeds."""
    levers, runs = run_scenario(scenario, seeds, preset)
    control, _ = run_scenario(scenario.without_levers(), seeds, preset)
    return Pair(levers, control, count_favourites(runs))


def run_ablation(name: str, seeds: Sequence[int], preset: str) -> list[Outcome]:
    """Play every setting of an ablation, in the order of its rows.

    Raises:
        UnknownNameError: no such ablation.
    """
    ablation = find_ablation(name)
    from normgym_envs.market import load_scenario

    base = load_scenario(ablation.scenario)
    return [
        run_scenario(
            base.with_lever(ablation.lever, **dict.fromkeys(ablation.fields, setting.value)),
            seeds,
            preset,
        )[0]
        for setting in ablation.settings
    ]


def run_topologies(scenario: Scenario, seeds: Sequence[int], preset: str) -> dict[str, Outcome]:
    """Play a scenario on every kind of network, edges fixed; custom is left out."""
    kinds = [kind for kind in NETWORKS if kind != "custom"]
    return {
        kind: run_scenario(
            scenario.model_copy(update={"network": NetworkConfig(kind=kind)}), seeds, preset
        )[0]
        for kind in kinds
    }


def run_weights(scenario: Scenario, seeds: Sequence[int], preset: str) -> dict[str, Outcome]:
    """Play a scenario under every row of proxy weights of SW Table 9."""
    return {
        row.name: run_scenario(scenario.model_copy(update={"weights": row.weights}), seeds, preset)[
            0
        ]
        for row in TABLE_9
    }


def measure_labels(preset: str, seeds: Sequence[int]) -> list[Label]:
    """Return E[p] of honest and adversarial agents under SW Table 9's weights.

    Spreads are of single labels. Reputations of 0 and 1 bound the feedback factor at .75 and 1.
    """
    rows = []
    for row in TABLE_9:
        for archetype in ("honest", "adversarial"):
            for reputation in (0.0, 1.0):
                labels = np.concatenate(
                    [
                        sample_labels(
                            archetype,
                            preset=preset,
                            weights=row.weights,
                            reputation=reputation,
                            number=2000,
                            seed=seed,
                        )
                        for seed in seeds[:5]
                    ]
                )
                rows.append(
                    Label(row.name, archetype, reputation, labels.mean(), float(labels.std()))
                )
    return rows


def find_ablation(name: str) -> Ablation:
    """Return an ablation by name.

    Raises:
        UnknownNameError: no such ablation.
    """
    if name not in ABLATIONS:
        raise UnknownNameError("ablation", name, ABLATIONS)
    return ABLATIONS[name]


def average(values: Masked) -> float | None:
    """Return the mean over seeds that have the metric; None when none has."""
    return None if values.count() == 0 else float(values.mean())


def estimate(values: Masked, seeds: Sequence[int]) -> Estimate:
    """Return the mean over seeds with its interval, seeds resampled."""
    known = ~np.ma.getmaskarray(values)
    if not known.any():
        return EMPTY
    chosen = [seed for seed, here in zip(seeds, known, strict=True) if here]
    return estimate_mean(values.compressed().tolist(), chosen, draws=DRAWS)


def compare_pairs(pairs: dict[str, Pair]) -> list[Comparison]:
    """Test every scenario against its control, seeds paired, with Holm's correction over all."""
    rows: list[Comparison] = []
    for name, pair in pairs.items():
        for metric in TESTED:
            difference = pair.levers.values[metric] - pair.control.values[metric]
            values, p = difference.compressed(), None
            if len(values) >= 2 and np.ptp(values) > 0:
                p = float(stats.ttest_1samp(values, 0.0).pvalue)
            rows.append(Comparison(name, metric, estimate(difference, pair.levers.seeds), p, None))
    known = [row.p for row in rows if row.p is not None]
    if not known:
        return rows
    corrected = iter(multipletests(known, method="holm")[1])
    return [row if row.p is None else row._replace(p_holm=float(next(corrected))) for row in rows]


def rate_criteria(outcome: Outcome) -> list[tuple[str, Estimate, bool, str]]:
    """Return each success criterion: words, share of seeds that pass, read by the released checker.

    The last entry says why a criterion could not be evaluated; empty when it could.
    """
    rows = []
    for criterion in outcome.scenario.criteria:
        name = "toxicity_epoch_mean" if criterion.name == "toxicity" else criterion.name
        answers = [
            criterion.holds(None if value is np.ma.masked else float(value))
            for value in outcome.values[name]
        ]
        known = [answer for answer in answers if answer is not None]
        rate = estimate_rate(sum(known), len(known)) if known else EMPTY
        missing = len(answers) - len(known)
        why = f"not evaluated in {missing} of {len(answers)} runs" if missing else ""
        rows.append((criterion.words, rate, criterion.read, why))
    return rows


def rate_passes(outcome: Outcome) -> Estimate:
    """Return the share of seeds that meet every criterion the released checker reads."""
    passes = np.ones(len(outcome.seeds), np.bool_)
    for criterion in outcome.scenario.criteria:
        if criterion.read:
            name = "toxicity_epoch_mean" if criterion.name == "toxicity" else criterion.name
            passes &= [
                bool(criterion.holds(None if value is np.ma.masked else float(value)))
                for value in outcome.values[name]
            ]
    return estimate_rate(int(passes.sum()), len(passes))


def hold(pairs: dict[str, Pair]) -> list[Held]:
    """Hold every scenario that ran against the released code's distribution.

    Source: the acceptance rule: own mean within 3.5 sqrt(sd_ref^2 / 40 + sd_own^2 / n).
    """
    rows = []
    for name, pair in pairs.items():
        for metric, reference in BANDS.get(name, {}).items():
            values = pair.levers.values[metric].compressed()
            if len(values) < 2:
                continue
            own = Band(float(values.mean()), float(values.std(ddof=1)))
            error = np.sqrt(reference.sd**2 / BAND_SEEDS + own.sd**2 / len(values))
            rows.append(
                Held(
                    name,
                    metric,
                    own,
                    reference,
                    float((own.mean - reference.mean) / error),
                    metric in HELD.get(name, (metric,)),
                )
            )
    return rows


def count_favourites(runs: Runs) -> np.ndarray:
    """Return each row's accepted proposals of dancers to honest agents: (B,) int64."""
    names = np.array(runs.scenario.archetypes)
    dancer, honest = names == "threshold_dancer", names == "honest"
    counts = np.zeros(len(runs.seeds), np.int64)
    for row in range(len(runs.seeds)):
        one = runs.row(row)
        counts[row] = (
            one["accepted"] & dancer[one["initiator"]] & honest[one["counterparty"]]
        ).sum()
    return counts


def share_modes(favourites: np.ndarray) -> list[float]:
    """Return the shares of runs with 0, 1 and 2 honest favourites of the dancers."""
    return [float(share) for share in np.histogram(favourites, MODES)[0] / len(favourites)]


def summarise(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome's means over seeds as plain values."""
    return {"n": len(outcome.seeds)} | {name: average(outcome.values[name]) for name in MAIN}


def count_threads() -> int:
    """Return how many threads to share rows among: the processors this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1
