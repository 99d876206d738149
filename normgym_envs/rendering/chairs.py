"""Chairs, from above on a cell of 12 by 12 units."""

from normgym_envs.rendering.palette import BLACK, PAPER, Colour
from normgym_envs.rendering.shapes import Shape, ellipse, mix, rect


def seat(colour: Colour, number: int) -> list[Shape]:
    """Return a plain chair."""
    dark = mix(colour, BLACK, 0.35)
    return [
        rect(dark, 2.6, 9.6, 3.6, 11.2),
        rect(dark, 8.4, 9.6, 9.4, 11.2),
        rect(dark, 2, 1.4, 10, 4, 0.8),
        rect(colour, 2.2, 3.4, 9.8, 10, 1.2),
        rect(mix(colour, PAPER, 0.25), 3.2, 4.4, 8.8, 8.6, 0.9),
        rect(mix(colour, BLACK, 0.15), 2.4, 1.8, 9.6, 3.2, 0.6),
    ]


def armchair(colour: Colour, number: int) -> list[Shape]:
    """Return a leather chair."""
    dark = mix(colour, BLACK, 0.3)
    return [
        rect(dark, 1.2, 1.2, 10.8, 10.8, 2),
        rect(colour, 1.4, 1.4, 10.6, 4.4, 1.6),
        rect(mix(colour, PAPER, 0.2), 3.2, 4, 8.8, 9.8, 1),
        *[ellipse(mix(colour, PAPER, 0.45), x, 2.9, 0.35) for x in (3.4, 6, 8.6)],
    ]


def barber_chair(colour: Colour, number: int) -> list[Shape]:
    """Return a barber's chair with head and foot rest."""
    steel = (172, 178, 186)
    return [
        ellipse(steel, 6, 7, 4.6, 4.4),
        rect(steel, 4, 9.4, 8, 11.4, 0.6),
        rect(mix(colour, BLACK, 0.25), 2, 3.2, 10, 9.4, 1.4),
        rect(colour, 3.2, 3.8, 8.8, 9, 1),
        rect(mix(colour, BLACK, 0.2), 4, 0.8, 8, 3.2, 0.9),
        rect(mix(colour, PAPER, 0.3), 4.2, 5, 7.8, 7.8, 0.7),
    ]


def stool(colour: Colour, number: int) -> list[Shape]:
    """Return a round stool."""
    return [
        ellipse(mix(colour, BLACK, 0.4), 6, 6.9, 4.3, 4.1),
        ellipse(colour, 6, 6.2, 4.3, 4.1),
        ellipse(mix(colour, PAPER, 0.3), 6, 5.9, 2.9, 2.7),
    ]


def cinema_seat(colour: Colour, number: int) -> list[Shape]:
    """Return a folding seat with arm rests and a number plate."""
    dark = mix(colour, BLACK, 0.45)
    return [
        rect(dark, 1, 4.4, 2.6, 10.6, 0.7),
        rect(dark, 9.4, 4.4, 11, 10.6, 0.7),
        rect(mix(colour, BLACK, 0.2), 2, 0.9, 10, 5.4, 1.8),
        rect(colour, 2.6, 4.6, 9.4, 10.4, 1.2),
        rect(mix(colour, PAPER, 0.2), 3.4, 5.4, 8.6, 9.2, 0.9),
        rect((232, 196, 92), 5.2, 1.7, 6.8, 2.6),
    ]
