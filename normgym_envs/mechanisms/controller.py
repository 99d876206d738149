"""The adaptive controller: moves lever settings when toxicity drifts, and takes bad moves back.

It is no lever itself. In the released runs its trigger range is never reached and two of its moves
point the wrong way; `corrected` turns those two round.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from normgym_envs.mechanisms.base import LeverConfig, check_range

WELFARE_UP: Final = 0.05
"""Relative worsening that a kept change may bring. Source: not specified; chosen as usual."""


class Dial(NamedTuple):
    """One setting the controller may move."""

    lever: str
    field: str
    low: float
    high: float
    step: float  # largest change at a time
    tighter: float  # direction that is stricter
    released: float  # direction the released controller takes to tighten


DIALS: Final = (
    Dial("circuit_breaker", "threshold", 0.2, 0.9, 0.1, -1.0, -1.0),
    Dial("random_audit", "probability", 0.01, 0.5, 0.05, 1.0, -1.0),
    Dial("random_audit", "threshold", 0.1, 0.9, 0.1, 1.0, -1.0),
    Dial("collusion", "frequency", 1.0, 5.0, 0.5, -1.0, -1.0),
)
"""Source: the released controller; its correlation dial moves a number that nothing reads."""


@dataclass(frozen=True)
class ControllerConfig(LeverConfig):
    """Settings of the controller. Source: SW names the scenario only; the released runs."""

    interval: int = 5  # epochs between two looks, >= 1
    evidence: int = 10  # epochs needed before the first, >= 4
    window: int = 20  # epochs that are looked at, >= 4
    high: float = 0.5  # tighten only above this toxicity, [0, 1]
    low: float = 0.3  # loosen only below it, [0, 1]
    slope_t: float = 2.0  # abs(t) the slope must exceed, >= 0
    trial: int = 5  # epochs a change stays on trial, >= 1
    corrected: bool = False  # True: tightening tightens every dial

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, low in (("interval", 1), ("evidence", 4), ("window", 4), ("trial", 1)):
            check_range(name, getattr(self, name), low)
        check_range("low", self.low, 0.0, self.high)
        check_range("high", self.high, self.low, 1.0)
        check_range("slope_t", self.slope_t, 0.0)


class Change(NamedTuple):
    """A change of one dial, on trial, kept or taken back."""

    epoch: int
    lever: str
    field: str
    before: float
    after: float
    status: str  # "trial", "kept" or "reverted"


@dataclass
class Controller:
    """The controller of one row; holds its evidence and what it changed."""

    config: ControllerConfig
    toxicity: list[float] = field(default_factory=list)  # by epoch; an empty epoch counts as 0
    welfare: list[float] = field(default_factory=list)  # by epoch, payoff points
    changes: list[Change] = field(default_factory=list)
    _last_look: int = -(10**9)
    _baseline: dict[int, tuple[float, float]] = field(default_factory=dict)

    def end_epoch(
        self, epoch: int, toxicity: float, welfare: float, values: dict[tuple[str, str], float]
    ) -> dict[tuple[str, str], float]:
        """Take in an epoch; return settings to change, by lever and field.

        Args:
            epoch: that ended.
            toxicity: of the epoch, [0, 1].
            welfare: of the epoch, payoff points.
            values: present settings of the levers that are on.
        """
        self.toxicity.append(toxicity)
        self.welfare.append(welfare)
        result = self._judge(epoch)
        if epoch - self._last_look >= self.config.interval:
            self._last_look = epoch
            if not any(change.status == "trial" for change in self.changes):
                result.update(self._propose(epoch, values | result))
        return result

    def read_signal(self) -> tuple[str | None, float]:
        """Return "tighten", "loosen" or None, and the slope of toxicity per epoch."""
        config = self.config
        series = np.array(self.toxicity[-config.window :])
        if len(series) < config.evidence:
            return None, 0.0
        older, newer = np.split(series, [len(series) // 2])
        rise = newer.mean() - older.mean()
        slope, t = fit_slope(series)
        if abs(t) <= config.slope_t:
            return None, slope
        if newer.mean() > config.high and rise > 0.01:
            return "tighten", slope
        if newer.mean() < config.low and rise < -0.01:
            return "loosen", slope
        return None, slope

    def _propose(
        self, epoch: int, values: dict[tuple[str, str], float]
    ) -> dict[tuple[str, str], float]:
        """Change every dial that is present, within its bounds."""
        signal, slope = self.read_signal()
        if signal is None:
            return {}
        moved: dict[tuple[str, str], float] = {}
        for dial in DIALS:
            key = (dial.lever, dial.field)
            if key not in values:
                continue
            direction = dial.tighter if self.config.corrected else dial.released
            if signal == "loosen":
                direction = -direction
            target = values[key] + direction * min(abs(slope) * 10.0, 1.0) * dial.step
            target = float(np.clip(target, dial.low, dial.high))
            if abs(target - values[key]) < 1e-6:
                continue
            self._baseline[len(self.changes)] = self._recent()
            self.changes.append(Change(epoch, *key, values[key], target, "trial"))
            moved[key] = target
        return moved

    def _recent(self) -> tuple[float, float]:
        """Return mean toxicity and welfare of the last three epochs."""
        return float(np.mean(self.toxicity[-3:])), float(np.mean(self.welfare[-3:]))

    def _judge(self, epoch: int) -> dict[tuple[str, str], float]:
        """Keep or take back changes whose trial is over."""
        result: dict[tuple[str, str], float] = {}
        toxicity, welfare = self._recent()
        for index, change in enumerate(self.changes):
            if change.status != "trial" or epoch - change.epoch < self.config.trial:
                continue
            old_toxicity, old_welfare = self._baseline[index]
            worse = toxicity > old_toxicity * (1 + WELFARE_UP) or (
                welfare < old_welfare - WELFARE_UP * abs(old_welfare)
            )
            better = toxicity < old_toxicity or welfare > old_welfare
            keep = better and not worse
            self.changes[index] = change._replace(status="kept" if keep else "reverted")
            if not keep:
                result[change.lever, change.field] = change.before
        return result


def fit_slope(series: np.ndarray) -> tuple[float, float]:
    """Return the least-squares slope of a series and its t statistic.

    Args:
        series: (E,) float64.

    Returns:
        Slope per epoch and t; 0 and 0 below three points.
    """
    from scipy.stats import linregress

    if len(series) < 3 or np.ptp(series) == 0:
        return 0.0, 0.0
    fit = linregress(np.arange(len(series)), series)
    slope = float(fit.slope)
    if fit.stderr == 0:
        return slope, float(np.copysign(np.inf, slope))
    return slope, slope / float(fit.stderr)
