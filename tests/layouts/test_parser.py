"""Map files: what a sound one becomes, and the message for each way to break one."""

from pathlib import Path

import numpy as np
import pytest

import normgym_envs.layouts as layouts
from normgym_envs.constants import GRID_WIDTH, Cell, Region, Zone
from normgym_envs.errors import LayoutError, UnknownNameError
from normgym_envs.layouts import draw_layout, draw_path, get_layout, list_layouts, parse_layout
from normgym_envs.types import Layout

TEXT = (Path(layouts.__file__).parent / "maps" / "cafe.toml").read_text(encoding="utf-8")


def read(old: str, new: str) -> Layout:
    """Parse the café with the first `old` of its file replaced."""
    assert old in TEXT
    return parse_layout(TEXT.replace(old, new, 1), "broken", "broken.toml")


def test_the_cafe_is_read_as_drawn() -> None:
    cafe = get_layout("cafe")
    assert cafe.title == "Café"
    assert [divmod(int(door), GRID_WIDTH) for door in cafe.doors] == [(5, 0), (10, 6), (8, 14)]
    assert divmod(cafe.counter, GRID_WIDTH) == (0, 10)
    assert divmod(cafe.service, GRID_WIDTH) == (1, 10)
    assert cafe.away == (1, 0)
    assert cafe.cells.shape == cafe.zones.shape == (11, 15)
    assert [cafe.cells[2, 2], cafe.cells[2, 3], cafe.cells[2, 7]] == [
        Cell.CHAIR,
        Cell.TABLE,
        Cell.DISPLAY,
    ]
    assert np.count_nonzero(cafe.zones == Zone.Q) == 4
    regions = dict(zip(cafe.chairs.tolist(), cafe.regions.tolist(), strict=True))
    assert regions[2 * GRID_WIDTH + 2] == Region.TL
    assert regions[7 * GRID_WIDTH + 2] == Region.BL
    assert regions[8 * GRID_WIDTH + 12] == Region.BR
    assert cafe.destinations[0] == (2 * GRID_WIDTH + 2, "the chair")
    assert (3 * GRID_WIDTH + 6, "the pastry display") in cafe.destinations
    assert cafe.objects["display"] == "pastry display"


def test_the_ring_runs_clockwise_from_the_top_left_corner() -> None:
    ring = [divmod(int(cell), GRID_WIDTH) for cell in get_layout("cafe").ring]
    assert len(ring) == len(set(ring)) == 40
    assert [ring[0], ring[1], ring[12], ring[20], ring[32], ring[39]] == [
        (1, 1),
        (1, 2),
        (1, 13),
        (9, 13),
        (9, 1),
        (2, 1),
    ]


def test_arrays_are_read_only_and_shared() -> None:
    cafe = get_layout("cafe")
    assert get_layout("cafe") is cafe
    for array in (cafe.cells, cafe.zones, cafe.doors, cafe.chairs, cafe.regions, cafe.ring):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 1


@pytest.mark.parametrize(
    ("row", "column", "away"), [(5, 0, (0, 1)), (5, 14, (0, -1)), (0, 7, (1, 0)), (10, 3, (-1, 0))]
)
def test_away_points_into_the_room(row: int, column: int, away: tuple[int, int]) -> None:
    lines = drawing("cells").split("\n")
    lines[0] = lines[0].replace("S", "#")
    lines[5] = "#" + lines[5][1:]
    lines[4] = "A" + lines[4][1:]
    lines[2] = "#.............#"
    lines[4] = "A.............#"
    lines[row] = lines[row][:column] + "S" + lines[row][column + 1 :]
    layout = read(drawing("cells"), "\n".join(lines))
    assert layout.away == away
    assert layout.service == layout.counter + away[0] * GRID_WIDTH + away[1]


def drawing(key: str) -> str:
    """Return one of the two drawings of the café's file."""
    return TEXT.split(f'{key} = """\n')[1].split('\n"""')[0]


def test_unknown_layout_names_what_is_near() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown layout 'caffe'; did you mean 'cafe'\?"):
        get_layout("caffe")
    assert list_layouts()[0] == "cafe"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#.ttt..d......#\n", "", "cells, row 10, column 0: the drawing has 10 lines; expected 11"),
        (
            "#.ttt..d......#",
            "#.ttt..d.....#",
            "cells, row 3, column 14: the line has 14 characters",
        ),
        ("#.ttt..d......#", "#.ttt..d......#.", "cells, row 3, column 15: the line has 16"),
        ("#.ttt..d......#", "#.ttt..x......#", "cells, row 3, column 7: unknown character 'x'"),
        ("......QQ.", "......QX.", "zones, row 4, column 7: unknown character 'X'"),
        ("#.ttt..d......#", "#.ttt..dS.....#", "row 3, column 8: a second counter; the first is"),
        ("##########S####", "###############", "cells: no counter; expected one S in a wall"),
        ("##########S####", "###########.###", "row 0, column 11: floor in the outer wall"),
        ("##########S####", "S##############", "row 0, column 0: the counter S must lie in"),
        ("##########S####", "####A#####S####", "row 0, column 4: the left door A must lie in the"),
        ("A.............#", "#.............#", "cells: no left door; expected one A in the left"),
        ("A.............#", "B.............#", "row 5, column 0: the bottom door B must lie in"),
        ("A.............#", "A..h..........#", "row 5, column 3: a chair on the left door's row"),
        ("#.ttt..d......#", "#.ttt.hd......#", "row 3, column 6: a chair on the bottom door's co"),
        ("#.ttt..d......#", "#.ttt..d.h....#", "row 3, column 9: a chair at the top right"),
        ("......QQ.", ".Qh...QQ.", "zones, row 4, column 2: unknown character 'h'"),
        ("......QQ.", "..Q...QQ.", "zones, row 4, column 2: a zone on a chair cell"),
        ("cell = [3, 6]", "cell = [3, 7]", "entry 1: row 3, column 7 is a display cell"),
        ("cell = [3, 6]", "cell = [3, 60]", r"entry 1: cell is \[3, 60\]; expected \[row, column"),
        ("cell = [3, 6]", "cell = [7, 6]", "entry 2: row 7, column 6 is named twice"),
        ('name = "the pastry display"', "name = 3", "entry 1: name is 3"),
        (
            'table = "table"',
            'tabel = "table"',
            "objects: unknown key 'tabel'; did you mean 'table'",
        ),
        ('table = "table"', "", "objects.table is None"),
        ('title = "Café"', "", "title is None; expected one line of text"),
        ('title = "Café"', 'titel = "Café"', "unknown key 'titel'; did you mean 'title'"),
        ('title = "Café"', "title = Café", "broken.toml: not valid TOML"),
        ("cells = ", "objects_ = ", "unknown key 'objects_'; did you mean 'objects'"),
    ],
)
def test_broken_files_say_where(old: str, new: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message) as caught:
        read(old, new)
    assert str(caught.value).startswith("broken.toml:")


def test_drawings_number_rows_columns_and_paths() -> None:
    cafe = get_layout("cafe")
    lines = draw_layout(cafe, {16: "me"}).splitlines()
    assert len(lines) == 12
    assert lines[0].split() == [str(column) for column in range(15)]
    assert lines[2].split()[:3] == ["1", "#", "me"]
    assert lines[6].split() == ["5", *"A.....QQ......#"]
    assert lines[9].split()[-1] == "C"
    assert draw_path(cafe, [25, 26, -1]).splitlines()[2].split()[11:14] == ["1", "2", "."]
