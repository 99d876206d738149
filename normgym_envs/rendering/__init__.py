"""Pictures of the world. Importing this package imports no pygame; making a renderer does."""

from normgym_envs.rendering.ansi import draw_text
from normgym_envs.rendering.renderer import (
    DEFAULT_WIDTH,
    IMAGE_WIDTH,
    STYLES,
    BatchRenderer,
    Renderer,
    make_renderer,
)

__all__ = [
    "DEFAULT_WIDTH",
    "IMAGE_WIDTH",
    "STYLES",
    "BatchRenderer",
    "Renderer",
    "draw_text",
    "make_renderer",
]
