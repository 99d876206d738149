"""A window on the screen, with pygame: frames, keys, closing. Only what is needed is started."""

import os
import sys
import time
from typing import Any, Final, NamedTuple

from normgym_envs.errors import ConfigError, StateError
from normgym_envs.rendering.rasterise import Image, load_pygame

ADVICE: Final = (
    "no display to open a window on; use a terminal (`normgym play --terminal`), write a file "
    "(`normgym replay FILE --html`), render with render_mode='rgb_array', or run under a virtual "
    "display (`xvfb-run`)"
)
"""What to do without a screen."""


class KeyPress(NamedTuple):
    """A key."""

    key: str  # pygame's name, or "closed"
    text: str  # what it writes


class Window:
    """A window that shows frames; opened by the first one."""

    def __init__(self, title: str, frames_per_second: int) -> None:
        """Open nothing yet.

        Args:
            title: of the window.
            frames_per_second: how fast `show` lets frames follow each other; 0 for no limit.
        """
        self._title = title
        self._rate = frames_per_second
        self._screen: Any = None
        self._clock: Any = None

    @property
    def is_open(self) -> bool:
        """Whether a window is on the screen."""
        return self._screen is not None

    def show(self, frame: Image) -> None:
        """Show a frame and wait until the next one is due.

        Args:
            frame: (H, W, 3) uint8.

        Raises:
            ConfigError: there is no display.
        """
        pygame = load_pygame()
        height, width, _ = frame.shape
        self.open(width, height)
        surface = pygame.image.frombuffer(frame.tobytes(), (width, height), "RGB")
        self._screen.blit(surface, (0, 0))
        pygame.display.flip()
        pygame.event.pump()
        if self._rate:
            self._clock.tick(self._rate)

    def open(self, width: int, height: int) -> Any:
        """Open the window, or change its size, and return pygame's surface of it.

        Raises:
            ConfigError: there is no display.
        """
        if self._screen is not None and self._screen.get_size() == (width, height):
            return self._screen
        check_display()
        pygame = load_pygame()
        try:
            pygame.display.init()
            self._screen = pygame.display.set_mode((width, height))
        except pygame.error as error:
            raise ConfigError(f"{ADVICE} (SDL says: {error})") from None
        pygame.display.set_caption(self._title)
        if self._clock is None:
            self._clock = pygame.time.Clock()
        return self._screen

    def wait_for_key(self, timeout: int | None = None) -> str | None:
        """Return the next key that is pressed.

        Args:
            timeout: milliseconds after which None is returned; None to wait for ever.

        Returns:
            str: pygame's name of a key ("left", "space", "a"), or "closed" for the window's button.

        Raises:
            StateError: no window is open.
        """
        event = self.wait_for_event(timeout)
        return None if event is None else event.key

    def wait_for_event(self, timeout: int | None = None) -> "KeyPress | None":
        """Return the next key that is pressed with the text it writes; see `wait_for_key`."""
        if self._screen is None:
            raise StateError("there is no window to wait for; show a frame first")
        pygame = load_pygame()
        end = None if timeout is None else time.monotonic() + timeout / 1000
        while True:
            left = None if end is None else max(int((end - time.monotonic()) * 1000), 1)
            event = pygame.event.wait() if left is None else pygame.event.wait(left)
            if event.type == pygame.QUIT:
                return KeyPress("closed", "")
            if event.type == pygame.KEYDOWN:
                return KeyPress(pygame.key.name(event.key), event.unicode)
            if end is not None and time.monotonic() >= end:
                return None

    def close(self) -> None:
        """Close the window; another frame opens it again."""
        if self._screen is not None:
            load_pygame().display.quit()
            self._screen = None


def check_display() -> None:
    """Refuse to open a window where there is no screen.

    Raises:
        ConfigError: with advice.
    """
    if sys.platform in ("win32", "darwin") or os.environ.get("SDL_VIDEODRIVER"):
        return
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        raise ConfigError(ADVICE)
