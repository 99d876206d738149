"""What each kind of norm demands of a row, and what it means for goals and population.

One line of `KINDS` and one schema make a kind known to the loader; the verdict itself is a
compiled predicate of `norms/kinds.py`.
"""

from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from normgym_envs.constants import MAX_PATH, Goal1
from normgym_envs.errors import NormError
from normgym_envs.norms.geometry import parse_leg

DoorName = Literal["A", "B", "C"]
RegionName = Literal["TL", "BL", "BR"]


class Parameters(BaseModel):
    """Base of the schemas: exact types, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _check_choice(name: str, values: list[str], number: int) -> list[str]:
    """Return a list of permitted values that holds each once and leaves at least one out."""
    if len(set(values)) < len(values):
        raise ValueError(f"{name} {values}; expected each once")
    if len(values) == number:
        raise ValueError(f"{name} {values} permits everything; expected at least one left out")
    return values


class ZoneForbidden(Parameters):
    """Parameters of zone_forbidden."""

    zone: Literal["Q", "R"] = Field(description='"Q" or "R"')


class VisitFirst(Parameters):
    """Parameters of visit_first; visits to zone Q are what the state remembers."""

    zone: Literal["Q"] = Field(description='"Q"')


class ZoneSingleGroup(Parameters):
    """Parameters of zone_single_group; zone R is where its episodes' goals lie."""

    zone: Literal["R"] = Field(description='"R"')


class ExitDoors(Parameters):
    """Parameters of exit_doors."""

    doors: list[DoorName] = Field(
        min_length=1, description='a list of permitted doors out of "A", "B", "C"'
    )

    @field_validator("doors")
    @classmethod
    def _check_doors(cls, doors: list[str]) -> list[str]:
        """Refuse repeated doors, and all doors: that forbids nothing."""
        return _check_choice("doors", doors, 3)


class SeatRegions(Parameters):
    """Parameters of seat_regions."""

    regions: list[RegionName] = Field(
        min_length=1, description='a list of permitted regions out of "TL", "BL", "BR"'
    )

    @field_validator("regions")
    @classmethod
    def _check_regions(cls, regions: list[str]) -> list[str]:
        """Refuse repeated regions, and all regions: that forbids nothing."""
        return _check_choice("regions", regions, 3)


class RingDirection(Parameters):
    """Parameters of ring_direction."""

    direction: Literal["clockwise", "counterclockwise"] = Field(
        description='"clockwise" or "counterclockwise"'
    )


class TurnResidues(Parameters):
    """Parameters of turn_residues."""

    modulus: int = Field(ge=2, le=64, description="a whole number from 2 to 64")
    residues: list[int] = Field(
        min_length=1, description="a list of whole numbers from 0 to modulus - 1"
    )

    @model_validator(mode="after")
    def _check_residues(self) -> "TurnResidues":
        """Refuse residues that no turn can have, and repeated ones."""
        wrong = [value for value in self.residues if not 0 <= value < self.modulus]
        if wrong:
            raise ValueError(
                f"residues {wrong}; expected whole numbers from 0 to {self.modulus - 1}"
            )
        if len(set(self.residues)) < len(self.residues):
            raise ValueError(f"residues {self.residues}; expected each number once")
        if len(self.residues) == self.modulus:
            raise ValueError(
                f"residues {self.residues} permit every turn; expected at least one left out"
            )
        return self


class MoveWait(Parameters):
    """Parameters of move_wait."""

    moves: int = Field(ge=1, le=100, description="a whole number from 1 to 100")


class QueuePath(Parameters):
    """Parameters of queue_path."""

    legs: list[str] = Field(
        min_length=1, description='a list of legs such as "right 1" or "away *"'
    )
    repeat: bool = Field(default=False, description="true or false")
    length: int = Field(
        default=0, ge=0, le=MAX_PATH, description=f"a whole number to {MAX_PATH}, 0 for no length"
    )

    @field_validator("legs")
    @classmethod
    def _check_legs(cls, legs: list[str]) -> list[str]:
        """Refuse legs that no path can follow."""
        for leg in legs:
            try:
                parse_leg(leg)
            except NormError as error:
                raise ValueError(str(error)) from None
        return legs


class ZoneCapacity(Parameters):
    """Parameters of zone_capacity."""

    zone: Literal["R"] = Field(description='"R"')
    capacity: int = Field(ge=1, le=100, description="a whole number from 1 to 100")


class GroupDoors(Parameters):
    """Parameters of group_doors."""

    orange: DoorName = Field(description='the orange group\'s door: "A", "B" or "C"')
    green: DoorName = Field(description='the green group\'s door: "A", "B" or "C"')
    blue: DoorName = Field(description='the blue group\'s door: "A", "B" or "C"')


class GroupSeats(Parameters):
    """Parameters of group_seats."""

    orange: RegionName = Field(description='the orange group\'s region: "TL", "BL" or "BR"')
    green: RegionName = Field(description='the green group\'s region: "TL", "BL" or "BR"')
    blue: RegionName = Field(description='the blue group\'s region: "TL", "BL" or "BR"')


class SeatOrder(Parameters):
    """Parameters of seat_order."""

    order: Literal["left-to-right", "right-to-left"] = Field(
        description='"left-to-right" or "right-to-left"'
    )


class Kind(NamedTuple):
    """What belongs to a kind besides its predicate."""

    parameters: type[Parameters]
    goal1: Goal1  # kind of goal 1 in its episodes
    any_door: bool  # goal 2 is any door instead of a given one
    num_slots: int  # agent slots in its episodes, the paper's K
    condition: str  # what is forbidden, in words; {name} stands for a parameter


KINDS: Final[dict[str, Kind]] = {
    "zone_forbidden": Kind(
        ZoneForbidden, Goal1.PLACE, False, 6,
        "A move that ends in zone {zone} is a violation.",
    ),
    "exit_doors": Kind(
        ExitDoors, Goal1.PLACE, True, 6,
        "A move into a door other than {doors} is a violation.",
    ),
    "seat_regions": Kind(
        SeatRegions, Goal1.ANY_CHAIR, False, 8,
        "A move onto a chair outside {regions} is a violation.",
    ),
    "ring_direction": Kind(
        RingDirection, Goal1.PLACE, False, 6,
        "On the outer ring, a move to the next ring cell that does not go {direction} is a "
        "violation.",
    ),
    "turn_residues": Kind(
        TurnResidues, Goal1.PLACE, False, 6,
        "A move on turn t is a violation unless t mod {modulus} is one of {residues}.",
    ),
    "move_wait": Kind(
        MoveWait, Goal1.PLACE, False, 6,
        "A move is a violation if the person has moved on every one of the last {moves} turn(s).",
    ),
    "visit_first": Kind(
        VisitFirst, Goal1.PLACE, False, 6,
        "A move onto a chair is a violation before the person has stood in zone {zone}.",
    ),
    "queue_path": Kind(
        QueuePath, Goal1.COUNTER, False, 10,
        "Path: {legs}. A waiting person's move into cell k of the path is a violation unless it "
        "comes from cell k + 1 or k is at or behind the tail.",
    ),
    "zone_capacity": Kind(
        ZoneCapacity, Goal1.ANY_ZONE_R, False, 8,
        "A move into zone {zone} from outside is a violation while {capacity} or more others "
        "stand in it.",
    ),
    "zone_single_group": Kind(
        ZoneSingleGroup, Goal1.ANY_ZONE_R, False, 8,
        "A move into zone {zone} from outside is a violation while anybody of another group "
        "stands in it.",
    ),
    "group_doors": Kind(
        GroupDoors, Goal1.PLACE, True, 8,
        "A move into a door is a violation unless it is the group's own: orange {orange}, "
        "green {green}, blue {blue}.",
    ),
    "group_seats": Kind(
        GroupSeats, Goal1.ANY_CHAIR, False, 8,
        "A move onto a chair is a violation unless it lies in the group's own region: orange "
        "{orange}, green {green}, blue {blue}.",
    ),
    "seat_order": Kind(
        SeatOrder, Goal1.ANY_CHAIR, False, 8,
        "A move onto a chair is a violation unless it is the first free one, columns {order}, "
        "top to bottom in a column.",
    ),
}  # fmt: skip
"""Every kind by name. Source: NG Table A2 (conditions), Table A3 (goals); NG names populations from
6 to 10 without saying which norm has which: chosen so that queues and seats have company."""


def condition_in_words(kind: str, parameters: dict[str, Any]) -> str:
    """Return what a norm of this kind and these parameters forbids, as one sentence or two."""
    words = {
        name: ", ".join(str(entry) for entry in value)
        if isinstance(value, list | tuple)
        else str(value)
        for name, value in parameters.items()
    }
    return KINDS[kind].condition.format(**words)
