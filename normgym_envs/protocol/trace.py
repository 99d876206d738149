"""What happened in an episode, step by step, as arrays; `metrics.py` measures it."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.engine import BatchEngine
from normgym_envs.types import BoolArray, RecordArray


class EpisodeTrace(NamedTuple):
    """One episode of T steps with N slots; slot 0 is the newcomer's."""

    present: BoolArray  # (T + 1, N), a person is in the slot before step t; last: after the end
    action: npt.NDArray[np.int8]  # (T, N), executed constants.Action
    auto: BoolArray  # (T, N), WAIT was played by the environment
    waited: BoolArray  # (T, N), aimed at its own cell: WAIT or a blocked move
    collided: BoolArray  # (T, N), charged with a collision
    displaced: BoolArray  # (T, N), displaced or pushed
    violated: BoolArray  # (T, N), broke a norm in force
    sanctioned: BoolArray  # (T, N), was shown as sanctioned
    goals: npt.NDArray[np.int8]  # (T, N), goals completed
    reward: npt.NDArray[np.float32]  # (T, N), reward points


COPIED = ("action", "auto", "collided", "displaced", "violated", "sanctioned", "goals", "reward")
"""Fields of the state that a trace takes over."""


class TraceRecorder:
    """Collects the traces of all rows of a batch engine.

    Example:
        >>> recorder = TraceRecorder(engine)  # doctest: +SKIP
        >>> while (engine.states["ending"] == 0).any():  # doctest: +SKIP
        ...     engine.step(actions)
        ...     recorder.record()
        >>> recorder.trace(0).reward.sum(axis=0)  # doctest: +SKIP
    """

    def __init__(self, engine: BatchEngine) -> None:
        """Start recording; the engine's rows have just been loaded.

        Args:
            engine: read after every step.
        """
        self._engine = engine
        self._present = [engine.states["present"].astype(bool)]
        self._steps: list[dict[str, npt.NDArray[np.generic]]] = []

    def record(self) -> None:
        """Note what the last step did; call once after every `engine.step`."""
        states = self._engine.states
        step = {name: states[name].copy() for name in COPIED}
        step["waited"] = find_waits(states, self._engine.tables[0])
        self._steps.append(step)
        self._present.append(states["present"].astype(bool))

    def trace(self, row: int) -> EpisodeTrace:
        """Return the trace of a row, up to its present turn.

        Args:
            row: row index, [0, B).
        """
        turns = int(self._engine.states["turn"][row])
        slots = int(self._engine.states["num_slots"][row])
        columns = {
            name: np.array([step[name][row, :slots] for step in self._steps[:turns]])
            for name in (*COPIED, "waited")
        }
        present = np.array([held[row, :slots] for held in self._present[: turns + 1]])
        return make_trace(present, columns)


def find_waits(states: RecordArray, layouts: RecordArray) -> BoolArray:
    """Return whose last action aimed at its own cell: WAIT or a blocked move.

    Args:
        states: (B,) STATE_DTYPE, just after a step.
        layouts: (L,) LAYOUT_DTYPE.

    Returns:
        (B, 10) bool; without meaning for slots that were empty in the step.
    """
    prev = np.maximum(states["prev"], 0)
    # a person that has just appeared has action -1, but it took no part in the step
    action = np.maximum(states["action"], 0)
    target = layouts["neighbour"][states["layout"][:, None], prev, action]
    waits: BoolArray = target == prev
    return waits


def make_trace(present: BoolArray, columns: Mapping[str, npt.NDArray[np.generic]]) -> EpisodeTrace:
    """Return a trace from what the states after each step held.

    Args:
        present: (T + 1, N), as in `EpisodeTrace`.
        columns: `COPIED` and "waited", (T, N) each; slots that were empty in a step are cleared.
    """
    acted = present[:-1]
    return EpisodeTrace(
        present=present,
        action=columns["action"].astype(np.int8),
        reward=columns["reward"].astype(np.float32),
        goals=columns["goals"].astype(np.int8),
        **{
            name: columns[name].astype(bool) & acted
            for name in ("waited", "collided", "displaced", "violated", "sanctioned")
        },
        auto=columns["auto"].astype(bool) | ~acted,
    )
