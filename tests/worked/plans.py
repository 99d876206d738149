"""The planner worked by hand: cheapest first actions, predictions, courtesy."""

from worked.form import Person, PlanExample, cell

AWARE, BLIND = 1, 2


def heads_for(row: int, column: int, driver: int = AWARE, **facts: object) -> Person:
    """Return a scripted person whose first goal is a place."""
    return Person(goal1_cell=cell(row, column), driver=driver, **facts)  # type: ignore[arg-type]


def leaves_by(door: int, driver: int = AWARE, **facts: object) -> Person:
    """Return a scripted person on its way out."""
    return Person(leg=1, goal2_door=door, driver=driver, **facts)  # type: ignore[arg-type]


IN_LINE = Person(goal1_kind=0, driver=AWARE)
HOLDER = Person(goal1_kind=3, leg=1, holder=True, driver=AWARE)
FULL_LINE = {
    0: IN_LINE,
    1: Person(goal1_kind=0, timer=1, driver=AWARE),
    2: IN_LINE,
    3: IN_LINE,
    4: IN_LINE,
}

PLANS: tuple[PlanExample, ...] = (
    PlanExample(
        name="two ways round the corner",
        about="Down and right are equally good; the lower action is taken.",
        at=(4, 9),
        drawing="""
            0..  ...
            ...  0..
        """,
        persons={0: heads_for(6, 11)},
        ties={0: "DR"},
    ),
    PlanExample(
        name="straight ahead",
        about="One shortest path.",
        at=(5, 9),
        drawing="0...  .0..",
        persons={0: heads_for(5, 12)},
        ties={0: "R"},
    ),
    PlanExample(
        name="at the goal",
        about="It waits to be served.",
        at=(5, 9),
        drawing="0.  0.",
        persons={0: heads_for(5, 9)},
        ties={0: "W"},
    ),
    PlanExample(
        name="unreachable",
        about="The nook has no way out.",
        layout="nooks",
        at=(3, 3),
        drawing="0..  0..",
        persons={0: heads_for(9, 1)},
        ties={0: "W"},
    ),
    PlanExample(
        name="round somebody who stands still",
        about="A detour of two steps is cheaper than a collision.",
        at=(4, 9),
        drawing="""
            ....  .0..
            .01.  ..1.
            ....  ....
        """,
        persons={0: heads_for(5, 12), 1: heads_for(5, 11)},
        ties={0: "UD", 1: "W"},
    ),
    PlanExample(
        name="head-on in a corridor",
        about="Each intends to walk into the other: an exchange, so both are predicted to move; "
        "nobody is then in the way.",
        layout="nooks",
        at=(3, 7),
        drawing=".01..  .10..",
        persons={0: heads_for(3, 11), 1: heads_for(3, 7)},
        ties={0: "R", 1: "L"},
    ),
    PlanExample(
        name="first in priority",
        about="Both aim at the middle; 1 is first in priority, so 0 is predicted to stay and "
        "waits for it by courtesy.",
        layout="nooks",
        at=(3, 3),
        drawing="0.1  01.",
        persons={0: heads_for(3, 5, priority=1), 1: heads_for(3, 3, priority=0)},
        ties={0: "W", 1: "L"},
        courtesy=(0,),
    ),
    PlanExample(
        name="a standstill spreads",
        about="2 is at its goal and stays; so does 1 behind it, and 0 behind 1.",
        layout="nooks",
        at=(3, 9),
        drawing="012  012",
        persons={0: heads_for(3, 11), 1: heads_for(3, 11), 2: heads_for(3, 11)},
        ties={0: "W", 1: "W", 2: "W"},
        courtesy=(0, 1),
    ),
    PlanExample(
        name="exchange before priority",
        about="2 is first in priority, but 0 and 1 can change places, so 2 is predicted to stay.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            .01..  .10..
            .t2tt  .t2tt
        """,
        persons={
            0: heads_for(3, 11, priority=1),
            1: heads_for(3, 7, priority=2),
            2: heads_for(3, 11, priority=0),
        },
        ties={0: "R", 1: "L", 2: "W"},
        courtesy=(2,),
    ),
    PlanExample(
        name="a newcomer driven from outside",
        about="Its path is foreseen as that of one who knows the norm; 1 lets it pass.",
        layout="nooks",
        at=(3, 7),
        drawing="0.1..  .01..",
        persons={0: heads_for(3, 11, driver=0), 1: heads_for(3, 7)},
        ties={1: "W"},
        courtesy=(1,),
    ),
    PlanExample(
        name="one who is served",
        about="It is held, and predicted to stay; 1, next in line, waits.",
        at=(1, 5),
        drawing=".01.  .01.",
        persons={0: Person(goal1_kind=0, timer=2, driver=AWARE), 1: IN_LINE},
        ties={0: "W", 1: "W"},
        courtesy=(1,),
    ),
    # Courtesy.
    *(
        PlanExample(
            name=f"on the way out, after {waits} courteous waits",
            about="0 stands on 1's door. 1 waits for it twice, then pushes.",
            at=(5, 0),
            drawing="01  01",
            persons={0: heads_for(5, 0), 1: leaves_by(0, courtesy=waits)},
            ties={0: "W", 1: letter},
            courtesy=(1,) if letter == "W" else (),
        )
        for waits, letter in ((0, "W"), (1, "W"), (2, "L"), (3, "L"))
    ),
    PlanExample(
        name="on the way in, patience has no end",
        about="One whose first goal is open never pushes.",
        at=(5, 0),
        drawing="01  01",
        persons={0: heads_for(5, 0), 1: heads_for(5, 0, courtesy=5)},
        ties={0: "W", 1: "W"},
        courtesy=(1,),
    ),
    # Norms that depend on the cell.
    PlanExample(
        name="round zone Q",
        about="Above it is shorter by two than below.",
        norms=("forbidden-zone-q",),
        at=(2, 6),
        drawing="""
            ....  0...
            0qq.  .qq.
        """,
        persons={0: heads_for(3, 9)},
        ties={0: "U"},
    ),
    PlanExample(
        name="straight through zone Q",
        about="A norm-blind person sees no norm.",
        norms=("forbidden-zone-q",),
        at=(2, 6),
        drawing="""
            ....  ....
            0qq.  .0q.
        """,
        persons={0: heads_for(3, 9, BLIND)},
        ties={0: "R"},
    ),
    PlanExample(
        name="against the ring's direction",
        about="Two cells to the left along the wall cost a detour by the second row.",
        norms=("clockwise-circulation",),
        at=(1, 3),
        drawing="""
            ..0  ...
            ...  ..0
        """,
        persons={0: heads_for(1, 3)},
        ties={0: "D"},
    ),
    PlanExample(
        name="the permitted door is far",
        about="Bottom: 5 down and 6 to the right; right: 3 and 12. The left door is forbidden.",
        norms=("left-door-forbidden",),
        at=(5, 0),
        drawing="""
            A.0.  A...
            #...  #.0.
        """,
        persons={0: leaves_by(-1)},
        ties={0: "DR"},
    ),
    PlanExample(
        name="any door, norm-blind",
        about="The left door is nearest.",
        norms=("left-door-forbidden",),
        at=(5, 0),
        drawing="A.0.  A0..",
        persons={0: leaves_by(-1, BLIND)},
        ties={0: "L"},
    ),
    PlanExample(
        name="the first free seat",
        about="Chairs to both sides are out of order; the first is (3, 2).",
        norms=("seats-left-to-right",),
        at=(6, 2),
        drawing="""
            ...  .0.
            h0h  h.h
        """,
        persons={0: Person(goal1_kind=2, driver=AWARE)},
        ties={0: "U"},
    ),
    PlanExample(
        name="any seat, norm-blind",
        about="Left and right are equally near.",
        norms=("seats-left-to-right",),
        at=(7, 2),
        drawing="h0h  0.h",
        persons={0: Person(goal1_kind=2, driver=BLIND)},
        ties={0: "LR"},
    ),
    PlanExample(
        name="Q before the seat",
        about="Away from the chair beside it, to Q, and back: 5 moves.",
        norms=("visit-zone-q-first",),
        at=(3, 4),
        drawing="h0.q  h.0q",
        persons={0: heads_for(3, 4)},
        ties={0: "R"},
    ),
    PlanExample(
        name="Q was seen",
        about="Straight to the chair.",
        norms=("visit-zone-q-first",),
        at=(3, 4),
        drawing="h0.q  0..q",
        persons={0: heads_for(3, 4, visited=True)},
        ties={0: "L"},
    ),
    # Norms about time.
    PlanExample(
        name="a turn to wait",
        about="Turn 5 is odd.",
        norms=("even-turns-only",),
        turn=5,
        at=(5, 9),
        drawing="0..  0..",
        persons={0: heads_for(5, 12)},
        ties={0: "W"},
    ),
    PlanExample(
        name="a turn to move",
        about="Moves on 4, 6, 8; waiting first would end on 10.",
        norms=("even-turns-only",),
        turn=4,
        at=(5, 9),
        drawing="0..  .0.",
        persons={0: heads_for(5, 12)},
        ties={0: "R"},
    ),
    PlanExample(
        name="now or later",
        about="Move, wait, move takes as long as wait, move, move.",
        norms=("move-2-wait-1",),
        at=(5, 9),
        drawing="""
            0..  ...
            ...  0..
        """,
        persons={0: heads_for(6, 10, streak=1)},
        ties={0: "DRW"},
    ),
    PlanExample(
        name="three cells to go",
        about="Move, wait, move, move: 4 turns. Wait, move, move, wait, move: 5.",
        norms=("move-2-wait-1",),
        at=(5, 9),
        drawing="0..  .0.",
        persons={0: heads_for(5, 12, streak=1)},
        ties={0: "R"},
    ),
    PlanExample(
        name="out of breath",
        about="Two moves in a row were made; a wait is due.",
        norms=("move-2-wait-1",),
        at=(5, 9),
        drawing="0..  0..",
        persons={0: heads_for(5, 12, streak=2)},
        ties={0: "W"},
    ),
    PlanExample(
        name="two rhythms",
        about="Even turns, and not twice in a row: even turns alone already keep both.",
        norms=("even-turns-only", "move-1-wait-1"),
        turn=4,
        at=(5, 9),
        drawing="0..  .0.",
        persons={0: heads_for(5, 12)},
        ties={0: "R"},
    ),
    PlanExample(
        name="a wait that only one of two norms wants",
        about="Turn 4 is even, but the last turn was a move; the next chance is turn 6.",
        norms=("even-turns-only", "move-1-wait-1"),
        turn=4,
        at=(5, 9),
        drawing="0..  0..",
        persons={0: heads_for(5, 12, streak=1)},
        ties={0: "W"},
    ),
    PlanExample(
        name="no turn for two norms",
        about="Even turns only and odd turns only: nobody can ever move.",
        norms=("even-turns-only", "odd-turns-only"),
        at=(5, 9),
        drawing="0..  0..",
        persons={0: heads_for(5, 12)},
        ties={0: "W"},
    ),
    # Queues and full zones.
    PlanExample(
        name="to the tail",
        about="One is served; the second place is the tail, and it is not taken.",
        norms=("bend-right-1",),
        at=(1, 5),
        drawing=".1..0  .1.0.",
        persons={0: IN_LINE, 1: Person(goal1_kind=0, timer=1, driver=AWARE)},
        ties={0: "L", 1: "W"},
    ),
    PlanExample(
        name="to the tail, from the wrong side",
        about="Left of the counter: the head must not be entered; by (2, 6) to the third place.",
        norms=("bend-right-1",),
        at=(1, 5),
        drawing="""
            01.  .1.
            ...  0..
        """,
        persons={0: IN_LINE, 1: Person(goal1_kind=0, timer=1, driver=AWARE)},
        ties={0: "D", 1: "W"},
    ),
    PlanExample(
        name="a full queue, seen from afar",
        about="0 draws near the last place.",
        norms=("edge-queue-right",),
        at=(1, 5),
        drawing="""
            .1234.  .1234.
            ......  ......
            ..qq..  ..qq0.
            ..qq0.  ..qq..
        """,
        persons=FULL_LINE,
        ties={0: "U", 1: "W", 2: "W", 3: "W", 4: "W"},
        courtesy=(2, 3, 4),
    ),
    PlanExample(
        name="a full queue, before the last place",
        about="The next step would be a violation: 0 waits, not out of courtesy.",
        norms=("edge-queue-right",),
        at=(1, 5),
        drawing="""
            .1234.  .1234.
            ....0.  ....0.
        """,
        persons=FULL_LINE,
        ties={0: "W", 1: "W", 2: "W", 3: "W", 4: "W"},
        courtesy=(2, 3, 4),
    ),
    PlanExample(
        name="a full zone, seen from a distance",
        about="Both ways lead nearer to R without entering it yet.",
        norms=("zone-r-capacity-1",),
        at=(5, 5),
        drawing="""
            0...  ....
            .r1r  0r1r
        """,
        persons={0: Person(goal1_kind=3, driver=AWARE), 1: HOLDER},
        ties={0: "DR", 1: "W"},
    ),
    PlanExample(
        name="a full zone, at its border",
        about="Entering is forbidden now.",
        norms=("zone-r-capacity-1",),
        at=(6, 5),
        drawing="0r1r  0r1r",
        persons={0: Person(goal1_kind=3, driver=AWARE), 1: HOLDER},
        ties={0: "W", 1: "W"},
    ),
    PlanExample(
        name="a full zone, inside",
        about="Moves inside R are free.",
        norms=("zone-r-capacity-1",),
        at=(6, 6),
        drawing="""
            0rr  r0r
            rr1  rr1
        """,
        persons={0: heads_for(6, 8), 1: HOLDER},
        ties={0: "R", 1: "W"},
    ),
)
