"""Trials side by side in one engine batch, and what their learner is told in each turn.

What it is told is made of public facts alone, those of `observe_symbolic` and the memory of
`NormGymTrialEnv`, but it is shaped for norms about doors and zones, and that is knowledge put in by
hand: for each move whether it leads nearer to the goal (also round zone Q, round zone R, and to
each door), and which groups stepped onto which doors and zones in the last turn, with and without a
sanction. Which norms exist, and that norms are about groups, doors or numbers in R, is not said.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import (
    GRID_WIDTH,
    NUM_ACTIONS,
    NUM_CELLS,
    Cell,
    Driver,
    Goal1,
    Group,
    Zone,
)
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.batch_engine import DEFAULT_REWARD_TERMS
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import num_slots
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.types import Layout, Norm

STEPS: Final = ("door A", "door B", "door C", "Q", "R empty", "R one", "R two", "R more", "in R")
"""Kinds of steps that norms about doors and zones can speak of; R by how many are in it already."""
NUM_GROUPS: Final = len(Group)
NUM_STEPS: Final = len(STEPS)
MOVES: Final = NUM_ACTIONS - 1
NUM_WAYS: Final = 6
"""To the goal freely, round Q and round R; or, where any door will do, to door A, B and C."""
FAR: Final = 40.0
"""Stands for a place that cannot be reached; cells."""
_CHAIRS, _IN_R, _DOORS = NUM_CELLS, NUM_CELLS + 1, NUM_CELLS + 2  # sets that count as one target


class Public(NamedTuple):
    """Public facts of B rows, as `observe_symbolic` gives them to the newcomer; cells for pairs."""

    present: npt.NDArray[Any]  # (B, N) somebody is in the slot
    is_new: npt.NDArray[Any]  # (B, N)
    groups: npt.NDArray[Any]  # (B, N) constants.Group, -1 nobody
    displaced: npt.NDArray[Any]  # (B, N)
    sanctioned: npt.NDArray[Any]  # (B, N)
    positions: npt.NDArray[Any]  # (B, N) cell, the door for one who has just left, -1 nobody
    previous: npt.NDArray[Any]  # (B, N) cell before the last step, -1 nobody
    goal1_done: npt.NDArray[Any]  # (B,) the newcomer's
    service: npt.NDArray[Any]  # (B,) turns served so far
    goal1_kind: npt.NDArray[Any]  # (B,) -1 without a person
    goal1_cell: npt.NDArray[Any]  # (B,) -1 when not a given place
    goal2_door: npt.NDArray[Any]  # (B,) -1 any
    mask: npt.NDArray[Any]  # (B, 5)


class Room:
    """What anybody can read off the map: distances to every place, also round a zone."""

    def __init__(self, layout: Layout) -> None:
        """Measure a layout."""
        cells, zones = layout.cells.reshape(-1), layout.zones.reshape(-1)
        open_ = np.isin(cells, [Cell.FLOOR, Cell.CHAIR, Cell.DOOR])
        place = np.arange(NUM_CELLS)
        self.zones = zones
        self.door_of = np.full(NUM_CELLS, -1)
        self.door_of[layout.doors] = range(len(layout.doors))
        self.doors, self.service = layout.doors, layout.service
        self.neighbour = np.repeat(place[:, None], MOVES, 1)  # (cells, 4)
        for action, shift in enumerate((-GRID_WIDTH, GRID_WIDTH, -1, 1)):
            there = place + shift
            inside = (there >= 0) & (there < NUM_CELLS)
            if abs(shift) == 1:
                inside &= there // GRID_WIDTH == place // GRID_WIDTH
            there = np.where(inside, there, place)
            self.neighbour[:, action] = np.where(open_ & open_[there], there, place)
        targets = [layout.chairs, np.flatnonzero(zones == Zone.R), layout.doors]
        self.distance = np.stack(
            [self._measure(open_ & (zones != avoid), targets) for avoid in (-1, Zone.Q, Zone.R)]
        )  # (3, cells, targets): freely, round Q, round R

    def _measure(self, may_enter: npt.NDArray[Any], sets: Sequence[Any]) -> npt.NDArray[np.float32]:
        """Return steps from every cell to every cell, then to the nearest of each set."""
        steps = np.where(np.eye(NUM_CELLS, dtype=bool) & may_enter, 0, FAR).astype(np.float32)
        for _ in range(int(FAR)):
            for there in self.neighbour.T:
                through = np.where(may_enter[there, None], steps[there] + 1, FAR)
                steps = np.minimum(steps, through)
        return np.column_stack([steps, *(steps[:, cells].min(axis=1) for cells in sets)])


def read_public(engine: BatchEngine, slots: int) -> Public:
    """Return the newcomer's public facts in every row; equal to `observe_symbolic` row by row."""
    state = engine.states
    present = state["present"][:, :slots] != 0
    before, action = state["prev"][:, :slots].astype(np.intp), state["action"][:, :slots]
    left = ~present & (before >= 0)
    neighbour = engine.tables[0]["neighbour"][0]
    door = neighbour[before, np.maximum(action, 0)]
    seen, own = present | left, present[:, 0]

    def own_fact(name: str) -> npt.NDArray[Any]:
        return np.where(own, state[name][:, 0], -1)

    return Public(
        present,
        present & (state["is_new"][:, :slots] != 0),
        np.where(seen, state["group"][:, :slots], -1),
        seen & (state["displaced"][:, :slots] != 0),
        seen & (state["sanctioned"][:, :slots] != 0),
        np.where(present, state["pos"][:, :slots], np.where(left, door, -1)),
        np.where(seen, before, -1),
        np.where(own, state["leg"][:, 0] == 1, left[:, 0]),
        np.where(own, state["timer"][:, 0], 0),
        own_fact("goal1_kind"),
        own_fact("goal1_cell"),
        own_fact("goal2_door"),
        engine.action_masks()[:, 0],
    )


def name_steps(
    room: Room, origin: npt.NDArray[Any], there: npt.NDArray[Any], others_in_r: npt.NDArray[Any]
) -> npt.NDArray[np.intp]:
    """Return which of `STEPS` a step between two cells is, -1 for none; all of one shape."""
    door, zone = room.door_of[there], room.zones[there]
    step = np.where(zone == Zone.Q, 3, door)
    into_r = np.where(room.zones[origin] == Zone.R, 8, 4 + np.minimum(others_in_r, 3))
    step = np.where(zone == Zone.R, into_r, step)
    return np.where(origin == there, -1, step)


def describe(room: Room, public: Public, memory: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
    """Return what the network is told.

    Args:
        room: the map.
        public: facts of B rows.
        memory: (B, 8), as `envs.trials.MEMORY`.

    Returns:
        (B, F) float32; `PARTS` gives the places of what the network reads by name.
    """
    rows = np.arange(len(memory))
    own, cell = public.present[:, 0], np.maximum(public.positions[:, 0], 0)
    group = np.eye(NUM_GROUPS + 1)[np.where(own, public.groups[:, 0], NUM_GROUPS)][:, :NUM_GROUPS]

    # who stepped onto what in the last turn
    in_r_before = (public.previous >= 0) & (room.zones[public.previous] == Zone.R)
    others_before = in_r_before.sum(axis=1, keepdims=True) - in_r_before
    step = name_steps(room, public.previous, public.positions, others_before)
    step[(public.positions < 0) | (public.displaced != 0) | (public.is_new != 0)] = -1
    events = np.zeros((2, len(rows), NUM_GROUPS, NUM_STEPS), np.float32)
    row, slot = np.nonzero(step >= 0)
    verdict = (public.sanctioned[row, slot] != 0).astype(np.intp)
    np.add.at(events, (verdict, row, public.groups[row, slot], step[row, slot]), 1)
    own_step = np.eye(NUM_STEPS + 1)[step[:, 0]][:, :NUM_STEPS]

    # what each move leads to
    there = room.neighbour[cell]  # (B, 4)
    taken = np.zeros((len(rows), NUM_CELLS), np.float32)
    other_row, other = np.nonzero(public.present[:, 1:])
    taken[other_row, public.positions[:, 1:][other_row, other]] = 1
    near = taken[rows[:, None, None], room.neighbour[there]].sum(axis=2)
    in_r = public.present[:, 1:] & (room.zones[public.positions[:, 1:]] == Zone.R)
    num_in_r = in_r.sum(axis=1)
    move = name_steps(room, cell[:, None], there, num_in_r[:, None])
    target = np.select(
        [
            (public.goal1_done != 0) & (public.goal2_door >= 0),
            public.goal1_done != 0,
            public.goal1_kind == Goal1.COUNTER,
            public.goal1_kind == Goal1.PLACE,
            public.goal1_kind == Goal1.ANY_CHAIR,
        ],
        [room.doors[public.goal2_door], _DOORS, room.service, public.goal1_cell, _CHAIRS],
        _IN_R,
    )
    ways = np.concatenate(  # steps to the goal by three ways, and to each door: (B, 6), (B, 4, 6)
        [room.distance[:, cell, target].T, room.distance[0, cell][:, room.doors]], axis=1
    )
    ways_there = np.concatenate(
        [
            room.distance[:, there, target[:, None]].transpose(1, 2, 0),
            room.distance[0, there][..., room.doors],
        ],
        axis=2,
    )
    nearer = np.clip(ways[:, None] - ways_there, -1, 1) * own[:, None, None]
    may_choose = (public.goal1_done != 0) & (public.goal2_door < 0)  # any door will do
    nearer[..., :3] *= ~may_choose[:, None, None]
    nearer[..., 3:] *= may_choose[:, None, None]
    blocked = there == cell[:, None]
    moves = np.stack([blocked, taken[rows[:, None], there], near / 2], axis=2) * own[:, None, None]
    kinds = np.eye(len(Goal1) + 1)[public.goal1_kind][:, : len(Goal1)]
    doors = np.eye(len(room.doors) + 1)[public.goal2_door][:, : len(room.doors)]
    facts = [own, public.goal1_done, public.service / 4]
    return np.concatenate(
        [
            public.mask,
            group * own[:, None],
            np.eye(NUM_STEPS + 1)[move][..., :NUM_STEPS].reshape(len(rows), -1),
            events.transpose(1, 0, 2, 3).reshape(len(rows), -1),
            public.mask[:, :MOVES].any(axis=1, keepdims=True),
            nearer.reshape(len(rows), -1),
            np.eye(4)[np.minimum(num_in_r, 3)],
            np.minimum(ways, FAR) / FAR * own[:, None],
            moves.reshape(len(rows), -1),
            own_step,
            np.stack(facts, axis=1),
            kinds,
            doors,
            room.zones[cell][:, None] == [Zone.Q, Zone.R],
            memory,
        ],
        axis=1,
        dtype=np.float32,
        casting="unsafe",
    )


_LENGTHS: Final = (
    NUM_ACTIONS,
    NUM_GROUPS,
    MOVES * NUM_STEPS,
    2 * NUM_GROUPS * NUM_STEPS,
    1,
    MOVES * NUM_WAYS,
    4,
    NUM_WAYS,
)
_ENDS: Final = np.cumsum(_LENGTHS).tolist()
MASK, GROUP, MOVE, EVENT, FREE, NEARER, CROWD, WAYS = (
    slice(end - length, end) for end, length in zip(_ENDS, _LENGTHS, strict=True)
)
"""Places of what is read by name in a description: open actions, own group, kind of step of each
move, everybody's steps in the last turn without and with a sanction, whether there is anything to
choose, whether each move leads nearer by each way, 0 to 3 or more people in R, and the lengths of
the ways as shares of FAR."""


class TrialBatch:
    """Trials side by side; row r of batch k is `NormGymTrialEnv.reset(seed=first + r)`."""

    def __init__(
        self,
        tasks: Sequence[Norm],
        num_envs: int,
        layout: str,
        turns: int,
        *,
        slots: int | None = None,
    ) -> None:
        """Make the rows; every trial has one of the tasks, all the largest population of them."""
        self.tasks = tuple(tasks)
        self.layout, self.turns = get_layout(layout), turns
        self.slots = slots or max(num_slots(task) for task in tasks)
        self.engine = BatchEngine([self.layout], self.tasks, num_envs)
        self.room = Room(self.layout)
        goal, cost, collision, sanction = DEFAULT_REWARD_TERMS
        self._largest = max(goal, cost + collision + sanction)

    def reset(
        self, first: int, chosen: Sequence[int] | None = None, driver: Driver = Driver.EXTERNAL
    ) -> npt.NDArray[Any]:
        """Begin a trial in every row and return its descriptions, (B, F).

        Args:
            first: seed of row 0; row r has first + r.
            chosen: (B,) tasks by index; drawn as `NormGymTrialEnv` draws them by default.
            driver: who plays the newcomer.
        """
        foreseen = "norm_blind" if driver == Driver.NORM_BLIND else "norm_aware"
        for row in range(self.engine.num_rows):
            seed = first + row
            task = np.random.default_rng([seed, 1]).integers(len(self.tasks))
            spec = draw_episode(
                self.layout,
                self.tasks[task if chosen is None else chosen[row]],
                int(np.random.default_rng(seed).integers(2**63)),
                num_agents=self.slots,
                num_norm_blind=1,
                limit=self.turns,
                predict_newcomer=foreseen,
            )
            self.engine.load(row, spec, drivers=(int(driver), *spec.drivers[1:]))
        memory = np.zeros((self.engine.num_rows, NUM_ACTIONS + 3), np.float32)
        memory[:, -1] = 1
        return describe(self.room, read_public(self.engine, self.slots), memory)

    def step(self, actions: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Advance by one turn and return descriptions (B, F) and reward points (B,)."""
        self.engine.step(actions[:, None])
        rewards = self.engine.states["reward"][:, 0].astype(np.float32)
        memory = np.zeros((len(actions), NUM_ACTIONS + 3), np.float32)
        memory[np.arange(len(actions)), actions] = 1
        memory[:, NUM_ACTIONS] = np.clip(rewards / self._largest, -1, 1)
        memory[:, NUM_ACTIONS + 1] = self.engine.states["sanctioned"][:, 0]
        return describe(self.room, read_public(self.engine, self.slots), memory), rewards
