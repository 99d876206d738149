"""Digits and letters as bitmaps of 3 by 5 squares.

Fonts differ between versions of pygame; frames that are compared pixel by pixel use these instead.
"""

from typing import Final

from normgym_envs.rendering.palette import Colour
from normgym_envs.rendering.shapes import Shape, rect

GLYPHS: Final[dict[str, tuple[str, ...]]] = {
    "0": ("###", "#.#", "#.#", "#.#", "###"),
    "1": (".#.", "##.", ".#.", ".#.", "###"),
    "2": ("###", "..#", "###", "#..", "###"),
    "3": ("###", "..#", ".##", "..#", "###"),
    "4": ("#.#", "#.#", "###", "..#", "..#"),
    "5": ("###", "#..", "###", "..#", "###"),
    "6": ("###", "#..", "###", "#.#", "###"),
    "7": ("###", "..#", ".#.", ".#.", ".#."),
    "8": ("###", "#.#", "###", "#.#", "###"),
    "9": ("###", "#.#", "###", "..#", "###"),
    "A": (".#.", "#.#", "###", "#.#", "#.#"),
    "B": ("##.", "#.#", "##.", "#.#", "##."),
    "C": (".##", "#..", "#..", "#..", ".##"),
    "Q": ("###", "#.#", "#.#", "##.", "..#"),
    "R": ("##.", "#.#", "##.", "#.#", "#.#"),
}
"""Rows from the top; # is ink."""


def write(text: str, colour: Colour, x: float, y: float, size: float) -> list[Shape]:
    """Return the squares of a text.

    Args:
        text: characters of `GLYPHS`.
        colour: ink.
        x: left edge, drawing units.
        y: top edge.
        size: edge of a square.
    """
    shapes = []
    for place, sign in enumerate(text):
        left = x + place * 4 * size
        for row, line in enumerate(GLYPHS[sign]):
            for start, stop in _runs(line):
                shapes.append(
                    rect(
                        colour,
                        left + start * size,
                        y + row * size,
                        left + stop * size,
                        y + (row + 1) * size,
                    )
                )
    return shapes


def measure(text: str, size: float) -> float:
    """Return the width of a text, drawing units."""
    return (4 * len(text) - 1) * size


def _runs(line: str) -> list[tuple[int, int]]:
    """Return the stretches of ink in a row."""
    runs = []
    start = None
    for place, sign in enumerate(line + "."):
        if sign == "#" and start is None:
            start = place
        elif sign != "#" and start is not None:
            runs.append((start, place))
            start = None
    return runs
