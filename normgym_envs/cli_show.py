"""What the `norms`, `layouts` and `show` commands print."""

import shutil
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import typer

from normgym_envs.constants import GRID_WIDTH, Door, Goal1, Region, Zone
from normgym_envs.errors import LayoutError, UnknownNameError
from normgym_envs.layouts import draw_layout
from normgym_envs.layouts.legend import MEANING
from normgym_envs.norms.geometry import queue_path, seat_order
from normgym_envs.norms.library import KINDS, describe_condition, goal_kinds, num_slots
from normgym_envs.types import Layout, Norm, Scope

GOAL1_WORDS: Mapping[Goal1, str] = {
    Goal1.COUNTER: "the counter",
    Goal1.PLACE: "a given place",
    Goal1.ANY_CHAIR: "any chair",
    Goal1.ANY_ZONE_R: "any cell of zone R",
}
_LABEL_WIDTH = 12


def print_norms(norms: Sequence[Norm], kind: str | None, sentences: bool) -> None:
    """Print norms as a table, or each with its sentence."""
    if kind is not None and kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    chosen = [norm for norm in norms if kind in (None, norm.kind)]
    if sentences:
        for norm in chosen:
            typer.echo(norm.id)
            typer.echo(textwrap.indent(textwrap.fill(norm.sentence, _width() - 4), "    "))
    else:
        row = "{:<30} {:<14} {:<9} {}".format
        typer.echo(row("norm", "family", "split", "kind"))
        for norm in chosen:
            typer.echo(row(norm.id, norm.family, norm.split, norm.kind))
    noun = "norm" if len(chosen) == 1 else "norms"
    typer.echo(f"\n{len(chosen)} {noun}. `normgym show NORM` explains one.")


def print_layouts(layouts: Sequence[Layout]) -> None:
    """Print a table of places."""
    row = "{:<16} {:<16} {:>10} {:>7} {:>7}".format
    typer.echo(row("layout", "title", "chairs", "zone Q", "zone R"))
    for layout in layouts:
        counts = [int(np.count_nonzero(layout.regions == region)) for region in Region]
        zones = [int(np.count_nonzero(layout.zones == zone)) for zone in (Zone.Q, Zone.R)]
        typer.echo(row(layout.name, layout.title, "+".join(map(str, counts)), *zones))
    typer.echo("\nchairs: top-left + bottom-left + bottom-right. zones: cells.")
    typer.echo("`normgym layouts NAME` draws one.")


def print_layout(layout: Layout) -> None:
    """Print a drawing of a place with its legend."""
    typer.echo(f"{layout.title} ({layout.name})")
    typer.echo(textwrap.fill(layout.place, _width()))
    typer.echo("\n" + draw_layout(layout) + "\n")
    words = {**MEANING, "S": layout.objects["counter"], "h": layout.objects["chair"]}
    words |= {"t": layout.objects["table"], "d": layout.objects["display"]}
    _print_legend(words)
    for cell, name in layout.destinations:
        if cell not in layout.chairs:
            row, column = divmod(cell, GRID_WIDTH)
            typer.echo(f"row {row}, column {column}: {name}")


def check_layouts(layouts: Sequence[Layout]) -> None:
    """Hold places against every condition of maps and print the verdict on each.

    Raises:
        LayoutError: one of them breaks a condition.
    """
    from normgym_envs.layouts.validate import list_problems
    from normgym_envs.norms.library import load_norms
    from normgym_envs.protocol.trips import list_detour_problems

    broken = []
    for layout in layouts:
        problems = list_problems(layout) or list_detour_problems(layout, load_norms())
        typer.echo(f"{layout.name}: {'sound' if not problems else 'broken'}")
        for problem in problems:
            typer.echo(f"  {problem}")
        broken += [layout.name] if problems else []
    if broken:
        raise LayoutError(f"conditions broken by {', '.join(broken)}")


def print_norm(norm: Norm, layout: Layout) -> None:
    """Print everything about a norm, with a drawing."""
    goal1, any_door = goal_kinds(norm)
    typer.echo(f"{norm.id}\n")
    typer.echo(textwrap.fill(norm.sentence, _width()) + "\n")
    _print_field("family", f"{norm.family} ({norm.split})")
    _print_field("kind", norm.kind)
    _print_field("parameters", ", ".join(_say_parameter(*item) for item in norm.parameters.items()))
    _print_field("condition", describe_condition(norm))
    _print_field("binds", _say_scope(norm.scope))
    _print_field("goals", f"{GOAL1_WORDS[goal1]}, then {'any' if any_door else 'a given'} door")
    _print_field("slots", f"{num_slots(norm)} agents")
    marks, legend = mark_norm(norm, layout)
    typer.echo(f"\n{layout.title}:\n" + draw_layout(layout, marks) + "\n")
    _print_legend({**MEANING, **legend})


def mark_norm(norm: Norm, layout: Layout) -> tuple[dict[int, str], dict[str, str]]:
    """Return what a drawing adds for a norm.

    Returns:
        tuple of marks (cell index -> text) and their legend (text -> meaning).
    """
    asked = norm.parameters
    chairs = [int(chair) for chair in layout.chairs]
    regions = [Region(int(region)).name for region in layout.regions]
    doors = {door.name: int(layout.doors[door]) for door in Door}
    match norm.kind:
        case "queue_path":
            path = [int(cell) for cell in queue_path(layout, asked)]
            marks = {cell: str(number) for number, cell in enumerate(path, start=1)}
            return marks, {f"1..{len(path)}": "the queue, 1 its head"}
        case "seat_order":
            seats = [int(cell) for cell in seat_order(layout, asked["order"])]
            marks = {cell: str(number) for number, cell in enumerate(seats, start=1)}
            return marks, {f"1..{len(seats)}": "the seats in order"}
        case "seat_regions":
            pairs = zip(chairs, regions, strict=True)
            marks = {chair: "x" for chair, region in pairs if region not in asked["regions"]}
            return marks, {"h": "permitted chair", "x": "forbidden chair"}
        case "exit_doors":
            marks = {cell: "x" for name, cell in doors.items() if name not in asked["doors"]}
            return marks, {"x": "forbidden door"}
        case "group_seats" | "group_doors":
            cells = dict(zip(chairs, regions, strict=True))
            if norm.kind == "group_doors":
                cells = {cell: name for name, cell in doors.items()}
            owner = {value: group[0] for group, value in asked.items()}
            marks = {cell: owner[name] for cell, name in cells.items() if name in owner}
            return marks, {group[0]: f"for {group}" for group in asked}
        case "ring_direction":
            return _mark_ring(layout, asked["direction"] == "clockwise")
    return {}, {}


def _mark_ring(layout: Layout, clockwise: bool) -> tuple[dict[int, str], dict[str, str]]:
    """Return arrows for the direction in which the ring may be walked."""
    arrows = {1: ">", -1: "<", GRID_WIDTH: "v", -GRID_WIDTH: "^"}
    ring = [int(cell) for cell in layout.ring]
    step = 1 if clockwise else -1
    marks = {
        cell: arrows[ring[(place + step) % len(ring)] - cell] for place, cell in enumerate(ring)
    }
    return marks, {"> v < ^": "permitted way along the ring"}


def _width() -> int:
    """Return the number of columns to write in."""
    return min(shutil.get_terminal_size((88, 24)).columns, 88)


def _print_field(label: str, value: str) -> None:
    """Print a labelled line, wrapped under itself."""
    typer.echo(
        textwrap.fill(
            value,
            _width(),
            initial_indent=f"{label:<{_LABEL_WIDTH}}",
            subsequent_indent=" " * _LABEL_WIDTH,
        )
    )


def _print_legend(words: Mapping[str, str]) -> None:
    """Print the meaning of signs, as many on a line as fit."""
    entries = [f"{sign} {meaning}" for sign, meaning in words.items() if sign != "."]
    joined = "   ".join(entry.replace(" ", "\xa0") for entry in entries)
    typer.echo(textwrap.fill(joined, _width()).replace("\xa0", " "))


def _say_parameter(name: str, value: object) -> str:
    """Return a parameter as "name = value", as a row would write it."""
    if isinstance(value, tuple | list):
        entries = ", ".join(
            f'"{entry}"' if isinstance(entry, str) else f"{entry}" for entry in value
        )
        return f"{name} = [{entries}]"
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    return f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}"


def _say_scope(scope: Scope) -> str:
    """Return whom and when a norm binds."""
    everybody = scope.groups == Scope().groups
    who = "everybody" if everybody else f"group {' and '.join(scope.groups)}"
    if scope.turns == Scope().turns:
        return f"{who}, always"
    return f"{who}, from turn {scope.turns[0]} to turn {scope.turns[1] - 1}"
