"""Random legal worlds for property tests, and the bridge between the engine and `naive.py`."""

from typing import Any

import naive
import numpy as np
from naive_world import NaiveLayout, NaiveSlot, NaiveWorld

from normgym_envs.constants import Driver, Goal1
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.state import ROSTER_FIELDS, allocate_states
from normgym_envs.engine.step import is_on_goal
from normgym_envs.types import RecordArray

PERSON_FIELDS = (
    "pos",
    "prev",
    "came_from",
    "group",
    "goal1_kind",
    "goal1_cell",
    "goal2_door",
    "leg",
    "timer",
    "holder",
    "streak",
    "visited",
    "courtesy",
)
"""Facts of a person that both worlds keep under one name."""
EVENT_FIELDS = ("action", "auto", "own_move", "displaced", "collided", "violated", "goals")
"""Facts of the last step that both worlds keep under one name."""


def fill_random_states(
    engine: BatchEngine,
    rng: np.random.Generator,
    *,
    num_slots: int = 10,
    max_norms: int = 1,
    external: float = 0.5,
    crowd: float = 0.9,
    mixed_goals: bool = True,
) -> None:
    """Overwrite every row with a random state in mid-episode.

    Args:
        engine: whose rows are written.
        rng: generator that is advanced.
        num_slots: N.
        max_norms: norms a row may hold, drawn from 1 to this.
        external: share of outside-driven slots.
        crowd: share of slots with a person.
        mixed_goals: persons of one row may have different kinds of first goals.
    """
    layouts = engine.tables[0]
    for index in range(engine.num_rows):
        state = allocate_states(1)
        row = state[0]
        row["layout"] = rng.integers(len(engine.layouts))
        layout, packed = engine.layouts[row["layout"]], layouts[row["layout"]]
        row["seed"] = rng.integers(2**63)
        row["turn"] = rng.integers(40)
        row["limit"] = row["turn"] + rng.integers(1, 50)
        row["is_test"] = rng.random() < 0.3
        row["num_slots"] = num_slots
        row["holding"] = True
        row["reward_terms"] = (10, 0.1, 5, 20)
        count = rng.integers(1, max_norms + 1)
        row["norms"][:count] = rng.choice(len(engine.norms), count, replace=False)
        if max_norms > 1 and rng.random() < 0.3:
            row["change_turn"] = rng.integers(40)
            row["norms_after"][:1] = rng.integers(len(engine.norms), size=1)
        slots = np.arange(num_slots)
        row["driver"][slots] = np.where(
            rng.random(num_slots) < external,
            Driver.EXTERNAL,
            rng.choice([Driver.NORM_AWARE, Driver.NORM_BLIND], num_slots, p=[0.8, 0.2]),
        )
        foreseen = Driver.NORM_BLIND if rng.random() < 0.2 else Driver.NORM_AWARE
        driver = row["driver"][slots]
        row["predicted"][slots] = np.where(driver == Driver.EXTERNAL, foreseen, driver)
        row["priority"][slots] = rng.permutation(num_slots)
        row["present"][slots] = rng.random(num_slots) < crowd
        cells = np.flatnonzero(packed["enterable"])
        queues = rng.random() < 0.25  # a crowd before the counter
        if queues or rng.random() < 0.5:  # a crowd in one corner
            zones = np.flatnonzero(packed["zones"])
            anywhere = cells if rng.random() < 0.5 or len(zones) == 0 else zones
            centre = layout.service if queues else rng.choice(anywhere)
            near = packed["distance"][centre, cells].argsort(kind="stable")
            cells = cells[near[: max(2 * num_slots, 12)]]
        row["pos"][slots] = rng.choice(cells, num_slots, replace=False)
        row["prev"][slots] = row["pos"][slots]
        beside = packed["neighbour"][row["pos"][slots], rng.integers(5, size=num_slots)]
        row["came_from"][slots] = np.where(rng.random(num_slots) < 0.3, beside, -1)
        row["group"][slots] = rng.integers(3, size=num_slots)
        kinds = rng.integers(4, size=num_slots)
        if queues:
            kinds = np.where(rng.random(num_slots) < 0.8, Goal1.COUNTER, kinds)
        row["goal1_kind"][slots] = kinds if mixed_goals else kinds[0]
        places = np.array([cell for cell, _ in layout.destinations])
        is_place = row["goal1_kind"][slots] == Goal1.PLACE
        row["goal1_cell"][slots] = np.where(is_place, rng.choice(places, num_slots), -1)
        row["goal2_door"][slots] = rng.integers(-1, 3, num_slots)
        row["leg"][slots] = rng.integers(2, size=num_slots)
        row["streak"][slots] = rng.integers(5, size=num_slots)
        row["visited"][slots] = rng.integers(2, size=num_slots)
        row["courtesy"][slots] = rng.integers(4, size=num_slots)
        row["num_persons"][slots] = 3
        shape = (num_slots, 3)
        row["r_delay"][:num_slots, :3] = rng.integers(1, 4, shape)
        row["r_start"][:num_slots, :3] = rng.choice(layout.doors, shape)
        row["r_goal1_kind"][:num_slots, :3] = Goal1.ANY_CHAIR
        row["r_goal1_cell"][:num_slots, :3] = -1
        row["r_group"][:num_slots, :3] = rng.integers(3, size=shape)
        row["r_goal2_door"][:num_slots, :3] = rng.integers(3, size=shape)
        for slot in slots:
            if not row["present"][slot]:
                row["pos"][slot] = row["prev"][slot] = -1
                row["person"][slot] = rng.integers(-1, 2)
                row["arrival"][slot] = row["turn"] + rng.integers(0, 4)
                row["leg"][slot] = 0
                if slot == 0 and row["is_test"]:  # a newcomer that has left would have ended it
                    row["person"][0] = -1
                continue
            row["person"][slot] = rng.integers(3)
            if row["leg"][slot] == 0 and is_on_goal(row, packed, slot, row["pos"][slot]):
                row["timer"][slot] = rng.integers(1, 3)
            row["holder"][slot] = rng.random() < 0.05
        engine.states[index] = row


def to_naive(
    engine: BatchEngine, index: int, layout: NaiveLayout, norm_rows: dict[str, Any]
) -> NaiveWorld:
    """Return one row of an engine as a world of `naive.py`."""
    row = engine.states[index]
    world = NaiveWorld(
        layout,
        norm_rows,
        norms=[engine.norms[i].id for i in row["norms"] if i >= 0],
        norms_after=[engine.norms[i].id for i in row["norms_after"] if i >= 0],
        change_turn=int(row["change_turn"]),
        turn=int(row["turn"]),
        limit=int(row["limit"]),
        ended=int(row["ending"]),
        seed=int(row["seed"]),
        phase="seen" if row["is_test"] else "free",
        released=not row["holding"],
    )
    for slot in range(row["num_slots"]):
        present = bool(row["present"][slot])
        person = NaiveSlot(
            present=present,
            person=int(row["person"][slot]) + (0 if present else 1),
            arrival=int(row["arrival"][slot]),
            driver=int(row["driver"][slot]),
            predicted=int(row["predicted"][slot]),
            priority=int(row["priority"][slot]),
            **{name: int(row[name][slot]) for name in PERSON_FIELDS + EVENT_FIELDS},
        )
        for name in ("holder", "visited", "auto", "own_move", "displaced", "collided", "violated"):
            setattr(person, name, bool(getattr(person, name)))
        world.slots.append(person)
        world.rosters.append(
            [
                {name: int(row["r_" + name][slot, i]) for name in ROSTER_FIELDS}
                for i in range(row["num_persons"][slot])
            ]
        )
    return world


def from_naive(engine: BatchEngine, world: NaiveWorld, layout_index: int = 0) -> RecordArray:
    """Return a naive world as one row for an engine that has its layout and norms.

    Slots without a roster get one whose person never comes.

    Returns:
        (1,) STATE_DTYPE.
    """
    state = allocate_states(1)
    row = state[0]
    places = {norm.id: place for place, norm in enumerate(engine.norms)}
    row["layout"] = layout_index
    for field, names in (("norms", world.norms), ("norms_after", world.norms_after)):
        row[field][: len(names)] = [places[name] for name in names]
    for name in ("change_turn", "turn", "limit", "seed"):
        row[name] = getattr(world, name)
    row["ending"] = world.ended
    row["is_test"] = world.phase in naive.TEST_PHASES
    row["holding"] = not world.released
    row["num_slots"] = len(world.slots)
    row["reward_terms"] = (10, 0.1, 5, 20)
    for slot, person in enumerate(world.slots):
        roster = world.rosters[slot] if world.rosters else []
        row["num_persons"][slot] = max(len(roster), 1)
        row["r_delay"][slot, 0] = 2**15 - 1
        for i, entry in enumerate(roster):
            for name in ROSTER_FIELDS:
                row["r_" + name][slot, i] = entry[name]
        row["present"][slot] = person.present
        row["person"][slot] = person.person - (not person.present)
        row["arrival"][slot] = person.arrival if roster else 2**30
        row["driver"][slot] = person.driver
        is_external = person.driver == Driver.EXTERNAL
        row["predicted"][slot] = person.predicted if is_external else person.driver
        row["priority"][slot] = person.priority
        row["is_new"][slot] = person.new
        row["sanctioned"][slot] = person.violated
        row["reward"][slot] = person.reward
        for name in PERSON_FIELDS + EVENT_FIELDS:
            row[name][slot] = getattr(person, name)
    return state


def differences(engine: BatchEngine, index: int, world: NaiveWorld) -> list[str]:
    """Return in words where a row of the engine and a naive world differ."""
    row = engine.states[index]
    found = []
    if int(row["turn"]) != world.turn or int(row["ending"]) != world.ended:
        found.append(f"turn, ending: {row['turn']}, {row['ending']} != {world.turn}, {world.ended}")
    for slot, person in enumerate(world.slots):
        if bool(row["present"][slot]) != person.present:
            found.append(f"slot {slot} present: {row['present'][slot]} != {person.present}")
            continue
        names = EVENT_FIELDS if not person.present else EVENT_FIELDS + PERSON_FIELDS
        for name in names:
            ours, theirs = int(row[name][slot]), int(getattr(person, name))
            if ours != theirs:
                found.append(f"slot {slot} {name}: {ours} != {theirs}")
        if person.present and bool(row["is_new"][slot]) != person.new:
            found.append(f"slot {slot} new: {row['is_new'][slot]} != {person.new}")
        if person.present and int(row["person"][slot]) != person.person:
            found.append(f"slot {slot} person: {row['person'][slot]} != {person.person}")
        if abs(float(row["reward"][slot]) - person.reward) > 1e-4:
            found.append(f"slot {slot} reward: {row['reward'][slot]} != {person.reward}")
    return found


def naive_step(world: NaiveWorld, actions: np.ndarray) -> list[float]:
    """Advance a naive world with an engine's action row."""
    return naive.step(world, {slot: int(action) for slot, action in enumerate(actions)})
