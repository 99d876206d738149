"""Traces of episodes on disk: one JSON value a line, only ever appended.

First a header with the whole episode specification and the map, then what is public of the state
at every turn, with what each step did, between them what the newcomer believed and said, at last
how it ended. Frames and scores follow from the file alone (`tracefile.py`), without playing the
episode again. A line is written in one piece, so that only the last one can be incomplete.
"""

import dataclasses
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from normgym_envs.constants import GRID_SHAPE, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts.legend import CHARACTER_OF, DOOR_OF, ZONE_OF
from normgym_envs.protocol.episodes import spec_to_json
from normgym_envs.protocol.trace import COPIED, find_waits
from normgym_envs.types import EpisodeSpec, Layout

FORMAT: Final = 1
"""Version of the file format."""

STATE: Final = ("pos", "prev", "group", "leg", "timer", "person", "is_new")
"""Fields of the state with one number a slot, besides those of a step."""
OWN: Final = ("goal1_kind", "goal1_cell", "goal2_door")
"""Fields of which only the newcomer's is written."""


class TraceWriter:
    """Writes one episode, a line a turn.

    Example:
        >>> with TraceWriter(path, engine, 0, spec) as writer:  # doctest: +SKIP
        ...     while engine.states["ending"][0] == 0:
        ...         engine.step(actions)
        ...         writer.write_turn()
    """

    def __init__(
        self,
        path: Path,
        engine: BatchEngine,
        row: int,
        spec: EpisodeSpec,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Start a file; the episode has just been loaded into the row.

        Args:
            path: file to write; an old one is replaced. Its folder is made when missing.
            engine: read at every turn.
            row: row index.
            spec: the episode.
            facts: more for the header, JSON values: suite, agent, carried belief and the like.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)
        self._engine = engine
        self._row = row
        layout = engine.layouts[engine.states["layout"][row]]
        used = {*spec.norms, *spec.norms_after}
        self._write(
            "trace",
            {
                "format": FORMAT,
                **dict(facts or {}),
                "layout": _draw_map(layout),
                "norms": [dataclasses.asdict(norm) for norm in engine.norms if norm.id in used],
                "spec": spec_to_json(spec),
                "drivers": engine.states["driver"][row, : spec.num_slots].tolist(),
            },
        )
        self._write("turn", self._describe_state())

    def __enter__(self) -> "TraceWriter":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file as it is."""
        self.close()

    def write_turn(self) -> None:
        """Write what the last step did and the state after it; the end too when it has come."""
        state = self._engine.states[self._row]
        step: dict[str, Any] = {}
        for name in COPIED:
            values = state[name][: state["num_slots"]]
            step[name] = [float(v) for v in values] if name == "reward" else _pack(values)
        waits = find_waits(self._engine.states[self._row : self._row + 1], self._engine.tables[0])
        step["waited"] = _pack(waits[0, : state["num_slots"]])
        self._write("turn", {**self._describe_state(), **step})
        if state["ending"] != Ending.RUNNING:
            self._write(
                "end",
                {
                    "turns": int(state["turn"]),
                    "ending": Ending(int(state["ending"])).name.lower(),
                    "state_hash": sha256(state.tobytes()).hexdigest(),
                },
            )

    def write_belief(self, turn: int, text: str, confidence: float) -> None:
        """Write what the newcomer believes."""
        self._write("belief", {"turn": turn, "text": text, "confidence": confidence})

    def write_reasoning(self, turn: int, text: str) -> None:
        """Write what the newcomer says about its next action."""
        self._write("reasoning", {"turn": turn, "text": text})

    def close(self) -> None:
        """Close the file as it is."""
        self._file.close()

    def _describe_state(self) -> dict[str, Any]:
        """Return the public part of the state, and the newcomer's goal."""
        state = self._engine.states[self._row]
        count = int(state["num_slots"])
        return {
            "turn": int(state["turn"]),
            **{name: state[name][:count].tolist() for name in STATE},
            **{name: int(state[name][0]) for name in OWN},
        }

    def _write(self, kind: str, values: Mapping[str, Any]) -> None:
        line = json.dumps({"kind": kind, **values}, separators=(",", ":"), allow_nan=False)
        self._file.write(line.encode("ascii") + b"\n")


def _pack(values: Any) -> str:
    """Return small numbers as a string, "." for -1."""
    return "".join("." if value < 0 else str(int(value)) for value in values)


def _draw_map(layout: Layout) -> dict[str, Any]:
    """Return a layout as lines of characters."""
    names = {
        int(cell): door.name for door, cell in zip(DOOR_OF.values(), layout.doors, strict=True)
    }
    marks = {int(zone): sign for sign, zone in ZONE_OF.items()}
    rows, columns = GRID_SHAPE
    cells, zones = layout.cells.tolist(), layout.zones.tolist()
    return {
        "name": layout.name,
        "cells": [
            "".join(
                names.get(row * columns + column, CHARACTER_OF[cells[row][column]])
                for column in range(columns)
            )
            for row in range(rows)
        ],
        "zones": ["".join(marks[zone] for zone in line) for line in zones],
    }
