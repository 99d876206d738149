"""Queue paths and seat orders, against cells read off the café by hand."""

from typing import Any

import pytest

from normgym_envs.constants import GRID_WIDTH
from normgym_envs.errors import NormError
from normgym_envs.layouts import get_layout, parse_layout
from normgym_envs.norms.geometry import parse_leg, queue_path, seat_order
from normgym_envs.norms.library import get_norm
from normgym_envs.types import Layout

SIDEWAYS = """
title = "Test"
place = "A hall with its counter in the left wall."
cells = '''
###############
#.............#
A.............#
#.............#
#.............#
#.............#
S.............#
#.............#
#.............C
#.............#
#######B#######
'''
zones = '''
{zones}
'''
[objects]
counter = "counter"
chair = "chair"
table = "table"
display = "display"
""".replace("{zones}", "\n".join(["." * 15] * 11))

PATHS = {
    "bend-right-1": [(1, 10), (1, 11), (2, 11), (3, 11), (4, 11), (5, 11)],
    "bend-right-2": [(1, 10), (1, 11), (1, 12), (2, 12), (3, 12), (4, 12), (5, 12)],
    "bend-left-1": [(1, 10), *[(row, 9) for row in range(1, 8)]],
    "bend-left-2": [(1, 10), (1, 9), *[(row, 8) for row in range(1, 9)]],
    "zigzag-right-1": [
        *[(1, 10), (1, 11), (2, 11), (2, 10), (3, 10), (3, 11), (4, 11), (4, 10), (5, 10), (5, 11)]
    ],
    "zigzag-left-2": [
        *[(1, 10), (1, 9), (1, 8), (2, 8), (2, 9), (2, 10), (3, 10), (3, 9), (3, 8), (4, 8)]
    ],
    "staircase-right": [(1, 10), (1, 11), (2, 11), (2, 12), (3, 12), (4, 12), (5, 12)],
    "l-shape-left": [(1, 10), (2, 10), (3, 10), (3, 9), *[(row, 8) for row in range(3, 9)]],
    "square-right": [(1, 10), (1, 11), (2, 11), (3, 11), (3, 10), (3, 9), (2, 9)],
    "square-left": [(1, 10), (1, 9), (2, 9), (3, 9), (3, 10), (3, 11), (2, 11)],
    "edge-queue-left": [(1, 10), (1, 9), (1, 8), (1, 7)],
    "edge-queue-right": [(1, 10), (1, 11), (1, 12), (1, 13)],
}


def walk(layout: Layout, **parameters: Any) -> list[tuple[int, int]]:
    """Return a path as (row, column) pairs."""
    return [divmod(int(cell), GRID_WIDTH) for cell in queue_path(layout, parameters)]


@pytest.mark.parametrize("norm_id", PATHS)
def test_paths_on_the_cafe(norm_id: str) -> None:
    assert walk(get_layout("cafe"), **get_norm(norm_id).parameters) == PATHS[norm_id]


def test_right_is_that_of_one_who_faces_the_counter() -> None:
    hall = parse_layout(SIDEWAYS, "hall", "hall.toml")
    assert walk(hall, legs=["right 1", "away 1"]) == [(6, 1), (5, 1), (5, 2)]
    assert walk(hall, legs=["left 1", "away 2", "toward 1"]) == [(6, 1), (7, 1), (7, 2), (7, 3)]
    assert walk(hall, legs=["left-along-wall *"], length=6) == [
        *[(6, 1), (7, 1), (8, 1), (9, 1), (9, 2), (9, 3)]
    ]
    assert walk(hall, legs=["right-along-wall *"])[-3:] == [(1, 3), (1, 4), (1, 5)]
    assert walk(hall, legs=["away 1", "right-along-wall 1"]) == [(6, 1), (6, 2)]


def test_paths_stop_at_ten_cells_at_things_and_at_themselves() -> None:
    cafe = get_layout("cafe")
    assert len(walk(cafe, legs=["left *"])) == 10
    assert walk(cafe, legs=["right 3", "right 1"])[-1] == (1, 13)
    assert walk(cafe, legs=["right 1", "away 1", "left 1", "toward 1", "left 1"])[-1] == (2, 10)
    assert len(walk(cafe, legs=["away 1"], length=1)) == 1


def test_legs() -> None:
    assert parse_leg("toward 12") == ("toward", 12)
    assert parse_leg("away *")[1] > 100
    for leg in ("up 1", "away", "away 0", "away -1", "away 1 2", ""):
        with pytest.raises(NormError, match="leg "):
            parse_leg(leg)


def test_seat_orders_go_column_by_column() -> None:
    cafe = get_layout("cafe")
    order = [divmod(int(cell), GRID_WIDTH) for cell in seat_order(cafe, "left-to-right")]
    assert order[:6] == [(2, 2), (4, 2), (7, 2), (6, 3), (2, 4), (4, 4)]
    order = [divmod(int(cell), GRID_WIDTH) for cell in seat_order(cafe, "right-to-left")]
    assert order[:5] == [(6, 12), (8, 12), (6, 10), (8, 10), (2, 4)]
    with pytest.raises(NormError, match="did you mean 'left-to-right'"):
        seat_order(cafe, "left-to-rigth")
