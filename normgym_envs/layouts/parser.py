"""Reads a map file into a `Layout`.

Only the form is checked here, with file, row and column in every message; whether a well-formed
map can host the norms is the business of `layouts/validate.py`.
"""

import tomllib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, Cell, Door, Region
from normgym_envs.errors import LayoutError, nearest
from normgym_envs.layouts.legend import CELL_OF, DOOR_OF, MEANING, ZONE_OF
from normgym_envs.types import Layout

KEYS: Final = ("title", "place", "cells", "zones", "objects", "destinations")
OBJECTS: Final = ("counter", "chair", "table", "display")
_WALL_OF: Final = {"A": "left", "B": "bottom", "C": "right"}


def parse_layout(text: str, name: str, source: str) -> Layout:
    """Turn the text of a map file into a layout with read-only arrays.

    Args:
        text: content of the file (TOML).
        name: name of the layout.
        source: where the text comes from, for error messages.

    Returns:
        Layout, well formed but not yet held against the conditions of `validate_layout`.

    Raises:
        LayoutError: the text is no TOML, a key is missing, unknown or of the wrong type, or one of
            the two drawings is malformed.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LayoutError(f"{source}: not valid TOML: {error}") from None
    for key in data:
        if key not in KEYS:
            raise LayoutError(f"{source}: unknown key {key!r}{nearest(key, KEYS)}")
    lines = _read_drawing(data, "cells", CELL_OF, source)
    zone_lines = _read_drawing(data, "zones", ZONE_OF, source)
    doors, counter = _find_openings(lines, source)
    cells = np.array([[CELL_OF[character] for character in line] for line in lines], np.int8)
    zones = np.array([[ZONE_OF[character] for character in line] for line in zone_lines], np.int8)
    _check_zones(cells, zones, source)
    away = _away_from(counter)
    chairs = np.flatnonzero(cells == Cell.CHAIR).astype(np.int32)
    layout = Layout(
        name=name,
        title=_read_text(data, "title", source),
        place=_read_text(data, "place", source),
        cells=cells,
        zones=zones,
        doors=doors,
        counter=counter,
        service=counter + away[0] * GRID_WIDTH + away[1],
        away=away,
        chairs=chairs,
        regions=_find_regions(chairs, doors, source),
        ring=_outer_ring(),
        destinations=_read_destinations(data, cells, source),
        objects=_read_objects(data, source),
    )
    for array in (cells, zones, doors, chairs, layout.regions, layout.ring):
        array.setflags(write=False)
    return layout


def _read_text(data: Mapping[str, Any], key: str, source: str) -> str:
    """Return a non-empty one-line string of the file."""
    value = data.get(key)
    if not isinstance(value, str) or not value.strip() or "\n" in value.strip():
        raise LayoutError(f"{source}: {key} is {value!r}; expected one line of text")
    return value.strip()


def _read_drawing(
    data: Mapping[str, Any], key: str, legend: Mapping[str, object], source: str
) -> list[str]:
    """Return the lines of a drawing after checking its size and its characters."""
    value = data.get(key)
    if not isinstance(value, str):
        raise LayoutError(
            f"{source}: {key} is missing or no text; expected {GRID_HEIGHT} lines of "
            f"{GRID_WIDTH} characters"
        )
    lines = value.strip("\n").split("\n")
    for row, line in enumerate(lines[:GRID_HEIGHT]):
        if len(line) != GRID_WIDTH:
            column = min(len(line), GRID_WIDTH)
            raise LayoutError(
                f"{source}: {key}, row {row}, column {column}: the line has {len(line)} "
                f"characters; expected {GRID_WIDTH}"
            )
        for column, character in enumerate(line):
            if character not in legend:
                known = ", ".join(f"{sign} {MEANING[sign]}" for sign in legend if sign != ".")
                raise LayoutError(
                    f"{source}: {key}, row {row}, column {column}: unknown character "
                    f"{character!r}; expected . or one of: {known}"
                )
    if len(lines) != GRID_HEIGHT:
        row = min(len(lines), GRID_HEIGHT)
        raise LayoutError(
            f"{source}: {key}, row {row}, column 0: the drawing has {len(lines)} lines; "
            f"expected {GRID_HEIGHT}"
        )
    return lines


def _find_openings(lines: list[str], source: str) -> tuple[npt.NDArray[np.int32], int]:
    """Return the cells of doors A, B, C and of the counter; check the outer wall."""
    found: dict[str, int] = {}
    for row, line in enumerate(lines):
        for column, character in enumerate(line):
            where = f"{source}: cells, row {row}, column {column}"
            walls = _walls_at(row, column)
            if walls and character not in "#SABC":
                raise LayoutError(
                    f"{where}: {MEANING[character]} in the outer wall; expected # or one of S A B C"
                )
            if character not in "SABC":
                continue
            if character in found:
                first = divmod(found[character], GRID_WIDTH)
                raise LayoutError(
                    f"{where}: a second {MEANING[character]}; the first is at row {first[0]}, "
                    f"column {first[1]}"
                )
            expected = _WALL_OF.get(character)
            if len(walls) != 1 or (expected is not None and walls[0] != expected):
                side = f"the {expected} wall" if expected else "an outer wall"
                raise LayoutError(
                    f"{where}: the {MEANING[character]} {character} must lie in {side}, "
                    "not in a corner"
                )
            found[character] = row * GRID_WIDTH + column
    for character in "SABC":
        if character not in found:
            walls_text = f"the {_WALL_OF[character]} wall" if character in DOOR_OF else "a wall"
            raise LayoutError(
                f"{source}: cells: no {MEANING[character]}; expected one {character} in "
                f"{walls_text}"
            )
    return np.array([found[character] for character in "ABC"], np.int32), found["S"]


def _walls_at(row: int, column: int) -> list[str]:
    """Return which outer walls a cell belongs to: none inside, two in a corner."""
    sides = {
        "top": row == 0,
        "bottom": row == GRID_HEIGHT - 1,
        "left": column == 0,
        "right": column == GRID_WIDTH - 1,
    }
    return [side for side, here in sides.items() if here]


def _away_from(counter: int) -> tuple[int, int]:
    """Return the (row, column) step that leads from the counter into the room."""
    row, column = divmod(counter, GRID_WIDTH)
    side = _walls_at(row, column)[0]
    return {"top": (1, 0), "bottom": (-1, 0), "left": (0, 1), "right": (0, -1)}[side]


def _check_zones(cells: npt.NDArray[np.int8], zones: npt.NDArray[np.int8], source: str) -> None:
    """Refuse marks on anything but floor."""
    for row, column in np.argwhere((zones != 0) & (cells != Cell.FLOOR)):
        kind = Cell(int(cells[row, column])).name.lower()
        raise LayoutError(
            f"{source}: zones, row {row}, column {column}: a zone on a {kind} cell; zones are "
            "marks on floor"
        )


def _find_regions(
    chairs: npt.NDArray[np.int32], doors: npt.NDArray[np.int32], source: str
) -> npt.NDArray[np.int8]:
    """Return the seating region of each chair.

    Source: NG App. "The Norm Library", notation (the left door's row and the bottom door's column
    partition the seats).
    """
    door_row = int(doors[Door.A]) // GRID_WIDTH
    door_column = int(doors[Door.B]) % GRID_WIDTH
    regions = []
    for cell in chairs:
        row, column = divmod(int(cell), GRID_WIDTH)
        where = f"{source}: cells, row {row}, column {column}: a chair"
        if row == door_row:
            raise LayoutError(f"{where} on the left door's row belongs to no seating region")
        if column == door_column:
            raise LayoutError(f"{where} on the bottom door's column belongs to no seating region")
        if row < door_row and column > door_column:
            raise LayoutError(f"{where} at the top right, which is no seating region")
        if column > door_column:
            regions.append(Region.BR)
        else:
            regions.append(Region.TL if row < door_row else Region.BL)
    return np.array(regions, np.int8)


def _outer_ring() -> npt.NDArray[np.int32]:
    """Return the (40,) cells next to the outer wall, clockwise from the top-left corner."""
    top, bottom, left, right = 1, GRID_HEIGHT - 2, 1, GRID_WIDTH - 2
    ring = [(top, column) for column in range(left, right)]
    ring += [(row, right) for row in range(top, bottom)]
    ring += [(bottom, column) for column in range(right, left, -1)]
    ring += [(row, left) for row in range(bottom, top, -1)]
    return np.array([row * GRID_WIDTH + column for row, column in ring], np.int32)


def _read_destinations(
    data: Mapping[str, Any], cells: npt.NDArray[np.int8], source: str
) -> tuple[tuple[int, str], ...]:
    """Return every place a person may be sent to: all chairs, then the named floor cells."""
    chair = _read_objects(data, source)["chair"]
    places = [(int(cell), f"the {chair}") for cell in np.flatnonzero(cells == Cell.CHAIR)]
    rows = data.get("destinations", [])
    if not isinstance(rows, list):
        raise LayoutError(f"{source}: destinations is {rows!r}; expected [[destinations]] tables")
    for number, entry in enumerate(rows, start=1):
        where = f"{source}: destinations, entry {number}"
        if not isinstance(entry, dict) or set(entry) != {"cell", "name"}:
            raise LayoutError(f"{where}: {entry!r}; expected the keys cell and name")
        cell, name = entry["cell"], entry["name"]
        if (
            not isinstance(cell, list)
            or len(cell) != 2
            or not all(isinstance(value, int) for value in cell)
            or not (0 <= cell[0] < GRID_HEIGHT and 0 <= cell[1] < GRID_WIDTH)
        ):
            raise LayoutError(f"{where}: cell is {cell!r}; expected [row, column] inside the grid")
        if not isinstance(name, str) or not name.strip():
            raise LayoutError(f"{where}: name is {name!r}; expected one line of text")
        if cells[cell[0], cell[1]] != Cell.FLOOR:
            kind = Cell(int(cells[cell[0], cell[1]])).name.lower()
            raise LayoutError(
                f"{where}: row {cell[0]}, column {cell[1]} is a {kind} cell; expected floor"
            )
        index = cell[0] * GRID_WIDTH + cell[1]
        if index in (place for place, _ in places):
            raise LayoutError(f"{where}: row {cell[0]}, column {cell[1]} is named twice")
        places.append((index, name.strip()))
    return tuple(places)


def _read_objects(data: Mapping[str, Any], source: str) -> Mapping[str, str]:
    """Return what the place calls its counter, chairs, tables and displays."""
    value = data.get("objects")
    if not isinstance(value, dict):
        raise LayoutError(f"{source}: [objects] is missing; expected the keys {', '.join(OBJECTS)}")
    for key in value:
        if key not in OBJECTS:
            raise LayoutError(f"{source}: objects: unknown key {key!r}{nearest(key, OBJECTS)}")
    for key in OBJECTS:
        if not isinstance(value.get(key), str) or not value[key].strip():
            raise LayoutError(
                f"{source}: objects.{key} is {value.get(key)!r}; expected the place's word for it"
            )
    return {key: value[key].strip() for key in OBJECTS}
