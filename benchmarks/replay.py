"""Traces of benchmark episodes: written while an agent plays, and held against its records."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import normgym_envs
from benchmarks.playing import Seat
from benchmarks.records import EpisodeRecord, RunConfig
from benchmarks.suite import list_suites, load_suite
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import RecordError
from normgym_envs.protocol.tracefile import Recording, read_trace
from normgym_envs.protocol.tracewriter import TraceWriter

SUITE_FIELDS = ("suite", "suite_version", "suite_hash")
"""Entries of a trace's header that say what it belongs to."""


class TraceFolder:
    """Writes a trace file of every episode it watches; a `benchmarks.playing.Watch`.

    Example:
        >>> run("bayesian", suite, watch=TraceFolder(folder, config))  # doctest: +SKIP
    """

    def __init__(self, folder: Path, config: RunConfig | None = None) -> None:
        """Write nothing yet.

        Args:
            folder: gets one file an episode, named after it.
            config: of the run; its suite's version goes into the headers.
        """
        self._folder = folder
        self._version = None if config is None else config.suite_version
        self._writers: dict[str, TraceWriter] = {}
        self._written: dict[str, int] = {}  # beliefs of an episode in its file

    def begin(self, engine: BatchEngine, row: int, seat: Seat) -> None:
        """Start a file."""
        facts: dict[str, Any] = {
            "package_version": normgym_envs.__version__,
            "suite": seat.key["suite"],
            "suite_version": self._version,
            "suite_hash": seat.key["suite_hash"],
            "agent": seat.key["agent"],
            "seed": seat.key["seed"],
            "options": dict(seat.key["options"]),
            "belief": None if seat.belief is None else seat.belief.model_dump(mode="json"),
        }
        name = seat.spec.name
        path = self._folder / name_file(name)
        self._writers[name] = TraceWriter(path, engine, row, seat.spec, facts)
        self._written[name] = 0

    def turn(self, engine: BatchEngine, row: int, seat: Seat) -> None:
        """Write a turn, and before it what the newcomer thought."""
        writer = self._writers[seat.spec.name]
        self._write_beliefs(seat)
        say = getattr(seat.agent, "reasoning", None)
        text = say() if callable(say) else None
        if text:
            writer.write_reasoning(int(engine.states["turn"][row]) - 1, str(text))
        writer.write_turn()

    def end(self, seat: Seat) -> None:
        """Close a file."""
        self._write_beliefs(seat)
        self._writers.pop(seat.spec.name).close()

    def _write_beliefs(self, seat: Seat) -> None:
        name = seat.spec.name
        for entry in seat.beliefs[self._written[name] :]:
            self._writers[name].write_belief(entry.turn, entry.text, entry.confidence)
        self._written[name] = len(seat.beliefs)


def name_file(episode: str) -> str:
    """Return the file name of an episode's trace."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", episode) + ".jsonl"


def open_trace(path: Path, *, any_version: bool = False) -> Recording:
    """Return a trace after making sure that it belongs to the suites that ship.

    Args:
        path: the file.
        any_version: take traces of other versions of a suite too; frames and scores come from the
            file alone.

    Raises:
        RecordError: the file cannot be read or is damaged, or is of another version of its suite.
    """
    recording = read_trace(path)
    name = recording.header.get("suite")
    if any_version or name not in list_suites():
        return recording
    suite = load_suite(str(name))
    if recording.header.get("suite_hash") != suite.sha256:
        raise RecordError(
            f"trace {path}: of suite {name!r} version {recording.header.get('suite_version')}, "
            f"hash {str(recording.header.get('suite_hash'))[:16]}; the suite that ships has "
            f"version {suite.version}, hash {suite.sha256[:16]}; --any-version shows it anyway"
        )
    return recording


def compare(recording: Recording, record: EpisodeRecord) -> list[str]:
    """Return in which numbers a trace and a record of the same episode differ.

    Args:
        recording: the trace; the score is computed anew from it.
        record: what the run has kept.

    Returns:
        One line for each difference; empty when the trace proves the record.
    """
    found: dict[str, Any] = dict(recording.measure()._asdict())
    found |= {
        "episode": recording.spec.name,
        "turns": len(recording.trace.action),
        "ending": recording.ending,
        "state_hash": recording.state_hash,
        "suite_hash": recording.header.get("suite_hash"),
    }
    return [
        f"{name}: {getattr(record, name)!r} in the record, {value!r} from the trace"
        for name, value in found.items()
        if getattr(record, name) != value
    ]


def check_folder(folder: Path, records: Iterable[EpisodeRecord]) -> list[str]:
    """Return what does not agree between records and the traces of a folder.

    Args:
        folder: as `TraceFolder` wrote it.
        records: of the same run.
    """
    problems = []
    for record in records:
        path = folder / name_file(record.episode)
        if not path.is_file():
            problems.append(f"{record.episode}: no trace {path.name}")
            continue
        problems += [f"{record.episode}: {line}" for line in compare(read_trace(path), record)]
    return problems
