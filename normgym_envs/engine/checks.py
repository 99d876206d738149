"""What an episode must be before an engine can start from it, whatever its layouts and norms."""

from collections.abc import Sequence

from normgym_envs.constants import (
    MAX_NORMS,
    MAX_PERSONS,
    MAX_SLOTS,
    NUM_CELLS,
    PHASES,
    Door,
    Driver,
    Goal1,
    Group,
)
from normgym_envs.errors import SpecError, check_seed, nearest
from normgym_envs.types import PERSON_DTYPE, EpisodeSpec

PREDICTIONS = {"norm_aware": Driver.NORM_AWARE, "norm_blind": Driver.NORM_BLIND}

_DRIVERS = frozenset(int(driver) for driver in Driver)
_MAX_TURN = 2**30
_PERSON_RANGES = {
    "start": NUM_CELLS - 1,
    "goal1_cell": NUM_CELLS - 1,
    "group": max(Group),
    "goal1_kind": max(Goal1),
    "goal2_door": max(Door),
    "leg": 1,
}
"""Largest value of each field of a person; the smallest is 0, of `goal2_door` -1."""


def check_spec(spec: EpisodeSpec) -> None:
    """Refuse an episode that no engine could start from.

    Raises:
        SpecError: naming the field and what was expected.
    """
    check_frame(spec)
    check_persons(spec)


def check_frame(spec: EpisodeSpec) -> None:
    """Refuse an episode that no engine could start from, whoever its persons are.

    Raises:
        SpecError: naming the field and what was expected.
    """
    where = f"episode {spec.name!r}: "
    check_seed(spec.seed)
    num_slots = spec.num_slots
    if not 1 <= num_slots <= MAX_SLOTS:
        raise SpecError(f"{where}{num_slots} slots; expected 1 to {MAX_SLOTS}")
    if sorted(spec.priority) != list(range(num_slots)):
        raise SpecError(f"{where}priority is {spec.priority}; expected an order of all slots")
    if spec.persons.dtype != PERSON_DTYPE:
        raise SpecError(
            f"{where}persons has dtype {spec.persons.dtype}; expected types.PERSON_DTYPE"
        )
    if spec.persons.ndim != 2 or len(spec.persons) != num_slots:
        raise SpecError(f"{where}persons has shape {spec.persons.shape}; expected ({num_slots}, M)")
    if not 1 <= spec.persons.shape[1] <= MAX_PERSONS:
        raise SpecError(f"{where}{spec.persons.shape[1]} persons a slot; expected 1 to 24")
    if spec.phase not in PHASES:
        raise SpecError(f"{where}unknown phase {spec.phase!r}{nearest(spec.phase, PHASES)}")
    if len(spec.norms) > MAX_NORMS or len(spec.norms_after) > MAX_NORMS:
        raise SpecError(f"{where}more than {MAX_NORMS} norms at once")
    if not 1 <= spec.limit <= _MAX_TURN:
        raise SpecError(f"{where}limit is {spec.limit}; expected 1 to {_MAX_TURN} steps")
    if not -1 <= spec.change_turn <= _MAX_TURN:
        raise SpecError(
            f"{where}change_turn is {spec.change_turn}; expected a turn up to {_MAX_TURN}, -1 never"
        )
    if spec.predict_newcomer not in PREDICTIONS:
        raise SpecError(
            f"{where}predict_newcomer is {spec.predict_newcomer!r}; "
            f"expected one of {', '.join(PREDICTIONS)}"
        )
    check_drivers(spec.drivers, num_slots, where)


def check_persons(spec: EpisodeSpec) -> None:
    """Refuse persons of whom a field is out of range.

    Raises:
        SpecError: naming the field and what was expected.
    """
    where = f"episode {spec.name!r}: "
    if (spec.persons["delay"][:, 1:] < 1).any() or (spec.persons["delay"] < 0).any():
        raise SpecError(f"{where}a delay below 1 turn (first person of a slot: below turn 0)")
    is_place = spec.persons["goal1_kind"] == Goal1.PLACE
    for field, last in _PERSON_RANGES.items():
        first = -1 if field == "goal2_door" else 0
        values = spec.persons[field]
        wrong = (values < first) | (values > last)
        if field == "goal1_cell":
            wrong &= is_place
        if wrong.any():
            raise SpecError(
                f"{where}a person's {field} is {int(values[wrong][0])}; expected {first} to {last}"
            )


def check_drivers(drivers: Sequence[int], num_slots: int, where: str) -> None:
    """Refuse unknown drivers, and any other number of them than slots.

    Args:
        drivers: constants.Driver of each slot.
        num_slots: N.
        where: start of the error message.

    Raises:
        SpecError: naming the driver and what was expected.
    """
    if len(drivers) != num_slots:
        raise SpecError(f"{where}{len(drivers)} drivers; expected {num_slots}, one a slot")
    for driver in drivers:
        if driver not in _DRIVERS:
            raise SpecError(f"{where}driver {driver}; expected 0, 1 or 2")
