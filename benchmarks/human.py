"""A person through the protocol, and what a group of people reached: the best result per norm."""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from agents import AgentSource
from agents.human import HumanAgent
from benchmarks.records import EpisodeRecord, Record, RunConfig, from_line
from benchmarks.replay import TraceFolder
from benchmarks.runner import Run, make_config, run
from benchmarks.suite import Suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import ConfigError, RecordError
from normgym_envs.play import Face

BEST = "human, best per norm"
"""Name of the row that takes each norm's best person."""


def play_protocol(
    face: Face, suite: Suite, norm: str, *, person: str, seed: int = 0, folder: Path | None = None
) -> Run:
    """Let a person interact under a norm and then take its tests.

    Args:
        face: how the person sees and answers.
        suite: what is played.
        norm: id of the norm; not shown.
        person: a name of the person, e.g. a number; part of the records.
        seed: written into the records.
        folder: gets `records/` and `traces/`; complete episodes found there are not played again.

    Raises:
        UnknownNameError: the suite has no such norm.
        Quit: the person has left; complete episodes are kept.
    """
    source = AgentSource(f"human_{person}", lambda: HumanAgent(face))
    watch = None
    if folder is not None:
        config = make_config(source, suite, seed)
        watch = TraceFolder(folder / "traces" / source.name, config)
    records = None if folder is None else folder / "records"
    return run(source, suite, seed=seed, norms=[norm], folder=records, max_rows=1, watch=watch)


def draw_norm(suite: Suite, seed: int) -> str:
    """Return the norm that a person gets who did not ask for one."""
    groups = [group for group in suite.groups if group.interaction is not None]
    if not groups:
        raise ConfigError(f"suite {suite.name!r} has no interaction to learn from")
    return groups[int(np.random.default_rng(seed).integers(len(groups)))].norms[0]


def load_people(folder: Path, suite: Suite) -> list[Run]:
    """Return the runs of all people whose records lie in a folder.

    Args:
        folder: with one record file a person.
        suite: they must have played.

    Raises:
        RecordError: a file is damaged or of another suite.
        ConfigError: no record file.
    """
    runs = []
    for path in sorted(folder.glob("human_*.jsonl")):
        lines = path.read_bytes().splitlines()
        found = [from_line(line, f"{path}: line {n}") for n, line in enumerate(lines, start=1)]
        if not found or not isinstance(found[0], RunConfig):
            raise RecordError(f"{path}: line 1 is no configuration")
        if found[0].suite_hash != suite.sha256:
            raise RecordError(
                f"{path}: of suite {found[0].suite!r} with hash {found[0].suite_hash[:16]}; "
                f"expected {suite.name!r} with {suite.sha256[:16]}"
            )
        records = tuple(one for one in found[1:] if not isinstance(one, RunConfig))
        runs.append(Run(found[0], records))
    if not runs:
        raise ConfigError(f"no record of a person (human_*.jsonl) in {folder}")
    return runs


def best_per_norm(runs: Sequence[Run]) -> Run:
    """Return a run that holds, for every norm, the tests of the person who did best.

    Best: the highest joint success over all tests of the norm, then task success, then the
    shortest paths; the first of equals. Source: NG "Human baseline" (best observed performance).

    Args:
        runs: one a person, all of one suite.
    """
    chosen: dict[tuple[str, ...], tuple[tuple[float, ...], list[Record]]] = {}
    for one in runs:
        for norms in dict.fromkeys(r.norms for r in one.records if isinstance(r, EpisodeRecord)):
            mine: list[Record] = [r for r in one.records if r.norms == norms]
            rank = _rank(r for r in mine if isinstance(r, EpisodeRecord))
            if rank is not None and (norms not in chosen or rank > chosen[norms][0]):
                chosen[norms] = rank, mine
    records = tuple(record for _, mine in chosen.values() for record in mine)
    config = runs[0].config.model_copy(update={"agent": BEST})
    return dataclasses.replace(runs[0], config=config, records=records)


def _rank(records: Iterable[EpisodeRecord]) -> tuple[float, ...] | None:
    """Return by what a person's tests under a norm are compared; None without tests."""
    tests = [record for record in records if record.phase in TEST_PHASES]
    if not tests:
        return None
    joint = np.mean([record.joint or 0.0 for record in tests])
    task = np.mean([record.task or 0.0 for record in tests])
    path = np.mean([record.path_length or 0 for record in tests])
    return float(joint), float(task), -float(path)
