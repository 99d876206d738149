"""New norms of the library's kinds: every row a kind can have, and seeded draws from them.

Generated norms serve contamination-free suites, meta-learning and large hypothesis sets. No two
are equivalent, and none is equivalent to a norm of the library.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any, Final

import numpy as np

from normgym_envs.constants import Group
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, UnknownNameError, check_seed
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import load_norms, read_norm
from normgym_envs.norms.parameters import KINDS
from normgym_envs.protocol.equivalence import draw_transitions
from normgym_envs.types import Norm

GROUPS: Final = tuple(group.name.lower() for group in Group)
DOORS: Final = ("A", "B", "C")
DOOR_WORDS: Final = {"A": "left", "B": "bottom", "C": "right"}
REGIONS: Final = ("TL", "BL", "BR")
REGION_WORDS: Final = {"TL": "top-left", "BL": "bottom-left", "BR": "bottom-right"}
FAMILY_OF: Final = {
    "zone_forbidden": "access",
    "exit_doors": "access",
    "seat_regions": "access",
    "ring_direction": "procedure",
    "turn_residues": "procedure",
    "move_wait": "procedure",
    "visit_first": "procedure",
    "queue_path": "coordination",
    "zone_capacity": "allocation",
    "zone_single_group": "allocation",
    "group_doors": "allocation",
    "group_seats": "allocation",
    "seat_order": "allocation",
}
"""Family of a generated norm. Source: NG Table A2."""

SAMPLES: Final = 3
"""Samples of random moves on which two norms have to differ, each of them."""

Row = tuple[str, dict[str, Any], str]
"""Slug, parameters and sentence of a norm without its scope."""


def list_possible_norms(kind: str) -> tuple[Norm, ...]:
    """Return every norm of a kind that the generator knows, those of the library left out.

    Parameters are combined with the sets of groups a norm may bind. Norms that are equivalent to an
    earlier one, or to one of the library, are left out: verdicts on random moves on the café are
    compared. The number of possible norms of a kind is the length of this list.

    Args:
        kind: a kind of norm.

    Raises:
        UnknownNameError: no such kind.
    """
    if kind not in _ROWS:
        raise UnknownNameError("kind", kind, _ROWS)
    return _possible(kind)


def generate_norms(seed: int, count: int, kinds: Sequence[str] | None = None) -> tuple[Norm, ...]:
    """Draw norms, as evenly over their kinds as the kinds' numbers allow.

    Args:
        seed: of the draws, [0, 2**63]; equal seeds give equal norms.
        count: number of norms, at most as many as there are.
        kinds: kinds to draw from, all by default.

    Returns:
        Norms, no two equivalent, sorted by kind.

    Raises:
        UnknownNameError: no such kind.
        ConfigError: more norms than exist.
    """
    rng = np.random.default_rng(check_seed(seed))
    pools = {}
    for kind in kinds or tuple(_ROWS):
        norms = list_possible_norms(kind)
        pools[kind] = [norms[i] for i in rng.permutation(len(norms))]
    total = sum(len(pool) for pool in pools.values())
    if not 0 <= count <= total:
        raise ConfigError(f"count is {count}; expected 0 to {total}, the number of possible norms")
    drawn: dict[str, list[Norm]] = defaultdict(list)
    left = count
    while left:
        for kind, pool in pools.items():
            if left and len(drawn[kind]) < len(pool):
                drawn[kind].append(pool[len(drawn[kind])])
                left -= 1
    return tuple(norm for kind in pools for norm in drawn[kind])


@cache
def _possible(kind: str) -> tuple[Norm, ...]:
    known = [norm for norm in load_norms() if norm.kind == kind]
    rows = []
    for (slug, parameters, sentence), groups in product(_ROWS[kind](), _list_scopes(kind)):
        scope = {} if groups == GROUPS else {"scope": {"groups": list(groups)}}
        words = sentence if groups == GROUPS else _bind(sentence, groups)
        name = slug if groups == GROUPS else f"{slug}-for-{'-'.join(groups)}"
        rows.append(
            read_norm(
                {
                    "id": f"gen-{name}",
                    "family": FAMILY_OF[kind],
                    "kind": kind,
                    "split": "train",
                    "parameters": parameters,
                    "sentence": words,
                    **scope,
                },
                "generator",
            )
        )
    return tuple(_drop_equivalent(kind, [*known, *rows])[len(known) :])


def _drop_equivalent(kind: str, norms: list[Norm]) -> list[Norm]:
    """Return the norms without those that come to the same as an earlier one, or to nothing.

    Two norms count as the same when any of several samples of moves fails to tell them apart.
    """
    layout = get_layout("cafe")
    engine = BatchEngine([layout], norms, 1)
    columns = []
    for seed in range(SAMPLES):
        moves = draw_transitions(engine, layout, KINDS[kind].num_slots, seed)
        verdicts = engine.judge(moves.states, moves.new_cells)
        columns.append([np.packbits(verdicts[:, i]).tobytes() for i in range(len(norms))])
    nothing = bytes(len(columns[0][0]))
    seen: set[tuple[int, bytes]] = set()
    kept = []
    for index, norm in enumerate(norms):
        mine = {(seed, column[index]) for seed, column in enumerate(columns)}
        if mine & seen or any(column == nothing for _, column in mine):
            continue
        seen |= mine
        kept.append(norm)
    return kept


def _list_scopes(kind: str) -> list[tuple[str, ...]]:
    """Return the sets of groups a norm may bind; norms that tell groups apart bind everybody."""
    if kind in ("group_doors", "group_seats", "zone_single_group"):
        return [GROUPS]
    return [groups for size in (3, 2, 1) for groups in combinations(GROUPS, size)]


def _bind(sentence: str, groups: tuple[str, ...]) -> str:
    """Return a sentence that binds some groups only."""
    who = " and ".join(groups)
    return f"For people of the {who} group{'s' * (len(groups) > 1)} only: {sentence}"


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the subsets that are neither empty nor everything."""
    for size in range(1, len(names)):
        yield from combinations(names, size)


def _join(words: Sequence[str]) -> str:
    return " or ".join(words)


def _zone_forbidden_rows() -> Iterator[Row]:
    for zone in ("Q", "R"):
        yield (
            f"zone-{zone.lower()}-closed",
            {"zone": zone},
            (f"Nobody may step onto a cell of the marked zone {zone}."),
        )


def _exit_doors_rows() -> Iterator[Row]:
    for doors in _subsets(DOORS):
        words = _join([DOOR_WORDS[door] for door in doors])
        yield (
            f"doors-{'-'.join(doors).lower()}",
            {"doors": list(doors)},
            (f"The only door anybody may step into is the {words} one."),
        )


def _seat_regions_rows() -> Iterator[Row]:
    for regions in _subsets(REGIONS):
        words = _join([REGION_WORDS[region] for region in regions])
        yield (
            f"seats-{'-'.join(regions).lower()}",
            {"regions": list(regions)},
            (f"The only chairs anybody may sit on are the {words} ones."),
        )


def _ring_direction_rows() -> Iterator[Row]:
    for direction in ("clockwise", "counterclockwise"):
        yield (
            f"ring-{direction}",
            {"direction": direction},
            (f"Along the outer ring of floor people may walk {direction} only."),
        )


def _turn_residues_rows() -> Iterator[Row]:
    for modulus in range(2, 7):
        for size in range(max(1, modulus // 2), modulus):
            for residues in combinations(range(modulus), size):
                numbers = ", ".join(str(number) for number in residues)
                slug = f"turns-{'-'.join(map(str, residues))}-of-{modulus}"
                yield (
                    slug,
                    {"modulus": modulus, "residues": list(residues)},
                    (
                        f"People may move only on turns that leave the remainder {numbers} "
                        f"when divided by {modulus} (turns count from 0)."
                    ),
                )


def _move_wait_rows() -> Iterator[Row]:
    for moves in range(1, 8):
        yield (
            f"rest-after-{moves}",
            {"moves": moves},
            (f"After {moves} move{'s' * (moves > 1)} in a row a person has to wait a turn."),
        )


def _visit_first_rows() -> Iterator[Row]:
    yield (
        "visit-q",
        {"zone": "Q"},
        ("Nobody may sit down before having stood on the marked zone Q."),
    )


def _queue_path_rows() -> Iterator[Row]:
    """Yield lines that go aside, away, aside again and then away, inside the block before s."""
    for first, away, second in product(range(-2, 3), (1, 2, 3), range(-2, 3)):
        if not -2 <= first + second <= 2 or (first == 0 and second == 0 and away > 1):
            continue
        legs = [*_aside(first), f"away {away}", *_aside(second), "away *"]
        slug = "line-" + "-".join(leg.replace(" ", "").replace("*", "on") for leg in legs)
        shape = ", then ".join(
            leg.replace(" *", " as far as there is room")
            .replace(" 1", " one cell")
            .replace(" 2", " two cells")
            .replace(" 3", " three cells")
            for leg in legs
        )
        yield (
            slug,
            {"legs": legs, "repeat": False, "length": 0},
            (
                "Whoever waits for the counter stands in a line that starts before it and goes "
                f"{shape} (right and left as seen facing the counter); people join behind the last "
                "in line and move up one place at a time."
            ),
        )


def _aside(cells: int) -> list[str]:
    if cells == 0:
        return []
    return [f"{'right' if cells > 0 else 'left'} {abs(cells)}"]


def _zone_capacity_rows() -> Iterator[Row]:
    for capacity in (1, 2, 3):
        yield (
            f"zone-r-at-most-{capacity}",
            {"zone": "R", "capacity": capacity},
            (
                f"Nobody may step into the marked zone R while {capacity} "
                f"{'others are' if capacity > 1 else 'other is'} in it."
            ),
        )


def _zone_single_group_rows() -> Iterator[Row]:
    yield (
        "zone-r-one-group",
        {"zone": "R"},
        ("Nobody may step into the marked zone R while somebody of another group is in it."),
    )


def _group_doors_rows() -> Iterator[Row]:
    for doors in product(DOORS, repeat=3):
        if len(set(doors)) == 1:
            continue  # the same for all: that is exit_doors
        given = dict(zip(GROUPS, doors, strict=True))
        words = ", ".join(f"{group} by the {DOOR_WORDS[door]}" for group, door in given.items())
        yield (
            f"group-doors-{''.join(doors).lower()}",
            given,
            (f"Each group has one door it may step into: {words} one."),
        )


def _group_seats_rows() -> Iterator[Row]:
    for regions in product(REGIONS, repeat=3):
        if len(set(regions)) == 1:
            continue  # the same for all: that is seat_regions
        given = dict(zip(GROUPS, regions, strict=True))
        words = ", ".join(f"{group} {REGION_WORDS[region]}" for group, region in given.items())
        yield (
            f"group-seats-{'-'.join(regions).lower()}",
            given,
            (f"Each group may sit in one part of the room only: {words}."),
        )


def _seat_order_rows() -> Iterator[Row]:
    for order in ("left-to-right", "right-to-left"):
        yield (
            f"fill-{order}",
            {"order": order},
            (
                f"Chairs are taken column by column {order}, top to bottom in a column: the only "
                "chair anybody may sit on is the first free one."
            ),
        )


_ROWS: Final[dict[str, Callable[[], Iterator[Row]]]] = {
    "zone_forbidden": _zone_forbidden_rows,
    "exit_doors": _exit_doors_rows,
    "seat_regions": _seat_regions_rows,
    "ring_direction": _ring_direction_rows,
    "turn_residues": _turn_residues_rows,
    "move_wait": _move_wait_rows,
    "visit_first": _visit_first_rows,
    "queue_path": _queue_path_rows,
    "zone_capacity": _zone_capacity_rows,
    "zone_single_group": _zone_single_group_rows,
    "group_doors": _group_doors_rows,
    "group_seats": _group_seats_rows,
    "seat_order": _seat_order_rows,
}
"""Rows a kind can have, by kind."""
