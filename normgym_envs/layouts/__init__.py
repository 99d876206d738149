"""The places: `get_layout`, `list_layouts`, and what reads and draws map files.

A layout is a file of `maps/`; its file name is its name. The conditions a map must satisfy are in
`layouts/validate.py`, which stands above the norms because some of the conditions speak of them.
"""

from functools import cache
from pathlib import Path
from typing import Final

from normgym_envs.errors import UnknownNameError
from normgym_envs.layouts.drawing import draw_layout, draw_path
from normgym_envs.layouts.parser import parse_layout
from normgym_envs.types import Layout

__all__ = [
    "MAIN_LAYOUTS",
    "VARIANTS",
    "draw_layout",
    "draw_path",
    "get_layout",
    "list_layouts",
    "parse_layout",
]

MAIN_LAYOUTS: Final = (
    "cafe",
    "bank",
    "barbershop",
    "clothing_store",
    "grocery_store",
    "hospital",
    "library",
    "movie_theater",
    "pharmacy",
    "post_office",
)
"""The places of the benchmark, the one of interactions first. Source: NG "Layouts"."""
VARIANTS: Final = ("cafe_variant_1", "cafe_variant_2")
"""Rearranged cafés that validate learners trained on the café and appear in no test.
Source: NG App. on deep RL (two modified cafés; how they differ is not specified)."""

_MAPS = Path(__file__).parent / "maps"


@cache
def get_layout(name: str) -> Layout:
    """Return a layout by name; the same read-only object every time.

    Args:
        name: file name of a map without its ending, e.g. "cafe".

    Raises:
        UnknownNameError: no such map.
        LayoutError: the map file is malformed.

    Example:
        >>> get_layout("cafe").title
        'Café'
    """
    names = list_layouts()
    if name not in names:
        raise UnknownNameError("layout", name, names)
    path = _MAPS / f"{name}.toml"
    return parse_layout(path.read_text(encoding="utf-8"), name, path.name)


def list_layouts() -> tuple[str, ...]:
    """Return the names of all maps: `MAIN_LAYOUTS`, `VARIANTS`, then any others by alphabet."""
    known = MAIN_LAYOUTS + VARIANTS
    others = sorted({path.stem for path in _MAPS.glob("*.toml")} - set(known))
    return (*known, *others)
