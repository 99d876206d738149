"""Reads the trace files of `tracewriter.py`: frames and scores without playing again."""

import dataclasses
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normgym_envs.constants import TEST_PHASES
from normgym_envs.engine.state import allocate_states
from normgym_envs.errors import RecordError, SpecError
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.layouts.legend import CELL_OF, ZONE_OF
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.protocol.episodes import spec_from_json
from normgym_envs.protocol.metrics import EpisodeMetrics, measure_episode
from normgym_envs.protocol.trace import COPIED, EpisodeTrace, make_trace
from normgym_envs.protocol.tracewriter import FORMAT, OWN, STATE
from normgym_envs.types import EpisodeSpec, Layout, RecordArray


class Note(NamedTuple):
    """What the newcomer believed or said at a turn."""

    turn: int
    text: str
    confidence: float | None  # [0, 1] of a belief, None for reasoning


class Recording(NamedTuple):
    """A trace file in memory."""

    header: Mapping[str, Any]
    spec: EpisodeSpec
    layout: Layout
    states: RecordArray  # (T + 1,) STATE_DTYPE, public fields only; `layout` is 0
    trace: EpisodeTrace  # of T steps
    beliefs: tuple[Note, ...]
    reasoning: tuple[Note, ...]
    ending: str | None  # "terminated", "truncated"; None when the file stops before the end
    state_hash: str | None  # of the final state, hexadecimal

    def measure(self) -> EpisodeMetrics:
        """Return the score of the episode, from the file alone."""
        return measure_episode(self.trace, self.spec.limit, self.spec.phase in TEST_PHASES)


def read_trace(path: Path) -> Recording:
    """Return what a trace file holds.

    A last line that was cut off is dropped with a warning.

    Args:
        path: the file.

    Raises:
        RecordError: no such file, no trace, another format, or a line before the last is damaged.
    """
    try:
        *lines, rest = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordError(f"trace {path}: cannot be read: {error.strerror}") from None
    if rest and lines:
        warnings.warn(
            f"trace {path}: line {len(lines) + 1} is cut off; it is left out", stacklevel=2
        )
    if not lines:
        raise RecordError(f"trace {path}: no whole line; expected a header")
    values = [_parse(line, f"trace {path}: line {n}") for n, line in enumerate(lines, start=1)]
    header = values[0]
    if header["kind"] != "trace":
        raise RecordError(f"trace {path}: line 1 is no header of a trace")
    if header.get("format") != FORMAT:
        raise RecordError(f"trace {path}: format is {header.get('format')!r}; expected {FORMAT}")
    try:
        spec = spec_from_json(header["spec"])
        layout = _find_layout(header["layout"])
    except (KeyError, TypeError, SpecError) as error:
        raise RecordError(f"trace {path}: line 1: {type(error).__name__}: {error}") from None
    return _assemble(path, header, spec, layout, values)


def _assemble(
    path: Path,
    header: Mapping[str, Any],
    spec: EpisodeSpec,
    layout: Layout,
    values: list[dict[str, Any]],
) -> Recording:
    """Return the recording that parsed lines stand for."""
    states: list[np.void] = []
    steps: list[dict[str, Any]] = []
    notes: dict[str, list[Note]] = {"belief": [], "reasoning": []}
    ending = state_hash = None
    for number, value in enumerate(values[1:], start=2):
        where = f"trace {path}: line {number}"
        try:
            if value["kind"] == "turn":
                if value["turn"] != len(states):
                    raise RecordError(
                        f"{where} is damaged: turn {value['turn']!r}; expected {len(states)}"
                    )
                states.append(_read_state(value, spec))
                if len(states) > 1:
                    steps.append(_read_step(value, spec.num_slots))
                    _copy_step(states[-1], steps[-1], spec.num_slots)
            elif value["kind"] in notes:
                confidence = value.get("confidence")
                note = Note(int(value["turn"]), str(value["text"]), confidence)
                notes[value["kind"]].append(note)
            elif value["kind"] == "end":
                ending, state_hash = str(value["ending"]), str(value["state_hash"])
            else:
                raise RecordError(f"{where} is damaged: unknown kind {value['kind']!r}")
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            if isinstance(error, RecordError):
                raise
            raise RecordError(f"{where} is damaged: {type(error).__name__}: {error}") from None
    if not states:
        raise RecordError(f"trace {path}: no turn after the header")
    rows = np.array(states)
    present = rows["present"][:, : spec.num_slots].astype(bool)
    columns = {
        name: np.array([step[name] for step in steps]).reshape(len(steps), spec.num_slots)
        for name in (*COPIED, "waited")
    }
    return Recording(
        header,
        spec,
        layout,
        rows,
        make_trace(present, columns),
        tuple(notes["belief"]),
        tuple(notes["reasoning"]),
        ending,
        state_hash,
    )


def _parse(line: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object of a line."""
    try:
        value = json.loads(line.decode("ascii"))
    except ValueError as error:
        raise RecordError(f"{where} is damaged: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise RecordError(f"{where} is damaged: expected a JSON object with a kind")
    return value


def _read_state(value: Mapping[str, Any], spec: EpisodeSpec) -> np.void:
    """Return the public part of a state."""
    row = allocate_states(1)[0]
    count = spec.num_slots
    row["turn"], row["limit"], row["num_slots"] = value["turn"], spec.limit, count
    row["layout"] = 0
    for name in STATE:
        if len(value[name]) != count:
            raise ValueError(f"{name} has {len(value[name])} entries; expected {count}")
        row[name][:count] = value[name]
    row["present"][:count] = row["pos"][:count] >= 0
    for name in OWN:
        row[name][0] = value[name]
    state: np.void = row
    return state


def _read_step(value: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return what a step did."""
    step: dict[str, Any] = {}
    for name in (*COPIED, "waited"):
        numbers = value[name] if name == "reward" else _unpack(value[name])
        if len(numbers) != count:
            raise ValueError(f"{name} has {len(numbers)} entries; expected {count}")
        step[name] = np.array(numbers, np.float32 if name == "reward" else np.int8)
    return step


def _copy_step(row: np.void, step: Mapping[str, Any], count: int) -> None:
    """Put what a step did into the state after it."""
    for name in COPIED:
        row[name][:count] = step[name]


def _unpack(text: str) -> list[int]:
    """Return the numbers of a string of `tracewriter`."""
    return [-1 if sign == "." else int(sign) for sign in text]


def _find_layout(drawn: Mapping[str, Any]) -> Layout:
    """Return the layout of a header: the one that ships if it is still the same."""
    cells = np.array([[CELL_OF[sign] for sign in line] for line in drawn["cells"]], np.int8)
    zones = np.array([[ZONE_OF[sign] for sign in line] for line in drawn["zones"]], np.int8)
    if drawn["name"] in list_layouts():
        layout = get_layout(drawn["name"])
        if np.array_equal(layout.cells, cells) and np.array_equal(layout.zones, zones):
            return layout
    return dataclasses.replace(layout_from_grids(cells, zones), name=str(drawn["name"]))
