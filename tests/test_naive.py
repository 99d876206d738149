"""The plain restatement against results worked by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import naive
import pytest
from naive import DOWN, LEFT, NORM_AWARE, RIGHT, UP, WAIT, NaiveSlot, NaiveWorld
from worked import COLLISIONS, EXAMPLES, MAPS, PLANS, Example, PlanExample
from worked.form import LETTERS, cell, find_persons, read_columns
from worked.norms import BY_KIND

LIBRARY = Path(__file__).parent.parent / "normgym_envs" / "norms" / "library.toml"
ROWS = naive.load_norms(LIBRARY)
HALL = naive.load_map(MAPS["hall"])
SEEDS = range(40)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_worked_example(example: Example) -> None:
    seen = set()
    for seed in SEEDS:
        world = example.world(ROWS, seed)
        rewards = naive.step(world, example.chosen_actions())
        outcome = example.due_outcome(seed)
        seen.add(outcome)
        for slot, facts in example.expected(outcome).items():
            found = {name: getattr(world.slots[slot], name) for name in facts}
            reward = facts.pop("reward")
            assert found.pop("reward") == rewards[slot] == pytest.approx(reward)
            assert found == facts, f"slot {slot}, seed {seed}"
    assert seen == set(range(len(example.paths))), "some outcome never came up"


@pytest.mark.parametrize("example", PLANS, ids=lambda example: example.name)
@pytest.mark.parametrize("shared", [True, False])
def test_worked_plan(example: PlanExample, shared: bool) -> None:
    world = example.world(ROWS)
    plan = naive.plan(world, shared=shared)
    for slot, letters in example.ties.items():
        assert plan.ties[slot] == {LETTERS.index(letter) for letter in letters}
        assert plan.actions[slot] == min(plan.ties[slot])
    assert tuple(slot for slot, waits in enumerate(plan.courtesy) if waits) == example.courtesy
    predicted = find_persons(read_columns(example.drawing)[1], example.at)
    assert {i: c for i, c in enumerate(plan.predicted) if c >= 0} == predicted


def test_examples_cover_every_kind() -> None:
    assert set(BY_KIND) == {row["kind"] for row in ROWS.values()}
    assert all(len(examples) >= 3 for examples in BY_KIND.values())
    assert len(COLLISIONS) >= 21
    names = [example.name for example in (*EXAMPLES, *PLANS)]
    assert len(set(names)) == len(names)


def test_splitmix64_known_values() -> None:
    # First outputs of the published generator for the states 0 and 0 + its constant.
    assert naive.splitmix64(0) == 0xE220A8397B1DCDAF
    assert naive.splitmix64(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


def test_layout_of_the_hall() -> None:
    assert HALL.service == cell(1, 6)
    assert HALL.doors == (cell(5, 0), cell(10, 8), cell(8, 14))
    assert [HALL.regions[chair] for chair in HALL.chairs] == ["TL", "TL", "BL", "BL", "BR", "BR"]
    assert len(set(HALL.ring)) == 40
    assert HALL.ring[:2] == (cell(1, 1), cell(1, 2))


@pytest.mark.parametrize(
    ("counter", "service", "right"),
    [((0, 6), (1, 6), (1, 7)), ((4, 14), (4, 13), (5, 13)), ((10, 4), (9, 4), (9, 3))],
)
def test_right_of_one_who_faces_the_counter(
    counter: tuple[int, int], service: tuple[int, int], right: tuple[int, int]
) -> None:
    characters = list(HALL.cells.replace("S", "#"))
    characters[cell(*counter)] = "S"
    layout = naive.make_layout("".join(characters))
    for legs in ("right 1", "right-along-wall 1"):
        path = naive.queue_path(layout, {"legs": [legs]})
        assert path == [cell(*service), cell(*right)]


@pytest.mark.parametrize(
    ("norm", "path"),
    [
        ("bend-right-1", [(1, 6), (1, 7), *((row, 7) for row in range(2, 10))]),
        ("zigzag-left-1", [(1, 6), (1, 5), (2, 5), (2, 6), (3, 6), (3, 5), (4, 5), (4, 6)]),
        ("staircase-left", [(1, 6), (1, 5), (2, 5), (2, 4)]),  # a chair ends it
        ("square-right", [(1, 6), (1, 7), (2, 7), (3, 7), (3, 6), (3, 5), (2, 5)]),
        ("edge-queue-left", [(1, 6), (1, 5), (1, 4), (1, 3)]),
    ],
)
def test_queue_paths(norm: str, path: list[tuple[int, int]]) -> None:
    found = naive.queue_path(HALL, ROWS[norm]["parameters"])
    assert found[: len(path)] == [cell(*place) for place in path]
    assert len(found) == (10 if norm.startswith("zigzag") else len(path))


def person(start: tuple[int, int], **facts: Any) -> dict[str, Any]:
    """Return a roster entry: to the chair (7, 10), then out to the right."""
    return {
        "delay": 0,
        "group": 0,
        "start": cell(*start),
        "goal1_kind": naive.PLACE,
        "goal1_cell": cell(7, 10),
        "goal2_door": 2,
        "leg": 0,
        "holder": False,
        **facts,
    }


def episode(rosters: list[list[dict[str, Any]]], **facts: Any) -> NaiveWorld:
    """Return a world of persons driven from outside, unless `drivers` says otherwise."""
    number = len(rosters)
    spec = {
        "norms": (),
        "norms_after": (),
        "change_turn": -1,
        "phase": "free",
        "seed": 7,
        "limit": 100,
        "drivers": (0,) * number,
        "priority": tuple(range(number)),
        "persons": rosters,
        "predict_newcomer": "norm_aware",
    }
    return naive.load_episode(SimpleNamespace(**{**spec, **facts}), HALL, ROWS)


def test_service_takes_three_turns_on_a_chair() -> None:
    world = episode([[person((7, 11))]])
    timers = []
    for action in (LEFT, RIGHT, RIGHT, RIGHT):
        rewards = naive.step(world, {0: action})
        timers.append((world.slots[0].timer, world.slots[0].leg, world.slots[0].auto, rewards[0]))
    assert timers[0] == (1, 0, False, pytest.approx(-0.1))
    assert timers[1] == (2, 0, True, pytest.approx(-0.1))
    assert timers[2] == (0, 1, True, pytest.approx(9.9))
    assert timers[3] == (0, 1, False, pytest.approx(-0.1))
    assert world.slots[0].pos == cell(7, 11)


def test_service_takes_four_turns_at_the_counter() -> None:
    world = episode([[person((1, 7), goal1_kind=naive.COUNTER, goal1_cell=-1)]])
    naive.step(world, {0: LEFT})
    legs = []
    for _ in range(4):
        legs.append(world.slots[0].leg)
        naive.step(world, {0: LEFT})
    assert legs == [0, 0, 0, 1]
    assert world.slots[0].pos == cell(1, 5)


def test_turnover_delay_and_next_person() -> None:
    roster = [person((8, 13), leg=1), person((5, 0), delay=2, group=2), person((5, 0), delay=1)]
    world = episode([roster])
    assert world.slots[0].new
    assert world.slots[0].action == -1
    rewards = naive.step(world, {0: RIGHT})  # turn 0: leaves; the next is due on turn 0 + 1 + 2
    assert rewards == [pytest.approx(9.9)]
    slot = world.slots[0]
    assert (slot.present, slot.goals, slot.person, slot.arrival) == (False, 1, 1, 3)
    assert naive.step(world, {0: UP}) == [0.0]  # turn 1: nobody
    assert slot.auto
    assert not slot.present
    assert naive.step(world, {}) == [0.0]  # turn 2: appears at its end
    assert (slot.present, slot.new, slot.pos, slot.prev) == (True, True, cell(5, 0), cell(5, 0))
    assert (slot.group, slot.leg, slot.action) == (2, 0, -1)
    assert naive.step(world, {0: RIGHT}) == [pytest.approx(-0.1)]
    assert (slot.new, slot.pos, slot.streak) == (False, cell(5, 1), 1)


def test_roster_wraps_round() -> None:
    world = episode([[person((8, 13), leg=1, delay=0)]])
    for _ in range(3):
        naive.step(world, {0: RIGHT})
    assert world.slots[0].person == 3
    assert world.slots[0].present


def test_arrivals_at_one_door_by_time_then_priority() -> None:
    rosters = [
        [person((5, 0), delay=2)],
        [person((5, 0), delay=1)],
        [person((5, 0), delay=1)],
    ]
    world = episode(rosters, priority=(0, 2, 1))
    order = []
    for _ in range(7):
        here = [slot for slot, p in enumerate(world.slots) if p.present and p.new]
        order.append((world.turn, here))
        naive.step(world, {0: RIGHT, 1: RIGHT, 2: RIGHT})
    # Slot 2 is before slot 1 in priority; each leaves the door on the turn after it appears.
    assert order == [(0, []), (1, [2]), (2, [1]), (3, [0]), (4, []), (5, []), (6, [])]


def test_arrival_waits_for_a_free_start() -> None:
    world = episode([[person((5, 0))], [person((5, 0), delay=1)]])
    naive.step(world, {0: WAIT})
    assert not world.slots[1].present
    naive.step(world, {0: RIGHT})
    assert world.slots[1].present
    assert world.slots[1].pos == cell(5, 0)


def test_test_episode_ends_with_the_newcomer() -> None:
    rosters = [[person((8, 13), leg=1)], [person((5, 0))]]
    world = episode(rosters, phase="seen", limit=1)
    naive.step(world, {0: RIGHT})
    assert world.ended == naive.TERMINATED
    assert not world.slots[0].present
    with pytest.raises(RuntimeError):
        naive.step(world, {})


def test_truncation_at_the_limit() -> None:
    world = episode([[person((5, 5))]], phase="unseen", limit=2)
    naive.step(world, {})
    assert world.ended == naive.RUNNING
    naive.step(world, {})
    assert world.ended == naive.TRUNCATED


def test_interaction_goes_on_without_the_newcomer() -> None:
    world = episode([[person((8, 13), leg=1), person((5, 0), delay=1)]], phase="interaction")
    naive.step(world, {0: RIGHT})
    assert world.ended == naive.RUNNING
    naive.step(world, {})
    assert world.slots[0].present


def test_holders_are_let_go_for_good() -> None:
    holder = person((6, 8), leg=1, holder=True)
    world = episode([[person((6, 3))], [holder]])
    naive.step(world, {0: RIGHT, 1: UP})
    assert world.slots[1].holder
    assert world.slots[1].auto
    naive.step(world, {0: RIGHT, 1: UP})  # the newcomer is beside R now
    assert world.slots[1].pos == cell(6, 8)
    naive.step(world, {0: LEFT, 1: UP})
    assert world.slots[1].pos == cell(5, 8)
    naive.step(world, {0: LEFT, 1: DOWN})
    assert not world.slots[1].holder
    assert not world.slots[1].held


def test_holders_are_let_go_at_load() -> None:
    world = episode([[person((6, 5))], [person((6, 8), leg=1, holder=True)]])
    assert not world.slots[1].holder


def test_norm_change() -> None:
    world = episode([[person((2, 7))]], norms=("forbidden-zone-q",), norms_after=(), change_turn=2)
    violated = []
    for action in (DOWN, DOWN, UP, DOWN):
        naive.step(world, {0: action})
        violated.append(world.slots[0].violated)
    assert violated == [True, True, False, False]


def test_visited_includes_the_start() -> None:
    world = episode([[person((3, 7))]])
    assert world.slots[0].visited


def test_no_courtesy_where_the_other_is_expected_to_go() -> None:
    rosters = [[person((5, 0), goal1_cell=cell(1, 1))], [person((5, 1), leg=1, goal2_door=0)]]
    world = episode(rosters, drivers=(0, NORM_AWARE))
    naive.step(world, {0: WAIT})
    # Slot 0 was expected to walk off, changing places; it stood still and was pushed.
    assert not world.slots[1].present
    assert world.slots[1].collided
    assert world.slots[0].displaced
    assert world.slots[0].pos == cell(5, 1)


def test_courtesy_counts_waits_and_then_pushes() -> None:
    rosters = [
        [person((5, 0), goal1_cell=cell(5, 0))],
        [person((5, 1), leg=1, goal2_door=0)],
    ]
    world = episode(rosters, drivers=(0, NORM_AWARE))
    facts = []
    for _ in range(3):
        naive.step(world, {0: WAIT})
        facts.append((world.slots[1].courtesy, world.slots[1].present, world.slots[0].pos))
    # Slot 0 is served on the door cell. The third wait would be due on turn 2: slot 1 pushes.
    assert facts[:2] == [(1, True, cell(5, 0)), (2, True, cell(5, 0))]
    assert facts[2] == (0, False, cell(5, 1))
    assert world.slots[0].displaced
    assert world.slots[0].timer == 0


def test_three_scripted_people_finish() -> None:
    rosters = [[person((5, 0))], [person((10, 8), goal1_cell=cell(3, 2))], [person((8, 14))]]
    world = episode(rosters, drivers=(NORM_AWARE,) * 3)
    completed = [0, 0, 0]
    for _ in range(60):
        naive.step(world, {})
        completed = [n + p.goals for n, p in zip(completed, world.slots, strict=True)]
        assert not any(p.violated for p in world.slots)
        places = [p.pos for p in world.slots if p.present]
        assert len(set(places)) == len(places)
    assert min(completed) >= 2


def test_search_weighs_a_detour_against_a_collision() -> None:
    # Straight on: 2 steps and a collision of 50. Round by the second row: 4 steps.
    world = NaiveWorld(HALL, ROWS, slots=[NaiveSlot(present=True, pos=cell(1, 1))])
    world.slots[0].goal1_cell = cell(1, 3)
    assert naive.search(world, 0, [], set()) == {RIGHT}
    assert naive.search(world, 0, [], {cell(1, 2)}) == {DOWN}
    # With the way round occupied as well, both cost a collision and the shorter one is taken.
    assert naive.search(world, 0, [], {cell(1, 2), cell(2, 1)}) == {RIGHT}
    world.slots[0].goal1_cell = cell(2, 2)
    assert naive.search(world, 0, [], {cell(1, 2), cell(2, 1)}) == {RIGHT, DOWN}


def test_search_gate_with_obstacle() -> None:
    # Move 1, wait 1: a detour of 4 moves lasts 7 turns, still less than 3 turns and a collision.
    world = NaiveWorld(HALL, ROWS, slots=[NaiveSlot(present=True, pos=cell(5, 9))])
    world.slots[0].goal1_cell = cell(5, 11)
    norms = [ROWS["move-1-wait-1"]]
    assert naive.search(world, 0, norms, {cell(5, 10)}) == {UP, DOWN}
    world.slots[0].streak = 1
    assert naive.search(world, 0, norms, {cell(5, 10)}) == {WAIT}
