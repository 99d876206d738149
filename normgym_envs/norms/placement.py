"""Norms placed on layouts: rows and maps turned into the records that compiled code reads."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import (
    GRID_SHAPE,
    GRID_WIDTH,
    NUM_ACTIONS,
    NUM_CELLS,
    Action,
    Cell,
    Door,
    Group,
    Region,
    Zone,
)
from normgym_envs.errors import NormError
from normgym_envs.kernels import njit
from normgym_envs.layouts.legend import ENTERABLE
from normgym_envs.norms.geometry import queue_path, seat_order
from normgym_envs.norms.kinds import KIND_CODES, allows, count_variants
from normgym_envs.norms.records import LAYOUT_DTYPE, MAX_CHAIRS, NORM_DTYPE
from normgym_envs.types import Layout, Norm, RecordArray

_STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # Action.UP, DOWN, LEFT, RIGHT


class Placement(NamedTuple):
    """What the kernels need to know of all layouts and norms of an engine."""

    layouts: RecordArray  # (L,) LAYOUT_DTYPE
    norms: RecordArray  # (L, n) NORM_DTYPE
    masks: npt.NDArray[np.uint64]  # (M, 4, 3), boards of cells from which a move is permissible


def place_norms(layouts: Sequence[Layout], norms: Sequence[Norm]) -> Placement:
    """Place every norm on every layout.

    Args:
        layouts: L layouts.
        norms: n norms.

    Returns:
        The tables of the kernels.

    Raises:
        NormError: a layout cannot host a norm, e.g. a zone or a path is missing.
    """
    packed = np.zeros(len(layouts), LAYOUT_DTYPE)
    placed = np.zeros((len(layouts), len(norms)), NORM_DTYPE)
    num_masks = 0
    for i, layout in enumerate(layouts):
        packed[i] = pack_layout(layout)
        for j, norm in enumerate(norms):
            placed[i, j] = pack_norm(norm, layout)
            placed[i, j]["first_mask"] = num_masks
            placed[i, j]["num_variants"] = count_variants(placed[i, j])
            num_masks += int(placed[i, j]["num_variants"])
    masks = np.zeros((num_masks, NUM_ACTIONS - 1, 3), np.uint64)
    _fill_masks(packed, placed, masks)
    return Placement(packed, placed, masks)


def pack_layout(layout: Layout) -> np.void:
    """Return a layout as one LAYOUT_DTYPE record."""
    out = np.zeros((), LAYOUT_DTYPE)
    cells = layout.cells.reshape(-1)
    enterable = np.isin(cells, list(ENTERABLE))
    out["enterable"] = enterable
    out["plane"] = cells / max(Cell)
    out["zones"] = layout.zones.reshape(-1)
    out["doors"] = layout.doors
    out["service"] = layout.service
    for field, cells_of in (("door_of", layout.doors), ("region_of", layout.chairs)):
        out[field] = -1
        values = layout.regions if field == "region_of" else np.arange(len(Door))
        out[field][cells_of] = values
    out["ring_next"] = out["ring_previous"] = -1
    out["ring_next"][layout.ring] = np.roll(layout.ring, -1)
    out["ring_previous"][layout.ring] = np.roll(layout.ring, 1)
    for cell in range(NUM_CELLS):
        out["neighbour"][cell] = cell
        row, column = divmod(cell, GRID_WIDTH)
        for action, (down, right) in enumerate(_STEPS):
            inside = 0 <= row + down < GRID_SHAPE[0] and 0 <= column + right < GRID_SHAPE[1]
            beside = cell + down * GRID_WIDTH + right
            if inside and enterable[cell] and enterable[beside]:
                out["neighbour"][cell, action] = beside
                out["moves"][action] |= make_board([cell])
    for zone in Zone:
        out["zone_board"][zone] = make_board(np.flatnonzero(out["zones"] == zone))
    out["zone_board"][Zone.NONE] = 0
    beside_r = out["zones"][out["neighbour"][:, : Action.WAIT]] == Zone.R
    out["near_zone_r"] = beside_r.any(axis=1) & (out["zones"] != Zone.R) & enterable
    out["chair_board"] = make_board(layout.chairs)
    out["door_board"] = make_board(layout.doors)
    out["distance"] = measure_distances(out["neighbour"], enterable)
    return cast(np.void, out[()])


def make_board(cells: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """Return a set of cells as a board.

    Args:
        cells: cell indices.

    Returns:
        (3,) uint64, bit 16 * row + column set for each cell.
    """
    board = np.zeros(3, np.uint64)
    for cell in cells:
        index = int(cell) + int(cell) // GRID_WIDTH
        board[index >> 6] |= np.uint64(1 << (index & 63))
    return board


def measure_distances(
    neighbour: npt.NDArray[np.int16], enterable: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return the shortest distances between all cells, other persons left aside.

    Args:
        neighbour: (NUM_CELLS, 5) int16, cell an action leads to.
        enterable: (NUM_CELLS,) bool.

    Returns:
        (NUM_CELLS, NUM_CELLS) uint8, steps; 255 when there is no way.
    """
    reached = np.eye(NUM_CELLS, dtype=bool) & enterable
    distance = np.where(reached, 0, 255).astype(np.uint8)
    frontier = reached.copy()
    for steps in range(1, 255):
        grown = np.zeros_like(frontier)
        for action in range(NUM_ACTIONS - 1):
            # a cell is reached when the cell that an action leads to was reached before
            grown |= frontier[neighbour[:, action]]
        frontier = grown & ~reached & enterable[:, None]
        if not frontier.any():
            break
        reached |= frontier
        distance[frontier] = steps
    return distance


def pack_norm(norm: Norm, layout: Layout) -> np.void:
    """Return a norm on a layout as one NORM_DTYPE record; masks are left out.

    Raises:
        NormError: the layout lacks what the norm speaks of.
    """
    out = np.zeros((), NORM_DTYPE)
    given = norm.parameters
    out["kind"] = KIND_CODES[norm.kind]
    out["groups"] = sum(1 << Group[name.upper()] for name in norm.scope.groups)
    out["turn_from"], out["turn_to"] = norm.scope.turns
    out["path"] = out["seats"] = out["seat_rank"] = -1
    if "zone" in given:
        out["zone"] = Zone[given["zone"]]
        if not (layout.zones == Zone[given["zone"]]).any():
            raise NormError(
                f"norm {norm.id!r} needs zone {given['zone']}, "
                f"but layout {layout.name!r} marks no such cell"
            )
    if norm.kind == "exit_doors":
        out["door_sets"] = sum(1 << Door[door] for door in given["doors"])
    elif norm.kind == "group_doors":
        out["door_sets"] = [1 << Door[given[group.name.lower()]] for group in Group]
    elif norm.kind == "seat_regions":
        out["region_sets"] = sum(1 << Region[region] for region in given["regions"])
    elif norm.kind == "group_seats":
        out["region_sets"] = [1 << Region[given[group.name.lower()]] for group in Group]
    elif norm.kind == "ring_direction":
        out["clockwise"] = given["direction"] == "clockwise"
    elif norm.kind == "turn_residues":
        out["modulus"] = given["modulus"]
        out["residues"] = np.uint64(sum(1 << residue for residue in given["residues"]))
    elif norm.kind == "move_wait":
        out["moves"] = given["moves"]
    elif norm.kind == "zone_capacity":
        out["capacity"] = given["capacity"]
    elif norm.kind == "queue_path":
        path = queue_path(layout, given)
        if len(path) < 2:
            raise NormError(f"norm {norm.id!r} finds no room to queue on layout {layout.name!r}")
        out["path_length"] = len(path)
        out["path"][: len(path)] = path
        out["path_position"][path] = np.arange(1, len(path) + 1)
    elif norm.kind == "seat_order":
        seats = seat_order(layout, given["order"])
        if not 0 < len(seats) <= MAX_CHAIRS:
            raise NormError(
                f"norm {norm.id!r} needs 1 to {MAX_CHAIRS} chairs, "
                f"layout {layout.name!r} has {len(seats)}"
            )
        out["num_seats"] = len(seats)
        out["seats"][: len(seats)] = seats
        out["seat_rank"][seats] = np.arange(len(seats))
    return cast(np.void, out[()])


@njit
def _fill_masks(layouts: np.ndarray, norms: np.ndarray, masks: np.ndarray) -> None:
    """Tabulate `kinds.allows` as boards, in place in `masks`."""
    for i in range(norms.shape[0]):
        layout = layouts[i]
        for j in range(norms.shape[1]):
            norm = norms[i, j]
            for variant in range(norm["num_variants"]):
                for cell in range(165):
                    for action in range(4):
                        beside = int(layout["neighbour"][cell, action])
                        if beside == cell:
                            continue
                        if allows(layout, norm, variant, cell, beside):
                            index = cell + cell // 15
                            bit = np.uint64(1) << np.uint64(index & 63)
                            masks[norm["first_mask"] + variant, action, index >> 6] |= bit
