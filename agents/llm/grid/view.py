"""What the newcomer is shown on a turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Observation
from normgym_envs.constants import GRID_SHAPE
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.types import Layout


@dataclass(frozen=True)
class View:
    """What the newcomer is shown on a turn."""

    observation: Observation  # symbolic, of the newcomer's slot
    layout: Layout  # gives the names of things; the map itself is in the observation too
    picture: bytes | None = None  # PNG, when the modality needs one


def find_layout(observation: Mapping[str, npt.NDArray[Any]]) -> Layout:
    """Return the layout whose map an observation shows; an unknown map gets plain names.

    Args:
        observation: symbolic.
    """
    cells, zones = observation["cells"].tobytes(), observation["zones"].tobytes()
    known = _list_maps().get((cells, zones))
    if known is not None:
        return get_layout(known)
    return _read_map(cells, zones)


@cache
def _list_maps() -> dict[tuple[bytes, bytes], str]:
    """Return the name of every layout by its map."""
    found = {}
    for name in list_layouts():
        layout = get_layout(name)
        found[layout.cells.tobytes(), layout.zones.tobytes()] = name
    return found


@lru_cache(maxsize=64)
def _read_map(cells: bytes, zones: bytes) -> Layout:
    """Return the layout of a map that no file has; grids as bytes of int8."""
    grids = (np.frombuffer(grid, np.int8).reshape(GRID_SHAPE) for grid in (cells, zones))
    return layout_from_grids(*grids)
