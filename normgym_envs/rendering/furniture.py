"""The table of furniture: what lies on the top of a piece, and how high it stands.

Themes name its entries. Pieces of the same kind that touch are drawn as one; their sides follow
from the neighbours.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from normgym_envs.rendering import chairs, counters, displays, tables
from normgym_envs.rendering.palette import Colour
from normgym_envs.rendering.shapes import Shape


class Motif(NamedTuple):
    """One piece of furniture."""

    details: Callable[[Colour, int], list[Shape]]  # what lies on top; colour, number of the cell
    height: float  # of its top over the floor, drawing units; for the view from a corner


MOTIFS: Final[dict[str, Motif]] = {
    "seat": Motif(chairs.seat, 3),
    "armchair": Motif(chairs.armchair, 3),
    "barber_chair": Motif(chairs.barber_chair, 3),
    "stool": Motif(chairs.stool, 3),
    "cinema_seat": Motif(chairs.cinema_seat, 3),
    "bare": Motif(tables.bare, 5),
    "coffee_table": Motif(tables.coffee_table, 5),
    "pastries": Motif(displays.pastries, 8),
    "writing_desk": Motif(tables.writing_desk, 5),
    "safe": Motif(displays.safe, 9),
    "basin": Motif(tables.basin, 6),
    "mirror": Motif(displays.mirror, 9),
    "folded_clothes": Motif(tables.folded_clothes, 5),
    "rack": Motif(displays.rack, 9),
    "produce": Motif(tables.produce, 5),
    "cans": Motif(displays.cans, 10),
    "bed": Motif(tables.bed, 4),
    "monitor": Motif(displays.monitor, 7),
    "open_book": Motif(tables.open_book, 5),
    "books": Motif(displays.books, 11),
    "popcorn": Motif(tables.popcorn, 5),
    "screen": Motif(displays.screen, 10),
    "pills": Motif(tables.pills, 5),
    "bottles": Motif(displays.bottles, 10),
    "parcels": Motif(tables.parcels, 5),
    "pigeonholes": Motif(displays.pigeonholes, 9),
    "shelf": Motif(displays.shelf, 8),
    "till": Motif(counters.till, 7),
    "coffee_bar": Motif(counters.coffee_bar, 7),
    "teller": Motif(counters.teller, 8),
    "barber_pole": Motif(counters.barber_pole, 7),
    "checkout": Motif(counters.checkout, 6),
    "reception": Motif(counters.reception, 7),
    "lending_desk": Motif(counters.lending_desk, 7),
    "ticket_booth": Motif(counters.ticket_booth, 8),
    "green_cross": Motif(counters.green_cross, 7),
    "scales": Motif(counters.scales, 7),
}
