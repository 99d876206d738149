"""What lies on tables, from above on a cell of 12 by 12 units."""

from normgym_envs.rendering.palette import BLACK, BRIGHT, PAPER, Colour
from normgym_envs.rendering.shapes import Shape, ellipse, line, mix, polygon, rect


def bare(colour: Colour, number: int) -> list[Shape]:
    """Return a table with nothing on it."""
    return []


def coffee_table(colour: Colour, number: int) -> list[Shape]:
    """Return a cup on its saucer."""
    x = 5.4 if number % 2 else 6.8
    return [
        ellipse((206, 192, 172), x, 5.2, 2.7, 2.4),
        ellipse(PAPER, x, 5, 2.5, 2.2),
        ellipse((150, 60, 50) if number % 3 else (60, 110, 120), x, 4.9, 1.7, 1.5),
        ellipse((92, 56, 34), x, 4.9, 1.2, 1.05),
    ]


def writing_desk(colour: Colour, number: int) -> list[Shape]:
    """Return a form with a pen, or a lamp."""
    if number % 3 == 0:
        return [
            ellipse((30, 92, 66), 6, 4.8, 2.6, 1.7),
            ellipse((80, 160, 120), 6, 4.4, 2, 1.1),
            rect((206, 170, 90), 5.5, 6, 6.5, 8),
            ellipse((206, 170, 90), 6, 8.2, 1.7, 0.7),
        ]
    return [
        polygon(PAPER, [(2.6, 2.4), (7.4, 1.8), (8.1, 7.6), (3.3, 8.2)]),
        *line((150, 156, 170), [(3.8, 4), (6.8, 3.6)], 0.4),
        *line((150, 156, 170), [(4, 5.4), (7, 5)], 0.4),
        *line((36, 52, 110), [(9.8, 2.6), (8.8, 7.4)], 0.7),
    ]


def basin(colour: Colour, number: int) -> list[Shape]:
    """Return a wash basin with a tap."""
    return [
        ellipse((186, 196, 204), 6, 5.4, 4, 3),
        ellipse((150, 196, 222), 6, 5.6, 3.2, 2.2),
        ellipse((214, 236, 246), 5.2, 5, 1.1, 0.6),
        rect((140, 146, 154), 5.4, 1.2, 6.6, 4, 0.4),
    ]


def folded_clothes(colour: Colour, number: int) -> list[Shape]:
    """Return two piles of folded clothes."""
    shapes = []
    for place in range(2):
        cloth = BRIGHT[(number + 2 * place) % 6]
        x = 1.8 + 4.4 * place
        shapes += [
            rect(mix(cloth, BLACK, 0.25), x, 2.4, x + 3.8, 8.4, 0.5),
            rect(cloth, x, 1.8, x + 3.8, 7.4, 0.5),
            rect(mix(cloth, PAPER, 0.35), x + 1.2, 1.8, x + 2.6, 4, 0.4),
        ]
    return shapes


def produce(colour: Colour, number: int) -> list[Shape]:
    """Return a crate of fruit."""
    fruit = ((206, 52, 48), (238, 150, 40), (120, 168, 60), (240, 210, 70))[number % 4]
    shapes = [rect(mix(colour, BLACK, 0.35), 1, 0.9, 11, 9.2, 0.5)]
    shapes.append(rect(mix(colour, BLACK, 0.6), 1.6, 1.5, 10.4, 8.6, 0.3))
    for row in range(3):
        for column in range(4):
            x = 2.8 + 2.1 * column + (0.5 if row % 2 else 0)
            y = 2.8 + 2.1 * row
            shapes += [
                ellipse(mix(fruit, BLACK, 0.2), x, y + 0.2, 1.15),
                ellipse(fruit, x, y, 1.1),
                ellipse(mix(fruit, PAPER, 0.5), x - 0.35, y - 0.4, 0.32),
            ]
    return shapes


def bed(colour: Colour, number: int) -> list[Shape]:
    """Return a bed with pillow and blanket."""
    return [
        rect((150, 164, 176), 0.8, 0.4, 11.2, 10, 1),
        rect(PAPER, 1.4, 0.9, 10.6, 9.4, 0.8),
        rect((214, 226, 236), 2.6, 1.4, 9.4, 4, 0.9),
        rect((112, 172, 204), 1.4, 4.9, 10.6, 9.4, 0.8),
        rect((150, 200, 224), 1.4, 4.9, 10.6, 6.1),
    ]


def open_book(colour: Colour, number: int) -> list[Shape]:
    """Return an open book, or a lamp with a pile of books."""
    if number % 3 == 1:
        return [
            rect(BRIGHT[number % 6], 2, 5.4, 6.4, 8, 0.3),
            rect(BRIGHT[(number + 2) % 6], 2.4, 3, 6.2, 5.6, 0.3),
            ellipse((236, 206, 120), 8.8, 4, 1.9, 1.4),
            rect((120, 96, 60), 8.4, 5.2, 9.2, 8),
        ]
    return [
        polygon((120, 70, 50), [(1.8, 2.4), (10.2, 2.4), (10.4, 8.4), (1.6, 8.4)]),
        polygon((252, 248, 236), [(2.2, 2.2), (5.9, 2.9), (5.9, 8.2), (2, 7.6)]),
        polygon((244, 238, 222), [(9.8, 2.2), (6.1, 2.9), (6.1, 8.2), (10, 7.6)]),
        *line((170, 164, 150), [(3, 4), (5.2, 4.4)], 0.35),
        *line((170, 164, 150), [(3, 5.6), (5.2, 6)], 0.35),
        *line((170, 164, 150), [(6.9, 4.4), (9, 4)], 0.35),
    ]


def popcorn(colour: Colour, number: int) -> list[Shape]:
    """Return a box of popcorn."""
    shapes = [polygon(PAPER, [(2.8, 3.8), (9.2, 3.8), (8.2, 9.2), (3.8, 9.2)])]
    for x in (3.5, 5.6, 7.7):
        shapes.append(
            polygon(
                (210, 40, 48),
                [(x, 3.8), (x + 1, 3.8), (x + 0.7 - (x - 6) * 0.1, 9.2), (x + 0.2, 9.2)],
            )
        )
    for x, y in ((3.4, 3), (5, 2.4), (6.6, 2.6), (8.3, 3), (4.4, 3.7), (6, 3.6), (7.6, 3.8)):
        shapes.append(ellipse((252, 232, 170), x, y, 1.1, 0.95))
    return shapes


def pills(colour: Colour, number: int) -> list[Shape]:
    """Return boxes and capsules."""
    return [
        rect((92, 170, 136), 1.8, 1.8, 5.8, 5.2, 0.3),
        rect(PAPER, 3.4, 2.3, 4.2, 4.7),
        rect(PAPER, 2.6, 3.1, 5, 3.9),
        rect((224, 120, 110), 6.6, 2.4, 10.2, 5.6, 0.3),
        rect(PAPER, 6.6, 3.6, 10.2, 4.3),
        ellipse((240, 180, 60), 4, 7.6, 1.7, 0.8),
        ellipse(PAPER, 4.8, 7.6, 0.9, 0.7),
        ellipse((90, 140, 200), 8.4, 7.8, 1.5, 0.8),
    ]


def parcels(colour: Colour, number: int) -> list[Shape]:
    """Return a parcel with tape and stamp."""
    box: Colour = (204, 164, 110) if number % 2 else (188, 146, 96)
    return [
        rect(mix(box, BLACK, 0.3), 1.8, 2.2, 10.2, 9.2, 0.3),
        rect(box, 1.8, 1.4, 10.2, 8.2, 0.3),
        rect((236, 214, 160), 5.3, 1.4, 6.7, 8.2),
        rect(PAPER, 7.4, 2.2, 9.6, 4.4),
        rect((200, 60, 60), 8, 2.8, 9, 3.8),
        *line((120, 90, 60), [(2.8, 6.6), (4.6, 6.6)], 0.4),
    ]
