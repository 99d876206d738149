"""Every map meets every condition, and each condition is what a broken map is told."""

from pathlib import Path

import pytest

import normgym_envs.layouts as layouts
from normgym_envs.errors import LayoutError
from normgym_envs.layouts import get_layout, list_layouts, parse_layout, validate
from normgym_envs.layouts.validate import list_problems, validate_layout
from normgym_envs.norms.library import load_norms
from normgym_envs.protocol.trips import list_detour_problems
from normgym_envs.types import Layout, Norm

TEXT = (Path(layouts.__file__).parent / "maps" / "cafe.toml").read_text(encoding="utf-8")


def mutate(cells: dict[tuple[int, int], str], zones: dict[tuple[int, int], str]) -> Layout:
    """Return the café with some characters of its two drawings replaced."""
    text = TEXT
    for key, changes in (("cells", cells), ("zones", zones)):
        old = text.split(f'{key} = """\n')[1].split('\n"""')[0]
        lines = [list(line) for line in old.split("\n")]
        for (row, column), character in changes.items():
            lines[row][column] = character
        text = text.replace(old, "\n".join("".join(line) for line in lines))
    return parse_layout(text, "mutant", "mutant.toml")


@pytest.mark.parametrize("name", list_layouts())
def test_every_layout_is_sound(name: str) -> None:
    validate_layout(get_layout(name))


@pytest.mark.parametrize("name", list_layouts())
def test_every_norm_can_come_into_conflict(name: str) -> None:
    assert list_detour_problems(get_layout(name), load_norms()) == []


BREACHES = [
    ({(9, 5): "t"}, {}, "ring: row 9, column 5 is a table; expected floor"),
    ({(2, 2): "t", (2, 4): "t"}, {}, "seats: region TL has 2 chair(s); expected at least 3"),
    ({}, {(4, 6): ".", (4, 7): ".", (5, 6): ".", (5, 7): "."}, "zones: no cell of zone Q"),
    ({(3, 10): "t"}, {}, "queue block: row 3, column 10 is not floor"),
    ({(8, 9): "."}, {}, "bend-left-1, the served person cannot leave by the door at row 5"),
    (
        {(7, 2): "t", (2, 3): "."},
        {},
        "ring chairs: 2 chair(s) can be reached from the ring only; expected 3 on different walls",
    ),
    (
        {(6, 12): "t", (8, 12): "t", (7, 10): "h"},
        {},
        "doors: door C is the nearest of no chair",
    ),
    ({(8, 4): "t", (8, 3): "h"}, {}, "doors: no door has a BL chair as its only nearest chair"),
    ({(6, 12): "t"}, {}, "seat order: the first chair from the right, row 8, column 12, is also"),
    ({}, {(4, 5): "Q"}, "zone Q: the chair at row 4, column 4 is next to it"),
    ({}, {(8, 5): "Q"}, "zone Q: its cells do not hang together"),
    (
        {},
        {(row, column): "Q" for row in (3, 4, 5) for column in (8, 9)},
        "zone Q: more than 2 thick",
    ),
    (
        {},
        {(4, 6): ".", (4, 7): ".", (5, 6): ".", (5, 7): ".", (3, 8): "Q"},
        "zone Q: no shortest way between a door and a place leads through it",
    ),
    ({}, {(6, 9): "."}, "zone R: 3 cell(s); expected at least 4"),
    ({}, {(6, 9): ".", (5, 11): "R"}, "zone R: its cells do not hang together"),
    (
        {
            **{(6, 8): "t", (8, 8): "t", (6, 10): "t", (8, 10): "t"},
            **{(7, 10): ".", (6, 11): "h"},
        },
        {(6, 8): ".", (7, 10): "R"},
        "zone R: 1 way(s) in; expected at least 2",
    ),
]


@pytest.mark.parametrize(("cells", "zones", "message"), BREACHES)
def test_breaches_are_named(
    cells: dict[tuple[int, int], str], zones: dict[tuple[int, int], str], message: str
) -> None:
    problems = list_problems(mutate(cells, zones))
    assert any(message in problem for problem in problems), problems


def test_a_closed_room_is_not_connected() -> None:
    layout = mutate({(3, 3): "."}, {})
    assert list_problems(layout) == ["connected: row 3, column 3 cannot be reached"]


def test_zone_q_must_leave_a_way_round() -> None:
    layout = mutate({}, {(8, 13): "Q"})
    assert list_problems(layout) == ["connected: row 8, column 14 cannot be reached without zone Q"]


def test_short_queue_paths_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "MIN_PATH", 7)
    problems = list_problems(get_layout("cafe"))
    assert problems == ["queue path: bend-right-1 has 6 cells; expected at least 7"]


def test_a_norm_without_conflict_is_named() -> None:
    """Capacity norms bind nobody who is alone; a zone that nobody needs to cross costs nothing."""
    doors = {"doors": ("A", "B", "C")}
    norm = Norm("all-doors-allowed", "access", "exit_doors", doors, "Any door will do.")
    problems = list_detour_problems(get_layout("cafe"), [norm])
    assert problems == [
        f"conflict: all-doors-allowed never costs a person of group {group} a detour"
        for group in ("orange", "green", "blue")
    ]


def test_all_breaches_are_listed_on_their_own_lines() -> None:
    layout = mutate({}, {(6, 9): ".", (4, 5): "Q"})
    with pytest.raises(LayoutError) as caught:
        validate_layout(layout)
    lines = str(caught.value).splitlines()
    assert lines[0] == "layout 'mutant': 2 conditions are broken"
    assert len(lines) == 3
