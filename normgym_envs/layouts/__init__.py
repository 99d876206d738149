"""The places: `get_layout`, `list_layouts`, and what reads and draws map files.

A layout is a file of `maps/`; its file name is its name. The conditions a map must satisfy are in
`layouts/validate.py`, which stands above the norms because some of the conditions speak of them.
"""

from functools import cache
from pathlib import Path

from normgym_envs.errors import UnknownNameError
from normgym_envs.layouts.drawing import draw_layout, draw_path
from normgym_envs.layouts.parser import parse_layout
from normgym_envs.types import Layout

__all__ = ["draw_layout", "draw_path", "get_layout", "list_layouts", "parse_layout"]

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
    """Return the names of all maps, the café first and the rest by alphabet."""
    names = sorted(path.stem for path in _MAPS.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: (name != "cafe", name)))
