"""The world's facts and its norms, restated plainly: map, norm rows, persons, verdicts.

One of three files of the slow restatement that the compiled engine is tested against; `naive.py`
holds the step and names everything, `naive_planner.py` the planner. It imports nothing of the
project: map files and norm rows are read as TOML, and the few numbers are written out again.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEIGHT, WIDTH = 11, 15
UP, DOWN, LEFT, RIGHT, WAIT = range(5)
OFFSETS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # (row, column) of UP, DOWN, LEFT, RIGHT
EXTERNAL, NORM_AWARE, NORM_BLIND = range(3)
COUNTER, PLACE, ANY_CHAIR, ANY_ZONE_R = range(4)
GROUPS = ("orange", "green", "blue")
DOORS = "ABC"
ENTERABLE = ".h" + DOORS
LONGEST_PATH = 10
TEST_PHASES = ("seen", "unseen")
RUNNING, TERMINATED, TRUNCATED = range(3)
ABOUT_OTHERS = ("zone_capacity", "zone_single_group", "seat_order")  # dropped when relaxed

MASK = 2**64 - 1
Row = dict[str, Any]
"""A norm as its TOML row gives it."""


@dataclass(frozen=True)
class NaiveLayout:
    """A map as text: one character per cell, and where the named things are."""

    cells: str  # 165 characters of the map file's legend
    zones: str  # 165 characters: "." none, "Q", "R"
    doors: tuple[int, int, int]  # cells of A, B, C; -1 where a test map has none
    counter: int
    service: int
    away: tuple[int, int]  # (row, column) step from the counter into the room
    chairs: tuple[int, ...]  # ascending
    regions: dict[int, str]  # chair cell -> "TL", "BL", "BR", or "" for none
    ring: tuple[int, ...]  # clockwise from the top-left corner

    def enterable(self, cell: int) -> bool:
        """Return whether a person can stand on `cell`."""
        return cell >= 0 and self.cells[cell] in ENTERABLE

    def is_door(self, cell: int) -> bool:
        """Return whether `cell` is one of the three doors."""
        return self.cells[cell] in DOORS


def neighbour(cell: int, action: int) -> int:
    """Return the cell one step away in the direction of `action`, or -1 outside the grid."""
    row, column = divmod(cell, WIDTH)
    row, column = row + OFFSETS[action][0], column + OFFSETS[action][1]
    return row * WIDTH + column if 0 <= row < HEIGHT and 0 <= column < WIDTH else -1


def neighbours(cell: int) -> list[int]:
    """Return the cells beside `cell` in the order UP, DOWN, LEFT, RIGHT."""
    return [n for n in (neighbour(cell, action) for action in range(4)) if n >= 0]


def make_layout(cells: str, zones: str = "") -> NaiveLayout:
    """Read the two drawings of a map; none of the conditions on maps is checked.

    Args:
        cells: 11 lines of 15 characters.
        zones: 11 lines of 15 characters; empty for no zones.

    Returns:
        NaiveLayout.
    """
    flat = "".join(cells.split())
    marks = "".join(zones.split()) or "." * (HEIGHT * WIDTH)
    if len(flat) != HEIGHT * WIDTH or len(marks) != HEIGHT * WIDTH:
        raise ValueError(f"a map has {HEIGHT * WIDTH} characters, not {len(flat)}, {len(marks)}")
    doors = (flat.find("A"), flat.find("B"), flat.find("C"))
    counter = flat.find("S")
    row, column = divmod(counter, WIDTH)
    if row in (0, HEIGHT - 1):
        away = (1 if row == 0 else -1, 0)
    else:
        away = (0, 1 if column == 0 else -1)
    chairs = tuple(cell for cell, character in enumerate(flat) if character == "h")
    regions = {}
    for chair in chairs:
        above, below = chair // WIDTH < doors[0] // WIDTH, chair // WIDTH > doors[0] // WIDTH
        left, right = chair % WIDTH < doors[1] % WIDTH, chair % WIDTH > doors[1] % WIDTH
        named = {"TL": above and left, "BL": below and left, "BR": below and right}
        regions[chair] = "".join(name for name, inside in named.items() if inside)
    first, last, low, high = 1, WIDTH - 2, 1, HEIGHT - 2
    corners = [(low, column) for column in range(first, last + 1)]
    corners += [(row, last) for row in range(low + 1, high + 1)]
    corners += [(high, column) for column in range(last - 1, first - 1, -1)]
    corners += [(row, first) for row in range(high - 1, low, -1)]
    ring = tuple(row * WIDTH + column for row, column in corners)
    service = counter + away[0] * WIDTH + away[1]
    return NaiveLayout(flat, marks, doors, counter, service, away, chairs, regions, ring)


def load_map(source: Path | str) -> NaiveLayout:
    """Read a map file, given by its path or as TOML text."""
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    table = tomllib.loads(text)
    return make_layout(table["cells"], table["zones"])


def load_norms(source: Path | str) -> dict[str, Row]:
    """Read norm rows, given by the path of their file or as TOML text, by id."""
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    return {row["id"]: row for row in tomllib.loads(text)["norm"]}


@dataclass
class NaiveSlot:
    """One slot and the person in it; of an empty slot only the first three fields mean anything."""

    present: bool = False
    person: int = 0  # number of persons before the present or coming one
    arrival: int = 0  # turn at which that person was or is due
    pos: int = -1
    prev: int = -1  # cell before the last step
    came_from: int = -1  # cell left by the last own move; -1 when nothing keeps from going there
    group: int = 0
    goal1_kind: int = PLACE
    goal1_cell: int = -1
    goal2_door: int = -1  # -1 any door
    leg: int = 0
    timer: int = 0  # turns of service so far
    holder: bool = False
    action: int = -1  # played in the last step; -1 for one who has just appeared
    own_move: bool = False
    displaced: bool = False
    collided: bool = False  # charged with a collision
    violated: bool = False
    streak: int = 0  # own moves in a row
    visited: bool = False  # has stood in zone Q
    courtesy: int = 0
    new: bool = False
    auto: bool = False  # WAIT was played for it
    goals: int = 0  # completed in the last step
    driver: int = EXTERNAL
    predicted: int = NORM_AWARE  # how others foresee it when its driver is EXTERNAL
    priority: int = 0  # rank, 0 first
    reward: float = 0.0

    @property
    def held(self) -> bool:
        """Whether only WAIT is available: being served, or holding a place in R."""
        return self.present and ((self.leg == 0 and self.timer > 0) or self.holder)


@dataclass
class NaiveWorld:
    """One episode's state; every field may be set by hand."""

    layout: NaiveLayout
    norm_rows: dict[str, Row]
    slots: list[NaiveSlot] = field(default_factory=list)
    norms: list[str] = field(default_factory=list)
    norms_after: list[str] = field(default_factory=list)
    change_turn: int = -1
    turn: int = 0
    limit: int = 200
    ended: int = RUNNING
    seed: int = 0
    phase: str = "free"
    rosters: list[list[dict[str, Any]]] = field(default_factory=list)  # [] : nobody comes
    released: bool = False  # holders have been let go
    paths: dict[str, list[int]] = field(default_factory=dict)  # queue paths seen so far, by norm

    def norms_in_force(self) -> list[Row]:
        """Return the rows of the norms that are in force on the present turn."""
        changed = 0 <= self.change_turn <= self.turn
        return [self.norm_rows[name] for name in (self.norms_after if changed else self.norms)]

    def others(self, slot: int) -> list[NaiveSlot]:
        """Return the present persons except the one in `slot`."""
        return [other for i, other in enumerate(self.slots) if other.present and i != slot]


def splitmix64(x: int) -> int:
    """Return the SplitMix64 hash of a 64-bit number."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def draw(seed: int, turn: int, stream: int, index: int) -> int:
    """Return the 64 random bits of one event of an episode."""
    bits = splitmix64(seed & MASK)
    for number in (turn, stream, index):
        bits = splitmix64((bits + number) & MASK)
    return bits


def choose(world: NaiveWorld, stream: int, index: int, number: int) -> int:
    """Return a uniform choice among `number` options, in [0, number)."""
    return ((draw(world.seed, world.turn, stream, index) >> 32) * number) >> 32


def queue_path(layout: NaiveLayout, parameters: Row) -> list[int]:
    """Draw the path of a queue, cell by cell, from the service cell on.

    Source: NG App. "The Norm Library", notation of the queue path.
    """
    right = (-layout.away[1], layout.away[0])  # of one who faces the counter
    steps = {
        "away": layout.away,
        "toward": (-layout.away[0], -layout.away[1]),
        "right": right,
        "left": (-right[0], -right[1]),
    }
    longest = parameters.get("length", 0) or LONGEST_PATH
    path = [layout.service]
    while True:
        for leg in parameters["legs"]:
            direction, count = leg.split()
            for _ in range(longest if count == "*" else int(count)):
                if direction in steps:
                    cell = path[-1] + steps[direction][0] * WIDTH + steps[direction][1]
                else:  # along the wall; to the right is clockwise, whichever wall it is
                    onward = 1 if direction == "right-along-wall" else -1
                    here = layout.ring.index(path[-1])
                    cell = layout.ring[(here + onward) % len(layout.ring)]
                if len(path) == longest or layout.cells[cell] != ".":
                    return path
                path.append(cell)
        if not parameters.get("repeat", False):
            return path


def is_waiting(person: NaiveSlot) -> bool:
    """Return whether a person still wants to be served at the counter."""
    return person.present and person.leg == 0 and person.goal1_kind == COUNTER


def queue_forbids(
    world: NaiveWorld, norm: Row, slot: int, old: int, new: int, relaxed: bool
) -> bool:
    """Return whether a queue forbids the move; relaxed, its last cell counts as the tail."""
    if not is_waiting(world.slots[slot]):
        return False
    if norm["id"] not in world.paths:
        world.paths[norm["id"]] = queue_path(world.layout, norm["parameters"])
    path = world.paths[norm["id"]]
    if new not in path:
        return False
    number = path.index(new) + 1
    if number < len(path) and path[number] == old:  # comes from the next place
        return False
    if relaxed:
        return number < len(path)
    here = world.slots[slot].pos  # also inside a search: the queue is what it is now
    elsewhere = {other.pos for other in world.others(slot) if is_waiting(other)}
    belonging: set[int] = set()
    for k, cell in enumerate(path, start=1):
        if cell in elsewhere or cell == here:
            if k <= 2 or k - 1 in belonging or k - 2 in belonging:
                belonging.add(k)
    tail = 1 + max((k for k in belonging if path[k - 1] in elsewhere), default=0)
    return number < tail


def binds(world: NaiveWorld, norm: Row, person: NaiveSlot) -> bool:
    """Return whether a norm's scope covers the person on the present turn."""
    scope = norm.get("scope", {})
    first, end = scope.get("turns", (0, 2**31 - 1))
    return GROUPS[person.group] in scope.get("groups", GROUPS) and first <= world.turn < end


def forbids(
    world: NaiveWorld,
    norm: Row,
    slot: int,
    old: int,
    new: int,
    *,
    turn: int,
    streak: int,
    visited: bool,
    relaxed: bool = False,
) -> bool:
    """Return whether one norm forbids the own move of a person from `old` to `new`.

    Everybody else is where `world` has them. The person's cell and memory are arguments,
    because the planner asks about moves it would make later.

    Source: NG Table A2.

    Args:
        world: state before the step.
        norm: row of the norm.
        slot: the person's slot.
        old: cell before the move.
        new: another cell, reached by the move.
        turn: turn of the move.
        streak: own moves in a row before it.
        visited: whether the person has stood in zone Q before it.
        relaxed: leave out what depends on others.

    Returns:
        bool.
    """
    layout, person, parameters = world.layout, world.slots[slot], norm["parameters"]
    kind, character = norm["kind"], layout.cells[new]
    if not binds(world, norm, person) or (relaxed and kind in ABOUT_OTHERS):
        return False
    if kind == "zone_forbidden":
        return bool(layout.zones[new] == parameters["zone"])
    if kind == "exit_doors":
        return character in DOORS and character not in parameters["doors"]
    if kind == "seat_regions":
        return character == "h" and layout.regions[new] not in parameters["regions"]
    if kind == "ring_direction":
        if old not in layout.ring:
            return False
        wrong = -1 if parameters["direction"] == "clockwise" else 1
        return layout.ring[(layout.ring.index(old) + wrong) % len(layout.ring)] == new
    if kind == "turn_residues":
        return bool(turn % parameters["modulus"] not in parameters["residues"])
    if kind == "move_wait":
        return bool(streak >= parameters["moves"])
    if kind == "visit_first":
        return character == "h" and not visited
    if kind == "queue_path":
        return queue_forbids(world, norm, slot, old, new, relaxed)
    if kind in ("zone_capacity", "zone_single_group"):
        zone = parameters["zone"]
        if layout.zones[new] != zone or layout.zones[old] == zone:
            return False
        inside = [other for other in world.others(slot) if layout.zones[other.pos] == zone]
        if kind == "zone_capacity":
            return bool(len(inside) >= parameters["capacity"])
        return any(other.group != person.group for other in inside)
    if kind == "group_doors":
        return character in DOORS and character != parameters[GROUPS[person.group]]
    if kind == "group_seats":
        return character == "h" and layout.regions[new] != parameters[GROUPS[person.group]]
    if kind == "seat_order":
        if character != "h":
            return False
        sign = 1 if parameters["order"] == "left-to-right" else -1
        order = sorted(layout.chairs, key=lambda cell: (sign * (cell % WIDTH), cell // WIDTH))
        taken = {other.pos for other in world.others(slot)}
        return [chair for chair in order if chair not in taken][:1] != [new]
    raise ValueError(f"norm {norm['id']!r} has the unknown kind {kind!r}")


def violates(world: NaiveWorld, slot: int, old_cell: int, new_cell: int) -> bool:
    """Return whether the person's own move on the present turn breaks any norm in force."""
    person = world.slots[slot]
    return old_cell != new_cell and any(
        forbids(
            world,
            norm,
            slot,
            old_cell,
            new_cell,
            turn=world.turn,
            streak=person.streak,
            visited=person.visited,
        )
        for norm in world.norms_in_force()
    )
