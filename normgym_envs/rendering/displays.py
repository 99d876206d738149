"""What displays hold, from above on a cell of 12 by 12 units."""

from normgym_envs.rendering.palette import BLACK, BRIGHT, PAPER, Colour
from normgym_envs.rendering.shapes import Shape, ellipse, line, mix, polygon, rect


def pastries(colour: Colour, number: int) -> list[Shape]:
    """Return two rows of pastries under glass."""
    tastes: tuple[Colour, ...] = ((196, 132, 66), (224, 130, 150), (122, 76, 50), (236, 200, 120))
    shapes = [rect(mix(colour, PAPER, 0.5), 1.6, 1.4, 10.4, 9, 0.6)]
    for place in range(4):
        x, y = 3.8 + 4.4 * (place % 2), 3.2 + 3.6 * (place // 2)
        taste = tastes[(place + number) % 4]
        shapes += [
            ellipse(mix(taste, BLACK, 0.25), x, y + 0.3, 1.7, 1.3),
            ellipse(taste, x, y, 1.6, 1.2),
            ellipse(mix(taste, PAPER, 0.4), x - 0.4, y - 0.3, 0.6, 0.4),
        ]
    return [*shapes, polygon(PAPER, [(9, 1.4), (10.1, 1.4), (8, 9), (6.9, 9)])][:-1]


def safe(colour: Colour, number: int) -> list[Shape]:
    """Return the door of a safe."""
    dark = mix(colour, BLACK, 0.35)
    return [
        rect(dark, 1.6, 0.9, 10.4, 8.9, 0.8),
        rect(mix(colour, PAPER, 0.25), 2.1, 1.4, 9.9, 8.4, 0.6),
        ellipse(dark, 6, 4.9, 2.3),
        ellipse((214, 178, 92), 6, 4.9, 1.8),
        *line(dark, [(4.4, 3.3), (7.6, 6.5)], 0.6),
        *line(dark, [(7.6, 3.3), (4.4, 6.5)], 0.6),
    ]


def mirror(colour: Colour, number: int) -> list[Shape]:
    """Return a mirror and some bottles before it."""
    shapes = [
        rect((206, 170, 96), 1.6, 0.8, 10.4, 6.2, 0.7),
        rect((184, 214, 226), 2.2, 1.3, 9.8, 5.7, 0.4),
        polygon((226, 242, 248), [(3.2, 5.7), (5.6, 1.3), (7, 1.3), (4.6, 5.7)]),
    ]
    for place in range(3):
        bottle = BRIGHT[(number + place) % 6]
        x = 3 + 2.6 * place
        shapes += [rect(bottle, x, 6.7, x + 1.4, 9.2, 0.3), rect(PAPER, x + 0.4, 6.1, x + 1, 6.8)]
    return shapes


def rack(colour: Colour, number: int) -> list[Shape]:
    """Return a rail with clothes on hangers."""
    shapes = [rect((214, 214, 220), 0, 1.1, 12, 1.9)]
    for place in range(3):
        cloth = BRIGHT[(number + place) % 6]
        x = 2.2 + 3.8 * place
        shapes += [
            *line((80, 80, 86), [(x, 1.6), (x, 2.8)], 0.4),
            polygon(cloth, [(x - 1.7, 4), (x, 2.6), (x + 1.7, 4), (x + 1.4, 9.4), (x - 1.4, 9.4)]),
            polygon(mix(cloth, BLACK, 0.2), [(x, 2.6), (x + 1.7, 4), (x + 1.4, 9.4), (x, 9.4)]),
        ]
    return shapes


def cans(colour: Colour, number: int) -> list[Shape]:
    """Return shelves of cans and boxes."""
    shapes = [rect((120, 130, 138), 0, 4.6, 12, 5.3), rect((120, 130, 138), 0, 9, 12, 9.6)]
    for row in range(2):
        for place in range(4):
            paint = BRIGHT[(number + place * (row + 1) + row) % 6]
            x, y = 0.7 + 2.8 * place, 1.2 + 4.3 * row
            shapes += [
                rect(paint, x, y, x + 2.2, y + 3.4, 0.3),
                rect(PAPER, x, y + 1.1, x + 2.2, y + 2.2),
            ]
    return shapes


def monitor(colour: Colour, number: int) -> list[Shape]:
    """Return an instrument with a heartbeat."""
    return [
        rect((84, 96, 108), 1.6, 1.2, 10.4, 7.4, 0.7),
        rect((20, 44, 48), 2.3, 1.9, 9.7, 6.7, 0.3),
        *line(
            (98, 226, 150),
            [(2.8, 4.6), (4.6, 4.6), (5.3, 2.8), (6.2, 6), (7, 4.6), (9.2, 4.6)],
            0.5,
        ),
        ellipse((222, 70, 70), 3, 8.6, 0.55),
        ellipse((240, 200, 80), 4.8, 8.6, 0.55),
    ]


def books(colour: Colour, number: int) -> list[Shape]:
    """Return a shelf with the spines of books."""
    shapes = [rect(mix(colour, BLACK, 0.45), 0.4, 0.8, 11.6, 9.4)]
    shapes.append(rect(mix(colour, PAPER, 0.15), 0, 4.8, 12, 5.4))
    for row in range(2):
        x = 0.8
        for place in range(6):
            wide = (1.5, 1.9, 1.3, 2, 1.6, 1.5)[(place + number + row) % 6]
            tall = (3.3, 2.7, 3.5, 3, 3.4, 2.9)[(place * 2 + number) % 6]
            foot = 4.8 + 4.6 * row
            spine = BRIGHT[(place * (2 + row) + number) % 6]
            shapes.append(rect(spine, x, foot - tall, x + wide - 0.2, foot))
            shapes.append(
                rect(mix(spine, PAPER, 0.5), x, foot - tall + 0.6, x + wide - 0.2, foot - tall + 1)
            )
            x += wide
            if x > 10:
                break
    return shapes


def screen(colour: Colour, number: int) -> list[Shape]:
    """Return a lit poster frame."""
    glow = ((236, 196, 96), (110, 170, 220), (230, 110, 130))[number % 3]
    return [
        rect((200, 160, 80), 1, 0.6, 11, 9.4, 0.4),
        rect(mix(glow, BLACK, 0.35), 1.6, 1.2, 10.4, 8.8),
        ellipse(glow, 6, 4.4, 2.6, 2.4),
        rect(PAPER, 2.6, 7.4, 9.4, 8),
        *[ellipse((255, 240, 180), x, 0.9, 0.4) for x in (2.4, 4.8, 7.2, 9.6)],
    ]


def bottles(colour: Colour, number: int) -> list[Shape]:
    """Return shelves of medicine."""
    shapes = [rect((150, 170, 162), 0, 4.7, 12, 5.3), rect((150, 170, 162), 0, 9.1, 12, 9.6)]
    glass: tuple[Colour, ...] = ((166, 100, 50), (70, 140, 110), (90, 130, 190), (214, 214, 206))
    for row in range(2):
        for place in range(4):
            paint = glass[(number + place + row * 2) % 4]
            x, y = 0.9 + 2.8 * place, 1.3 + 4.4 * row
            shapes += [
                rect(PAPER, x + 0.6, y - 0.4, x + 1.4, y + 0.5),
                rect(paint, x, y + 0.3, x + 2, y + 3.4, 0.5),
                rect(PAPER, x, y + 1.3, x + 2, y + 2.4),
            ]
    return shapes


def pigeonholes(colour: Colour, number: int) -> list[Shape]:
    """Return boxes for letters."""
    shapes = []
    for row in range(2):
        for column in range(2):
            x, y = 1 + 5.2 * column, 1 + 4.3 * row
            shapes.append(rect(mix(colour, BLACK, 0.5), x, y, x + 4.7, y + 3.7))
            if (number + row + 2 * column) % 4 != 3:
                tilt = 0.4 * ((number + column) % 2)
                shapes.append(
                    polygon(
                        (246, 240, 226),
                        [
                            (x + 0.5, y + 1),
                            (x + 4.2, y + 0.7 + tilt),
                            (x + 4.2, y + 3.7),
                            (x + 0.5, y + 3.7),
                        ],
                    )
                )
                shapes.append(
                    rect(BRIGHT[(number + row + column) % 6], x + 2.9, y + 1.6, x + 3.8, y + 2.4)
                )
    return shapes


def shelf(colour: Colour, number: int) -> list[Shape]:
    """Return boards with boxes."""
    return [
        rect(mix(colour, BLACK, 0.3), 1, 4.4, 11, 5),
        rect(BRIGHT[number % 6], 2, 1.6, 5, 4.4),
        rect(BRIGHT[(number + 1) % 6], 6, 2.2, 9, 4.4),
        rect(BRIGHT[(number + 2) % 6], 3, 6, 8, 9),
    ]
