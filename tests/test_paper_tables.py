"""The norm library against a transcription of the paper's tables, made by hand.

Kinds and parameters are compared, not formulas: on purpose the world departs from the formulas of
NG Table A2 in three places, which docs/rules.md explains:

* norms about zones R and Q judge entering a cell by one's own move; staying in zone R while others
  come is no violation there (capacity, single group);
* seats in order: the permitted seat is the first free one, since the printed formula blocks every
  seat once the filled ones are not the first of the order;
* whoever stands on a wrong chair or door by displacement, or waits there, breaks nothing.
"""

from typing import Any

import pytest

from normgym_envs.constants import FAMILIES, Goal1
from normgym_envs.norms.library import get_norm, goal_kinds, list_norms, load_norms

Row = tuple[str, str, dict[str, Any]]

# NG Table A2, row by row: our id, our kind, our parameters.
ACCESS: list[Row] = [
    ("forbidden-zone-q", "zone_forbidden", {"zone": "Q"}),
    ("all-exit-left", "exit_doors", {"doors": ("A",)}),
    ("all-exit-bottom", "exit_doors", {"doors": ("B",)}),
    ("all-exit-right", "exit_doors", {"doors": ("C",)}),
    ("left-door-forbidden", "exit_doors", {"doors": ("B", "C")}),
    ("bottom-door-forbidden", "exit_doors", {"doors": ("A", "C")}),
    ("right-door-forbidden", "exit_doors", {"doors": ("A", "B")}),
    ("bottom-left-seats-only", "seat_regions", {"regions": ("BL",)}),
    ("top-left-seats-only", "seat_regions", {"regions": ("TL",)}),
    ("bottom-right-seats-only", "seat_regions", {"regions": ("BR",)}),
    ("no-bottom-left-seats", "seat_regions", {"regions": ("TL", "BR")}),
    ("no-bottom-right-seats", "seat_regions", {"regions": ("TL", "BL")}),
]
PROCEDURE: list[Row] = [
    ("clockwise-circulation", "ring_direction", {"direction": "clockwise"}),
    ("counterclockwise-circulation", "ring_direction", {"direction": "counterclockwise"}),
    ("even-turns-only", "turn_residues", {"modulus": 2, "residues": (0,)}),
    ("odd-turns-only", "turn_residues", {"modulus": 2, "residues": (1,)}),
    ("no-turns-0-mod-3", "turn_residues", {"modulus": 3, "residues": (1, 2)}),
    ("no-turns-1-mod-3", "turn_residues", {"modulus": 3, "residues": (0, 2)}),
    ("no-turns-2-mod-3", "turn_residues", {"modulus": 3, "residues": (0, 1)}),
    ("move-1-wait-1", "move_wait", {"moves": 1}),
    ("move-2-wait-1", "move_wait", {"moves": 2}),
    ("move-3-wait-1", "move_wait", {"moves": 3}),
    ("visit-zone-q-first", "visit_first", {"zone": "Q"}),
]
COORDINATION: list[Row] = [
    ("bend-right-1", "queue_path", {"legs": ("right 1", "away *")}),
    ("bend-right-2", "queue_path", {"legs": ("right 2", "away *")}),
    ("bend-left-1", "queue_path", {"legs": ("left 1", "away *")}),
    ("bend-left-2", "queue_path", {"legs": ("left 2", "away *")}),
    (
        "zigzag-right-1",
        "queue_path",
        {"legs": ("right 1", "away 1", "left 1", "away 1"), "repeat": True},
    ),
    (
        "zigzag-right-2",
        "queue_path",
        {"legs": ("right 2", "away 1", "left 2", "away 1"), "repeat": True},
    ),
    (
        "zigzag-left-1",
        "queue_path",
        {"legs": ("left 1", "away 1", "right 1", "away 1"), "repeat": True},
    ),
    (
        "zigzag-left-2",
        "queue_path",
        {"legs": ("left 2", "away 1", "right 2", "away 1"), "repeat": True},
    ),
    ("staircase-right", "queue_path", {"legs": ("right 1", "away 1", "right 1", "away *")}),
    ("staircase-left", "queue_path", {"legs": ("left 1", "away 1", "left 1", "away *")}),
    ("l-shape-right", "queue_path", {"legs": ("away 2", "right 2", "away *")}),
    ("l-shape-left", "queue_path", {"legs": ("away 2", "left 2", "away *")}),
    (
        "square-right",
        "queue_path",
        {"legs": ("right 1", "away 2", "left 2", "toward 1"), "length": 7},
    ),
    (
        "square-left",
        "queue_path",
        {"legs": ("left 1", "away 2", "right 2", "toward 1"), "length": 7},
    ),
    ("edge-queue-left", "queue_path", {"legs": ("left-along-wall 3",), "length": 4}),
    ("edge-queue-right", "queue_path", {"legs": ("right-along-wall 3",), "length": 4}),
]
ALLOCATION: list[Row] = [
    ("zone-r-capacity-1", "zone_capacity", {"zone": "R", "capacity": 1}),
    ("zone-r-capacity-2", "zone_capacity", {"zone": "R", "capacity": 2}),
    ("single-group-zone-r", "zone_single_group", {"zone": "R"}),
    ("group-doors-abc", "group_doors", {"orange": "A", "green": "B", "blue": "C"}),
    ("group-doors-bca", "group_doors", {"orange": "B", "green": "C", "blue": "A"}),
    ("group-doors-cab", "group_doors", {"orange": "C", "green": "A", "blue": "B"}),
    ("group-seating-1", "group_seats", {"orange": "TL", "green": "BL", "blue": "BR"}),
    ("group-seating-2", "group_seats", {"orange": "BL", "green": "BR", "blue": "TL"}),
    ("group-seating-3", "group_seats", {"orange": "BR", "green": "TL", "blue": "BL"}),
    ("seats-left-to-right", "seat_order", {"order": "left-to-right"}),
    ("seats-right-to-left", "seat_order", {"order": "right-to-left"}),
]
TABLE_A2 = dict(zip(FAMILIES, (ACCESS, PROCEDURE, COORDINATION, ALLOCATION), strict=True))
QUEUE_DEFAULTS = {"repeat": False, "length": 0}

# NG Table A3: our kinds of each of the paper's norm families, goal 1, whether the exit is chosen.
TABLE_A3 = [
    (("queue_path",), Goal1.COUNTER, False),
    (
        ("ring_direction", "turn_residues", "move_wait", "visit_first", "zone_forbidden"),
        Goal1.PLACE,
        False,
    ),
    (("zone_capacity", "zone_single_group"), Goal1.ANY_ZONE_R, False),
    (("exit_doors", "group_doors"), Goal1.PLACE, True),
    (("seat_regions", "group_seats", "seat_order"), Goal1.ANY_CHAIR, False),
]

# NG Table A4: sizes of the two parts, and the held-out norms under our ids.
TABLE_A4 = {
    "access": (
        8,
        {
            "all-exit-bottom",
            "right-door-forbidden",
            "bottom-right-seats-only",
            "no-bottom-right-seats",
        },
    ),
    "procedure": (
        7,
        {"counterclockwise-circulation", "even-turns-only", "no-turns-1-mod-3", "move-2-wait-1"},
    ),
    "coordination": (
        11,
        {"zigzag-left-2", "bend-right-2", "square-left", "staircase-right", "l-shape-left"},
    ),
    "allocation": (
        7,
        {"zone-r-capacity-2", "group-doors-cab", "group-seating-2", "seats-right-to-left"},
    ),
}


def test_table_a2_sizes() -> None:
    assert [len(rows) for rows in TABLE_A2.values()] == [12, 11, 16, 11]
    assert len(load_norms()) == 50


@pytest.mark.parametrize("family", FAMILIES)
def test_table_a2_rows(family: str) -> None:
    rows = [(norm.id, norm.kind, dict(norm.parameters))
            for norm in load_norms() if norm.family == family]  # fmt: skip
    expected = [
        (norm_id, kind, {**QUEUE_DEFAULTS, **parameters} if kind == "queue_path" else parameters)
        for norm_id, kind, parameters in TABLE_A2[family]
    ]
    assert rows == expected


def test_table_a3_goals() -> None:
    for kinds, goal1, any_door in TABLE_A3:
        for norm in load_norms():
            if norm.kind in kinds:
                assert goal_kinds(norm) == (goal1, any_door), norm.id
    listed = {kind for kinds, _, _ in TABLE_A3 for kind in kinds}
    assert listed == {norm.kind for norm in load_norms()}


@pytest.mark.parametrize("family", FAMILIES)
def test_table_a4_split(family: str) -> None:
    size, held_out = TABLE_A4[family]
    assert len(list_norms(family, "train")) == size
    assert set(list_norms(family, "held-out")) == held_out


def test_everything_binds_everybody_always() -> None:
    default = get_norm("all-exit-left").scope
    assert default.groups == ("orange", "green", "blue")
    assert default.turns[0] == 0
    assert all(norm.scope == default for norm in load_norms())
