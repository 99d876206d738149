"""What the newcomer is shown on a turn, and pictures of it."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Observation
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.types import Layout

PICTURE_WIDTH = 660
"""Pixels of the grid; the strips with numbers come on top. Source: not specified in NG."""


@dataclass(frozen=True)
class View:
    """What the newcomer is shown on a turn."""

    observation: Observation  # symbolic, of the newcomer's slot
    layout: Layout  # gives the names of things; the map itself is in the observation too
    picture: bytes | None = None  # PNG, when the modality needs one


def encode_png(frame: npt.NDArray[np.uint8]) -> bytes:
    """Return a frame as a PNG file; equal frames give equal bytes.

    Args:
        frame: (H, W, 3) uint8.
    """
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(frame).save(stream, format="PNG", compress_level=6)
    return stream.getvalue()


def draw_picture(state: np.void, layout: Layout, slot: int = 0) -> bytes:
    """Return the picture that goes with a prompt: row and column numbers, star, present goal.

    Args:
        state: STATE_DTYPE record; only what is public is drawn, and the viewer's goal.
        layout: where it plays.
        slot: the viewer.

    Raises:
        MissingExtraError: pygame is missing.
    """
    from normgym_envs.rendering.renderer import make_renderer

    if "renderer" not in _shared:
        _shared["renderer"] = make_renderer("flat", PICTURE_WIDTH, numbers=True)
    return encode_png(_shared["renderer"].draw(state, layout, viewer=slot, goal=True))


_shared: dict[str, Any] = {}


def find_layout(observation: Mapping[str, npt.NDArray[Any]]) -> Layout:
    """Return the layout whose map an observation shows; an unknown map gets plain names.

    Args:
        observation: symbolic.
    """
    cells, zones = observation["cells"].tobytes(), observation["zones"].tobytes()
    known = _list_maps().get((cells, zones))
    if known is not None:
        return get_layout(known)
    return layout_from_grids(observation["cells"], observation["zones"])


@cache
def _list_maps() -> dict[tuple[bytes, bytes], str]:
    """Return the name of every layout by its map."""
    found = {}
    for name in list_layouts():
        layout = get_layout(name)
        found[layout.cells.tobytes(), layout.zones.tobytes()] = name
    return found
