"""The protocol's metrics, as pure functions over the trace of an episode.

One episode each; averages and intervals over episodes are taken in `benchmarks`.
Source: NG "Metrics"; what NG leaves open is said at each function.
"""

from typing import NamedTuple

import numpy as np

from normgym_envs.protocol.trace import EpisodeTrace

_DECIMALS = 4
"""Stored numbers are rounded here, so that the order of a sum cannot show in a record."""


class EpisodeMetrics(NamedTuple):
    """What is measured in one episode; None where the episode does not define it."""

    goals_completed: int  # by everybody who used the newcomer's slot
    newcomers: int  # persons who used the newcomer's slot
    task: float | None  # [0, 1]; tests only
    joint: float | None  # 0 or 1; tests only
    violations: tuple[int, ...]  # turns on which the newcomer broke a norm
    sanctions: tuple[int, ...]  # turns on which it was shown as sanctioned
    collisions: int  # turns on which it was charged with a collision
    involvements: int  # turns on which it was part of a collision, charged or not
    completed: bool | None  # left with both goals complete; tests only
    path_length: int | None  # steps; tests only
    wait_share: float | None  # [0, 1]; None when it never had a choice
    background_violations: int  # by everybody else
    community_finished: int  # background persons who left
    community_path_length: float | None  # steps; None when nobody has finished
    community_welfare: float | None  # reward points; None without background slots
    returns: tuple[float, ...]  # (N,) reward points of each slot


def measure_episode(trace: EpisodeTrace, limit: int, is_test: bool) -> EpisodeMetrics:
    """Return all metrics of one episode.

    Args:
        trace: what happened.
        limit: steps after which the episode is cut.
        is_test: task, joint success and path length are defined for test episodes only.
    """
    length = measure_path_length(trace)
    lengths = measure_community_lengths(trace)
    return EpisodeMetrics(
        goals_completed=int(trace.goals[:, 0].sum()),
        newcomers=count_persons(trace, 0),
        task=measure_task(trace) if is_test else None,
        joint=measure_joint(trace) if is_test else None,
        violations=tuple(int(turn) for turn in np.flatnonzero(trace.violated[:, 0])),
        sanctions=tuple(int(turn) for turn in np.flatnonzero(trace.sanctioned[:, 0])),
        collisions=int(trace.collided[:, 0].sum()),
        involvements=int((trace.collided | trace.displaced)[:, 0].sum()),
        completed=(length is not None) if is_test else None,
        path_length=(limit if length is None else length) if is_test else None,
        wait_share=measure_wait_share(trace),
        background_violations=int(trace.violated[:, 1:].sum()),
        community_finished=len(lengths),
        community_path_length=round(float(np.mean(lengths)), _DECIMALS) if lengths else None,
        community_welfare=measure_welfare(trace),
        returns=measure_returns(trace),
    )


def measure_task(trace: EpisodeTrace) -> float:
    """Return the share of its two goals that the newcomer completed.

    Source: NG "Primary metrics", Task.
    """
    return int(trace.goals[:, 0].sum()) / 2


def measure_joint(trace: EpisodeTrace) -> float:
    """Return 1 when the newcomer completed both goals and broke no norm, else 0.

    Violations count, whatever the community shows of them.
    Source: NG "Primary metrics", Joint.
    """
    return float(measure_task(trace) == 1 and not trace.violated[:, 0].any())


def measure_path_length(trace: EpisodeTrace) -> int | None:
    """Return the newcomer's steps from arrival to departure, None when it has not left.

    Source: NG "Secondary metrics"; that an unfinished episode counts its limit is not specified
    there, and is applied in `measure_episode`.
    """
    stays = list_stays(trace, 0)
    return stays[0] if stays else None


def measure_wait_share(trace: EpisodeTrace) -> float | None:
    """Return the share of the newcomer's own decisions that left it where it was.

    Automatic turns count in neither; a blocked move is a wait.
    Source: not in NG; chosen to tell caution from competence.
    """
    chosen = ~trace.auto[:, 0]
    if not chosen.any():
        return None
    return round(float(trace.waited[chosen, 0].mean()), _DECIMALS)


def measure_community_lengths(trace: EpisodeTrace) -> list[int]:
    """Return the steps from arrival to departure of every background person who left.

    Source: NG "Secondary metrics", community path length; who counts is not specified there.
    """
    return [stay for slot in range(1, trace.action.shape[1]) for stay in list_stays(trace, slot)]


def measure_welfare(trace: EpisodeTrace) -> float | None:
    """Return the mean over background slots of the summed reward, persons of a slot added up.

    Source: NG "Secondary metrics", community welfare; what becomes of replaced persons is not
    specified there.
    """
    if trace.reward.shape[1] < 2:
        return None
    sums = trace.reward[:, 1:].astype(np.float64).sum(axis=0)
    return round(float(sums.mean()), _DECIMALS)


def measure_returns(trace: EpisodeTrace) -> tuple[float, ...]:
    """Return the summed reward of each slot, reward points."""
    sums = trace.reward.astype(np.float64).sum(axis=0)
    return tuple(round(float(value), _DECIMALS) for value in sums)


def count_persons(trace: EpisodeTrace, slot: int) -> int:
    """Return how many persons have used a slot."""
    held = np.concatenate([[False], trace.present[:, slot]])
    return int((held[1:] & ~held[:-1]).sum())


def list_stays(trace: EpisodeTrace, slot: int) -> list[int]:
    """Return how many steps each person of a slot took who left before the episode ended.

    A slot is empty for at least one turn between two persons, so that a stay is an unbroken run.
    """
    held = np.concatenate([[False], trace.present[:, slot]])
    arrivals = np.flatnonzero(held[1:] & ~held[:-1])
    departures = np.flatnonzero(held[:-1] & ~held[1:])
    return [int(end - start) for start, end in zip(arrivals, departures, strict=False)]
