"""When agents that state beliefs came to the right one, read from the records of a run."""

import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.records import EpisodeRecord, from_line
from benchmarks.suite import Suite
from normgym_envs.constants import FAMILIES
from normgym_envs.errors import RecordError


class Identification(NamedTuple):
    """How soon the norms of one family were identified in interactions."""

    family: str
    num: int  # interactions
    num_right: int  # whose last belief states the norm in the library's own words
    median_turn: float | None  # turns until the right belief was held for good; None: never


def find_turn(record: EpisodeRecord, sentence: str) -> int | None:
    """Return the turn from which on an interaction's belief is the given sentence, or None.

    Args:
        record: of an interaction.
        sentence: the true norm's.
    """
    turn = None
    for entry in record.beliefs:
        if entry.text != sentence:
            turn = None
        elif turn is None:
            turn = entry.turn
    return turn


def summarise_identification(
    records: Iterable[EpisodeRecord], sentences: Mapping[str, str]
) -> tuple[Identification, ...]:
    """Return one entry a family; interactions that never got there count as infinitely late.

    Args:
        records: of one run; interactions are used.
        sentences: norm id -> sentence.
    """
    turns: dict[str, list[float]] = {family: [] for family in FAMILIES}
    for record in records:
        if record.phase == "interaction":
            turn = find_turn(record, sentences[record.norms[0]])
            turns[record.family].append(float("inf") if turn is None else turn)
    found = []
    for family, values in turns.items():
        if values:
            right = [value for value in values if value != float("inf")]
            median = statistics.median(values)
            found.append(
                Identification(
                    family, len(values), len(right), None if median == float("inf") else median
                )
            )
    return tuple(found)


def read_records(path: Path, suite: Suite) -> tuple[EpisodeRecord, ...]:
    """Return the complete records of a run's file.

    Raises:
        RecordError: the file cannot be read, or belongs to another suite.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from None
    records = []
    for number, line in enumerate(lines, start=1):
        record = from_line(line, f"{path}, line {number}")
        if record.suite_hash != suite.sha256:
            raise RecordError(
                f"{path}, line {number}: made with suite hash {record.suite_hash[:16]}; "
                f"expected {suite.sha256[:16]} of suite {suite.name!r}"
            )
        if isinstance(record, EpisodeRecord):
            records.append(record)
    return tuple(records)
