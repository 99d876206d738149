"""The symbolic observation in words: the same facts, nothing more.

Prompts of language models are built around this text; its wording is not theirs to change.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from normgym_envs.constants import Action, Cell, Door, Goal1, Group, Zone
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts.legend import CHARACTER_OF
from normgym_envs.observations.symbolic import ABSENT, observe_symbolic
from normgym_envs.types import Layout

VERSION = 1
"""Moves when the text of a state changes."""

MAX_LENGTH = 8000
"""Characters; no observation is longer."""

DOOR_NAMES = {Door.A: "the left door", Door.B: "the bottom door", Door.C: "the right door"}


def text_space() -> spaces.Text:
    """Return the space of the text: printable ASCII and line breaks, up to `MAX_LENGTH`."""
    characters = "".join(chr(code) for code in range(32, 127)) + "\n"
    return spaces.Text(MAX_LENGTH, min_length=0, charset=characters)


def observe_text(engine: BatchEngine, row: int, slot: int) -> str:
    """Return what a slot sees in one row, in words.

    Args:
        engine: whose row is read.
        row: row index.
        slot: the viewpoint.
    """
    layout = engine.layouts[engine.states[row]["layout"]]
    return describe(observe_symbolic(engine, row, slot), layout)


def describe(observation: Mapping[str, npt.NDArray[Any]], layout: Layout) -> str:
    """Return a symbolic observation in words.

    Args:
        observation: as `symbolic_space` says.
        layout: where it was made; gives the names of things.
    """
    slot = int(observation["slot"][0])
    lines = [
        f"Turn {observation['turn'][0]} of {observation['limit'][0]}.",
        "",
        *_describe_map(observation, layout),
        "",
        f"You are {name_slot(slot)}.",
        *_describe_goals(observation, layout),
        "You can: " + ", ".join(_open_actions(observation)) + ".",
        "",
        "Everybody, with what happened in the last turn:",
        *(
            f"- {name_slot(other)}: {_describe_person(observation, other)}"
            for other in range(len(observation["present"]))
        ),
    ]
    return "\n".join(lines)


def name_slot(slot: int) -> str:
    """Return the agent id of a slot; ids name slots, not persons."""
    return "newcomer" if slot == 0 else f"background_{slot}"


def _describe_map(observation: Mapping[str, npt.NDArray[Any]], layout: Layout) -> list[str]:
    """Return the map with row and column numbers, and its legend."""
    cells, zones = observation["cells"], observation["zones"]
    doors = {int(cell): Door(i).name for i, cell in enumerate(layout.doors)}
    lines = ["Map, as (row, column) from (0, 0) at the top left:"]
    lines.append("    " + " ".join(f"{column:2d}" for column in range(cells.shape[1])))
    for row in range(cells.shape[0]):
        signs = []
        for column in range(cells.shape[1]):
            sign = CHARACTER_OF[Cell(int(cells[row, column]))]
            if cells[row, column] == Cell.DOOR:
                sign = doors.get(row * cells.shape[1] + column, "D")
            elif zones[row, column] != Zone.NONE:
                sign = Zone(int(zones[row, column])).name
            signs.append(f" {sign}")
        lines.append(f"{row:3d} " + " ".join(signs))
    objects = layout.objects
    lines.append(
        f"# wall; . floor; A, B, C the left, bottom and right door; S {objects['counter']}; "
        f"h {objects['chair']}; t {objects['table']}; d {objects['display']}; "
        "Q, R marked floor. Walls, S, t and d block the way."
    )
    return [_plain(line) for line in lines]


def _describe_goals(observation: Mapping[str, npt.NDArray[Any]], layout: Layout) -> list[str]:
    """Return the observer's two goals and which one is open."""
    slot = int(observation["slot"][0])
    if not observation["present"][slot]:
        left = " You have just left." if observation["left"][slot] else ""
        return [f"Nobody is in your place at present.{left}"]
    kind = Goal1(int(observation["goal1_kind"][0]))
    objects = layout.objects
    if kind == Goal1.COUNTER:
        service = _pair(np.array(divmod(layout.service, 15)))
        first = f"be served at {service} before the {objects['counter']}"
    elif kind == Goal1.PLACE:
        cell = observation["goal1_cell"]
        names = {cell: name for cell, name in layout.destinations}
        name = names.get(int(cell[0]) * 15 + int(cell[1]), "the place")
        first = f"stay at {_pair(cell)}, {name}"
    elif kind == Goal1.ANY_CHAIR:
        first = f"sit on any {objects['chair']}"
    else:
        first = "stay anywhere in zone R"
    door = int(observation["goal2_door"][0])
    second = "leave by any door" if door < 0 else f"leave by {DOOR_NAMES[Door(door)]}"
    done = bool(observation["goal1_done"][slot])
    return [
        _plain(f"Goal 1{' (done)' if done else ' (now)'}: {first}."),
        f"Goal 2{' (now)' if done else ''}: {second}.",
    ]


def _describe_person(observation: Mapping[str, npt.NDArray[Any]], slot: int) -> str:
    """Return all public facts of one slot in one line."""
    if not observation["present"][slot] and not observation["left"][slot]:
        return "nobody"
    group = Group(int(observation["groups"][slot])).name.lower()
    here, before = observation["positions"][slot], observation["previous"][slot]
    action = int(observation["actions"][slot])
    if observation["left"][slot]:
        parts = [f"{group}, has left by the door at {_pair(here)}, was at {_pair(before)}"]
    else:
        parts = [f"{group}, at {_pair(here)}, was at {_pair(before)}"]
    if observation["is_new"][slot]:
        parts.append("a new person")
    parts.append("no action yet" if action == ABSENT else f"chose {Action(action).name}")
    if observation["displaced"][slot]:
        parts.append("was displaced")
    if observation["service"][slot]:
        parts.append(f"in service for {observation['service'][slot]} turns")
    if observation["goal1_done"][slot]:
        parts.append("first goal done")
    if observation["collided"][slot]:
        parts.append("COLLIDED")
    if observation["sanctioned"][slot]:
        parts.append("SANCTIONED (X)")
    return ", ".join(parts)


def _open_actions(observation: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    return [Action(int(i)).name for i in np.flatnonzero(observation["action_mask"])]


def _pair(cell: npt.NDArray[Any]) -> str:
    return f"({int(cell[0])}, {int(cell[1])})"


def _plain(text: str) -> str:
    """Return text without characters outside ASCII, so that every tokenizer and log takes it."""
    import unicodedata

    folded = unicodedata.normalize("NFKD", text)
    return "".join(c for c in folded if ord(c) < 127)
