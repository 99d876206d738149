"""Frozen records that packages hand to each other, with shape and dtype beside each field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.floating[Any]]
RecordArray = npt.NDArray[np.void]

PERSON_DTYPE = np.dtype(
    [
        ("delay", np.int16),  # first of a slot: arrival turn; later ones: empty turns before it
        ("start", np.int16),  # cell on which the person appears
        ("goal1_cell", np.int16),  # cell of a PLACE goal, else -1
        ("group", np.int8),  # constants.Group
        ("goal1_kind", np.int8),  # constants.Goal1
        ("goal2_door", np.int8),  # constants.Door, -1 any door
        ("leg", np.int8),  # 0 goal 1 open, 1 goal 1 already complete
        ("holder", np.bool_),  # waits in zone R until the newcomer comes near
    ],
    align=True,
)
"""One person of a slot's roster. Source: NG App. "Task Description" and "Interaction phase"."""


@dataclass(frozen=True, eq=False)
class Layout:
    """One place: the grid, what stands where, and what norms may refer to."""

    name: str  # file name of the map, e.g. "cafe"
    title: str  # e.g. "Café"
    place: str  # one sentence on the place
    cells: npt.NDArray[np.int8]  # (11, 15), constants.Cell
    zones: npt.NDArray[np.int8]  # (11, 15), constants.Zone
    doors: npt.NDArray[np.int32]  # (3,), cell of door A, B, C
    counter: int  # cell of the counter, in the outer wall
    service: int  # cell before it, the paper's s
    away: tuple[int, int]  # (row, column) step from the counter into the room
    chairs: npt.NDArray[np.int32]  # (n,), ascending cells
    regions: npt.NDArray[np.int8]  # (n,), constants.Region of each chair
    ring: npt.NDArray[np.int32]  # (40,), clockwise from the top-left corner
    destinations: tuple[tuple[int, str], ...]  # (cell, name) candidates of a PLACE goal, chairs too
    objects: Mapping[str, str]  # what the place calls counter, chair, table, display


@dataclass(frozen=True)
class Scope:
    """Whom and when a norm binds; the default is everybody, always."""

    groups: tuple[str, ...] = ("orange", "green", "blue")  # names of constants.Group
    turns: tuple[int, int] = (0, 2**31 - 1)  # half-open window of turn indices


@dataclass(frozen=True)
class Norm:
    """One row of a norm library. Source: NG Tables A2 and A4."""

    id: str  # lower-case words with hyphens
    family: str  # constants.FAMILIES; a label, never a branch
    kind: str  # name of a predicate in norms/kinds.py
    parameters: Mapping[str, Any]  # as the kind demands
    sentence: str  # the norm in our words
    split: str = "train"  # "train" or "held-out"
    scope: Scope = field(default_factory=Scope)


@dataclass(frozen=True, eq=False)
class EpisodeSpec:
    """Everything an episode starts from; the world follows from it and the actions alone."""

    name: str  # "<norm>/<phase>-<number>" in a suite; never shown to an agent
    layout: str  # layout name
    norms: tuple[str, ...]  # norm ids in force, at most MAX_NORMS
    phase: str  # constants.PHASES; tests end when the newcomer has finished
    seed: int  # of the episode's own random stream, [0, 2**63]
    limit: int  # steps
    drivers: tuple[int, ...]  # (N,), constants.Driver; slot 0 is the newcomer
    priority: tuple[int, ...]  # (N,), slots in order of precedence
    persons: RecordArray  # (N, M) PERSON_DTYPE, rosters; M <= MAX_PERSONS
    norms_after: tuple[str, ...] = ()  # norms in force from change_turn on
    change_turn: int = -1  # turn index, -1 never
    predict_newcomer: str = (
        "norm_aware"  # how others foresee an outside-driven slot, or "norm_blind"
    )

    @property
    def num_slots(self) -> int:
        """Number of agent slots, N."""
        return len(self.drivers)
