"""Norms for tests: drawn at random, made from short rows, and turned into rows for `naive.py`."""

from typing import Any

import numpy as np

from normgym_envs.constants import Door, Group, Region
from normgym_envs.norms.library import KINDS, read_norm
from normgym_envs.types import Norm


def norm_row(norm: Norm) -> dict[str, Any]:
    """Return a norm as the row that `naive.py` reads."""
    return {
        "id": norm.id,
        "kind": norm.kind,
        "parameters": dict(norm.parameters),
        "scope": {"groups": list(norm.scope.groups), "turns": list(norm.scope.turns)},
    }


def draw_norm(rng: np.random.Generator, kind: str, norm_id: str) -> Norm:
    """Draw a norm of a kind with a random scope, as a user's file may hold it."""

    def some(options: list[str], at_most: int = 9) -> list[str]:
        count = int(rng.integers(1, min(len(options), at_most) + 1))
        return [str(name) for name in rng.choice(options, count, replace=False)]

    doors, regions = [door.name for door in Door], [region.name for region in Region]
    groups = [group.name.lower() for group in Group]
    modulus = int(rng.integers(2, 6))
    turns = ["right", "left"][rng.integers(2)]
    zone = "QR"[rng.integers(2)]
    parameters: dict[str, dict[str, Any]] = {
        "zone_forbidden": {"zone": zone},
        "exit_doors": {"doors": some(doors, 2)},
        "group_doors": {group: some(doors)[0] for group in groups},
        "seat_regions": {"regions": some(regions, 2)},
        "group_seats": {group: some(regions)[0] for group in groups},
        "ring_direction": {"direction": some(["clockwise", "counterclockwise"])[0]},
        "turn_residues": {
            "modulus": modulus,
            "residues": sorted(
                int(r) for r in rng.choice(modulus, rng.integers(1, modulus), replace=False)
            ),
        },
        "move_wait": {"moves": int(rng.integers(1, 5))},
        "visit_first": {"zone": "Q"},
        "queue_path": {
            "legs": [f"{turns} {rng.integers(1, 3)}", f"away {['*', 2, 3][rng.integers(3)]}"],
            "repeat": bool(rng.integers(2)),
            "length": int(rng.integers(2, 11)),
        },
        "zone_capacity": {"zone": "R", "capacity": int(rng.integers(1, 4))},
        "zone_single_group": {"zone": "R"},
        "seat_order": {"order": some(["left-to-right", "right-to-left"])[0]},
    }
    assert set(parameters) == set(KINDS)
    first = int(rng.integers(0, 20))
    scopes = (
        {},
        {"groups": some(groups, 2)},
        {"turns": [first, first + int(rng.integers(1, 30))]},
        {"groups": some(groups, 2), "turns": [first, first + 15]},
    )
    return make_norm(
        {
            "id": norm_id,
            "kind": kind,
            "parameters": parameters[kind],
            "scope": scopes[rng.integers(4)],
        }
    )


def make_norm(row: dict[str, Any]) -> Norm:
    """Return the norm of a row that may lack family and sentence."""
    filled = {"family": "access", "sentence": "A norm of the tests.", **row}
    return read_norm(filled, "tests")
