"""Numbers and enumerations that every package shares, each with its source.

What varies with a layout lives in `layouts`, what varies with a norm in `norms`;
what an episode may change lives in its `EpisodeSpec`.
"""

from enum import IntEnum
from typing import Final

GRID_HEIGHT: Final = 11
"""Rows, H. Source: NG App. "Observation Representation" (11 x 15 planes)."""
GRID_WIDTH: Final = 15
"""Columns, W. Source: as `GRID_HEIGHT`."""
GRID_SHAPE: Final = (GRID_HEIGHT, GRID_WIDTH)
NUM_CELLS: Final = GRID_HEIGHT * GRID_WIDTH

NUM_ACTIONS: Final = 5
MAX_SLOTS: Final = 10
"""Largest population, K. Source: NG "Agents" (m from 6 to 10)."""
MAX_PERSONS: Final = 24
"""Persons a slot's roster may list. Source: not specified; chosen because no slot of a
200-step episode can use more (entering, service and leaving take at least 9 steps)."""
MAX_NORMS: Final = 4
"""Norms that one row of the batch may hold. Source: not specified; NG uses one."""
MAX_PATH: Final = 10
"""Cells of the longest queue path, P. Source: not specified; chosen so that ten persons fit."""

INTERACTION_STEPS: Final = 200
"""Source: NG "Interaction phase"."""
TEST_STEPS: Final = 100
"""Source: NG "Post-interaction Evaluation"."""

GOAL_REWARD: Final = 10.0
"""Reward points per completed goal. Source: NG App. "Reward"."""
STEP_COST: Final = 0.1
"""Reward points per step while active. Source: NG App. "Reward"."""
COLLISION_PENALTY: Final = 5.0
"""Reward points. Source: NG App. "Reward"."""
VIOLATION_PENALTY: Final = 20.0
"""Reward points, the paper's lambda. Source: NG App. "Reward"."""
COLLISION_STEPS: Final = 50
"""Planner cost of entering a predicted cell, in steps: COLLISION_PENALTY / STEP_COST."""

COUNTER_SERVICE_STEPS: Final = 4
"""Turns on the service cell, the arriving one counted. Source: not specified in NG."""
PLACE_SERVICE_STEPS: Final = 3
"""Turns on a chair, another place or in zone R. Source: not specified in NG."""
MIN_REFILL_DELAY: Final = 1
MAX_REFILL_DELAY: Final = 3
"""Turns a slot stays empty after a departure. Source: not specified in NG."""
COURTESY_PATIENCE: Final = 2
"""Courteous waits after which a person on its way out pushes. Source: not specified in NG."""


class Action(IntEnum):
    """What an agent may choose. Source: NG "Observation and Action Space"."""

    UP = 0
    DOWN = 1
    LEFT = 2
    RIGHT = 3
    WAIT = 4


class Cell(IntEnum):
    """What a cell of the map is; floor, chair and door can be entered."""

    WALL = 0
    FLOOR = 1
    CHAIR = 2
    DOOR = 3
    TABLE = 4
    DISPLAY = 5
    COUNTER = 6


class Zone(IntEnum):
    """Marked floor. Source: NG App. "Notation" (Q a walkable zone, R a resource zone)."""

    NONE = 0
    Q = 1
    R = 2


class Door(IntEnum):
    """The three exits. Source: NG App. "Notation" (left, bottom, right wall)."""

    A = 0
    B = 1
    C = 2


class Region(IntEnum):
    """Seating regions. Source: NG App. "Notation"."""

    TL = 0
    BL = 1
    BR = 2


class Group(IntEnum):
    """Social groups, shown as shirt colours. Source: NG App. "Notation"."""

    ORANGE = 0
    GREEN = 1
    BLUE = 2


class Goal1(IntEnum):
    """Kinds of first goal. Source: NG Table A3."""

    COUNTER = 0
    PLACE = 1
    ANY_CHAIR = 2
    ANY_ZONE_R = 3


class Driver(IntEnum):
    """Who chooses a slot's actions: an outside policy or one of the planner's two types."""

    EXTERNAL = 0
    NORM_AWARE = 1
    NORM_BLIND = 2


class Ending(IntEnum):
    """Whether a row of the batch still runs, and how it ended."""

    RUNNING = 0
    TERMINATED = 1
    TRUNCATED = 2


FAMILIES: Final = ("access", "procedure", "coordination", "allocation")
"""Norm families in the order of NG Table A2."""
PHASES: Final = ("interaction", "seen", "unseen", "free")
"""Phases of the protocol; `free` is an open-ended episode outside it (training, play)."""
TEST_PHASES: Final = ("seen", "unseen")
