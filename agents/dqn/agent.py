"""A frozen DQN as an agent: `dqn:PATH`, where PATH is a checkpoint, a run or a sweep.

A sweep has one policy a norm; each plays the episodes about its own norm and sees nothing but the
flat observation. `dqn:PATH@CONDITION` takes one condition of a sweep that holds several, e.g.
`dqn:sweep@mlp_sparse_0`.
"""

import hashlib
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from agents.base import AgentContext, Observation
from agents.dqn.runs import (
    Checkpoint,
    RunInfo,
    is_run,
    list_checkpoints,
    load_checkpoint,
    load_run,
)
from agents.loading import AgentSource
from normgym_envs.errors import (
    ConfigError,
    MissingExtraError,
    NormGymError,
    RecordError,
    UnknownNameError,
)
from normgym_envs.versions import hash_world

_CONDITION: Final = "@"


class DQNAgent:
    """A frozen Q-network: the open action of the highest value, and no memory."""

    privileged: ClassVar[bool] = False
    observation: ClassVar[str] = "flat"

    def __init__(self, checkpoint: Checkpoint) -> None:
        """Take a policy.

        Args:
            checkpoint: as `agents.dqn.runs.load_checkpoint` gives it.
        """
        self.checkpoint = checkpoint
        self._network = checkpoint.network

    def reset(self, context: AgentContext) -> None:
        """Begin an episode; a frozen policy remembers nothing."""

    def act(self, observation: Observation) -> int:
        """Return the greedy open action.

        Args:
            observation: "flat", (size,) float32, ending in the physical mask.
        """
        import torch

        from agents.dqn.networks import choose_greedy

        seen = torch.from_numpy(np.asarray(observation["flat"], np.float32)).unsqueeze(0)
        with torch.no_grad():
            return int(choose_greedy(self._network(seen), seen))


class SweepRuns(NamedTuple):
    """What a sweep folder holds."""

    finished: tuple[RunInfo, ...]  # runs with a sound final checkpoint
    others: tuple[str, ...]  # one line on each run that cannot be used


def find_dqn(name: str, path: str) -> AgentSource:
    """Return where instances of `dqn:PATH` come from.

    Args:
        name: the agent as the user named it.
        path: checkpoint file, run folder, or sweep folder, with "@condition" behind it if the sweep
            has several.

    Raises:
        RecordError: a damaged checkpoint, an unfinished run, or a sweep without a finished one.
        ConfigError: nothing there, or several conditions in a sweep.
        UnknownNameError: the sweep has no such condition.
        MissingExtraError: torch is missing.
    """
    place, condition = Path(path), ""
    if not place.exists() and _CONDITION in path:
        before, _, condition = path.rpartition(_CONDITION)
        place = Path(before)
    if not path or not place.exists():
        raise ConfigError(
            f"agent {name!r}: there is no {str(place)!r}; expected a checkpoint, the folder of a "
            "run, or that of a sweep"
        )
    if place.is_file():
        return _make_source(name, [place])
    if is_run(place):
        return _make_source(name, [final_checkpoint(load_run(place))])
    sweep = read_sweep(place)
    runs = _choose_condition(name, sweep, condition)
    notes = tuple(f"agent {name!r}: not used: {line}" for line in sweep.others)
    return _make_source(name, [final_checkpoint(run) for run in runs], notes)


def read_sweep(folder: Path) -> SweepRuns:
    """Return the runs of a sweep; what is damaged or unfinished is named, and never fatal.

    Args:
        folder: of the sweep.
    """
    finished, others = [], []
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and is_run(path)):
        try:
            run = load_run(place)
            load_checkpoint(final_checkpoint(run))
        except MissingExtraError:
            raise
        except NormGymError as error:
            others.append(f"{place.name}: {error}")
            continue
        finished.append(run)
    return SweepRuns(tuple(finished), tuple(others))


def final_checkpoint(run: RunInfo) -> Path:
    """Return the last checkpoint of a finished run.

    Raises:
        RecordError: it has not finished, or the file is missing.
    """
    found = list_checkpoints(run.folder)
    last = int(run.config["steps"])
    if run.status != "finished":
        kept = f"; its checkpoints: {', '.join(map(str, found.values()))}" if found else ""
        reason = f": {run.error}" if run.error else ""
        raise RecordError(
            f"{run.folder} is {run.status} at {run.steps} of {last} steps{reason}{kept}"
        )
    if last not in found:
        raise RecordError(f"{run.folder} has no checkpoint of {last} steps")
    return found[last]


def _choose_condition(name: str, sweep: SweepRuns, condition: str) -> list[RunInfo]:
    """Return the runs of one condition."""
    if not sweep.finished:
        lines = "; ".join(sweep.others[:3]) or "no run at all"
        raise RecordError(f"agent {name!r}: the folder has no finished run ({lines})")
    conditions = list(dict.fromkeys(run.condition for run in sweep.finished))
    if condition and condition not in conditions:
        raise UnknownNameError("condition of the sweep", condition, conditions)
    if not condition and len(conditions) > 1:
        raise ConfigError(
            f"agent {name!r}: the sweep has {len(conditions)} conditions; name one, e.g. "
            f"{name}{_CONDITION}{conditions[0]} ({', '.join(conditions)})"
        )
    return [run for run in sweep.finished if run.condition == (condition or conditions[0])]


def _make_source(name: str, paths: Sequence[Path], notes: tuple[str, ...] = ()) -> AgentSource:
    """Return the source of one policy a norm."""
    digest = hashlib.sha256()
    by_norm: dict[str, Any] = {}
    foreign: dict[Path, str] = {}
    for path in paths:
        checkpoint = load_checkpoint(path)
        if checkpoint.norm in by_norm:
            raise RecordError(f"agent {name!r}: two policies for norm {checkpoint.norm!r}")
        by_norm[checkpoint.norm] = partial(DQNAgent, checkpoint)
        digest.update(path.read_bytes())
        if checkpoint.world not in ("", hash_world()):
            foreign[path] = checkpoint.world
    if foreign:
        path, world = next(iter(foreign.items()))
        warnings.warn(
            f"agent {name!r}: {len(foreign)} of {len(by_norm)} policies were trained in another "
            f"world, e.g. {path} in {world}; this is {hash_world()}",
            stacklevel=2,
        )
    first = next(iter(by_norm.values()))
    return AgentSource(name, first, digest.hexdigest()[:16], by_norm=by_norm, notes=notes)
