"""What a sweep of DQN runs comes to: its policies on a suite, and the curves of its training."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from agents import find_agent
from agents.dqn.agent import read_sweep
from agents.dqn.runs import ENCODERS, REWARDS, RunInfo, read_log
from benchmarks.records import EpisodeRecord
from benchmarks.runner import Run, run, select_groups
from benchmarks.statistics import EMPTY, Estimate, estimate_mean
from benchmarks.suite import Suite
from normgym_envs.errors import RecordError


@dataclass(frozen=True)
class Condition:
    """The runs of one encoder and reward condition, all replicates together."""

    encoder: str
    reward: str
    runs: tuple[RunInfo, ...]  # one a norm and replicate
    logs: tuple[tuple[dict[str, Any], ...], ...]  # entries of each run's log
    result: Run  # records of all replicates

    @property
    def norms(self) -> tuple[str, ...]:
        """The norms that were trained on."""
        return tuple(dict.fromkeys(str(one.config["norm"]) for one in self.runs))

    @property
    def steps(self) -> tuple[int, ...]:
        """The different numbers of transitions of the runs, ascending."""
        return tuple(sorted({int(one.config["steps"]) for one in self.runs}))


@dataclass(frozen=True)
class Evaluation:
    """A sweep on a suite."""

    folder: Path
    conditions: tuple[Condition, ...]
    unused: tuple[str, ...]  # one line on each run that was left aside

    def find(self, encoder: str, reward: str) -> Condition | None:
        """Return a condition, None when the sweep does not have it."""
        for condition in self.conditions:
            if (condition.encoder, condition.reward) == (encoder, reward):
                return condition
        return None


def evaluate(
    folder: Path,
    suite: Suite,
    *,
    seed: int = 0,
    records: Path | None = None,
    show_progress: bool = False,
) -> Evaluation:
    """Play every finished policy of a sweep on the episodes about its norm.

    Args:
        folder: of the sweep.
        suite: what to play.
        seed: of the agents' random streams, which these agents do not use.
        records: where records are kept and resumed from.
        show_progress: draw a bar a condition.

    Raises:
        RecordError: not one finished run with a sound log, or damaged records.
        MissingExtraError: torch is missing.
    """
    found = read_sweep(folder)
    known = {group.norms[0] for group in suite.groups}
    logs: dict[Path, tuple[dict[str, Any], ...]] = {}
    unused = list(found.others)
    for one in found.finished:
        name = one.folder.name
        strange = [
            f"unknown {what} {one.config[what]!r}"
            for what, known_names in (("encoder", ENCODERS), ("reward", REWARDS))
            if one.config[what] not in known_names
        ]
        if strange:
            unused.append(f"{name}: {', '.join(strange)}")
            continue
        try:
            logs[one.folder] = tuple(read_log(one.folder))
        except RecordError as error:
            unused.append(f"{name}: {error}")
            continue
        if one.config["norm"] not in known:
            unused.append(f"{name}: suite {suite.name!r} has no episode about its norm")
            del logs[one.folder]
    usable = [one for one in found.finished if one.folder in logs]
    if not usable:
        raise RecordError(
            f"{folder} has no finished run that could be evaluated"
            + (f": {'; '.join(unused[:3])}" if unused else "")
        )
    conditions = []
    for encoder in ENCODERS:
        for reward in REWARDS:
            own = [
                one
                for one in usable
                if (one.config["encoder"], one.config["reward"]) == (encoder, reward)
            ]
            if own:
                conditions.append(
                    Condition(
                        encoder,
                        reward,
                        tuple(own),
                        tuple(logs[one.folder] for one in own),
                        _play(folder, own, suite, seed, records, show_progress),
                    )
                )
    return Evaluation(folder, tuple(conditions), tuple(unused))


def _play(
    folder: Path,
    runs: Sequence[RunInfo],
    suite: Suite,
    seed: int,
    records: Path | None,
    show_progress: bool,
) -> Run:
    """Return the records of one encoder and reward condition."""
    results = []
    for condition in dict.fromkeys(one.condition for one in runs):
        norms = [str(one.config["norm"]) for one in runs if one.condition == condition]
        wanted = [n for g in select_groups(suite, norms, (), "all") for n in g.norms if n in norms]
        results.append(
            run(
                find_agent(f"dqn:{folder}@{condition}"),
                suite,
                seed=seed,
                norms=list(dict.fromkeys(wanted)),
                folder=records,
                show_progress=show_progress,
            )
        )
    joined = tuple(record for result in results for record in result.records)
    return Run(results[0].config, joined)


class Caution(NamedTuple):
    """How policies behave in tests, percent."""

    wait_share: Estimate  # of an episode's own decisions; automatic turns count in neither
    all_wait: Estimate  # episodes of nothing but waits
    collided: Estimate  # episodes in which the newcomer was charged with a collision
    involved: Estimate  # episodes in which it was part of one, charged or not


def measure_caution(condition: Condition, phase: str) -> Caution:
    """Return how much the policies of a condition wait and collide.

    Args:
        condition: whose policies.
        phase: "seen" or "unseen".
    """
    records = condition.result.episodes(phase)
    chosen = [record for record in records if record.wait_share is not None]

    def average(values: list[float], over: Sequence[EpisodeRecord]) -> Estimate:
        estimate = estimate_mean(values, [record.norms for record in over], bounds=(0, 1))
        if estimate.value is None or estimate.low is None or estimate.high is None:
            return EMPTY
        return Estimate(100 * estimate.value, 100 * estimate.low, 100 * estimate.high)

    return Caution(
        average([float(record.wait_share or 0) for record in chosen], chosen),
        average([float(record.wait_share == 1) for record in chosen], chosen),
        average([float(record.collisions > 0) for record in records], records),
        average([float(record.involvements > 0) for record in records], records),
    )


def measure_last_return(condition: Condition) -> tuple[float | None, float | None]:
    """Return mean and median over runs of the mean return in the last bin, reward points."""
    last = []
    for log in condition.logs:
        bins = [e for e in log if e["kind"] == "train" and e.get("return_mean") is not None]
        if bins:
            last.append(float(bins[-1]["return_mean"]))
    if not last:
        return None, None
    ordered = sorted(last)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return sum(last) / len(last), median
