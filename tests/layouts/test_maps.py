"""The places differ from each other, name their things, and keep a crowd moving."""

from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import normgym_envs.layouts as layouts
from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, Region
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import (
    MAIN_LAYOUTS,
    VARIANTS,
    draw_layout,
    get_layout,
    list_layouts,
    parse_layout,
)
from normgym_envs.layouts.legend import DOOR_OF, ENTERABLE, ZONE_OF
from normgym_envs.layouts.parser import OBJECTS
from normgym_envs.norms.library import load_norms
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.types import Layout

MAPS = Path(layouts.__file__).parent / "maps"
MIN_DIFFERENCE = 19
"""Cells of the 77 inside the ring in which two places must differ, however one is turned."""
MIN_REARRANGED = 10
"""Cells in which a variant must differ from the café."""
NORMS = load_norms()
CROWD_TURNS = 500
MIN_FINISHED = 3
"""Persons a slot lets through in `CROWD_TURNS`; a trip takes some 30 turns, one under a rhythm
norm twice that, and the last of a queue waits for nine others."""


def obstacles(layout: Layout) -> npt.NDArray[np.bool_]:
    """Return which of the (7, 11) cells inside the ring nobody can enter."""
    inside = layout.cells[2 : GRID_HEIGHT - 2, 2 : GRID_WIDTH - 2]
    return ~np.isin(inside, [int(kind) for kind in ENTERABLE])


def list_turned(mask: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.bool_]]:
    """Return a mask as it is, mirrored both ways, and turned by 180 degrees."""
    return [mask, mask[:, ::-1], mask[::-1], mask[::-1, ::-1]]


def test_the_lists_name_every_map_once() -> None:
    assert len(MAIN_LAYOUTS) == 10
    assert MAIN_LAYOUTS[0] == "cafe"
    assert list_layouts() == MAIN_LAYOUTS + VARIANTS
    assert sorted(list_layouts()) == sorted(path.stem for path in MAPS.glob("*.toml"))
    assert all(name.startswith("cafe_") for name in VARIANTS)


@pytest.mark.parametrize(("one", "other"), list(combinations(MAIN_LAYOUTS, 2)))
def test_places_differ_however_they_are_turned(one: str, other: str) -> None:
    mask = obstacles(get_layout(one))
    turned = list_turned(obstacles(get_layout(other)))
    differences = [int((mask != turn).sum()) for turn in turned]
    assert min(differences) >= MIN_DIFFERENCE, differences


def test_counters_stand_at_all_four_walls() -> None:
    assert len({get_layout(name).away for name in MAIN_LAYOUTS}) == 4


def test_no_two_places_share_their_doors() -> None:
    doors = {tuple(get_layout(name).doors.tolist()) for name in MAIN_LAYOUTS}
    assert len(doors) == len(MAIN_LAYOUTS)


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_the_cafe_rearranged(name: str) -> None:
    cafe, variant = get_layout("cafe"), get_layout(name)
    assert variant.objects == cafe.objects
    assert {word for _, word in variant.destinations} == {word for _, word in cafe.destinations}
    assert (variant.counter, *variant.doors) != (cafe.counter, *cafe.doors)
    assert np.count_nonzero(variant.cells != cafe.cells) >= MIN_REARRANGED


@pytest.mark.parametrize("name", list_layouts())
def test_places_name_their_things(name: str) -> None:
    layout = get_layout(name)
    assert set(layout.objects) == set(OBJECTS)
    assert all(word.strip() for word in layout.objects.values())
    assert len(set(layout.objects.values())) == len(OBJECTS)
    assert layout.place.endswith(".")
    extra = [word for cell, word in layout.destinations if cell not in layout.chairs]
    assert 1 <= len(extra) == len(set(extra)) <= 3
    assert 9 <= len(layout.chairs) <= 16
    assert set(layout.regions.tolist()) == {int(region) for region in Region}


@pytest.mark.parametrize("name", list_layouts())
def test_a_drawing_restores_its_map(name: str) -> None:
    """Doors and counter keep their letters, so the drawing is the map with its zones on it."""
    layout = get_layout(name)
    lines = [row[4::3] for row in draw(layout)]
    floor = str.maketrans({sign: "." for sign in ZONE_OF})
    marked = str.maketrans({sign: "." for sign in "#.htdS" + "".join(DOOR_OF)})
    text = "\n".join(
        [
            'title = "drawn"',
            'place = "drawn"',
            'cells = """',
            *(line.translate(floor) for line in lines),
            '"""',
            'zones = """',
            *(line.translate(marked) for line in lines),
            '"""',
            "[objects]",
            *(f'{key} = "{key}"' for key in OBJECTS),
        ]
    )
    drawn = parse_layout(text, name, "drawing")
    assert np.array_equal(drawn.cells, layout.cells)
    assert np.array_equal(drawn.zones, layout.zones)
    assert np.array_equal(drawn.doors, layout.doors)
    assert (drawn.counter, drawn.away) == (layout.counter, layout.away)


def draw(layout: Layout) -> list[str]:
    """Return the drawing's lines without the column numbers."""
    return draw_layout(layout).splitlines()[1:]


@pytest.mark.parametrize("name", list_layouts())
def test_a_crowd_of_ten_gets_through_under_every_norm(name: str) -> None:
    layout = get_layout(name)
    engine = BatchEngine([layout], NORMS, len(NORMS))
    for row, norm in enumerate(NORMS):
        spec = draw_episode(
            layout, norm, seed=7, num_agents=10, num_learners=0, limit=CROWD_TURNS + 1
        )
        engine.load(row, spec)
    actions = np.full((len(NORMS), 10), 4, np.int8)
    violations = np.zeros(len(NORMS), int)
    finished = np.zeros((len(NORMS), 10), int)
    for _ in range(CROWD_TURNS):
        present = engine.states["present"] != 0
        engine.step(actions)
        violations += np.count_nonzero(engine.states["violated"], axis=1)
        finished += present & (engine.states["present"] == 0)
    assert not violations.any(), [NORMS[row].id for row in np.flatnonzero(violations)]
    slow = np.flatnonzero(finished.min(axis=1) < MIN_FINISHED)
    assert not len(slow), [NORMS[row].id for row in slow]
