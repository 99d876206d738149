"""Words for what the newcomer sees: objects, goals, people, remembered turns.

The complete public state in words is `normgym_envs.observations.text.describe`; this module says
parts of it again where prompts need them in another place.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from agents.base import Observation
from normgym_envs.constants import GRID_WIDTH, Cell, Goal1, Group, Zone
from normgym_envs.observations.text import DOOR_NAMES, name_slot
from normgym_envs.types import Layout

NOBODY_ELSE: Final = "nobody else was here"
"""What `list_others` says of a place without others."""


def to_ascii(text: str) -> str:
    """Return text without accents and without characters outside ASCII."""
    folded = unicodedata.normalize("NFKD", text)
    return "".join(character for character in folded if ord(character) < 127)


def name_cell(pair: Sequence[int] | Any) -> str:
    """Return a cell as prompts write it.

    Args:
        pair: row and column.
    """
    return f"({int(pair[0])}, {int(pair[1])})"


def list_objects(observation: Observation, layout: Layout) -> str:
    """Return where everything stands that does not move, one kind a line.

    Args:
        observation: symbolic.
        layout: gives the names.
    """
    cells, zones, names = observation["cells"], observation["zones"], layout.objects

    def listed(found: Iterable[Any]) -> str:
        return ", ".join(name_cell(pair) for pair in found) or "none"

    doors = [name_cell(divmod(int(cell), GRID_WIDTH)) for cell in layout.doors]
    service = name_cell(divmod(layout.service, GRID_WIDTH))
    lines = [
        f"- {names['counter']}: {listed(np.argwhere(cells == Cell.COUNTER))}; people are served "
        f"at {service}",
        *(f"- {DOOR_NAMES[door]}: {doors[door]}" for door in DOOR_NAMES),
        f"- each {names['chair']}: {listed(np.argwhere(cells == Cell.CHAIR))}",
        f"- each {names['table']}: {listed(np.argwhere(cells == Cell.TABLE))}",
        f"- each {names['display']}: {listed(np.argwhere(cells == Cell.DISPLAY))}",
        f"- marked floor, zone Q: {listed(np.argwhere(zones == Zone.Q))}",
        f"- marked floor, zone R: {listed(np.argwhere(zones == Zone.R))}",
    ]
    chairs = set(layout.chairs.tolist())
    lines += [
        f"- {name}: {name_cell(divmod(cell, GRID_WIDTH))}"
        for cell, name in layout.destinations
        if cell not in chairs
    ]
    return to_ascii("\n".join(lines))


def describe_goals(
    observation: Observation, layout: Layout, *, with_cells: bool
) -> tuple[str, str]:
    """Return the newcomer's first and second goal, each as a phrase.

    Args:
        observation: symbolic, with a person in the newcomer's slot.
        layout: gives the names.
        with_cells: say where things are.
    """
    objects = layout.objects
    kind = Goal1(int(observation["goal1_kind"][0]))
    if kind == Goal1.COUNTER:
        service = name_cell(divmod(layout.service, GRID_WIDTH))
        where = f"at {service}, " if with_cells else "on "
        first = f"be served {where}the cell before the {objects['counter']}"
    elif kind == Goal1.PLACE:
        row, column = (int(number) for number in observation["goal1_cell"])
        name = dict(layout.destinations).get(row * GRID_WIDTH + column, "the place")
        first = f"stay at ({row}, {column}), {name}" if with_cells else f"stay at {name}"
    elif kind == Goal1.ANY_CHAIR:
        first = f"sit on a {objects['chair']}, whichever you like"
    else:
        first = "stay in zone R, on any of its cells"
    door = int(observation["goal2_door"][0])
    names = {int(key): name for key, name in DOOR_NAMES.items()}
    if door < 0:
        second = "leave by a door, whichever you like"
    else:
        second = f"leave by {names[door]}"
    if with_cells:
        doors = [name_cell(divmod(int(cell), GRID_WIDTH)) for cell in layout.doors]
        second += f", at {doors[door]}" if door >= 0 else f": {', '.join(doors)}"
    return to_ascii(first), second


def is_second_goal(observation: Observation) -> bool:
    """Return whether the newcomer's first goal is complete."""
    return bool(observation["goal1_done"][int(observation["slot"][0])])


def list_others(observation: Observation, *, with_groups: bool) -> str:
    """Return who is where apart from the newcomer.

    Args:
        observation: symbolic.
        with_groups: name everybody's group.
    """
    own = int(observation["slot"][0])
    others = []
    for slot in np.flatnonzero(observation["present"]).tolist():
        if slot != own:
            group = Group(int(observation["groups"][slot])).name.lower()
            named = f"{name_slot(slot)} ({group})" if with_groups else name_slot(slot)
            others.append(f"{named} {name_cell(observation['positions'][slot])}")
    return ", ".join(others) or NOBODY_ELSE


def list_sanctioned(observation: Observation, *, own: bool) -> list[str]:
    """Return whom the community sanctioned in the last turn, and for which step.

    Args:
        observation: symbolic, after the turn.
        own: count the newcomer too.
    """
    slot = int(observation["slot"][0])
    named = []
    for other in np.flatnonzero(observation["sanctioned"]).tolist():
        if other == slot and not own:
            continue
        group = Group(int(observation["groups"][other])).name.lower()
        start = name_cell(observation["previous"][other])
        end = name_cell(observation["positions"][other])
        named.append(f"{name_slot(other)} ({group}), who went from {start} to {end}")
    return named
