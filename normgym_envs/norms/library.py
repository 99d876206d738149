"""The norm library: reads, checks and looks up the rows of `library.toml`.

Rows of a user's own file pass through the same checks (`load_norms(path)`). What a kind demands of
its rows is in `norms/parameters.py`, what it forbids in `norms/kinds.py`.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from normgym_envs.constants import FAMILIES, Goal1, Group
from normgym_envs.errors import NormError, UnknownNameError, nearest
from normgym_envs.norms.parameters import KINDS, Parameters, condition_in_words
from normgym_envs.types import Norm, Scope

__all__ = [
    "KINDS",
    "SPLITS",
    "bound_groups",
    "describe_condition",
    "get_norm",
    "goal_kinds",
    "list_norms",
    "load_norms",
    "num_slots",
    "read_norm",
]

SPLITS: Final = ("train", "held-out")
"""Source: NG Table A4."""
GROUPS: Final = tuple(group.name.lower() for group in Group)

_FIELDS: Final = ("id", "family", "kind", "split", "parameters", "sentence", "scope")
_ID: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LIBRARY: Final = Path(__file__).parent / "library.toml"


def load_norms(path: Path | str | None = None) -> tuple[Norm, ...]:
    """Return the norms of a file in its order.

    Args:
        path: a TOML file of [[norm]] rows; None for the library of the paper's 50.

    Raises:
        NormError: the file cannot be read, or a row is malformed; the message names file, row and
            field, what was expected and what is near.

    Example:
        >>> len(load_norms())
        50
    """
    return _load_library() if path is None else _read_file(Path(path))


@cache
def _load_library() -> tuple[Norm, ...]:
    """Read the shipped library once."""
    return _read_file(_LIBRARY)


@cache
def _norms_by_id() -> dict[str, Norm]:
    """Index the shipped library."""
    return {norm.id: norm for norm in load_norms()}


def get_norm(norm_id: str) -> Norm:
    """Return a norm of the shipped library.

    Args:
        norm_id: e.g. "all-exit-bottom".

    Raises:
        UnknownNameError: no such norm.
    """
    norms = _norms_by_id()
    if norm_id not in norms:
        raise UnknownNameError("norm", norm_id, norms)
    return norms[norm_id]


def list_norms(family: str | None = None, split: str | None = None) -> tuple[str, ...]:
    """Return the ids of the shipped library in its order.

    Args:
        family: only this family, one of `constants.FAMILIES`.
        split: only "train" or only "held-out".

    Raises:
        UnknownNameError: no such family or split.
    """
    if family is not None and family not in FAMILIES:
        raise UnknownNameError("family", family, FAMILIES)
    if split is not None and split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    return tuple(
        norm.id
        for norm in load_norms()
        if family in (None, norm.family) and split in (None, norm.split)
    )


def goal_kinds(norm: Norm) -> tuple[Goal1, bool]:
    """Return the kind of goal 1 in a norm's episodes, and whether goal 2 is any door.

    Source: NG Table A3.
    """
    kind = KINDS[norm.kind]
    return kind.goal1, kind.any_door


def num_slots(norm: Norm) -> int:
    """Return the number of agent slots, N, in a norm's episodes.

    Source: NG "Agents" names 6 to 10; which norm has which is not specified.
    """
    return KINDS[norm.kind].num_slots


def bound_groups(norm: Norm) -> tuple[int, ...]:
    """Return the groups that a norm binds, as constants.Group."""
    return tuple(int(Group[name.upper()]) for name in norm.scope.groups)


def describe_condition(norm: Norm) -> str:
    """Return what a norm forbids, in words made from its kind and parameters."""
    return condition_in_words(norm.kind, dict(norm.parameters))


def read_norm(row: Mapping[str, Any], source: str) -> Norm:
    """Check one row and return it as a norm, with the defaults of its kind filled in.

    Args:
        row: the fields of a [[norm]] table.
        source: file and place of the row, for error messages.

    Raises:
        NormError: a field is unknown, missing or of the wrong type or value.
    """
    norm_id = row.get("id")
    if not isinstance(norm_id, str) or not _ID.fullmatch(norm_id):
        raise NormError(f"{source}: id is {norm_id!r}; expected lower-case words joined by hyphens")
    where = f"{source} {norm_id!r}"
    for name in row:
        if name not in _FIELDS:
            raise NormError(f"{where}: unknown field {name!r}{nearest(name, _FIELDS)}")
    family = _read_choice(row, "family", FAMILIES, where)
    kind = _read_choice(row, "kind", tuple(KINDS), where)
    split = _read_choice({"split": "train", **row}, "split", SPLITS, where)
    sentence = row.get("sentence")
    if not isinstance(sentence, str) or " " not in sentence.strip():
        raise NormError(f"{where}: sentence is {sentence!r}; expected the norm as a sentence")
    parameters = row.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise NormError(f"{where}: parameters is {parameters!r}; expected a table")
    return Norm(
        id=norm_id,
        family=family,
        kind=kind,
        parameters=_read_parameters(KINDS[kind].parameters, parameters, where),
        sentence=" ".join(sentence.split()),
        split=split,
        scope=_read_scope(row.get("scope", {}), where),
    )


def _read_file(path: Path) -> tuple[Norm, ...]:
    """Read every row of a file; ids must differ."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise NormError(f"{path.name}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise NormError(f"{path.name}: not valid TOML: {error}") from None
    for key in data:
        if key != "norm":
            raise NormError(f"{path.name}: unknown key {key!r}; expected [[norm]] rows only")
    rows = data.get("norm")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NormError(f"{path.name}: no rows; expected [[norm]] tables")
    norms: dict[str, Norm] = {}
    for number, row in enumerate(rows, start=1):
        norm = read_norm(row, f"{path.name}: row {number}")
        if norm.id in norms:
            raise NormError(f"{path.name}: row {number} {norm.id!r}: the id is used twice")
        norms[norm.id] = norm
    return tuple(norms.values())


def _read_choice(row: Mapping[str, Any], name: str, options: tuple[str, ...], where: str) -> str:
    """Return a field that must be one of some names."""
    value = row.get(name)
    if value not in options:
        what = f"{name} is missing" if value is None else f"unknown {name} {value!r}"
        raise NormError(f"{where}: {what}{nearest(value, options)}")
    return str(value)


def _read_parameters(
    schema: type[Parameters], parameters: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return the parameters with defaults filled in and lists made tuples."""
    try:
        checked = schema.model_validate(dict(parameters)).model_dump()
    except ValidationError as error:
        detail = error.errors()[0]
        raise NormError(f"{where}: {_explain(schema, dict(detail))}") from None
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in checked.items()
    }


def _explain(schema: type[Parameters], detail: dict[str, Any]) -> str:
    """Return one clear line for the first thing a schema found wrong."""
    place, value = detail["loc"], detail.get("input")
    if not place:
        return f"parameters: {detail['ctx']['error']}"
    name = str(place[0])
    if detail["type"] == "extra_forbidden":
        return f"unknown parameter {name!r}{nearest(name, schema.model_fields)}"
    description = schema.model_fields[name].description
    if detail["type"] == "missing":
        return f"parameter {name!r} is missing; expected {description}"
    if detail["type"] == "value_error":
        return f"parameter {name!r}: {detail['ctx']['error']}"
    near = ""
    if detail["type"] == "literal_error":
        options = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        close = nearest(value, options)
        near = close if "did you mean" in close else ""
    return f"parameter {name!r} has {value!r}; expected {description}{near}"


def _read_scope(value: object, where: str) -> Scope:
    """Return whom and when a row binds."""
    default = Scope()
    if not isinstance(value, Mapping):
        raise NormError(f"{where}: scope is {value!r}; expected a table with groups, turns")
    for name in value:
        if name not in ("groups", "turns"):
            raise NormError(f"{where}: scope: unknown field {name!r}; expected groups or turns")
    groups = value.get("groups", list(default.groups))
    if not isinstance(groups, list) or not groups:
        raise NormError(f"{where}: scope.groups is {groups!r}; expected a list of groups")
    for group in groups:
        if group not in GROUPS:
            raise NormError(
                f"{where}: scope.groups: unknown group {group!r}{nearest(group, GROUPS)}"
            )
    turns = value.get("turns", list(default.turns))
    if (
        not isinstance(turns, list)
        or [type(turn) for turn in turns] != [int, int]
        or not 0 <= turns[0] < turns[1] <= default.turns[1]
    ):
        raise NormError(
            f"{where}: scope.turns is {turns!r}; expected [first, end] with 0 <= first < end"
        )
    return Scope(groups=tuple(group for group in GROUPS if group in groups), turns=tuple(turns))
