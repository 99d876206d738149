"""Our versions of NG Tables A6 to A9 beside NG's figures."""

from collections.abc import Sequence
from typing import Final

from agents.dqn.runs import ENCODERS
from benchmarks.dqn import (
    Condition,
    Evaluation,
    measure_caution,
    measure_last_return,
)
from benchmarks.dqn_reference import (
    BY_FAMILY,
    CAUTION,
    LAST_RETURN,
    OVERALL,
    STEPS,
    Success,
)
from benchmarks.statistics import Estimate
from benchmarks.summary import ALL, Cell, summarize
from benchmarks.tables import Table
from normgym_envs.constants import FAMILIES, TEST_PHASES

_LAYOUTS: Final = {"seen": "seen layout", "unseen": "unseen layouts"}
_REWARDS: Final = {"sparse": "penalty", "none": "no penalty", "dense": "dense"}
_NOTE: Final = (
    "ours in percent [95 % interval: Wilson for joint, norms resampled for task], NG's beside it"
)
NONE: Final = "-"


def make_dqn_tables(evaluation: Evaluation) -> list[Table]:
    """Return all tables that a sweep can fill; a condition it does not have is left out.

    Args:
        evaluation: of the sweep.
    """
    tables = []
    for encoder, name in zip(ENCODERS, ("A6", "A7"), strict=True):
        condition = evaluation.find(encoder, "sparse")
        if condition is not None:
            tables.append(_tabulate_families(condition, name))
    tables += _tabulate_ablation(evaluation, "A8", "penalty ablation", ("none", "sparse"))
    tables += _tabulate_ablation(evaluation, "A9", "reward shaping", ("sparse", "dense"))
    tables.append(_tabulate_caution(evaluation))
    tables.append(_tabulate_returns(evaluation))
    tables.append(_tabulate_runs(evaluation))
    return tables


def _tabulate_families(condition: Condition, name: str) -> Table:
    """Return success by family with sparse rewards and penalties."""
    rows = []
    for phase in TEST_PHASES:
        reference = BY_FAMILY[condition.encoder, phase]
        for family in (*FAMILIES, ALL):
            cell = summarize(condition.result, phase, family)
            if cell.num:
                rows.append((_LAYOUTS[phase], family, *_compare(cell, reference[family])))
    return Table(
        f"Table {name}: DQN-{condition.encoder.upper()}, sparse rewards with penalties",
        f"{_NOTE}; {_describe(condition)}",
        ("evaluation layout", "family", "n", "joint", "NG", "task", "NG"),
        tuple(rows),
    )


def _tabulate_ablation(
    evaluation: Evaluation, name: str, title: str, rewards: Sequence[str]
) -> list[Table]:
    """Return two reward conditions against each other, nothing when a sweep has neither."""
    rows = []
    for encoder in ENCODERS:
        for phase in TEST_PHASES:
            for reward in rewards:
                condition = evaluation.find(encoder, reward)
                if condition is None:
                    continue
                cell = summarize(condition.result, phase)
                shown = "sparse" if reward == "sparse" and "dense" in rewards else _REWARDS[reward]
                reference = OVERALL[encoder, reward, phase]
                rows.append((encoder.upper(), shown, _LAYOUTS[phase], *_compare(cell, reference)))
    if not rows:
        return []
    header = ("model", "condition", "evaluation layout", "n", "joint", "NG", "task", "NG")
    return [Table(f"Table {name}: {title}", _NOTE, header, tuple(rows))]


def _tabulate_caution(evaluation: Evaluation) -> Table:
    """Return how much policies wait and collide."""
    rows = []
    for condition in evaluation.conditions:
        for phase in TEST_PHASES:
            has_reference = condition.reward == "sparse" and phase == "seen"
            published = CAUTION[condition.encoder] if has_reference else None
            measured = measure_caution(condition, phase)
            shown = [
                *(show(measured.wait_share), _number(published and published.wait_share)),
                *(show(measured.all_wait), _number(published and published.all_wait)),
                *(show(measured.collided), _number(published and published.collided)),
                show(measured.involved),
            ]
            rows.append((f"{condition.encoder.upper()}, {condition.reward}, {phase}", *shown))
    return Table(
        "Waiting and collisions in tests",
        "percent [95 % interval, norms resampled], NG's beside it. Waited: share of an episode's "
        "own decisions that were Wait, averaged over episodes; turns that the environment plays "
        "count in neither. Only waits: share of episodes. Collided: share of episodes in which "
        "the newcomer was charged with a collision; involved: also as a victim",
        ("policies", "waited", "NG", "only waits", "NG", "collided", "NG", "involved"),
        tuple(rows),
    )


def _tabulate_returns(evaluation: Evaluation) -> Table:
    """Return what training came to in its last bin."""
    rows = []
    for condition in evaluation.conditions:
        mean, median = measure_last_return(condition)
        published = LAST_RETURN[condition.encoder] if condition.reward == "sparse" else None
        rows.append(
            (
                *(condition.encoder.upper(), condition.reward, str(len(condition.runs))),
                *(_number(mean), NONE if published is None else f"{published.mean:.1f}"),
                *(_number(median), NONE if published is None else f"{published.median:.1f}"),
            )
        )
    return Table(
        "Training return in the last bin",
        "reward points of an episode: mean and median over runs of a run's mean; NG's beside it",
        ("model", "reward", "runs", "mean", "NG", "median", "NG"),
        tuple(rows),
    )


def _tabulate_runs(evaluation: Evaluation) -> Table:
    """Return what the tables above rest on."""
    rows = []
    for condition in evaluation.conditions:
        learners = ", ".join(sorted({run.learner for run in condition.runs}))
        seeds = ", ".join(sorted({str(run.config["seed"]) for run in condition.runs}))
        steps = ", ".join(f"{number:,}" for number in condition.steps)
        rows.append(
            (
                *(condition.encoder.upper(), condition.reward, str(len(condition.norms))),
                *(str(len(condition.runs)), steps, seeds, learners),
            )
        )
    return Table(
        "Runs",
        f"steps: transitions of a run (NG: {STEPS:,}, 50 norms, one replicate); seeds: replicates",
        ("model", "reward", "norms", "runs", "steps", "seeds", "learner"),
        tuple(rows),
    )


def _compare(cell: Cell, reference: Success) -> tuple[str, str, str, str, str]:
    """Return number of episodes, joint and task beside NG's."""
    return (
        str(cell.num),
        show(cell.joint),
        f"{reference.joint:.1f}",
        show(cell.task),
        f"{reference.task:.1f}",
    )


def _describe(condition: Condition) -> str:
    """Return what a condition was trained on."""
    steps = " or ".join(f"{number:,}" for number in condition.steps)
    return f"{len(condition.norms)} norms, {steps} transitions each (NG: 50, {STEPS:,})"


def show(estimate: Estimate) -> str:
    """Return a percentage with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return NONE
    return f"{estimate.value:.1f} [{estimate.low:.0f}-{estimate.high:.0f}]"


def _number(value: float | None) -> str:
    """Return a number with one decimal."""
    return NONE if value is None else f"{value:.1f}"
