"""What stands on counters, from above on a cell of 12 by 12 units."""

from normgym_envs.rendering.palette import BRIGHT, PAPER, Colour
from normgym_envs.rendering.shapes import Shape, ellipse, polygon, rect, sector


def till(colour: Colour, number: int) -> list[Shape]:
    """Return a cash register."""
    return [
        rect((70, 74, 84), 2.6, 2.4, 9.4, 8, 0.8),
        rect((160, 220, 190), 3.4, 3, 8.6, 4.8, 0.3),
        *[ellipse((226, 226, 230), 4 + 1.4 * i, 6.4, 0.5) for i in range(4)],
    ]


def coffee_bar(colour: Colour, number: int) -> list[Shape]:
    """Return a coffee machine and a cup."""
    return [
        rect((196, 200, 206), 1.8, 1.4, 8, 8.4, 0.8),
        rect((60, 62, 70), 2.6, 2.2, 7.2, 4.4, 0.4),
        ellipse((216, 70, 60), 3.4, 5.6, 0.5),
        rect((60, 62, 70), 4.6, 5.2, 5.6, 7),
        ellipse(PAPER, 9.6, 6.4, 1.6, 1.5),
        ellipse((92, 56, 34), 9.6, 6.3, 1, 0.9),
    ]


def teller(colour: Colour, number: int) -> list[Shape]:
    """Return a window with bars and coins."""
    return [
        rect((206, 224, 232), 1.6, 1.2, 10.4, 5.2, 0.4),
        *[rect((190, 154, 80), x, 1.2, x + 0.5, 5.2) for x in (3, 5, 7, 9)],
        ellipse((236, 196, 70), 4.4, 7.2, 1.3, 1.1),
        ellipse((250, 216, 100), 6.6, 7.4, 1.3, 1.1),
    ]


def barber_pole(colour: Colour, number: int) -> list[Shape]:
    """Return a striped pole beside a till."""
    shapes = [rect(PAPER, 1.6, 1.2, 4.4, 9.2, 0.6)]
    for step in range(3):
        y = 1.8 + 2.4 * step
        stripe = (206, 40, 48) if step % 2 == 0 else (50, 90, 170)
        shapes.append(polygon(stripe, [(1.6, y + 1.2), (4.4, y), (4.4, y + 1.1), (1.6, y + 2.3)]))
    return [
        *shapes,
        *[
            Shape(s.colour, tuple((x * 0.62 + 4.2, y * 0.8 + 1) for x, y in s.points))
            for s in till(colour, number)
        ],
    ]


def checkout(colour: Colour, number: int) -> list[Shape]:
    """Return a belt with goods."""
    return [
        rect((44, 46, 52), 0.8, 2.6, 11.2, 7.8, 0.5),
        ellipse((206, 52, 48), 3, 5.2, 1.2),
        rect((238, 200, 80), 5, 3.8, 7.4, 6.8, 0.3),
        rect((110, 170, 220), 8.2, 3.4, 9.8, 6.8, 0.6),
    ]


def reception(colour: Colour, number: int) -> list[Shape]:
    """Return a red cross."""
    return [
        ellipse(PAPER, 6, 5, 3.9),
        rect((214, 50, 60), 5, 2, 7, 8),
        rect((214, 50, 60), 3, 4, 9, 6),
    ]


def lending_desk(colour: Colour, number: int) -> list[Shape]:
    """Return a pile of returned books and a stamp."""
    return [
        rect(BRIGHT[0], 1.6, 5.8, 6.4, 8.4, 0.3),
        rect(BRIGHT[1], 2, 3.6, 6, 6, 0.3),
        rect(BRIGHT[2], 1.8, 1.6, 6.2, 3.8, 0.3),
        rect((60, 50, 46), 8, 2.4, 9.6, 5.6, 0.5),
        rect((150, 40, 50), 7.4, 5.6, 10.2, 7, 0.3),
    ]


def ticket_booth(colour: Colour, number: int) -> list[Shape]:
    """Return two tickets."""
    shapes = []
    for x, y in ((1.8, 1.8), (3.4, 4.8)):
        shapes += [
            rect((250, 224, 150), x, y, x + 6.8, y + 3, 0.5),
            rect((196, 150, 60), x + 4.8, y + 0.4, x + 5.1, y + 2.6),
            sector((196, 40, 52), x + 2.4, y + 1.5, 0.9, 0, 360),
        ]
    return shapes


def green_cross(colour: Colour, number: int) -> list[Shape]:
    """Return a green cross."""
    return [rect((24, 156, 92), 4.8, 1.4, 7.2, 8.6), rect((24, 156, 92), 2.4, 3.8, 9.6, 6.2)]


def scales(colour: Colour, number: int) -> list[Shape]:
    """Return a parcel on scales."""
    return [
        rect((210, 214, 220), 2, 6.4, 10, 8.6, 0.5),
        rect((60, 64, 76), 5, 7, 7, 8),
        rect((204, 164, 110), 3.4, 2, 8.6, 6.4, 0.3),
        rect((236, 214, 160), 5.5, 2, 6.5, 6.4),
    ]
