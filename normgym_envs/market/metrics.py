"""What runs are worth: SW's four metrics, welfare with and without harm, trends over epochs.

Functions are pure and take (B, I) arrays, or (I,) for one run. A metric that does not exist, such
as the toxicity of a run that accepted nothing, is masked in the result, never 0 or NaN; why it
does not exist stands in REASONS. Sums run in order, so a row's numbers do not depend on its batch.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgym_envs.errors import ConfigError
from normgym_envs.market.market import Runs
from normgym_envs.market.payoffs import Payoffs, compute_harm, compute_surplus
from normgym_envs.market.state import ANALYSIS, STANDING
from normgym_envs.mechanisms.base import check_probability

Masked = np.ma.MaskedArray[Any, np.dtype[np.float64]]

_NOTHING = "nothing was accepted"
REASONS: Final = {
    "toxicity": _NOTHING,
    "toxicity_epoch_mean": "no epoch was played",
    "toxicity_live": _NOTHING,
    "quality_gap": "nothing was accepted, or nothing rejected",
    "conditional_loss": _NOTHING,
    "spread": _NOTHING,
    "mean_p": "nothing was proposed",
    "quality_variance": "fewer than two interactions were accepted",
    "toxicity_trend": "fewer than three epochs accepted anything",
    "distribution_shift": "one half of the run accepted nothing",
    "acceptance_correlation": "p or the answers do not vary",
    "flagged_pairs": "no collusion report was made",
    "ecosystem_risk": "no collusion report was made",
    "fines": "collusion detection is off",
}
"""Metric -> why a run may not have it. Metrics that are not here always exist."""


class Sample(NamedTuple):
    """The settled proposals of a batch as padded columns."""

    valid: NDArray[np.bool_]  # (B, I) a proposal, not padding
    accepted: NDArray[np.bool_]  # (B, I)
    p: NDArray[np.float64]  # (B, I) 0.5 on padding
    payoff_initiator: NDArray[np.float64]  # (B, I) payoff points
    payoff_counterparty: NDArray[np.float64]  # (B, I) payoff points
    epoch: NDArray[np.int32]  # (B, I)


def sample_runs(runs: Runs) -> Sample:
    """Return the settled proposals of a batch as columns."""
    length = max(int(runs.num_records.max()), 1)
    records = runs.records[:, :length]
    valid = np.arange(length) < runs.num_records[:, None]
    return Sample(
        valid,
        records["accepted"] & valid,
        np.where(valid, records["p"], 0.5),
        np.where(valid, records["payoff_initiator"], 0.0),
        np.where(valid, records["payoff_counterparty"], 0.0),
        records["epoch"],
    )


def toxicity(p: ArrayLike, accepted: ArrayLike) -> Masked:
    """Return the expected harmfulness of accepted interactions, pooled over the run.

    Source: SW eq. 8.

    Args:
        p: (B, I) soft labels, [0, 1].
        accepted: (B, I) bool.

    Returns:
        (B,) in [0, 1]; masked where nothing was accepted.

    Raises:
        ConfigError: p outside [0, 1], or shapes that differ.
    """
    labels, chosen = _check(p, accepted)
    return _mean(1.0 - labels, chosen)


def quality_gap(p: ArrayLike, accepted: ArrayLike, valid: ArrayLike = True) -> Masked:
    """Return mean p of the accepted minus mean p of the rejected; negative is adverse selection.

    Source: SW eq. 9.

    Args:
        p: (B, I) soft labels, [0, 1].
        accepted: (B, I) bool.
        valid: (B, I) bool, False on padding.

    Returns:
        (B,) in [-1, 1]; masked where one side is empty.
    """
    labels, chosen, real = _check(p, accepted, valid)
    return _mean(labels, chosen) - _mean(labels, real & ~chosen)


def conditional_loss(payoff: ArrayLike, accepted: ArrayLike, valid: ArrayLike = True) -> Masked:
    """Return the initiators' mean payoff when accepted minus over all proposals.

    Source: SW eq. 10. A rejected proposal counts with what it would have paid.

    Args:
        payoff: (B, I) of the initiator, payoff points.
        accepted: (B, I) bool.
        valid: (B, I) bool, False on padding.

    Returns:
        (B,) payoff points; masked where nothing was accepted.
    """
    values, chosen, real = _shape(payoff, accepted, valid)
    return _mean(values, chosen) - _mean(values, real)


def spread(p: ArrayLike, accepted: ArrayLike, payoffs: Payoffs, valid: ArrayLike = True) -> Masked:
    """Return how much better accepted interactions are than all, in payoff points.

    Source: SW eq. 11; the released code has the opposite sign.

    Args:
        p: (B, I) soft labels, [0, 1].
        accepted: (B, I) bool.
        payoffs: s+ and s-.
        valid: (B, I) bool, False on padding.

    Returns:
        (B,) payoff points; masked where nothing was accepted.
    """
    labels, chosen, real = _check(p, accepted, valid)
    width = payoffs.surplus_good + payoffs.surplus_bad
    return width * (_mean(labels, chosen) - _mean(labels, real))


def welfare(initiator: ArrayLike, counterparty: ArrayLike, accepted: ArrayLike) -> Masked:
    """Return the sum of both sides' payoffs over accepted interactions, payoff points: (B,).

    Source: SW Table 4, by way of the released runs: a total of the run; harm to third parties
    counts only as far as rho charges it.
    """
    first, chosen, _ = _shape(initiator, accepted, True)
    return np.ma.MaskedArray(_total(first + np.atleast_2d(np.asarray(counterparty)), chosen))


def net_social_welfare(p: ArrayLike, accepted: ArrayLike, payoffs: Payoffs) -> Masked:
    """Return surplus minus harm to third parties over accepted interactions, payoff points: (B,).

    Governance costs do not count: what one side pays is not destroyed. Source: the released code.
    """
    labels, chosen = _check(p, accepted)
    value = compute_surplus(labels, payoffs) - compute_harm(labels, payoffs)
    return np.ma.MaskedArray(_total(value, chosen))


def toxicity_by_epoch(
    p: ArrayLike, accepted: ArrayLike, epoch: ArrayLike, num_epochs: int
) -> Masked:
    """Return each epoch's toxicity: (B, E), masked where an epoch accepted nothing.

    Args:
        p: (B, I) soft labels, [0, 1].
        accepted: (B, I) bool.
        epoch: (B, I) int, [0, E).
        num_epochs: E.
    """
    labels, chosen = _check(p, accepted)
    return _by_epoch(1.0 - labels, chosen, epoch, num_epochs, mean=True)


def welfare_by_epoch(
    payoff: ArrayLike, accepted: ArrayLike, epoch: ArrayLike, num_epochs: int
) -> Masked:
    """Return each epoch's welfare: (B, E) payoff points; `payoff` is the sum of both sides."""
    values, chosen, _ = _shape(payoff, accepted, True)
    return _by_epoch(values, chosen, epoch, num_epochs, mean=False)


def toxicity_trend(by_epoch: Masked) -> Masked:
    """Return the slope of toxicity over epochs that accepted anything, per epoch.

    Source: SW section 8 names it without a formula; chosen: least squares.

    Args:
        by_epoch: (B, E), masked where an epoch accepted nothing.

    Returns:
        (B,); masked below three live epochs.
    """
    live = ~np.ma.getmaskarray(by_epoch)
    values = by_epoch.filled(0.0)
    number = live.sum(axis=1)
    time = np.broadcast_to(np.arange(values.shape[1], dtype=np.float64), values.shape)
    safe = np.maximum(number, 1)[:, None]
    off = np.where(live, time - np.where(live, time, 0.0).sum(axis=1, keepdims=True) / safe, 0.0)
    square = (off**2).sum(axis=1)
    slope = (off * values).sum(axis=1) / np.where(square > 0, square, 1.0)
    return _mask(slope, number < 3)


def quality_variance(p: ArrayLike, accepted: ArrayLike) -> Masked:
    """Return the population variance of accepted soft labels: (B,); masked below two.

    Source: SW section 8 names it without a formula.
    """
    labels, chosen = _check(p, accepted)
    number = chosen.sum(axis=1)
    mean = _total(labels, chosen) / np.maximum(number, 1)
    variance = _total((labels - mean[:, None]) ** 2, chosen) / np.maximum(number, 1)
    return _mask(variance, number < 2)


def distribution_shift(
    p: ArrayLike, accepted: ArrayLike, epoch: ArrayLike, num_epochs: int
) -> Masked:
    """Return how far accepted soft labels moved from the first half of the run to the second.

    Source: SW section 8 names it without a formula; chosen: the Wasserstein-1 distance, which is
    in units of p.

    Returns:
        (B,) in [0, 1]; masked where one half accepted nothing.
    """
    from scipy.stats import wasserstein_distance

    labels, chosen = _check(p, accepted)
    late = np.atleast_2d(np.asarray(epoch)) * 2 >= num_epochs
    out, missing = np.zeros(len(labels)), np.zeros(len(labels), np.bool_)
    for row in range(len(labels)):
        first, second = labels[row, chosen[row] & ~late[row]], labels[row, chosen[row] & late[row]]
        missing[row] = not (len(first) and len(second))
        if not missing[row]:
            out[row] = wasserstein_distance(first, second)
    return _mask(out, missing)


def acceptance_correlation(p: ArrayLike, accepted: ArrayLike, valid: ArrayLike = True) -> Masked:
    """Return the correlation of p with acceptance: (B,) in [-1, 1]; masked without variation."""
    labels, chosen, real = _check(p, accepted, valid)
    number = np.maximum(real.sum(axis=1), 1)[:, None]
    x = np.where(real, labels - (_total(labels, real)[:, None] / number), 0.0)
    y = np.where(real, chosen - chosen.sum(axis=1, keepdims=True) / number, 0.0)
    width = np.sqrt(_total(x**2, real) * _total(y**2, real))
    return _mask(_total(x * y, real) / np.where(width > 0, width, 1.0), width <= 1e-15)


def measure(runs: Runs) -> dict[str, Masked]:
    """Return every metric of every row, by name: (B,) each.

    Args:
        runs: of `market.play`.

    Returns:
        float64, masked where a metric does not exist; why stands in REASONS.
    """
    one, payoffs = sample_runs(runs), runs.scenario.payoffs
    by_epoch = toxicity_by_epoch(one.p, one.accepted, one.epoch, runs.epochs)
    return {
        "interactions": np.ma.MaskedArray(one.valid.sum(axis=1).astype(np.float64)),
        "accepted": np.ma.MaskedArray(one.accepted.sum(axis=1).astype(np.float64)),
        "toxicity": toxicity(one.p, one.accepted),
        "toxicity_epoch_mean": np.ma.MaskedArray(by_epoch.filled(0.0).mean(axis=1)),
        "toxicity_live": np.ma.MaskedArray(by_epoch.mean(axis=1)),
        "welfare": welfare(one.payoff_initiator, one.payoff_counterparty, one.accepted),
        "net_social_welfare": net_social_welfare(one.p, one.accepted, payoffs),
        "mean_p": _mean(one.p, one.valid),
        "quality_gap": quality_gap(one.p, one.accepted, one.valid),
        "conditional_loss": conditional_loss(one.payoff_initiator, one.accepted, one.valid),
        "spread": spread(one.p, one.accepted, payoffs, one.valid),
        "quality_variance": quality_variance(one.p, one.accepted),
        "toxicity_trend": toxicity_trend(by_epoch),
        "distribution_shift": distribution_shift(one.p, one.accepted, one.epoch, runs.epochs),
        "acceptance_correlation": acceptance_correlation(one.p, one.accepted, one.valid),
        "epochs": np.ma.MaskedArray(np.full(len(runs.seeds), float(runs.epochs))),
        **_measure_levers(runs),
    }


def describe(name: str, value: Any) -> dict[str, Any]:
    """Return one row's metric as plain values: a number, or null with the reason."""
    if value is np.ma.masked:
        return {"value": None, "reason": REASONS[name]}
    return {"value": float(value)}


def _measure_levers(runs: Runs) -> dict[str, Masked]:
    """Return what levers did, from records and events."""
    length = max(int(runs.num_records.max()), 1)
    records = runs.records[:, :length]
    real = np.arange(length) < runs.num_records[:, None]
    kept = np.arange(runs.events.shape[1]) < runs.num_events[:, None]
    reports = kept & (runs.events["kind"] == ANALYSIS)
    fined = kept & (runs.events["kind"] == STANDING) & runs.events["fined"]
    # events stand in order, so the last report of a row is the one furthest right
    last = reports.shape[1] - 1 - np.argmax(reports[:, ::-1], axis=1)
    rows, none = np.arange(len(runs.seeds)), ~reports.any(axis=1)
    off = runs.scenario.levers.collusion is None
    return {
        "flagged_pairs": _mask(runs.events["flagged"][rows, last].astype(np.float64), none),
        "ecosystem_risk": _mask(runs.events["risk"][rows, last].astype(np.float64), none),
        "fines": _mask(fined.sum(axis=1).astype(np.float64), np.full(len(rows), off)),
        "freezes": np.ma.MaskedArray((records["froze"] & real).sum(axis=1).astype(np.float64)),
        "audits": np.ma.MaskedArray((records["audited"] & real).sum(axis=1).astype(np.float64)),
        "proposals": np.ma.MaskedArray(np.array([float(len(one)) for one in runs.changes])),
    }


def _check(p: ArrayLike, accepted: ArrayLike, valid: ArrayLike | None = None) -> Any:
    """Return labels, accepted and perhaps valid as (B, I) arrays."""
    check_probability("p", p)
    labels, chosen, real = _shape(p, accepted, True if valid is None else valid)
    return (labels, chosen) if valid is None else (labels, chosen, real)


def _shape(values: ArrayLike, accepted: ArrayLike, valid: ArrayLike) -> Any:
    """Return values, accepted and valid as (B, I) arrays of one shape."""
    array = np.atleast_2d(np.asarray(values, np.float64))
    chosen = np.atleast_2d(np.asarray(accepted, np.bool_))
    if array.ndim != 2 or array.shape != chosen.shape:
        raise ConfigError(f"accepted has shape {chosen.shape}; expected {array.shape}")
    return array, chosen, np.broadcast_to(np.asarray(valid, np.bool_), array.shape)


def _total(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return sums over I in order, so that padding cannot move a bit."""
    if values.shape[1] == 0:
        return np.zeros(len(values))
    total: NDArray[np.float64] = np.cumsum(np.where(chosen, values, 0.0), axis=1)[:, -1]
    return total


def _mean(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> Masked:
    """Return means over I, masked where nothing is chosen."""
    number = chosen.sum(axis=1)
    return _mask(_total(values, chosen) / np.maximum(number, 1), number == 0)


def _mask(values: NDArray[np.float64], missing: Any) -> Masked:
    """Return values with the missing ones masked and their data 0."""
    return np.ma.MaskedArray(np.where(missing, 0.0, values), mask=missing)


def _by_epoch(
    values: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    epoch: ArrayLike,
    num_epochs: int,
    *,
    mean: bool,
) -> Masked:
    """Return sums or means over the chosen of each epoch: (B, E)."""
    rows = len(values)
    index = np.arange(rows)[:, None] * num_epochs + np.atleast_2d(np.asarray(epoch))
    size = rows * num_epochs
    total = np.bincount(index[chosen], weights=values[chosen], minlength=size)
    number = np.bincount(index[chosen], minlength=size)
    if not mean:
        return np.ma.MaskedArray(total.reshape(rows, num_epochs))
    result = _mask(total / np.maximum(number, 1), number == 0)
    return result.reshape(rows, num_epochs)
