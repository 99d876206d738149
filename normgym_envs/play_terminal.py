"""The game in a terminal: signs, colours where they are welcome, keys one by one or by the line."""

import os
import shutil
import sys
import textwrap
from collections import deque
from collections.abc import Sequence
from typing import Final, TextIO

from normgym_envs.constants import Action
from normgym_envs.observations.rebuild import StateTracker
from normgym_envs.play import (
    HELP,
    KEYS,
    Observation,
    Quit,
    find_layout,
    tell_events,
    tell_goals,
)
from normgym_envs.rendering.ansi import LEGEND, draw_text

_CLEAR: Final = "\x1b[H\x1b[2J"
_SEQUENCES: Final = {"\x1b[A": "up", "\x1b[B": "down", "\x1b[D": "left", "\x1b[C": "right"}
_WIDTH: Final = 78


class TerminalFace:
    """Reads keys as they are pressed from a terminal, or as signs of lines from a file or pipe.

    In lines every sign is a key; line breaks mean nothing, except in answers to questions.
    """

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        """Take the terminal.

        Args:
            source: where keys come from, standard input by default.
            sink: where to draw, standard output by default.
        """
        self._source = source or sys.stdin
        self._sink = sink or sys.stdout
        self._is_live = self._source.isatty()
        self._has_colour = self._sink.isatty() and "NO_COLOR" not in os.environ
        self._waiting: deque[str] = deque()

    def show(self, observation: Observation, heading: str) -> None:
        """Show a state on which nothing is asked."""
        self._draw(observation, heading, "(nothing to choose in this turn)")
        if self._is_live:
            import time

            time.sleep(0.35)

    def ask_action(self, observation: Observation, heading: str) -> Action:
        """Show a state and return what the person does."""
        self._draw(observation, heading, HELP)
        while True:
            key = self._read_key()
            if key == "q":
                raise Quit
            if key in KEYS:
                return KEYS[key]

    def tell(self, lines: Sequence[str]) -> None:
        """Show some text and wait for a key."""
        self._clear()
        self._say("\n".join(textwrap.fill(line, _WIDTH) for line in lines))
        if not self._is_live:
            return
        self._say("\nPress a key to go on, q to leave.")
        if self._read_key() == "q":
            raise Quit

    def ask_text(self, question: str) -> str:
        """Return a line of text."""
        self._waiting.clear()
        self._say("\n" + textwrap.fill(question, _WIDTH))
        self._sink.write("> ")
        self._sink.flush()
        line = self._source.readline()
        if not line:
            raise Quit
        return line.strip()

    def ask_choice(self, question: str, options: Sequence[str]) -> int:
        """Return the index of an option."""
        while True:
            numbered = [f"  {number}  {option}" for number, option in enumerate(options, start=1)]
            answer = self._ask(question, numbered)
            if answer.isdigit() and 1 <= int(answer) <= len(options):
                return int(answer) - 1
            self._say(f"Please answer with a number from 1 to {len(options)}.")

    def close(self) -> None:
        """Give the screen back."""
        self._sink.flush()

    def _ask(self, question: str, numbered: Sequence[str]) -> str:
        """Return the answer to a question with numbered options."""
        self._say("\n" + textwrap.fill(question, _WIDTH))
        self._say("\n".join(numbered))
        return self.ask_text("Number:")

    def _draw(self, observation: Observation, heading: str, foot: str) -> None:
        """Draw a state."""
        layout = find_layout(observation)
        row = StateTracker().update(observation)[0]
        slot = int(observation["slot"][0])
        picture = draw_text(row, layout, viewer=slot, goal=True, colour=self._has_colour)
        self._clear()
        self._say(heading)
        self._say(picture)
        self._say("\n".join(tell_goals(observation)))
        events = tell_events(observation)
        self._say("\n".join(events) if events else "   nothing special happened")
        wide = min(shutil.get_terminal_size((80, 24)).columns, 96)
        self._say(textwrap.fill(LEGEND, wide) if not observation["turn"][0] % 10 else "")
        self._say(foot)

    def _clear(self) -> None:
        if self._is_live and self._sink.isatty():
            self._sink.write(_CLEAR)

    def _say(self, text: str) -> None:
        self._sink.write(text + "\n")
        self._sink.flush()

    def _read_key(self) -> str:
        """Return the next key by its name."""
        if self._is_live:
            return read_live_key(self._source)
        while not self._waiting:
            line = self._source.readline()
            if not line:
                raise Quit
            self._waiting.extend(line.rstrip("\n").lower())
        sign = self._waiting.popleft()
        return "space" if sign == " " else sign


def read_live_key(source: TextIO) -> str:
    """Return the next key of a terminal without waiting for the end of a line.

    Raises:
        Quit: the terminal was closed, or the interrupt key was pressed.
    """
    if sys.platform == "win32":
        import msvcrt

        first = msvcrt.getwch()
        if first in ("\x00", "\xe0"):
            codes = {"H": "up", "P": "down", "K": "left", "M": "right"}
            return codes.get(msvcrt.getwch(), "")
        if first == "\x03":
            raise Quit
        return "space" if first == " " else first.lower()
    import termios
    import tty

    handle = source.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle, termios.TCSADRAIN)  # keep what was typed ahead
        first = os.read(handle, 1).decode("latin-1")
        if first == "\x1b":
            first += os.read(handle, 2).decode("latin-1")
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
    if first in ("", "\x03", "\x04"):
        raise Quit
    return _SEQUENCES.get(first, "space" if first == " " else first.lower())
