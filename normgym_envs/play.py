"""A person plays: what any face of the game offers, and free play of one episode.

`play_terminal.py` and `play_window.py` are the two faces. They are given observations and nothing
else, so that a person sees what any newcomer is shown.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_SLOTS, Action, Ending, Group
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.layouts.seen import layout_from_grids
from normgym_envs.norms.library import get_norm
from normgym_envs.observations.symbolic import observe_symbolic
from normgym_envs.observations.text import describe, name_slot
from normgym_envs.protocol.tracewriter import TraceWriter
from normgym_envs.types import EpisodeSpec, Layout

Observation = Mapping[str, npt.NDArray[Any]]

KEYS: Final[dict[str, Action]] = {
    "up": Action.UP,
    "down": Action.DOWN,
    "left": Action.LEFT,
    "right": Action.RIGHT,
    "w": Action.UP,
    "s": Action.DOWN,
    "a": Action.LEFT,
    "d": Action.RIGHT,
    "space": Action.WAIT,
    ".": Action.WAIT,
}
"""Name of a key -> what it does; q leaves."""
HELP: Final = "arrows or w a s d: move   space or . : wait   q: leave"


class Quit(KeyboardInterrupt):
    """The person has left; everything that is complete stays."""


class Face(Protocol):
    """How a person sees and answers."""

    def show(self, observation: Observation, heading: str) -> None:
        """Show a state on which nothing is asked.

        Args:
            observation: symbolic.
            heading: one line over it.
        """
        ...

    def ask_action(self, observation: Observation, heading: str) -> Action:
        """Show a state and return what the person does.

        Raises:
            Quit: the person has left.
        """
        ...

    def tell(self, lines: Sequence[str]) -> None:
        """Show some text and wait for a key.

        Raises:
            Quit: the person has left.
        """
        ...

    def ask_text(self, question: str) -> str:
        """Return a line of text; may be empty.

        Raises:
            Quit: the person has left.
        """
        ...

    def ask_choice(self, question: str, options: Sequence[str]) -> int:
        """Return the index of one of up to nine options.

        Raises:
            Quit: the person has left.
        """
        ...

    def close(self) -> None:
        """Give the screen back."""
        ...


def make_face(terminal: bool, style: str = "flat", width: int = 900) -> Face:
    """Return a face.

    Args:
        terminal: text in the terminal instead of a window.
        style: of the window's picture.
        width: of the window's picture, pixels.

    Raises:
        ConfigError: there is no display for a window.
        MissingExtraError: pygame is missing.
    """
    if terminal:
        from normgym_envs.play_terminal import TerminalFace

        return TerminalFace()
    from normgym_envs.play_window import WindowFace

    return WindowFace(style, width)


def find_layout(observation: Observation) -> Layout:
    """Return the place of an observation: one that ships, or what can be seen of it."""
    return _find_layout(observation["cells"].tobytes(), observation["zones"].tobytes())


@lru_cache(maxsize=16)
def _find_layout(cells: bytes, zones: bytes) -> Layout:
    for name in list_layouts():
        layout = get_layout(name)
        if layout.cells.tobytes() == cells and layout.zones.tobytes() == zones:
            return layout
    shape = (11, 15)
    return layout_from_grids(
        np.frombuffer(cells, np.int8).reshape(shape), np.frombuffer(zones, np.int8).reshape(shape)
    )


def tell_goals(observation: Observation) -> list[str]:
    """Return the observer's goals in words."""
    text = describe(observation, find_layout(observation))
    return [line for line in text.splitlines() if line.startswith(("Goal ", "Nobody "))]


def tell_events(observation: Observation) -> list[str]:
    """Return what everybody could see happen in the last turn, sanctions first."""
    lines: list[tuple[int, str]] = []
    own = int(observation["slot"][0])
    for slot in range(len(observation["present"])):
        if not observation["present"][slot] and not observation["left"][slot]:
            continue
        who = "You" if slot == own else name_slot(slot).replace("_", " ")
        group = Group(int(observation["groups"][slot])).name.lower()
        row, column = observation["positions"][slot].tolist()
        at = f"{who} ({group}) at row {row}, column {column}"
        if observation["sanctioned"][slot]:
            lines.append((0, f"X  {at}: sanctioned"))
        if observation["collided"][slot]:
            lines.append((1, f"!  {at}: collided"))
        elif observation["displaced"][slot]:
            lines.append((1, f"~  {at}: pushed"))
        if observation["left"][slot]:
            lines.append((2, f"   {at}: left"))
    return [text for _, text in sorted(lines)]


def play_freely(
    face: Face, spec: EpisodeSpec, layout: Layout, trace: Path | None = None
) -> dict[str, Any]:
    """Let a person play one open-ended episode.

    Args:
        face: how it sees and answers.
        spec: the episode; slot 0 is the person's.
        layout: where it plays.
        trace: file to write a trace to.

    Returns:
        Counts: turns, goals, violations, sanctions, collisions, and reward points.
    """
    engine = BatchEngine([layout], [get_norm(norm) for norm in spec.norms], 1)
    engine.load(0, spec)
    writer = None if trace is None else TraceWriter(trace, engine, 0, spec, {"agent": "human"})
    score = {"turns": 0, "goals": 0, "violations": 0, "sanctions": 0, "collisions": 0}
    reward = 0.0
    try:
        while engine.states["ending"][0] == Ending.RUNNING:
            observation = observe_symbolic(engine, 0, 0)
            heading = f"{layout.title}, turn {int(observation['turn'][0])} of {spec.limit}"
            actions = np.full((1, MAX_SLOTS), Action.WAIT, np.int8)
            if observation["action_mask"][: Action.WAIT].any():
                actions[0, 0] = face.ask_action(observation, heading)
            else:
                face.show(observation, heading)
            engine.step(actions)
            if writer is not None:
                writer.write_turn()
            row = engine.states[0]
            score["turns"] += 1
            score["goals"] += int(row["goals"][0])
            score["violations"] += int(row["violated"][0])
            score["sanctions"] += int(row["sanctioned"][0])
            score["collisions"] += int(row["collided"][0])
            reward += float(row["reward"][0])
    except Quit:
        pass
    finally:
        if writer is not None:
            writer.close()
    return {**score, "reward": round(reward, 1)}
