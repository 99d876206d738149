"""How a worked example is written, turned into a world, and compared.

A drawing shows a window of a map in columns: first the situation before the step, then what
follows, one column for every outcome that chance allows. Digits are persons, by slot; the other
characters are the map's, with q and r for floor in zone Q and R. Which outcome is due follows
from the seed, by the draws listed for it in `paths`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import naive

LETTERS = "UDLRW"
"""UP, DOWN, LEFT, RIGHT, WAIT, as `actions` and `ties` write them."""

HALL = """
title = "Hall"
place = "A wide hall without obstacles."
cells = '''
######S########
#.............#
#.............#
#.h.h.........#
#.............#
A.............#
#.............#
#.h.h.....h.h.#
#.............C
#.............#
########B######
'''
zones = '''
...............
...............
...............
.......QQ......
.......QQ......
...............
......RRR......
......RRR......
...............
...............
...............
'''
[objects]
counter = "counter"
chair = "chair"
table = "table"
display = "display"
"""

NOOKS = """
title = "Nooks"
place = "Narrow nooks between tables, most of them without a way out."
cells = '''
######S########
#.............#
#.ttttttttttt.#
#.t...t.....t.#
#.ttttt.t.ttt.#
A.t..t..t.ttt.#
#.t..tt.ttttt.#
#.thtttt...tt.#
#.ttttttt.ttt.C
#.............#
#########B#####
'''
zones = '''
...............
...............
...............
...............
...............
...............
...............
...............
...............
...............
...............
'''
[objects]
counter = "counter"
chair = "chair"
table = "table"
display = "display"
"""

MAPS = {"hall": HALL, "nooks": NOOKS}
"""Maps as TOML text. They break conditions that shipped maps must meet."""

FLAGS = ("own", "displaced", "collided", "violated", "auto", "goal", "gone")
Draw = tuple[int, int, int, int]
"""Stream, index, number of options, option."""


def cell(row: int, column: int) -> int:
    """Return the index of a cell."""
    return row * naive.WIDTH + column


def keep(row: int, column: int, number: int, option: int, attempt: int = 0) -> Draw:
    """Who keeps the contested cell (row, column), counted by the cell they came from."""
    return (1, cell(row, column) + 1000 * attempt, number, option)


def place(row: int, column: int, number: int, option: int, attempt: int = 0) -> Draw:
    """Which free neighbour, U D L R, takes in the displaced person that came from the cell."""
    return (2, cell(row, column) + 1000 * attempt, number, option)


def chain(row: int, column: int, number: int, option: int, attempt: int = 0) -> Draw:
    """Which of the shortest chains makes room for the displaced person from the cell."""
    return (3, cell(row, column) + 1000 * attempt, number, option)


@dataclass(frozen=True)
class Person:
    """What of a person differs from one on its way to a far corner and then to the left door."""

    group: str = "orange"
    goal1_kind: int = naive.PLACE
    goal1_cell: int = cell(9, 13)
    goal2_door: int = 0
    leg: int = 0
    timer: int = 0
    holder: bool = False
    streak: int = 0
    visited: bool = False
    courtesy: int = 0
    driver: int = naive.EXTERNAL
    priority: int = -1  # rank; -1 its slot number


NOBODY_SPECIAL = Person()
QUEUES = Person(goal1_kind=naive.COUNTER, goal1_cell=-1)
"""One who waits for the counter."""


def read_columns(drawing: str) -> list[list[str]]:
    """Split a drawing into its columns, each a list of lines."""
    lines = [line.split() for line in drawing.strip().splitlines()]
    return [list(column) for column in zip(*lines, strict=True)]


def find_persons(window: Sequence[str], at: tuple[int, int]) -> dict[int, int]:
    """Return the cell of every person drawn in a window, by slot."""
    return {
        int(character): cell(at[0] + row, at[1] + column)
        for row, line in enumerate(window)
        for column, character in enumerate(line)
        if character.isdigit()
    }


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What an example starts from."""

    name: str
    about: str
    drawing: str
    at: tuple[int, int]  # (row, column) of the window's top left cell
    layout: str = "hall"
    persons: Mapping[int, Person] = field(default_factory=dict)
    norms: tuple[str, ...] = ()
    norms_after: tuple[str, ...] = ()
    change_turn: int = -1
    rows: tuple[Mapping[str, Any], ...] = ()  # norm rows that are not in the library
    turn: int = 0

    def world(self, norm_rows: Mapping[str, naive.Row], seed: int = 0) -> naive.NaiveWorld:
        """Return the situation as a world of the plain restatement.

        Args:
            norm_rows: the norm library's rows, by id.
            seed: of the draws.

        Returns:
            NaiveWorld with one slot for every number up to the largest drawn.
        """
        layout = naive.load_map(MAPS[self.layout])
        columns = read_columns(self.drawing)
        for window in columns:
            self.check_window(window, layout)
        places = find_persons(columns[0], self.at)
        slots = []
        for slot in range(max(places) + 1):
            person = self.persons.get(slot, NOBODY_SPECIAL)
            position = places.get(slot, -1)
            slots.append(
                naive.NaiveSlot(
                    present=slot in places,
                    pos=position,
                    prev=position,
                    group=naive.GROUPS.index(person.group),
                    goal1_kind=person.goal1_kind,
                    goal1_cell=person.goal1_cell if person.goal1_kind == naive.PLACE else -1,
                    goal2_door=person.goal2_door,
                    leg=person.leg,
                    timer=person.timer,
                    holder=person.holder,
                    streak=person.streak,
                    visited=person.visited,
                    courtesy=person.courtesy,
                    driver=person.driver,
                    priority=slot if person.priority < 0 else person.priority,
                )
            )
        return naive.NaiveWorld(
            layout,
            {**norm_rows, **{row["id"]: dict(row) for row in self.rows}},
            slots=slots,
            norms=list(self.norms),
            norms_after=list(self.norms_after),
            change_turn=self.change_turn,
            turn=self.turn,
            limit=1000,
            seed=seed,
        )

    def check_window(self, window: Sequence[str], layout: naive.NaiveLayout) -> None:
        """Refuse a drawing that does not show the map."""
        for row, line in enumerate(window):
            for column, drawn in enumerate(line):
                here = cell(self.at[0] + row, self.at[1] + column)
                marked = {"Q": "q", "R": "r"}.get(layout.zones[here], layout.cells[here])
                if not drawn.isdigit() and drawn != marked:
                    raise ValueError(f"{self.name}: {drawn!r} drawn for {marked!r}, line {row}")


@dataclass(frozen=True, kw_only=True)
class Example(Situation):
    """One step and its result.

    An expectation lists what is true of a slot after the step: own (made a move of its own),
    displaced, collided (charged), violated, auto, goal (completed one), gone; `name=number` for
    other facts; and its reward where it is not -0.1. Flags that are not listed are false.
    """

    actions: str = ""  # letters in the order of the slots, W where there are none
    expect: Mapping[int, str] | Sequence[Mapping[int, str]] = field(default_factory=dict)
    paths: tuple[tuple[Draw, ...], ...] = ((),)  # draws that lead to each outcome

    def chosen_actions(self) -> dict[int, int]:
        """Return the actions of all slots that are given one."""
        return {slot: LETTERS.index(letter) for slot, letter in enumerate(self.actions)}

    def due_outcome(self, seed: int) -> int:
        """Return the number of the outcome that the seed's draws prescribe."""
        due = [
            number
            for number, path in enumerate(self.paths)
            if all(
                (naive.draw(seed, self.turn, stream, index) >> 32) * options >> 32 == option
                for stream, index, options, option in path
            )
        ]
        if len(due) != 1 or len(read_columns(self.drawing)) != len(self.paths) + 1:
            raise ValueError(f"{self.name}: outcomes {due} of {len(self.paths)} are due")
        return due[0]

    def expected(self, outcome: int) -> dict[int, dict[str, Any]]:
        """Return the facts of every slot after the step.

        Args:
            outcome: number of the column, 0 the first after "before".

        Returns:
            slot -> {fact: value}; facts are NaiveSlot's attributes, `reward` included.
        """
        columns = read_columns(self.drawing)
        before = find_persons(columns[0], self.at)
        after = find_persons(columns[1 + outcome], self.at)
        listed = self.expect if isinstance(self.expect, Mapping) else self.expect[outcome]
        facts: dict[int, dict[str, Any]] = {}
        for slot in before:
            words = listed.get(slot, "").split()
            flags = [word for word in words if word in FLAGS]
            known: dict[str, Any] = {
                "own_move": "own" in flags,
                "displaced": "displaced" in flags,
                "collided": "collided" in flags,
                "violated": "violated" in flags,
                "auto": "auto" in flags,
                "goals": int("goal" in flags),
                "present": "gone" not in flags,
                "prev": before[slot],
                "reward": -0.1,
            }
            if "gone" not in flags:
                known["pos"] = after[slot]
            for word in words:
                if "=" in word:
                    name, value = word.split("=")
                    known[name] = int(value)
                elif word not in FLAGS:
                    known["reward"] = float(word)
            facts[slot] = known
        return facts


@dataclass(frozen=True, kw_only=True)
class PlanExample(Situation):
    """What the planner foresees (the second column) and chooses."""

    ties: Mapping[int, str]  # letters of the equally good first actions
    courtesy: tuple[int, ...] = ()  # slots that wait for others
