"""What `render` gives: frames as arrays, in a window, or as text. pygame waits for the first."""

from typing import TYPE_CHECKING, Any, Final

from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from normgym_envs.rendering.renderer import Renderer
    from normgym_envs.rendering.window import Window

RENDER_MODES: Final = ("human", "rgb_array", "ansi")
RENDER_FPS: Final = 8
"""Turns a second in windows and films."""


class FrameMaker:
    """Draws the newcomer's view of a world; nothing is loaded before the first frame.

    A pickled copy starts without renderer and window.
    """

    def __init__(self, mode: str | None, style: str, width: int) -> None:
        """Check the settings.

        Args:
            mode: a name of `RENDER_MODES`, or None.
            style: as `normgym_envs.rendering.make_renderer`.
            width: pixels, as there.

        Raises:
            UnknownNameError: no such mode or style.
            ConfigError: the width is out of range.
        """
        if mode is not None and mode not in RENDER_MODES:
            raise UnknownNameError("render_mode", mode, RENDER_MODES)
        if mode in ("human", "rgb_array"):
            from normgym_envs.rendering.renderer import STYLES, check_width

            check_width(width)
            if style not in STYLES:
                raise UnknownNameError("style", style, STYLES)
        self.mode = mode
        self._style = style
        self._width = width
        self._renderer: Renderer | None = None
        self._window: Window | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs."""
        return {**self.__dict__, "_renderer": None, "_window": None}

    def make(self, engine: BatchEngine) -> Any:
        """Return a frame of row 0 as the mode says: array, text, or None after showing it."""
        if self.mode is None:
            raise ConfigError(
                "render was called without a render mode; make the environment with "
                f"render_mode= one of {', '.join(RENDER_MODES)}"
            )
        state = engine.states[0]
        layout = engine.layouts[state["layout"]]
        if self.mode == "ansi":
            from normgym_envs.rendering.ansi import draw_text

            return draw_text(state, layout, goal=True)
        if self._renderer is None:
            from normgym_envs.rendering.renderer import make_renderer

            self._renderer = make_renderer(self._style, self._width)
        frame = self._renderer.draw(state, layout, goal=True)
        if self.mode == "rgb_array":
            return frame
        if self._window is None:
            from normgym_envs.rendering.window import Window

            self._window = Window("NormGym", RENDER_FPS)
        self._window.show(frame)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
