"""The game in a window: the picture, and beside it goals, events and questions."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

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
from normgym_envs.rendering.palette import (
    CHARGED,
    CLOCK_SERVED,
    DONE,
    GOAL,
    PUSHED,
    SANCTION,
    STAR,
    Colour,
)
from normgym_envs.rendering.rasterise import Image, load_pygame
from normgym_envs.rendering.renderer import make_renderer
from normgym_envs.rendering.window import KeyPress, Window, check_display

PANEL: Final = 380
"""Pixels of the strip beside the picture."""
PAD: Final = 18
LINE: Final = 24
"""Pixels between lines of text."""
GROUND: Final[Colour] = (250, 248, 243)
INK: Final[Colour] = (43, 42, 51)
SOFT: Final[Colour] = (112, 108, 120)
MARKS: Final[tuple[tuple[Colour, str], ...]] = (
    (STAR, "you"),
    (GOAL, "your present goal"),
    (CLOCK_SERVED, "being served: wait"),
    (DONE, "first goal complete"),
    (SANCTION, "sanctioned: broke the rule"),
    (CHARGED, "walked into somebody"),
    (PUSHED, "was pushed"),
)
"""Legend of the panel."""
AUTO_PAUSE: Final = 350
"""Milliseconds for which a turn without a choice is shown."""


class WindowFace:
    """A window on the screen."""

    def __init__(self, style: str, width: int) -> None:
        """Draw nothing yet.

        Args:
            style: of the picture.
            width: of the picture, pixels.

        Raises:
            ConfigError: there is no display, or the width is out of range.
            UnknownNameError: no such style.
            MissingExtraError: pygame is missing.
        """
        check_display()
        self._renderer = make_renderer(style, width, numbers=True)
        self._window = Window("NormGym", 0)
        height, wide, _ = self._renderer.shape
        self._size = wide + PANEL, max(height, 560)
        self._frame: Image | None = None
        self._fonts: dict[int, Any] = {}

    def show(self, observation: Observation, heading: str) -> None:
        """Show a state on which nothing is asked."""
        self._draw_state(observation, heading, "Nothing to choose in this turn.")
        press = self._window.wait_for_event(AUTO_PAUSE)
        if press is not None and press.key in ("closed", "q"):
            raise Quit

    def ask_action(self, observation: Observation, heading: str) -> Action:
        """Show a state and return what the person does."""
        self._draw_state(observation, heading, HELP)
        while True:
            key = self._wait().key
            if key == "q":
                raise Quit
            if key in KEYS:
                return KEYS[key]

    def tell(self, lines: Sequence[str]) -> None:
        """Show some text and wait for a key."""
        canvas = self._begin()
        top = 2 * PAD
        for line in lines:
            top = self._write(canvas, line, 2 * PAD, top, self._size[0] - 4 * PAD, 28) + 10
        foot = "Press a key to go on, q to leave."
        self._write(canvas, foot, 2 * PAD, top + 20, 600, 22, SOFT)
        self._flip()
        if self._wait().key == "q":
            raise Quit

    def ask_text(self, question: str) -> str:
        """Return a line of text."""
        typed = ""
        while True:
            canvas = self._begin()
            width = self._size[0] - 4 * PAD
            top = self._write(canvas, question, 2 * PAD, 2 * PAD, width, 28) + 12
            top = self._write(canvas, typed + "_", 2 * PAD, top, width, 26, (90, 50, 170))
            note = "Enter: done   Backspace: take back"
            self._write(canvas, note, 2 * PAD, top + 24, width, 22, SOFT)
            self._flip()
            press = self._wait()
            if press.key in ("return", "enter"):
                return typed.strip()
            if press.key == "backspace":
                typed = typed[:-1]
            elif press.text.isprintable():
                typed += press.text

    def ask_choice(self, question: str, options: Sequence[str]) -> int:
        """Return the index of an option."""
        canvas = self._begin()
        width = self._size[0] - 4 * PAD
        top = self._write(canvas, question, 2 * PAD, 2 * PAD, width, 28) + 12
        for number, option in enumerate(options, start=1):
            top = self._write(canvas, f"{number}   {option}", 3 * PAD, top, width, 26) + 6
        self._write(canvas, "Press a number.", 2 * PAD, top + 18, width, 22, SOFT)
        self._flip()
        while True:
            text = self._wait().text
            if text.isdigit() and 1 <= int(text) <= len(options):
                return int(text) - 1

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def _wait(self) -> KeyPress:
        """Return the next key.

        Raises:
            Quit: the window was closed.
        """
        press = self._window.wait_for_event()
        if press is None or press.key == "closed":
            raise Quit
        return press

    def _draw_state(self, observation: Observation, heading: str, foot: str) -> None:
        """Show a state: the picture, and in the panel what it does not say."""
        layout = find_layout(observation)
        row = StateTracker().update(observation)[0]
        slot = int(observation["slot"][0])
        frame = self._renderer.draw(row, layout, viewer=slot, goal=True)
        canvas = self._begin()
        pygame = load_pygame()
        height, width, _ = frame.shape
        canvas.blit(pygame.image.frombuffer(frame.tobytes(), (width, height), "RGB"), (0, 0))
        left, room = width + PAD, PANEL - 2 * PAD
        top = self._write(canvas, heading, left, PAD, room, 28) + 8
        for line in tell_goals(observation):
            top = self._write(canvas, line, left, top, room, 24) + 2
        top += 12
        for line in tell_events(observation)[:6]:
            colour = SANCTION if line.startswith("X") else INK
            top = self._write(canvas, line[3:], left, top, room, 22, colour)
        top = self._size[1] - PAD - LINE * (len(MARKS) + 2)
        for colour, meaning in MARKS:
            pygame.draw.rect(canvas, colour, (left, top + 3, 14, 14))
            top = self._write(canvas, meaning, left + 24, top, room - 24, 22, SOFT)
        self._write(canvas, foot, left, top + 6, room, 22)
        self._flip()

    def _begin(self) -> Any:
        """Return an empty surface of the window's size."""
        canvas = self._window.open(*self._size)
        canvas.fill(GROUND)
        return canvas

    def _flip(self) -> None:
        """Bring what was drawn to the screen, and keep a copy for tests."""
        pygame = load_pygame()
        pygame.display.flip()
        surface = pygame.display.get_surface()
        pixels = pygame.surfarray.array3d(surface)
        self._frame = np.ascontiguousarray(pixels.swapaxes(0, 1))

    @property
    def frame(self) -> Image | None:
        """What the window shows, (H, W, 3) uint8."""
        return self._frame

    def _write(
        self,
        canvas: Any,
        text: str,
        left: int,
        top: int,
        width: int,
        size: int,
        colour: Colour = INK,
    ) -> int:
        """Write wrapped text and return where the next line begins."""
        pygame = load_pygame()
        if size not in self._fonts:
            pygame.font.init()
            self._fonts[size] = pygame.font.Font(None, size)
        font = self._fonts[size]
        line = ""
        for word in text.split(" "):
            longer = f"{line} {word}" if line else word
            if line and font.size(longer)[0] > width:
                canvas.blit(font.render(line, True, colour), (left, top))
                top += LINE if size <= 24 else LINE + 6
                line = word
            else:
                line = longer
        canvas.blit(font.render(line, True, colour), (left, top))
        return top + (LINE if size <= 24 else LINE + 6)
