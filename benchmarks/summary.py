"""From the records of a run to its numbers; tables, figure and JSON all show these.

Rates and shares are in percent. Source of every measure: `normgym_envs.protocol.metrics`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.records import EpisodeRecord
from benchmarks.runner import Run
from benchmarks.statistics import EMPTY, Estimate, estimate_mean, estimate_rate
from normgym_envs.constants import FAMILIES, TEST_PHASES

ALL: Final = "all"
"""Stands for the episodes of every family."""


class Measure(NamedTuple):
    """A secondary measure: how it is called and what an episode contributes to it."""

    label: str  # heading of a table's column
    unit: str
    value: Callable[[EpisodeRecord], float | None]  # None: the episode does not count
    is_share: bool = False  # shown in percent


SECONDARY: Final[dict[str, Measure]] = {
    "path_length": Measure("path", "steps", lambda r: r.path_length),
    "path_length_completed": Measure(
        "finished path", "steps", lambda r: r.path_length if r.completed else None
    ),
    "collision_rate": Measure("collided", "%", lambda r: r.collisions > 0, True),
    "involvement_rate": Measure("involved", "%", lambda r: r.involvements > 0, True),
    "violations": Measure("broken", "times", lambda r: len(r.violations)),
    "wait_share": Measure("waited", "%", lambda r: r.wait_share, True),
    "community_path_length": Measure("others' path", "steps", lambda r: r.community_path_length),
    "community_welfare": Measure("others' welfare", "points", lambda r: r.community_welfare),
}
"""Measures beside task and joint success. Source: NG "Secondary metrics"."""


class Cell(NamedTuple):
    """Results of one agent in one family and condition; rates in percent."""

    num: int  # complete episodes
    num_errors: int  # episodes that could not be finished; not counted
    joint: Estimate  # Wilson, episodes taken as independent
    joint_by_norm: Estimate  # resampling whole norms
    task: Estimate  # resampling whole norms
    secondary: dict[str, Estimate]  # by name of SECONDARY; resampling whole norms


def summarize(run: Run, phase: str, family: str = ALL) -> Cell:
    """Return the results of a run in one condition.

    Args:
        run: records of one agent.
        phase: "seen" or "unseen".
        family: one of constants.FAMILIES, or "all".
    """
    records = [r for r in run.episodes(phase) if family in (ALL, r.family)]
    errors = [r for r in run.errors if r.phase == phase and family in (ALL, r.family)]
    joint = [float(record.joint or 0) for record in records]
    clusters = [record.norms for record in records]
    return Cell(
        num=len(records),
        num_errors=len(errors),
        joint=_to_percent(estimate_rate(sum(value == 1 for value in joint), len(joint))),
        joint_by_norm=_to_percent(estimate_mean(joint, clusters, bounds=(0, 1))),
        task=_to_percent(
            estimate_mean([float(r.task or 0) for r in records], clusters, bounds=(0, 1))
        ),
        secondary={name: _average(measure, records) for name, measure in SECONDARY.items()},
    )


def list_phases(runs: Sequence[Run]) -> list[str]:
    """Return the test conditions that occur in the records."""
    return [p for p in TEST_PHASES if any(r.phase == p for run in runs for r in run.records)]


def list_families(runs: Sequence[Run]) -> list[str]:
    """Return the families that occur in the records, in the paper's order."""
    present = {record.family for run in runs for record in run.records}
    return [family for family in FAMILIES if family in present]


def to_json(run: Run) -> dict[str, Any]:
    """Return the results of a run as plain JSON values.

    One key for each condition played ("seen", "unseen"): numbers in percent, intervals as
    [low, high], null where there is nothing to average.
    """
    config = run.config
    result: dict[str, Any] = {
        "agent": config.agent,
        "suite": config.suite,
        "suite_version": config.suite_version,
        "suite_hash": config.suite_hash,
        "package_version": config.package_version,
        "options": config.options,
        "seed": config.seed,
    }
    for phase in list_phases([run]):
        families = {family: summarize(run, phase, family) for family in list_families([run])}
        result[phase] = {
            **_cell_to_json(summarize(run, phase)),
            "families": {family: _cell_to_json(cell) for family, cell in families.items()},
        }
    return result


def _cell_to_json(cell: Cell) -> dict[str, Any]:
    """Return one condition as plain JSON values."""
    values: dict[str, Any] = {"n": cell.num, "n_err": cell.num_errors}
    named = {"joint": cell.joint, "task": cell.task, **cell.secondary}
    for name, estimate in named.items():
        values[name] = _round(estimate.value)
        values[f"{name}_interval"] = _round_ends(estimate)
    values["joint_interval_by_norm"] = _round_ends(cell.joint_by_norm)
    return values


def _average(measure: Measure, records: Sequence[EpisodeRecord]) -> Estimate:
    """Return the mean of a secondary measure over the episodes that have it."""
    pairs = [(measure.value(record), record.norms) for record in records]
    kept = [(float(value), norms) for value, norms in pairs if value is not None]
    estimate = estimate_mean(
        [value for value, _ in kept],
        [norms for _, norms in kept],
        bounds=(0, 1) if measure.is_share else None,
    )
    return _to_percent(estimate) if measure.is_share else estimate


def _to_percent(estimate: Estimate) -> Estimate:
    """Return a share in percent."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return EMPTY
    return Estimate(100 * estimate.value, 100 * estimate.low, 100 * estimate.high)


def _round(value: float | None) -> float | None:
    """Return a number with four decimals."""
    return None if value is None else round(value, 4)


def _round_ends(estimate: Estimate) -> list[float | None] | None:
    """Return an interval as a list, None when there is none."""
    return None if estimate.value is None else [_round(estimate.low), _round(estimate.high)]
