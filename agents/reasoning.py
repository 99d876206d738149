"""What agents share that reason with explicit norms: verdicts and plans under hypotheses.

Everything here works on rows rebuilt from observations (`normgym_envs.observations.rebuild`); the
world's engine is never seen.
"""

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_NORMS, MAX_SLOTS, Action
from normgym_envs.engine import BatchEngine
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

    def walks_back(self, rows: RecordArray, slot: int, action: int) -> bool:
        """Return whether an action leads back to the cell that the last own move left.

        Args:
            rows: (1,) STATE_DTYPE, the present state.
            slot: who acts.
            action: constants.Action.
        """
        here, before = int(rows["pos"][0, slot]), int(rows["came_from"][0, slot])
        return bool(action != Action.WAIT and self._neighbour[here, action] == before)

    def plan_each(self, rows: RecordArray, slot: int) -> npt.NDArray[np.int8]:
        """Return the planner's action for a person under each hypothesis alone.

        Args:
            rows: (1,) STATE_DTYPE, the present state.
            slot: who plans.

        Returns:
            (n,) int8, constants.Action.
        """
        return np.array([self.plan(rows, slot, [i]) for i in range(len(self.norms))], np.int8)

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


_CACHE_SIZE = 64
_cache = threading.local()  # reasoners have working memory, so threads do not share them


def make_reasoner(layout: Layout, norms: Sequence[Norm]) -> NormReasoner:
    """Return a reasoner; within a thread the same one for the same map and hypotheses.

    Args:
        layout: the place, as seen.
        norms: hypotheses.
    """
    known: dict[str, tuple[tuple[Norm, ...], NormReasoner]] = _cache.__dict__
    wanted = tuple(norms)
    key = str((layout.cells.tobytes(), layout.zones.tobytes(), tuple(n.id for n in wanted)))
    if key not in known or known[key][0] != wanted:
        if len(known) >= _CACHE_SIZE:
            del known[next(iter(known))]
        known[key] = wanted, NormReasoner(layout, wanted)
    return known[key][1]
