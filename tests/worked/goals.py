"""Service, goals and holders worked by hand, one step each; several steps are in test_naive."""

from worked.form import QUEUES, Example, Person, cell, place

SEAT = Person(goal1_cell=cell(7, 10), goal2_door=2)

GOALS = (
    Example(
        name="service begins",
        about="The turn of arrival counts.",
        at=(1, 5),
        drawing="""
            ...  .0.
            .0.  ...
        """,
        persons={0: QUEUES},
        actions="U",
        expect={0: "own timer=1 leg=0"},
    ),
    Example(
        name="service goes on",
        about="One who is being served is held: the action is not asked for.",
        at=(1, 5),
        drawing=".0.  .0.",
        persons={0: Person(goal1_kind=0, timer=2)},
        actions="R",
        expect={0: "auto timer=3 leg=0 action=4"},
    ),
    Example(
        name="served",
        about="Fourth turn at the counter.",
        at=(1, 5),
        drawing=".0.  .0.",
        persons={0: Person(goal1_kind=0, timer=3)},
        expect={0: "auto goal timer=0 leg=1 9.9"},
    ),
    Example(
        name="seated for long enough",
        about="Third turn on the chair.",
        at=(7, 9),
        drawing=".0.  .0.",
        persons={0: Person(goal1_cell=cell(7, 10), timer=2)},
        expect={0: "auto goal timer=0 leg=1 9.9"},
    ),
    Example(
        name="another chair",
        about="A chair that is not the goal serves nobody, and holds nobody.",
        at=(7, 11),
        drawing=".0.  0h.",
        persons={0: SEAT},
        actions="L",
        expect={0: "own timer=0"},
    ),
    Example(
        name="any chair",
        about="Every chair serves one who may choose.",
        at=(7, 11),
        drawing="0h.  .0.",
        persons={0: Person(goal1_kind=2)},
        actions="R",
        expect={0: "own timer=1"},
    ),
    Example(
        name="any cell of R",
        about="Two turns inside were served elsewhere in R; the third completes the goal.",
        at=(6, 6),
        drawing="r0r  r0r",
        persons={0: Person(goal1_kind=3, timer=2)},
        expect={0: "auto goal timer=0 leg=1 9.9"},
    ),
    Example(
        name="pushed from service",
        about="Service starts again for 0 and begins for 1, who pushed.",
        at=(1, 5),
        drawing="""
            .01  .1.  01.  .10
            ...  .0.  ...  ...
        """,
        persons={0: Person(goal1_kind=0, timer=3), 1: QUEUES},
        actions="WL",
        paths=tuple((place(1, 6, 3, option),) for option in range(3)),
        expect={0: "auto displaced timer=0 leg=0", 1: "own collided timer=1 -5.1"},
    ),
    Example(
        name="pushed into service",
        about="However one came to the counter, service begins.",
        at=(1, 6),
        drawing="""
            .10  .0.  10.  .01
            ...  .1.  ...  ...
        """,
        persons={1: QUEUES},
        actions="LW",
        paths=tuple((place(1, 7, 3, option),) for option in range(3)),
        expect=(
            {0: "own collided -5.1", 1: "displaced timer=0"},
            {0: "own collided -5.1", 1: "displaced timer=1"},
            {0: "own collided -5.1", 1: "displaced timer=0"},
        ),
    ),
    Example(
        name="the right door",
        about="Entering it completes the second goal.",
        at=(5, 0),
        drawing="A0  A.",
        persons={0: Person(leg=1, goal2_door=0)},
        actions="L",
        expect={0: "own goal gone 9.9"},
    ),
    Example(
        name="another door",
        about="A door that is not the goal is a cell like any other.",
        at=(5, 0),
        drawing="A0  0.",
        persons={0: Person(leg=1, goal2_door=1)},
        actions="L",
        expect={0: "own leg=1"},
    ),
    Example(
        name="the right door too early",
        about="The first goal is still open.",
        at=(5, 0),
        drawing="A0  0.",
        actions="L",
        expect={0: "own leg=0"},
    ),
    Example(
        name="a holder holds",
        about="The newcomer is two cells away from R.",
        at=(6, 3),
        drawing="0..r1  .0.r1",
        persons={1: Person(leg=1, holder=True)},
        actions="RL",
        expect={0: "own", 1: "auto holder=1 action=4"},
    ),
    Example(
        name="the newcomer beside R",
        about="All holders are let go; they may move on the next turn.",
        at=(6, 3),
        drawing="""
            .0.rrr  ..0rrr
            .h.12r  .h.12r
        """,
        persons={1: Person(leg=1, holder=True), 2: Person(leg=1, holder=True)},
        actions="R",
        expect={0: "own", 1: "auto holder=0", 2: "auto holder=0"},
    ),
    Example(
        name="the newcomer behind one beside R",
        about="2 stands beside R, outside; reaching 2 is near enough.",
        at=(6, 3),
        drawing="0.2r1  .02r1",
        persons={1: Person(leg=1, holder=True)},
        actions="R",
        expect={0: "own", 1: "auto holder=0"},
    ),
)
