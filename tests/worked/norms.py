"""Verdicts worked by hand, at least three for every kind of norm, and norms in combination."""

from worked.form import QUEUES, Example, Person, place

OWN, BREAKS, BUMP = "own", "own violated -20.1", "own collided -5.1"
BLUE, GREEN, ORANGE = Person(group="blue"), Person(group="green"), Person(group="orange")
SERVED = Person(goal1_kind=0, goal1_cell=-1, timer=1)
LEFT_THE_COUNTER = Person(goal1_kind=0, goal1_cell=-1, leg=1)


def move(
    norm: str,
    name: str,
    at: tuple[int, int],
    drawing: str,
    action: str,
    result: str,
    mover: Person = ORANGE,
    others: tuple[Person, ...] = (),
    turn: int = 0,
) -> Example:
    """Return an example in which slot 0 acts and the others, slots 1, 2, ..., stand still."""
    return Example(
        name=f"{norm}: {name}",
        about=name,
        norms=(norm,),
        at=at,
        drawing=drawing,
        actions=action,
        expect={0: result, **{i: "auto timer=2" for i, p in enumerate(others, 1) if p.timer}},
        persons={0: mover, **dict(enumerate(others, 1))},
        turn=turn,
    )


def leaving(group: str = "orange") -> Person:
    """Return one who may leave by any door."""
    return Person(group=group, leg=1, goal2_door=-1)


Q = "forbidden-zone-q"
ZONE_FORBIDDEN = (
    move(Q, "entering breaks it", (3, 6), "0qq  .0q", "R", BREAKS + " visited=1"),
    move(Q, "so does a move inside", (3, 6), ".0q  .q0", "R", BREAKS),
    move(Q, "leaving is free", (3, 7), "q0.  qq0", "R", OWN),
    move(Q, "waiting inside is free", (3, 7), "q0.  q0.", "W", "visited=1"),
    Example(
        name=f"{Q}: pushed in",
        about="One who is pushed into Q has made no move of its own.",
        norms=(Q,),
        at=(2, 5),
        drawing="""
            .0..  .1..  ....  ....  ....
            .1qq  .0qq  .0qq  10qq  .01q
            ..qq  ..qq  .1qq  ..qq  ..qq
        """,
        actions="DW",
        paths=tuple((place(3, 6, 4, option),) for option in range(4)),
        expect=(
            {0: BUMP, 1: "displaced visited=0"},
            {0: BUMP, 1: "displaced visited=0"},
            {0: BUMP, 1: "displaced visited=0"},
            {0: BUMP, 1: "displaced visited=1"},
        ),
    ),
    Example(
        name=f"{Q}: pushing in",
        about="The mover that keeps a contested cell of Q answers for both.",
        norms=(Q,),
        at=(2, 6),
        drawing="""
            ...  .1.  ...  ...  ...
            01q  .0q  .0q  10q  .01
            .qq  .qq  .1q  .qq  .qq
        """,
        actions="RW",
        paths=tuple((place(3, 7, 4, option),) for option in range(4)),
        expect={0: "own collided violated -25.1", 1: "displaced"},
    ),
)

NOT_LEFT = "left-door-forbidden"
OUT, OUT_WRONG = "own goal gone 9.9", "own violated goal gone -10.1"
EXIT_DOORS = (
    move(NOT_LEFT, "out by the wrong door", (5, 0), "A0  A.", "L", OUT_WRONG, leaving()),
    move(NOT_LEFT, "out by the bottom door", (9, 8), "0 .\nB B", "D", OUT, leaving()),
    move(NOT_LEFT, "out by the right door", (8, 13), "0C  .C", "R", OUT, leaving()),
    move(NOT_LEFT, "on the wrong door without leaving", (5, 0), "A0  0.", "L", BREAKS),
    move(NOT_LEFT, "off the wrong door", (5, 0), "0.  A0", "R", OWN),
    move("all-exit-bottom", "another wrong door", (8, 13), "0C  .C", "R", OUT_WRONG, leaving()),
)

NO_BL, ONLY_TL = "no-bottom-left-seats", "top-left-seats-only"
SITS = Person(goal1_kind=2, goal1_cell=-1)
SEAT_REGIONS = (
    move(NO_BL, "bottom-left", (7, 1), "0h  .0", "R", BREAKS + " timer=1", SITS),
    move(NO_BL, "top-left", (3, 1), "0h  .0", "R", OWN + " timer=1", SITS),
    move(NO_BL, "bottom-right", (7, 11), "0h  .0", "R", OWN, ORANGE),
    move(NO_BL, "staying on a wrong seat", (7, 3), ".0.  .0.", "W", "timer=1", SITS),
    move(ONLY_TL, "bottom-right", (7, 11), "0h  .0", "R", BREAKS, ORANGE),
)

CLOCKWISE, COUNTER = "clockwise-circulation", "counterclockwise-circulation"
RING_DIRECTION = (
    move(CLOCKWISE, "right along the top", (1, 5), "0.  .0", "R", OWN),
    move(CLOCKWISE, "left along the top", (1, 5), ".0  0.", "L", BREAKS),
    move(CLOCKWISE, "up the right side", (3, 13), ". 0\n0 .", "U", BREAKS),
    move(CLOCKWISE, "down from the first corner", (1, 1), "0 .\n. 0", "D", BREAKS),
    move(CLOCKWISE, "up into the first corner", (1, 1), ". 0\n0 .", "U", OWN),
    move(CLOCKWISE, "right along the bottom", (9, 5), "0.  .0", "R", BREAKS),
    move(CLOCKWISE, "off the ring", (1, 5), "0 .\n. 0", "D", OWN),
    move(CLOCKWISE, "onto the ring", (1, 5), ". 0\n0 .", "U", OWN),
    move(CLOCKWISE, "inside the ring", (2, 5), ".0  0.", "L", OWN),
    move(COUNTER, "right along the bottom", (9, 5), "0.  .0", "R", OWN),
    move(COUNTER, "right along the top", (1, 5), "0.  .0", "R", BREAKS),
)

EVEN = "even-turns-only"
TURN_RESIDUES = (
    move(EVEN, "turn 4", (5, 5), "0.  .0", "R", OWN, turn=4),
    move(EVEN, "turn 5", (5, 5), "0.  .0", "R", BREAKS, turn=5),
    move(EVEN, "waiting on turn 5", (5, 5), "0.  0.", "W", "", turn=5),
    move(EVEN, "against the wall on turn 5", (1, 1), "0.  0.", "U", "", turn=5),
    move("odd-turns-only", "turn 0", (5, 5), "0.  .0", "R", BREAKS, turn=0),
    move("no-turns-1-mod-3", "turn 7", (5, 5), "0.  .0", "R", BREAKS, turn=7),
    move("no-turns-1-mod-3", "turn 8", (5, 5), "0.  .0", "R", OWN, turn=8),
)


def after_moves(number: int) -> Person:
    """Return one whose last `number` turns were moves of its own."""
    return Person(streak=number)


TWO = "move-2-wait-1"
MOVE_WAIT = (
    move(TWO, "second in a row", (5, 5), "0.  .0", "R", OWN + " streak=2", after_moves(1)),
    move(TWO, "third in a row", (5, 5), "0.  .0", "R", BREAKS + " streak=3", after_moves(2)),
    move(TWO, "eighth in a row", (5, 5), "0.  .0", "R", BREAKS + " streak=8", after_moves(7)),
    move(TWO, "a wait", (5, 5), "0.  0.", "W", "streak=0", after_moves(2)),
    move(TWO, "against the wall", (1, 1), "0.  0.", "L", "streak=0", after_moves(2)),
    move("move-1-wait-1", "second", (5, 5), "0.  .0", "R", BREAKS + " streak=2", after_moves(1)),
    move("move-3-wait-1", "third", (5, 5), "0.  .0", "R", OWN + " streak=3", after_moves(2)),
)

VISIT = "visit-zone-q-first"
SEEN = Person(visited=True)
VISIT_FIRST = (
    move(VISIT, "sitting without a visit", (3, 3), "0h  .0", "R", BREAKS),
    move(VISIT, "sitting after a visit", (3, 3), "0h  .0", "R", OWN, SEEN),
    move(VISIT, "passing a seat", (3, 3), "0h .h\n.. 0.", "D", OWN),
    move(VISIT, "entering Q is remembered", (3, 6), "0q  .0", "R", OWN + " visited=1"),
    move(VISIT, "after leaving Q as well", (3, 6), ".0  0q", "L", OWN + " visited=1", SEEN),
)

BEND = "bend-right-1"  # (1,6) (1,7) (2,7) (3,7) (4,7) (5,7) ... ; the drawings start at (1,5)
QUEUE_PATH = (
    move(BEND, "nobody waits", (1, 5), ".... .0..\n.0.. ....", "U", OWN + " timer=1", QUEUES),
    move(BEND, "at the tail", (1, 5), ".1.0  .10.", "L", OWN, QUEUES, (SERVED,)),
    move(
        BEND,
        "behind the tail, with a gap",
        (1, 5),
        ".1.. .1..\n.0.. ..0.",
        "R",
        OWN,
        QUEUES,
        (SERVED,),
    ),
    move(
        BEND,
        "cutting into a gap of one",
        (1, 5),
        ".1.0 .10.\n..2. ..2.",
        "L",
        BREAKS,
        QUEUES,
        (SERVED, QUEUES),
    ),
    move(
        BEND,
        "one who does not wait may cross",
        (1, 5),
        ".1.0 .10.\n..2. ..2.",
        "L",
        OWN,
        LEFT_THE_COUNTER,
        (SERVED, QUEUES),
    ),
    move(BEND, "moving up", (1, 5), ".1.. .10.\n..0. ....", "U", OWN, QUEUES, (SERVED,)),
    move(BEND, "stepping out", (1, 5), ".10.  .1.0", "R", OWN, QUEUES, (SERVED,)),
    move(
        BEND,
        "a gap of two parts the queue",
        (1, 5),
        ".1.0 .10.\n.... ....\n..qq ..qq\n..2q ..2q",
        "L",
        OWN,
        QUEUES,
        (SERVED, QUEUES),
    ),
    move(
        BEND,
        "the mover itself joins 2 to the queue",
        (1, 5),
        ".1.. .1..\n..0. ....\n..qq ..0q\n..2q ..2q",
        "D",
        BREAKS + " visited=1",
        QUEUES,
        (SERVED, QUEUES),
    ),
    move(
        BEND,
        "past the only one who waits",
        (1, 5),
        "..1. .01.\n.0.. ....",
        "U",
        BREAKS + " timer=1",
        QUEUES,
        (QUEUES,),
    ),
    move(
        BEND,
        "one who has been served is no queue",
        (1, 5),
        "..1. .01.\n.0.. ....",
        "U",
        OWN + " timer=1",
        QUEUES,
        (LEFT_THE_COUNTER,),
    ),
    move("edge-queue-left", "past one", (1, 5), "1.0  10.", "L", BREAKS, QUEUES, (QUEUES,)),
    Example(
        name="edge-queue-right: a full queue",
        about="There is no place after the last; 0 pushes 4 out of it and breaks the norm.",
        norms=("edge-queue-right",),
        at=(1, 5),
        drawing="""
            .1234.  .1230.  .12304
            ....0.  ....4.  ......
        """,
        persons={0: QUEUES, 1: SERVED, 2: QUEUES, 3: QUEUES, 4: QUEUES},
        actions="U",
        paths=((place(1, 9, 2, 0),), (place(1, 9, 2, 1),)),
        expect={0: "own collided violated -25.1", 1: "auto timer=2", 4: "displaced"},
    ),
)

ONE_IN_R, TWO_IN_R = "zone-r-capacity-1", "zone-r-capacity-2"
ENTERS_R = "0rrr .0rr\n.rr1 .rr1"
ZONE_CAPACITY = (
    move(ONE_IN_R, "somebody is inside", (6, 5), ENTERS_R, "R", BREAKS, ORANGE, (ORANGE,)),
    move(ONE_IN_R, "nobody is inside", (6, 5), "0rr  .0r", "R", OWN),
    move(ONE_IN_R, "a move inside", (6, 5), ".0r1  .r01", "R", OWN, ORANGE, (ORANGE,)),
    move(ONE_IN_R, "leaving", (6, 5), ".0r1  0rr1", "L", OWN, ORANGE, (ORANGE,)),
    move(TWO_IN_R, "one is inside", (6, 5), ENTERS_R, "R", OWN, ORANGE, (ORANGE,)),
    move(
        TWO_IN_R,
        "two are inside",
        (6, 5),
        "0rr2 .0r2\n.rr1 .rr1",
        "R",
        BREAKS,
        ORANGE,
        (ORANGE, BLUE),
    ),
    Example(
        name=f"{ONE_IN_R}: as the other leaves",
        about="Others count where they stood before the step.",
        norms=(ONE_IN_R,),
        at=(6, 5),
        drawing="0rr1.  .0rr1",
        actions="RR",
        expect={0: BREAKS, 1: OWN},
    ),
    Example(
        name=f"{ONE_IN_R}: both at once",
        about="Two enter an empty zone in one step: each saw it empty.",
        norms=(ONE_IN_R,),
        at=(6, 5),
        drawing="0rrr1  .0r1.",
        actions="RL",
        expect={0: OWN, 1: OWN},
    ),
)

SAME = "single-group-zone-r"
ZONE_SINGLE_GROUP = (
    move(SAME, "another group inside", (6, 5), ENTERS_R, "R", BREAKS, ORANGE, (BLUE,)),
    move(SAME, "the own group inside", (6, 5), ENTERS_R, "R", OWN, GREEN, (GREEN,)),
    move(SAME, "nobody inside", (6, 5), "0rr  .0r", "R", OWN, GREEN),
    move(SAME, "a move inside", (6, 5), ".0r1  .r01", "R", OWN, ORANGE, (BLUE,)),
    move(
        SAME,
        "both groups inside",
        (6, 5),
        "0rr2 .0r2\n.rr1 .rr1",
        "R",
        BREAKS,
        ORANGE,
        (ORANGE, GREEN),
    ),
)

ABC = "group-doors-abc"
GROUP_DOORS = (
    move(ABC, "orange, left", (5, 0), "A0  A.", "L", OUT, leaving("orange")),
    move(ABC, "green, left", (5, 0), "A0  A.", "L", OUT_WRONG, leaving("green")),
    move(ABC, "green, bottom", (9, 8), "0 .\nB B", "D", OUT, leaving("green")),
    move(ABC, "blue, bottom, not leaving", (9, 8), "0 .\nB 0", "D", BREAKS, BLUE),
    move(ABC, "blue, right", (8, 13), "0C  .C", "R", OUT, leaving("blue")),
    move("group-doors-cab", "blue, right", (8, 13), "0C  .C", "R", OUT_WRONG, leaving("blue")),
)

GROUP_SEATS = (
    move("group-seating-1", "orange, top-left", (3, 1), "0h  .0", "R", OWN, ORANGE),
    move("group-seating-1", "green, top-left", (3, 1), "0h  .0", "R", BREAKS, GREEN),
    move("group-seating-1", "blue, bottom-right", (7, 11), "0h  .0", "R", OWN, BLUE),
    move("group-seating-1", "orange, bottom-left", (7, 1), "0h  .0", "R", BREAKS, ORANGE),
    move("group-seating-3", "blue, bottom-left", (7, 1), "0h  .0", "R", OWN, BLUE),
    move("group-seating-3", "blue, off a wrong seat", (3, 1), ".0  0h", "L", OWN, BLUE),
)

RISING, FALLING = "seats-left-to-right", "seats-right-to-left"
# Rising: (3,2) (7,2) (3,4) (7,4) (7,10) (7,12). Falling: (7,12) (7,10) (3,4) (7,4) (3,2) (7,2).
SEAT_ORDER = (
    move(RISING, "the first", (3, 1), "0h  .0", "R", OWN),
    move(RISING, "the second before the first", (7, 1), "0h  .0", "R", BREAKS),
    move(
        RISING,
        "the second after the first",
        (3, 1),
        ".1.h .1.h\n.... ....\n.... ....\n.... ....\n0h.h .0.h",
        "R",
        OWN,
        ORANGE,
        (ORANGE,),
    ),
    move(
        RISING,
        "the last of a gap first",
        (3, 1),
        ".h.2 .h.2\n.... ....\n.... ....\n.... ....\n.10h .1.0",
        "R",
        BREAKS,
        ORANGE,
        (ORANGE, ORANGE),
    ),
    move(RISING, "onto the floor", (3, 3), ".0 0h", "L", OWN),
    move(FALLING, "the first", (7, 10), "h0h  h.0", "R", OWN),
    move(FALLING, "the second before the first", (7, 10), "h0h  0.h", "L", BREAKS),
    move(FALLING, "the second after the first", (7, 10), "h01  0.1", "L", OWN, BLUE, (BLUE,)),
)

EXTRA = {"family": "access", "kind": "zone_forbidden", "split": "train", "sentence": "Keep out."}
BLUE_ONLY = {**EXTRA, "id": "x-blue", "parameters": {"zone": "Q"}, "scope": {"groups": ["blue"]}}
AT_TIMES = {**EXTRA, "id": "x-times", "parameters": {"zone": "Q"}, "scope": {"turns": [10, 20]}}


def enter_q(name: str, result: str, turn: int, group: str = "orange", **norms: object) -> Example:
    """Return an example in which slot 0 enters zone Q under several or limited norms."""
    facts = {"at": (3, 6), "drawing": "0q  .0", "actions": "R", "expect": {0: result}}
    persons = {0: Person(group=group)}
    return Example(name=name, about=name, turn=turn, persons=persons, **facts, **norms)  # type: ignore[arg-type]


CHANGING = {"norms": (Q,), "norms_after": (EVEN,), "change_turn": 10}
COMBINED = (
    enter_q("two norms: the first broken", BREAKS, 4, norms=(Q, EVEN)),
    enter_q("two norms: both broken, one sanction", BREAKS, 5, norms=(Q, EVEN)),
    enter_q("two norms: the second broken", BREAKS, 5, norms=("all-exit-left", EVEN)),
    enter_q("two norms: none broken", OWN, 4, norms=("all-exit-left", EVEN)),
    enter_q("scope: another group", OWN, 0, norms=("x-blue",), rows=(BLUE_ONLY,)),
    enter_q("scope: the group", BREAKS, 0, "blue", norms=("x-blue",), rows=(BLUE_ONLY,)),
    enter_q("scope: before the window", OWN, 9, norms=("x-times",), rows=(AT_TIMES,)),
    enter_q("scope: first turn", BREAKS, 10, norms=("x-times",), rows=(AT_TIMES,)),
    enter_q("scope: last turn", BREAKS, 19, norms=("x-times",), rows=(AT_TIMES,)),
    enter_q("scope: after the window", OWN, 20, norms=("x-times",), rows=(AT_TIMES,)),
    enter_q("change: the old norm before it", BREAKS, 9, **CHANGING),
    enter_q("change: the old norm after it", OWN, 10, **CHANGING),
    enter_q("change: the new norm after it", BREAKS, 11, **CHANGING),
)

BY_KIND: dict[str, tuple[Example, ...]] = {
    "zone_forbidden": ZONE_FORBIDDEN,
    "exit_doors": EXIT_DOORS,
    "seat_regions": SEAT_REGIONS,
    "ring_direction": RING_DIRECTION,
    "turn_residues": TURN_RESIDUES,
    "move_wait": MOVE_WAIT,
    "visit_first": VISIT_FIRST,
    "queue_path": QUEUE_PATH,
    "zone_capacity": ZONE_CAPACITY,
    "zone_single_group": ZONE_SINGLE_GROUP,
    "group_doors": GROUP_DOORS,
    "group_seats": GROUP_SEATS,
    "seat_order": SEAT_ORDER,
}
"""Examples of each kind of norm."""
NORMS: tuple[Example, ...] = (*(e for group in BY_KIND.values() for e in group), *COMBINED)
