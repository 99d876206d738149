"""What an observer can know of the engine's row, rebuilt from its successive observations.

Agents that reason with the engine's own predicates (posteriors over norms, plans under a believed
norm) work on these rows. Nothing here reads an engine's state.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_WIDTH, Action, Driver, Goal1, Zone
from normgym_envs.engine.state import allocate_states
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.types import Layout, RecordArray


class StateTracker:
    """Follows an episode by its public facts; must be shown every turn.

    Attributes:
        layout: the place, from the first observation.
        rows: (1,) STATE_DTYPE, the present state as far as it is known. Every person is taken to
            have the observer's kind of first goal; given places and doors of others are unknown.

    Example:
        >>> tracker = StateTracker()
        >>> row = tracker.update(observation)[0]  # doctest: +SKIP
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self.layout: Layout | None = None
        self.rows: RecordArray = allocate_states(1)
        self.before: RecordArray = allocate_states(1)
        self.new_cells: npt.NDArray[np.int16] = np.full((1, 10), -1, np.int16)

    def update(self, observation: Mapping[str, npt.NDArray[Any]]) -> RecordArray:
        """Take in the next observation.

        Afterwards `before` is the row before the last step and `new_cells` (1, 10) the cells that
        were reached by own moves in it, -1 for none: what `BatchEngine.judge` takes.

        Args:
            observation: symbolic, of the same slot as all before.

        Returns:
            (1,) STATE_DTYPE, `rows`.
        """
        if self.layout is None:
            self.layout = layout_from_grids(observation["cells"], observation["zones"])
        self.before = self.rows.copy()
        row = self.rows[0]
        slot = int(observation["slot"][0])
        count = len(observation["present"])
        here = _join(observation["positions"])
        earlier = _join(observation["previous"])
        action = observation["actions"].astype(int)
        chose_move = (action >= 0) & (action < Action.WAIT)
        own_move = chose_move & (here != earlier) & (observation["displaced"] == 0)
        self.new_cells[0] = -1
        self.new_cells[0, :count] = np.where(own_move, here, -1)

        present = observation["present"] != 0
        is_new = observation["is_new"] != 0
        row["turn"], row["limit"] = observation["turn"][0], observation["limit"][0]
        row["num_slots"] = count
        row["present"][:count] = present
        row["pos"][:count] = np.where(present, here, -1)
        row["prev"][:count] = earlier
        row["group"][:count] = np.maximum(observation["groups"], 0)
        row["action"][:count] = action
        row["own_move"][:count] = own_move
        row["displaced"][:count] = observation["displaced"]
        row["collided"][:count] = observation["collided"]
        row["sanctioned"][:count] = observation["sanctioned"]
        row["is_new"][:count] = is_new
        done = (observation["goal1_done"] * present) != row["leg"][:count]
        forget = is_new | done | (observation["displaced"] != 0)
        kept = np.where(own_move, earlier, row["came_from"][:count])
        row["came_from"][:count] = np.where(forget, -1, kept)
        row["leg"][:count] = observation["goal1_done"] * present
        row["timer"][:count] = observation["service"]
        row["streak"][:count] = np.where(own_move & ~is_new, row["streak"][:count] + 1, 0)
        zones = np.asarray(observation["zones"]).reshape(-1)
        stood = (row["visited"][:count] != 0) & ~is_new & present
        row["visited"][:count] = stood | (present & (zones[here] == Zone.Q))
        if observation["goal1_kind"][0] >= 0:
            row["goal1_kind"][:count] = observation["goal1_kind"][0]
            row["goal1_cell"][:count] = -1
            row["goal1_cell"][slot] = _join(observation["goal1_cell"][None])[0]
            row["goal2_door"][:count] = -1
            row["goal2_door"][slot] = observation["goal2_door"][0]
        row["priority"][:count] = np.arange(count)
        row["driver"][:count] = Driver.EXTERNAL
        row["predicted"][:count] = Driver.NORM_AWARE
        # those on their way out are foreseen to take the nearest door; those whose place cannot be
        # known, to stay
        row["holder"][:count] = (row["goal1_kind"][:count] == Goal1.PLACE) & (
            row["leg"][:count] == 0
        )
        row["holder"][slot] = False
        return self.rows


def _join(pairs: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return (n, 2) rows and columns as cell indices, -1 for absent."""
    wide = pairs.astype(np.int64)
    return np.where(wide[:, 0] >= 0, wide[:, 0] * GRID_WIDTH + wide[:, 1], -1)
