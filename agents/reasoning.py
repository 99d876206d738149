"""What agents share that reason with explicit norms: verdicts and plans under hypotheses.

Everything here works on rows rebuilt from observations (`normgym_envs.observations.rebuild`); the
world's engine is never seen.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_NORMS, MAX_SLOTS, Action
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.types import BoolArray, Layout, Norm, RecordArray


class NormReasoner:
    """Judges and plans on one layout under any of a set of hypothetical norms."""

    def __init__(self, layout: Layout, norms: Sequence[Norm]) -> None:
        """Place the hypotheses on the layout.

        Args:
            layout: the place.
            norms: hypotheses.
        """
        self.norms = tuple(norms)
        self._engine = BatchEngine([layout], self.norms, 1)
        self._neighbour = self._engine.tables[0]["neighbour"][0]

    def judge(self, rows: RecordArray, new_cells: npt.NDArray[np.int16]) -> BoolArray:
        """Return which hypotheses forbid which own moves.

        Args:
            rows: (T,) STATE_DTYPE, states before the moves.
            new_cells: (T, 10) int16, cells reached by own moves, -1 for none.

        Returns:
            (T, n, 10) bool.
        """
        return self._engine.judge(rows, new_cells)

    def judge_actions(self, rows: RecordArray, slot: int) -> BoolArray:
        """Return which hypotheses forbid which of one person's actions now.

        Args:
            rows: (1,) STATE_DTYPE, the present state.
            slot: whose actions.

        Returns:
            (5, n) bool, by action; blocked moves and WAIT are never forbidden.
        """
        cells = np.full((Action.WAIT, MAX_SLOTS), -1, np.int16)
        here = int(rows["pos"][0, slot])
        beside = self._neighbour[here, : Action.WAIT]
        cells[:, slot] = np.where(beside == here, -1, beside)
        verdicts = self._engine.judge(rows.repeat(len(cells)), cells)[:, :, slot]
        return np.concatenate([verdicts, np.zeros((1, len(self.norms)), bool)])

    def plan(self, rows: RecordArray, slot: int, believed: Sequence[int]) -> int:
        """Return the planner's action for a person who believes in some norms at once.

        Args:
            rows: (1,) STATE_DTYPE, the present state; others are foreseen as the row says.
            slot: who plans.
            believed: indices of hypotheses, at most MAX_NORMS.

        Returns:
            int, constants.Action.
        """
        self._engine.states[0] = rows[0]
        norms = self._engine.states["norms"][0]
        norms[:] = -1
        norms[: len(believed)] = list(believed)[:MAX_NORMS]
        return int(self._engine.plan()[0][0, slot])


@lru_cache(maxsize=64)
def _make_reasoner(cells: bytes, zones: bytes, norms: tuple["_ById", ...]) -> NormReasoner:
    shape = (11, 15)
    layout = layout_from_grids(
        np.frombuffer(cells, np.int8).reshape(shape), np.frombuffer(zones, np.int8).reshape(shape)
    )
    return NormReasoner(layout, [entry.norm for entry in norms])


class _ById:
    """A norm as part of a cache key; its parameters are a dict and have no hash of their own."""

    __slots__ = ("norm",)

    def __init__(self, norm: Norm) -> None:
        self.norm = norm

    def __hash__(self) -> int:
        return hash(self.norm.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.norm == other.norm


def make_reasoner(layout: Layout, norms: Sequence[Norm]) -> NormReasoner:
    """Return a reasoner; the same one for the same map and hypotheses.

    Args:
        layout: the place, as seen.
        norms: hypotheses.
    """
    keys = tuple(_ById(norm) for norm in norms)
    return _make_reasoner(layout.cells.tobytes(), layout.zones.tobytes(), keys)
