"""Collisions worked by hand: passing, contested cells, pushes, chains, charges."""

from worked.form import Example, Person, chain, keep, place

BUMP = "own collided -5.1"
LOSE = "displaced collided -5.1"
PUSHED = "displaced"

COLLISIONS = (
    # Passing.
    Example(
        name="exchange",
        about="Two who change places pass.",
        layout="nooks",
        at=(3, 2),
        drawing="""
            t01.t  t10.t
        """,
        actions="RL",
        expect={0: "own", 1: "own"},
    ),
    Example(
        name="cycle of four",
        about="Four who move round in a circle pass.",
        layout="nooks",
        at=(5, 3),
        drawing="""
            01  30
            32  21
        """,
        actions="RDLU",
        expect={0: "own", 1: "own", 2: "own", 3: "own"},
    ),
    Example(
        name="one behind the other",
        about="A cell that is left in the same step is free.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            012..  .012.
        """,
        actions="RRR",
        expect={0: "own", 1: "own", 2: "own"},
    ),
    # A contested empty cell.
    Example(
        name="head-on",
        about="One of two keeps the cell; the other goes to either side, even back.",
        layout="nooks",
        at=(3, 3),
        drawing="""
            0.1  10.  .01  01.  .10
        """,
        actions="RL",
        paths=(
            (keep(3, 4, 2, 0), place(3, 5, 2, 0)),
            (keep(3, 4, 2, 0), place(3, 5, 2, 1)),
            (keep(3, 4, 2, 1), place(3, 3, 2, 0)),
            (keep(3, 4, 2, 1), place(3, 3, 2, 1)),
        ),
        expect=(
            {0: BUMP, 1: LOSE},
            {0: BUMP, 1: LOSE},
            {0: LOSE, 1: BUMP},
            {0: LOSE, 1: BUMP},
        ),
    ),
    Example(
        name="head-on in the open",
        about="Four neighbours are free; the numbers of the slots do not matter.",
        at=(4, 9),
        drawing="""
            ...  .5.  ...  ...  ...  .2.  ...  ...  ...
            2.5  .2.  .2.  52.  .25  .5.  .5.  25.  .52
            ...  ...  .5.  ...  ...  ...  .2.  ...  ...
        """,
        actions="WWRWWL",
        paths=(
            (keep(5, 10, 2, 0), place(5, 11, 4, 0)),
            (keep(5, 10, 2, 0), place(5, 11, 4, 1)),
            (keep(5, 10, 2, 0), place(5, 11, 4, 2)),
            (keep(5, 10, 2, 0), place(5, 11, 4, 3)),
            (keep(5, 10, 2, 1), place(5, 9, 4, 0)),
            (keep(5, 10, 2, 1), place(5, 9, 4, 1)),
            (keep(5, 10, 2, 1), place(5, 9, 4, 2)),
            (keep(5, 10, 2, 1), place(5, 9, 4, 3)),
        ),
        expect=(
            {2: BUMP, 5: LOSE},
            {2: BUMP, 5: LOSE},
            {2: BUMP, 5: LOSE},
            {2: BUMP, 5: LOSE},
            {2: LOSE, 5: BUMP},
            {2: LOSE, 5: BUMP},
            {2: LOSE, 5: BUMP},
            {2: LOSE, 5: BUMP},
        ),
    ),
    Example(
        name="three for one cell",
        about="3 fills the lower cell; the losers share the sides, in the order of their origins.",
        layout="nooks",
        at=(7, 8),
        drawing="""
            0.1  102  201  012  210  021  120
            t2t  t3t  t3t  t3t  t3t  t3t  t3t
            .3.  ...  ...  ...  ...  ...  ...
        """,
        actions="RLUU",
        paths=(
            (keep(7, 9, 3, 0), place(7, 10, 2, 0)),
            (keep(7, 9, 3, 0), place(7, 10, 2, 1)),
            (keep(7, 9, 3, 1), place(7, 8, 2, 0)),
            (keep(7, 9, 3, 1), place(7, 8, 2, 1)),
            (keep(7, 9, 3, 2), place(7, 8, 2, 0)),
            (keep(7, 9, 3, 2), place(7, 8, 2, 1)),
        ),
        expect=(
            {0: BUMP, 1: LOSE, 2: LOSE, 3: "own"},
            {0: BUMP, 1: LOSE, 2: LOSE, 3: "own"},
            {0: LOSE, 1: BUMP, 2: LOSE, 3: "own"},
            {0: LOSE, 1: BUMP, 2: LOSE, 3: "own"},
            {0: LOSE, 1: LOSE, 2: BUMP, 3: "own"},
            {0: LOSE, 1: LOSE, 2: BUMP, 3: "own"},
        ),
    ),
    Example(
        name="exchange with a rival",
        about="0 and 1 would change places, but 2 wants 1's cell too: 0 and 2 contest it.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            012..  102..  120..
        """,
        actions="RLL",
        paths=((keep(3, 8, 2, 0),), (keep(3, 8, 2, 1),)),
        expect=(
            {0: BUMP, 1: "own", 2: LOSE},
            {0: LOSE, 1: "own", 2: BUMP},
        ),
    ),
    # One who stands still.
    Example(
        name="standing in the way",
        about="The mover keeps the cell, the occupant is pushed to either side and not charged.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            01...  10...  .01..
        """,
        actions="RW",
        paths=((place(3, 8, 2, 0),), (place(3, 8, 2, 1),)),
        expect={0: BUMP, 1: PUSHED},
    ),
    Example(
        name="dead end",
        about="Only the mover's old cell is free: they change places by force.",
        layout="nooks",
        at=(3, 3),
        drawing="""
            .01t  .10t
        """,
        actions="RW",
        expect={0: BUMP, 1: PUSHED},
    ),
    Example(
        name="walking against a table",
        about="A move into a table is waiting: 1 is pushed, not charged.",
        layout="nooks",
        at=(3, 3),
        drawing="""
            .01t  .10t
        """,
        actions="RU",
        expect={0: BUMP, 1: PUSHED},
    ),
    Example(
        name="two push one",
        about="One mover keeps the cell; the occupant and the other mover take the two sides.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            012..  102..  201..  021..  120..
        """,
        actions="RWL",
        paths=(
            (keep(3, 8, 2, 0), place(3, 8, 2, 0)),
            (keep(3, 8, 2, 0), place(3, 8, 2, 1)),
            (keep(3, 8, 2, 1), place(3, 7, 2, 0)),
            (keep(3, 8, 2, 1), place(3, 7, 2, 1)),
        ),
        expect=(
            {0: BUMP, 1: PUSHED, 2: LOSE},
            {0: BUMP, 1: PUSHED, 2: LOSE},
            {0: LOSE, 1: PUSHED, 2: BUMP},
            {0: LOSE, 1: PUSHED, 2: BUMP},
        ),
    ),
    # Several crowded cells.
    Example(
        name="two pushes, one free cell between",
        about="The cell with the lower index is settled first and may take the middle.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            01.23  .0132  10.32  1023.
        """,
        actions="RWWL",
        paths=(
            (place(3, 8, 2, 1),),
            (place(3, 8, 2, 0), place(3, 10, 2, 1)),
            (place(3, 8, 2, 0), place(3, 10, 2, 0)),
        ),
        expect={0: BUMP, 1: PUSHED, 2: PUSHED, 3: BUMP},
    ),
    Example(
        name="lower cell first, whatever the slots",
        about="The same with the slots reversed: cells set the order, not slots.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            32.10  .3201  23.01  2310.
        """,
        actions="LWWR",
        paths=(
            (place(3, 8, 2, 1),),
            (place(3, 8, 2, 0), place(3, 10, 2, 1)),
            (place(3, 8, 2, 0), place(3, 10, 2, 0)),
        ),
        expect={3: BUMP, 2: PUSHED, 1: PUSHED, 0: BUMP},
    ),
    # Doors.
    Example(
        name="never onto a door",
        about="The free door below is no place for the loser.",
        layout="nooks",
        at=(8, 8),
        drawing="""
            t2t  t2t  t2t  t2t  t2t
            0.1  10.  .01  01.  .10
            #B#  #B#  #B#  #B#  #B#
        """,
        actions="RLW",
        paths=(
            (keep(9, 9, 2, 0), place(9, 10, 2, 0)),
            (keep(9, 9, 2, 0), place(9, 10, 2, 1)),
            (keep(9, 9, 2, 1), place(9, 8, 2, 0)),
            (keep(9, 9, 2, 1), place(9, 8, 2, 1)),
        ),
        expect=(
            {0: BUMP, 1: LOSE},
            {0: BUMP, 1: LOSE},
            {0: LOSE, 1: BUMP},
            {0: LOSE, 1: BUMP},
        ),
    ),
    Example(
        name="pushed beside a door",
        about="One who stands before the left door is pushed along the wall.",
        layout="nooks",
        at=(4, 0),
        drawing="""
            #0t  #1t  #.t
            A1t  A0t  A0t
            #.t  #.t  #1t
        """,
        actions="DW",
        paths=((place(5, 1, 2, 0),), (place(5, 1, 2, 1),)),
        expect={0: BUMP, 1: PUSHED},
    ),
    Example(
        name="pushed off a door",
        about="0 leaves by the bottom door and pushes 1, who stood on it, back into the room.",
        at=(9, 7),
        drawing="""
            .0.  .1.
            #1#  #B#
        """,
        persons={0: Person(leg=1, goal2_door=1)},
        actions="DW",
        expect={0: "own collided goal gone 4.9", 1: PUSHED},
    ),
    # No free neighbour.
    Example(
        name="chain of two",
        about="2 had followed 0; it is pushed back to make room and loses its own move.",
        layout="nooks",
        at=(3, 8),
        drawing="""
            .201t  .210t
        """,
        actions="RWR",
        expect={0: BUMP, 1: PUSHED, 2: PUSHED},
    ),
    Example(
        name="chain of three",
        about="Two followers are pushed back, the last of them down or left; only 0 is charged.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            .3201t  ..210t  .3210t
            .t.ttt  .t3ttt  .t.ttt
        """,
        actions="RWRR",
        paths=((chain(3, 11, 2, 0),), (chain(3, 11, 2, 1),)),
        expect={0: BUMP, 1: PUSHED, 2: PUSHED, 3: PUSHED},
    ),
    Example(
        name="three equal chains",
        about="Down, left or right, with equal chances; 1 has no free neighbour.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            .213.  .203.  2103.  .2013
            .t0tt  .t1tt  .t4tt  .t4tt
            .t4tt  .t4tt  .t.tt  .t.tt
        """,
        actions="UWWWU",
        paths=((chain(3, 9, 3, 0),), (chain(3, 9, 3, 1),), (chain(3, 9, 3, 2),)),
        expect=(
            {0: BUMP, 1: PUSHED, 4: PUSHED},
            {0: BUMP, 1: PUSHED, 2: PUSHED, 4: "own"},
            {0: BUMP, 1: PUSHED, 3: PUSHED, 4: "own"},
        ),
    ),
    Example(
        name="the shorter chains",
        about="5 blocks the left: that way is longer by one and is not taken.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            5213.  5203.  52013
            .t0tt  .t1tt  .t4tt
            .t4tt  .t4tt  .t.tt
        """,
        actions="UWWWUW",
        paths=((chain(3, 9, 2, 0),), (chain(3, 9, 2, 1),)),
        expect=(
            {0: BUMP, 1: PUSHED, 4: PUSHED},
            {0: BUMP, 1: PUSHED, 3: PUSHED, 4: "own"},
        ),
    ),
    Example(
        name="no chain through the newcomer",
        about="Slot 0 stands to the right and is never pushed to make room.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            .320.  .310.  3210.
            .t1tt  .t2tt  .t4tt
            .t4tt  .t4tt  .t.tt
        """,
        actions="WUWWU",
        paths=((chain(3, 9, 2, 0),), (chain(3, 9, 2, 1),)),
        expect=(
            {1: BUMP, 2: PUSHED, 4: PUSHED},
            {1: BUMP, 2: PUSHED, 3: PUSHED, 4: "own"},
        ),
    ),
    Example(
        name="the keeper of another cell is pushed",
        about="3 and 4 contest the junction; then 1 needs it, and whoever kept it goes on.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            .3215  .3125  .4125  .4125  .3125
            .t4tt  .t4tt  .t3tt  .t3tt  .t4tt
        """,
        actions="WWRRUW",
        paths=(
            (keep(3, 9, 2, 0), place(4, 9, 2, 0)),
            (keep(3, 9, 2, 0), place(4, 9, 2, 1)),
            (keep(3, 9, 2, 1), place(3, 8, 2, 0)),
            (keep(3, 9, 2, 1), place(3, 8, 2, 1)),
        ),
        expect={1: PUSHED, 2: BUMP, 3: LOSE, 4: LOSE},
    ),
    # No chain: the step is resolved again.
    Example(
        name="the newcomer behind",
        about="1 cannot make room because 0 has followed; 2 must stay, and 0 then pushes it back.",
        layout="nooks",
        at=(3, 8),
        drawing="""
            .021t  .201t
        """,
        actions="RWR",
        expect={0: BUMP, 2: LOSE},
    ),
    Example(
        name="twice again",
        about="First 2 must stay, then 3 behind it; at last 0 pushes 3 away. All are charged.",
        layout="nooks",
        at=(3, 7),
        drawing="""
            .0321t  ..021t  .3021t
            .t.ttt  .t3ttt  .t.ttt
        """,
        actions="RWRR",
        paths=((place(3, 9, 2, 0, attempt=2),), (place(3, 9, 2, 1, attempt=2),)),
        expect={0: BUMP, 2: "collided -5.1", 3: LOSE},
    ),
    Example(
        name="draws of the second round",
        about="After 2 had to stay, 0 pushes it up or down; the draw belongs to round 1.",
        layout="nooks",
        at=(4, 5),
        drawing="""
            tt0t  tt2t  tt.t
            t12t  t10t  t10t
            tt.t  tt.t  tt2t
        """,
        actions="DWL",
        paths=((place(5, 7, 2, 0, attempt=1),), (place(5, 7, 2, 1, attempt=1),)),
        expect={0: BUMP, 2: LOSE},
    ),
)
